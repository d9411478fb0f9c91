using Treepie.Backups;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Backups;

/// <summary>
/// What is stored as a share of what went in, of each data set alone: a goal that is reached on the sum may be missed on one.
/// </summary>
internal static class BackupSizes
{
    private const long MostBytes = 48_000_000, QuickBytes = 2_000_000;

    /// <summary>The rows.</summary>
    public static async Task<IReadOnlyList<BenchRow>> RowsAsync(
        bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var rows = new List<BenchRow>();
        foreach (string set in BackupData.Sets(quick))
        {
            await progress.WriteLineAsync($"backup: sizes of {set}");
            using var folder = new Scratch();
            await using Database database = Database.Open(folder.Path);
            await BackupData.FillAsync(database, set, quick ? QuickBytes : MostBytes, cancellationToken);
            foreach (BackupKind kind in (BackupKind[])[BackupKind.Logical, BackupKind.Snapshot])
                rows.AddRange(await RowsAsync(database, kind, set.Split('.')[0], cancellationToken));
        }

        return rows;
    }

    private static async Task<IReadOnlyList<BenchRow>> RowsAsync(
        Database database, BackupKind kind, string set, CancellationToken cancellationToken)
    {
        var sizes = new Dictionary<BackupCompression, double>();
        foreach (BackupCompression compression in BackupForms.All.Where(
            static compression => compression != BackupCompression.None))
        {
            BackupReport report = await database.BackupAsync(
                Stream.Null, new BackupOptions { Kind = kind, Compression = compression }, null, cancellationToken);
            sizes[compression] = 100.0 * report.StoredBytes / report.JsonBytes;
        }

        Dictionary<string, double> peers = new() { ["gzip-optimal"] = sizes[BackupCompression.GzipOptimal] };
        BenchRow Row(BackupCompression compression, params Goal[] goals) =>
            new($"{kind}, {compression}, size of {set}", "% of its content", false, sizes[compression])
            {
                Peers = peers,
                Goals = goals
            };
        return
        [
            Row(BackupCompression.ZstdFastest, new Goal(1, "gzip-optimal")),
            Row(BackupCompression.ZstdOptimal, new Goal(1 / 0.9, "gzip-optimal")),
            Row(BackupCompression.GzipFastest),
        ];
    }
}
