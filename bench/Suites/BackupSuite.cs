using System.Globalization;
using Treepie.Backups;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Backups;
using Treepie.Storage;

namespace Treepie.Bench.Suites;

/// <summary>How fast a database is backed up and restored, by compression, to disk and to S3, and what that costs those who write meanwhile.</summary>
internal sealed class BackupSuite : ISuite
{
    private static readonly BackupCompression[] _all =
        [BackupCompression.None, BackupCompression.ZstdFastest, BackupCompression.ZstdOptimal, BackupCompression.GzipFastest, BackupCompression.GzipOptimal];

    public string Name => "backup";

    public string Question =>
        """
        How fast is a logical backup of 1 GB of JSON (every data set there is, films again and again until it is enough; --quick: 2,000 films), in MB of JSON per second, to where nothing is kept? Peers: gzip-optimal and the same sealed. Limit:
        the programs `zstd` and `gzip`, or a copy, over the same bytes. Size as a share of the JSON, by data set. Restore: to a new database on the disk, compared with the content hash before it counts. Direct: straight
        to `s3rver` on loopback, against writing to the disk, forcing it there, and uploading that. Writers: documents per second of 4 writers, with a backup running all the while and without, by turns. Memory: what the process
        takes, that no file stands behind, beyond what it took before.
        """.ReplaceLineEndings("\n");

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        int rounds = quick ? 1 : 2;
        using var folder = new Scratch();
        using EncryptionKey key = EncryptionKey.Generate();
        await using Database database = Database.Open(Path.Combine(folder.Path, "source"));
        await progress.WriteLineAsync("backup: fill");
        await BackupData.FillAsync(database, quick, cancellationToken);
        var open = new Dictionary<BackupCompression, List<double>>();
        var closed = new Dictionary<BackupCompression, List<double>>();
        var reports = new Dictionary<BackupCompression, BackupReport>();
        for (int round = 0; round < rounds; round++)
        {
            foreach (BackupCompression compression in _all)
            {
                await progress.WriteLineAsync(string.Create(CultureInfo.InvariantCulture, $"backup: {compression}, round {round + 1} of {rounds}"));
                (double plain, reports[compression]) = await BackupAsync(database, compression, null, cancellationToken);
                Add(open, compression, plain);
                if (round == 0)
                    Add(closed, compression, (await BackupAsync(database, compression, key, cancellationToken)).MegabytesPerSecond);
            }
        }

        var rows = new List<BenchRow>();
        string json = Path.Combine(folder.Path, "plain.json"), small = Path.Combine(folder.Path, "small.zst");
        await database.BackupAsync(json, new BackupOptions { Compression = BackupCompression.None }, null, cancellationToken);
        double slowest = Statistics.Median(open[BackupCompression.GzipOptimal]);
        foreach (BackupCompression compression in _all)
        {
            double? limit = await CompressorAlone.MegabytesPerSecondAsync(json, compression, cancellationToken);
            rows.Add(BenchRow.Of($"{compression}, back up", "MB/s", true, open[compression]) with
            {
                Peers = new Dictionary<string, double> { ["gzip-optimal"] = slowest, ["sealed"] = Statistics.Median(closed[compression]) },
                Limit = limit,
                Goals = compression switch
                {
                    BackupCompression.ZstdFastest => [new Goal(2.5, "gzip-optimal"), new Goal(0.8, IsLimit: true)],
                    BackupCompression.ZstdOptimal => [new Goal(1, "gzip-optimal"), new Goal(0.8, IsLimit: true)],
                    _ => [],
                },
            });
        }

        File.Delete(json);
        rows.AddRange(await SizesAsync(quick, progress, cancellationToken));
        await progress.WriteLineAsync("backup: restore");
        await database.BackupAsync(small, null, null, cancellationToken);
        rows.Add(await RestoreAsync(small, reports[BackupCompression.ZstdFastest], cancellationToken));
        File.Delete(small);
        await progress.WriteLineAsync("backup: direct to S3");
        rows.AddRange(await DirectUpload.RowsAsync(database, folder.Path, rounds, cancellationToken));
        await progress.WriteLineAsync("backup: writers and memory");
        rows.Add(await BackupMemory.RowAsync(database, cancellationToken));
        rows.Add(await WritersMeanwhile.RowAsync(database, quick ? 1 : 3, TimeSpan.FromSeconds(quick ? 0.3 : 5), cancellationToken));
        return rows;
    }

    private static void Add(Dictionary<BackupCompression, List<double>> figures, BackupCompression compression, double figure) =>
        (figures.TryGetValue(compression, out List<double>? list) ? list : figures[compression] = []).Add(figure);

    private static async Task<(double MegabytesPerSecond, BackupReport Report)> BackupAsync(
        Database database, BackupCompression compression, EncryptionKey? key, CancellationToken cancellationToken)
    {
        BackupReport? report = null;
        var options = new BackupOptions { Compression = compression, EncryptionKey = key };
        double seconds = await Timing.SecondsAsync(async () => report = await database.BackupAsync(Stream.Null, options, null, cancellationToken));
        return (report!.JsonBytes / 1e6 / seconds, report); // it was set by the work that was timed
    }

    /// <summary>Sizes of each data set alone: a goal that is reached on the sum may be missed on one.</summary>
    private static async Task<IReadOnlyList<BenchRow>> SizesAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var rows = new List<BenchRow>();
        foreach (string set in BackupData.Sets(quick))
        {
            await progress.WriteLineAsync($"backup: sizes of {set}");
            using var folder = new Scratch();
            await using Database database = Database.Open(folder.Path);
            await BackupData.FillAsync(database, set, quick ? 2_000 : 40_000, "", cancellationToken);
            var sizes = new Dictionary<BackupCompression, double>();
            foreach (BackupCompression compression in _all.Where(compression => compression != BackupCompression.None))
            {
                BackupReport report = await database.BackupAsync(Stream.Null, new BackupOptions { Compression = compression }, null, cancellationToken);
                sizes[compression] = 100.0 * report.StoredBytes / report.JsonBytes;
            }

            Dictionary<string, double> peers = new() { ["gzip-optimal"] = sizes[BackupCompression.GzipOptimal] };
            rows.Add(new BenchRow($"ZstdFastest, size of {set}", "% of the JSON", false, sizes[BackupCompression.ZstdFastest]) { Peers = peers, Goals = [new Goal(1, "gzip-optimal")] });
            rows.Add(new BenchRow($"ZstdOptimal, size of {set}", "% of the JSON", false, sizes[BackupCompression.ZstdOptimal]) { Peers = peers, Goals = [new Goal(1 / 0.9, "gzip-optimal")] });
            rows.Add(new BenchRow($"GzipFastest, size of {set}", "% of the JSON", false, sizes[BackupCompression.GzipFastest]) { Peers = peers });
        }

        return rows;
    }

    private static async Task<BenchRow> RestoreAsync(string path, BackupReport report, CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        await using FileStream backup = File.OpenRead(path);
        double seconds = await Timing.SecondsAsync(() => Database.RestoreAsync(backup, Path.Combine(folder.Path, "restored"), null, null, cancellationToken));
        return new BenchRow("ZstdFastest, restore", "MB/s", true, report.JsonBytes / 1e6 / seconds);
    }
}
