using System.Globalization;
using System.Text;
using Treepie.Kinds;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Backups;

/// <summary>A database with something of everything a backup must keep.</summary>
internal static class RandomDatabase
{
    private static readonly string[] _collections = ["Users", "Orders", "@empty", "Ünïts"];

    public static async Task FillAsync(Database database, Random random, int documents, CancellationToken cancellationToken)
    {
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration
            {
                Collections = new Dictionary<string, RevisionsRule>
                {
                    ["Orders"] = new() { MinimumToKeep = 3 },
                    ["Ünïts"] = new(),
                },
            },
            cancellationToken);
        int batches = Math.Max(1, documents / 20);
        for (int i = 0; i < batches; i++)
        {
            using var batch = new WriteBatch();
            for (int command = 0; command < 25; command++)
            {
                int number = random.Next(documents);
                string id = $"Ids/{number}é";
                if (random.Next(5) == 0)
                    batch.Delete(id);
                else
                    // its collection follows from the number, so that puts do not move it
                    batch.Put(id, Document(number, random));
            }

            await database.WriteAsync(batch, cancellationToken);
        }

        await FillBesideAsync(database, random, documents, cancellationToken);
        await MoveAsync(database, documents, cancellationToken);
        for (int i = 0; i < 7; i++)
            await database.NextIdentityAsync("invoices", cancellationToken);
        await database.SeedIdentityAsync("Ünïts|", 4_711, force: true, cancellationToken);
        await database.NextHiLoRangeAsync(new HiLoRequest("users", 0, DateTime.UnixEpoch, 0), cancellationToken);
        foreach (string query in (string[])
        [
            "from Users where Name = 'a' and n > 5", "from Orders where search(Text, 'x')",
            "from @all_docs where exact(Name = 'B')"
        ])
            (await database.QueryAsync(new QueryRequest { Text = query }, cancellationToken)).Dispose();
        Assert.True(await database.Indexes.WaitForNonStaleAsync(Eventually.Patience, null, cancellationToken));
    }

    /// <summary>Counters of every third document, and compare-exchange values; some of both deleted.</summary>
    public static async Task FillBesideAsync(Database database, Random random, int documents, CancellationToken cancellationToken)
    {
        for (int i = 0; i < documents / 2; i++)
        {
            using var batch = new WriteBatch();
            string id = $"Ids/{(random.Next(documents) / 3 * 3) + 1}é", counter = $"Lïkes {random.Next(4)}";
            if (random.Next(10) == 0)
                // it comes back without
                batch.Delete(id).Put(id, Document(int.Parse(id[4..^1], CultureInfo.InvariantCulture), random));
            else if (Exists(database, id))
                _ = random.Next(4) == 0
                    ? batch.DeleteCounter(id, counter)
                    : batch.IncrementCounter(id, counter, random.Next(-9, 9));
            if (i % 3 == 0)
                await AttachAsync(database, batch, random, documents, cancellationToken);
            string key = $"Keys/{random.Next(documents)}é";
            using (Treepie.Store.DatabaseSnapshot snapshot = database.BeginRead())
            {
                long index = snapshot.CompareExchange(key)?.Index ?? 0;
                if (random.Next(4) == 0)
                    batch.DeleteCompareExchange(key, index);
                else
                    batch.PutCompareExchange(
                        key,
                        Encoding.UTF8.GetBytes(
                            $"{{\"Object\":[{random.Next()},\"é\\\"\"],\"@metadata\":{{\"own\":{random.Next(9)}}}}}"),
                        index);
            }

            await database.WriteAsync(batch, cancellationToken);
        }
    }

    /// <summary>Puts, copies, moves or deletes an attachment; contents are shared, and some are longer than a piece.</summary>
    private static async Task AttachAsync(
        Database database, WriteBatch batch, Random random, int documents, CancellationToken cancellationToken)
    {
        string id = $"Ids/{(random.Next(documents) / 3 * 3) + 2}é", name = $"Bïld {random.Next(3)}.png";
        if (!Exists(database, id))
            return;
        bool isThere;
        using (Treepie.Store.DatabaseSnapshot snapshot = database.BeginRead())
            isThere = snapshot.Attachment(id, name) is not null;
        if (isThere && random.Next(3) == 0)
        {
            _ = random.Next(3) switch
            {
                0 => batch.DeleteAttachment(id, name.ToUpperInvariant()),
                1 => batch.CopyAttachment(id, name, id, "copy"),
                _ => batch.MoveAttachment(id, name, id, $"Bïld {random.Next(3)}.png"),
            };
            return;
        }

        await using var upload = database.BeginUpload();
        byte[] bytes = new byte[random.Next(12) == 0 ? 2_200_000 : random.Next(3) * 100];
        Array.Fill(bytes, (byte)random.Next(4));
        await upload.WriteAsync(bytes, cancellationToken);
        await upload.CompleteAsync(cancellationToken);
        using var put = new WriteBatch();
        await database.WriteAsync(
            put.PutAttachment(id, name, random.Next(2) == 0 ? "image/png" : null, upload), cancellationToken);
    }

    private static bool Exists(Database database, string id)
    {
        using Treepie.Store.DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.TryGet(id, out Treepie.Store.Document _);
    }

    /// <summary>
    /// Ids that changed their collection, some of them twice, and a collection that became empty: what leaves superseded
    /// tombstones.
    /// </summary>
    private static async Task MoveAsync(Database database, int documents, CancellationToken cancellationToken)
    {
        foreach (string collection in (string[])["Moved", "Elsewhere", "Moved"])
        {
            using var batch = new WriteBatch();
            for (int number = 0; number < Math.Min(5, documents); number++)
                batch.Delete($"Ids/{number}é")
                    .Put($"Ids/{number}é", Encoding.UTF8.GetBytes($"{{\"@metadata\":{{\"@collection\":\"{collection}\"}}}}"));
            await database.WriteAsync(batch, cancellationToken);
        }

        using var gone = new WriteBatch();
        gone.Put("gone/1", "{\"@metadata\":{\"@collection\":\"Gone\"}}"u8.ToArray()).Delete("gone/1");
        await database.WriteAsync(gone, cancellationToken);
        using var back = new WriteBatch();
        back.Put("IDS/0É", "{\"back\":true,\"@metadata\":{\"@collection\":\"Moved\"}}"u8.ToArray());
        await database.WriteAsync(back, cancellationToken);
        long first = 0;
        using (Treepie.Store.DatabaseSnapshot snapshot = database.BeginRead())
        using (Treepie.Store.ChangeFeed feed = snapshot.Changes("Gone", 0))
            if (feed.MoveNext())
                first = feed.Etag;
        // collections remember later changes than any that is left
        await database.PurgeTombstonesAsync(first / 2, cancellationToken);
    }

    private static byte[] Document(int number, Random random)
    {
        var json = new StringBuilder();
        json.Append(
            CultureInfo.InvariantCulture,
            $"{{\"n\":{random.Next(100)},\"Name\":\"{(char)('a' + random.Next(26))}\",\"Text\":\""
                + $"{new string('x', random.Next(30) == 0 ? random.Next(60_000) : random.Next(60))} \\u00e9 \\\"q\\\" "
                + $"1.50e+3\",\"deep\":[[{{\"x\":1.0}}]]");
        string collection = _collections[number % _collections.Length];
        if (collection != "@empty")
            json.Append(
                CultureInfo.InvariantCulture,
                $",\"@metadata\":{{\"@collection\":\"{collection}\",\"tag\":[{random.Next(9)},null]}}");
        return Encoding.UTF8.GetBytes(json.Append('}').ToString());
    }
}
