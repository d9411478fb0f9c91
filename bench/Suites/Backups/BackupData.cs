using System.Globalization;
using System.Text;
using Treepie.Bench.Measuring;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Backups;

/// <summary>The documents that are backed up: those of every data set, and films again under other ids until there are enough.</summary>
internal static class BackupData
{
    private const string Films = "movies.ndjson.gz";
    private const long WantedBytes = 1_000_000_000;
    private const int MaxCopies = 200;

    /// <summary>Names of the data sets that are here.</summary>
    public static IReadOnlyList<string> Sets(bool quick) => quick ? [Films] : [.. ((string[])[Films, "cities.ndjson.gz", "wordnet.ndjson.gz", "verses-en.ndjson.gz"]).Where(Exists)];

    /// <summary>Fills a database.</summary>
    public static async Task FillAsync(Database database, bool quick, CancellationToken cancellationToken)
    {
        long bytes = 0;
        foreach (string set in Sets(quick))
            bytes += await FillAsync(database, set, quick ? 2_000 : int.MaxValue, "", cancellationToken);
        for (int copy = 0; !quick && bytes < WantedBytes && copy < MaxCopies; copy++)
            bytes += await FillAsync(database, Films, int.MaxValue, string.Create(CultureInfo.InvariantCulture, $"-{copy}"), cancellationToken);
    }

    /// <summary>Stores a data set, each document with a collection named after it; gives the bytes of their JSON.</summary>
    public static async Task<long> FillAsync(Database database, string set, int most, string suffix, CancellationToken cancellationToken)
    {
        string name = set.Split('.')[0];
        byte[] metadata = Encoding.UTF8.GetBytes($",\"@metadata\":{{\"@collection\":\"{name}\"}}}}");
        long bytes = 0;
        int number = 0;
        await using BulkInsert bulk = database.BulkInsert();
        foreach (byte[] line in Corpus.Load(set, most))
        {
            int end = line.AsSpan().LastIndexOf((byte)'}');
            if (line.AsSpan().IndexOf("\"@metadata\""u8) >= 0 || end < 2)
                continue;
            byte[] document = [.. line.AsSpan(0, end), .. metadata];
            bytes += document.Length;
            await bulk.StoreAsync(string.Create(CultureInfo.InvariantCulture, $"{name}/{++number}{suffix}"), document, cancellationToken);
        }

        await bulk.CompleteAsync(cancellationToken);
        return bytes;
    }

    private static bool Exists(string set)
    {
        try
        {
            return Corpus.Load(set, 1).Count > 0;
        }
        catch (FileNotFoundException)
        {
            return false;
        }
    }
}
