using System.Globalization;
using System.IO.Compression;
using Treepie.Backups;
using Treepie.Bench.Measuring;
using Treepie.Storage;
using Treepie.Writes;

namespace Treepie.Bench.Suites;

/// <summary>How fast a database is backed up and restored, by compression and with and without a seal.</summary>
internal sealed class BackupSuite : ISuite
{
    /// <summary>The films several times under other ids, so that a round takes long enough to be measured.</summary>
    private const int Copies = 3;

    private static readonly BackupCompression[] _all =
        [BackupCompression.None, BackupCompression.ZstdFastest, BackupCompression.ZstdOptimal, BackupCompression.GzipFastest, BackupCompression.GzipOptimal];

    public string Name => "backup";

    public string Question =>
        $"""
        How fast is a logical backup, and what does its seal cost? {Copies} times all films in one database in the page cache, backed up to memory, in MB of JSON per second; peer: the same sealed. Size: of what is stored, as a share of
        the JSON. Restore: to a new database on the disk, compared with the content hash before it counts. Limit: the BCL's gzip, or a copy for none, of the same JSON alone. The compressions take turns in each round.
        """.ReplaceLineEndings("\n");

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        int rounds = quick ? 1 : 5;
        using var folder = new Scratch();
        using EncryptionKey key = EncryptionKey.Generate();
        await using Database database = Database.Open(Path.Combine(folder.Path, "source"));
        await FillAsync(database, quick, cancellationToken);
        var open = new Dictionary<BackupCompression, List<double>>();
        var closed = new Dictionary<BackupCompression, List<double>>();
        var content = new Dictionary<BackupCompression, (byte[] Bytes, BackupReport Report)>();
        for (int round = -1; round < rounds; round++)
        {
            progress.WriteLine(string.Create(CultureInfo.InvariantCulture, $"backup: round {round + 1}"));
            foreach (BackupCompression compression in _all)
            {
                (double plain, byte[] bytes, BackupReport report) = await BackupAsync(database, compression, null, cancellationToken);
                (double hidden, _, _) = await BackupAsync(database, compression, key, cancellationToken);
                content[compression] = (bytes, report);
                if (round < 0)
                    continue; // warms up
                (open.TryGetValue(compression, out List<double>? plains) ? plains : open[compression] = []).Add(plain);
                (closed.TryGetValue(compression, out List<double>? hiddens) ? hiddens : closed[compression] = []).Add(hidden);
            }
        }

        var rows = new List<BenchRow>();
        byte[] json = content[BackupCompression.None].Bytes;
        foreach (BackupCompression compression in _all)
        {
            rows.Add(BenchRow.Of($"{compression}, back up", "MB/s", true, open[compression]) with
            {
                Peers = new Dictionary<string, double> { ["sealed"] = Statistics.Median(closed[compression]) },
                Limit = await LimitAsync(json, compression),
            });
            rows.Add(new BenchRow($"{compression}, size", "% of the JSON", false, 100.0 * content[compression].Bytes.Length / json.Length));
        }

        foreach (BackupCompression compression in quick ? [BackupCompression.ZstdFastest] : _all)
            rows.Add(await RestoreAsync(content[compression], compression, quick ? 1 : 3, cancellationToken));
        return rows;
    }

    private static async Task FillAsync(Database database, bool quick, CancellationToken cancellationToken)
    {
        var movies = new Movies(quick);
        await using BulkInsert bulk = database.BulkInsert();
        for (int copy = 0; copy < (quick ? 1 : Copies); copy++)
            foreach (Movie movie in movies.Documents)
                await bulk.StoreAsync(string.Create(CultureInfo.InvariantCulture, $"{movie.Id}-{copy}"), movie.Json, cancellationToken);
        await bulk.CompleteAsync(cancellationToken);
    }

    private static async Task<(double MegabytesPerSecond, byte[] Content, BackupReport Report)> BackupAsync(
        Database database, BackupCompression compression, EncryptionKey? key, CancellationToken cancellationToken)
    {
        var output = new MemoryStream(256 << 20);
        BackupReport? report = null;
        var options = new BackupOptions { Compression = compression, EncryptionKey = key };
        double seconds = await Timing.SecondsAsync(async () => report = await database.BackupAsync(output, options, null, cancellationToken));
        return (report!.JsonBytes / 1e6 / seconds, output.ToArray(), report); // it was set by the work that was timed
    }

    private static async Task<BenchRow> RestoreAsync((byte[] Bytes, BackupReport Report) backup, BackupCompression compression, int rounds, CancellationToken cancellationToken)
    {
        var figures = new List<double>();
        for (int round = 0; round < rounds; round++)
        {
            using var folder = new Scratch();
            double seconds = await Timing.SecondsAsync(() => Database.RestoreAsync(new MemoryStream(backup.Bytes), Path.Combine(folder.Path, "restored"), null, null, cancellationToken));
            figures.Add(backup.Report.JsonBytes / 1e6 / seconds);
        }

        return BenchRow.Of($"{compression}, restore", "MB/s", true, figures);
    }

    private static async Task<double?> LimitAsync(byte[] json, BackupCompression compression)
    {
        CompressionLevel? level = compression switch
        {
            BackupCompression.GzipFastest => CompressionLevel.Fastest,
            BackupCompression.GzipOptimal => CompressionLevel.Optimal,
            BackupCompression.None => CompressionLevel.NoCompression,
            _ => null,
        };
        if (level is not { } chosen)
            return null;

        var output = new MemoryStream(256 << 20);
        double seconds = await Timing.SecondsAsync(async () =>
        {
            if (chosen == CompressionLevel.NoCompression)
            {
                await output.WriteAsync(json);
                return;
            }

            await using var gzip = new GZipStream(output, chosen, leaveOpen: true);
            await gzip.WriteAsync(json);
        });
        return json.Length / 1e6 / seconds;
    }
}
