using System.Globalization;
using System.Text;
using Treepie.Backups;
using Treepie.Indexes;
using Treepie.Storage;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Compatibility.Tests;

/// <summary>
/// Writes what is kept of a version, once, before it is released: databases, plain and encrypted, closed and as a kill leaves
/// them, with an index by queries and one by hand; each kind of backup; and what all of them must answer.
/// </summary>
internal static class KeptDataWriter
{
    private static readonly string[] _cities = ["Reims", "Lyon", "Köln", "São Paulo", "東京"];

    public static async Task WriteAsync(string folder, CancellationToken cancellationToken)
    {
        Directory.CreateDirectory(folder);
        using var work = new TemporaryDirectory();
        using EncryptionKey key = KeptData.Key();
        await WriteDatabaseAsync(folder, work.Path, "plain", null, cancellationToken);
        await WriteDatabaseAsync(folder, work.Path, "encrypted", key, cancellationToken);
    }

    private static async Task WriteDatabaseAsync(
        string folder, string work, string name, EncryptionKey? key, CancellationToken cancellationToken)
    {
        string path = Path.Combine(work, name);
        await using (Database database = Database.Open(path, new DatabaseOptions { EncryptionKey = key }))
        {
            await database.KeepLogAsync(64 << 20, cancellationToken);
            database.Indexes.Put(new IndexDefinition
            {
                Name = "Orders/ByPlace",
                Collections = ["Orders"],
                Fields =
                    [new() { Name = "City" }, new() { Name = "Place", Spatial = new() { Latitude = "Lat", Longitude = "Lng" } }],
            });
            await PutAsync(database, 1, 300, cancellationToken);
            await DatabaseContent.OfAsync(database, cancellationToken); // makes the indexes that the questions need
            BackupReport pages = await BackUpAsync("snapshot", BackupKind.Snapshot, null);
            BackupReport logical = await BackUpAsync("logical", BackupKind.Logical, null);
            await PutAsync(database, 290, 330, cancellationToken);
            pages = await BackUpAsync("snapshot-increment", BackupKind.Snapshot, pages.Link);
            await BackUpAsync("logical-increment", BackupKind.Logical, logical.Link);
            await PutAsync(database, 325, 340, cancellationToken);
            await BackUpAsync("log", BackupKind.Log, pages.Link);
            List<string> content = await DatabaseContent.OfAsync(database, cancellationToken);
            await File.WriteAllLinesAsync(Path.Combine(folder, $"{name}.txt"), content, cancellationToken);
            KeptData.Pack(path, Path.Combine(folder, $"{name}-killed.zip"));

            Task<BackupReport> BackUpAsync(string kind, BackupKind of, BackupLink? since) => database.BackupAsync(
                Path.Combine(folder, $"{name}-{kind}.backup"),
                new BackupOptions { Kind = of, Since = since, EncryptionKey = key }, null, cancellationToken);
        }

        KeptData.Pack(path, Path.Combine(folder, $"{name}-closed.zip"));
    }

    private static async Task PutAsync(Database database, int first, int end, CancellationToken cancellationToken)
    {
        for (int number = first; number < end; number++)
        {
            using var batch = new WriteBatch();
            string text = number % 50 == 0 ? new string('x', 20_000) : "";
            batch.Put($"orders/{number}", Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture,
                $$$"""
                {"City":"{{{_cities[number % _cities.Length]}}}","Freight":{{{number * 0.75}}},"Note":"A {{{(number % 3 == 0 ? "quick" : "slow")}}} fox {{{text}}}",
                "Lat":{{{49 + (number % 7)}}},"Lng":4.5,"@metadata":{"@collection":"Orders","by":"{{{number}}}"}}
                """)));
            if (number % 11 == 0)
                batch.Delete($"orders/{number - 1}");
            await database.WriteAsync(batch, cancellationToken);
        }

        await database.NextIdentityAsync("orders|", cancellationToken);
    }
}
