using System.Globalization;
using Treepie.Backups;
using Treepie.Bench.Measuring;
using Treepie.Storage;

namespace Treepie.Bench.Suites.Backups;

/// <summary>
/// One kind of backup in every compression, to where nothing is kept: MB of its content (JSON, or pages) per second, and the
/// compressor alone on the same bytes.
/// </summary>
internal sealed class BackupForms(Database database, BackupKind kind, string folder)
{
    /// <summary>All compressions, the quickest first.</summary>
    public static readonly BackupCompression[] All =
        [BackupCompression.None, BackupCompression.ZstdFastest, BackupCompression.GzipFastest, BackupCompression.ZstdOptimal, BackupCompression.GzipOptimal];

    /// <summary>Those that goals speak of, which take their turns again.</summary>
    private static readonly BackupCompression[] _again =
        [BackupCompression.ZstdFastest, BackupCompression.ZstdOptimal, BackupCompression.GzipOptimal];

    private readonly Dictionary<BackupCompression, List<double>> _figures = All.ToDictionary(
        static compression => compression, static _ => new List<double>());

    /// <summary>The rows.</summary>
    public async Task<IReadOnlyList<BenchRow>> RowsAsync(int rounds, TextWriter progress, CancellationToken cancellationToken)
    {
        using EncryptionKey key = EncryptionKey.Generate();
        // what is compiled and mapped by the first does not count
        await MeasureAsync(BackupCompression.ZstdFastest, null, cancellationToken);
        for (int round = 0; round < rounds; round++)
        {
            foreach (BackupCompression compression in round == 0 ? All : _again)
            {
                await progress.WriteLineAsync(
                    string.Create(CultureInfo.InvariantCulture, $"backup: {kind}, {compression}, round {round + 1} of {rounds}"));
                _figures[compression].Add(await MeasureAsync(compression, null, cancellationToken));
            }
        }

        double closed = await MeasureAsync(BackupCompression.ZstdFastest, key, cancellationToken);
        string content = Path.Combine(folder, "plain");
        await database.BackupAsync(
            content, new BackupOptions { Kind = kind, Compression = BackupCompression.None }, null, cancellationToken);
        double slowest = Statistics.Median(_figures[BackupCompression.GzipOptimal]);
        var rows = new List<BenchRow>();
        foreach (BackupCompression compression in All)
        {
            await progress.WriteLineAsync($"backup: {kind}, {compression}, the compressor alone");
            var peers = new Dictionary<string, double> { ["gzip-optimal"] = slowest };
            if (compression == BackupCompression.ZstdFastest)
                peers["sealed"] = closed;
            rows.Add(BenchRow.Of($"{kind}, {compression}", "MB/s", true, _figures[compression]) with
            {
                Peers = peers,
                Limit = await CompressorAlone.MegabytesPerSecondAsync(content, compression, cancellationToken),
                Goals = GoalsOf(compression),
            });
        }

        File.Delete(content);
        return rows;
    }

    private Goal[] GoalsOf(BackupCompression compression) => compression switch
    {
        BackupCompression.ZstdFastest =>
            [new Goal(kind == BackupKind.Logical ? 2.5 : 4, "gzip-optimal"), new Goal(0.8, IsLimit: true)],
        BackupCompression.ZstdOptimal => [new Goal(1, "gzip-optimal"), new Goal(0.8, IsLimit: true)],
        _ => [],
    };

    private async Task<double> MeasureAsync(
        BackupCompression compression, EncryptionKey? key, CancellationToken cancellationToken)
    {
        BackupReport? report = null;
        var options = new BackupOptions { Kind = kind, Compression = compression, EncryptionKey = key };
        double seconds = await Timing.SecondsAsync(
            async () => report = await database.BackupAsync(Stream.Null, options, null, cancellationToken));
        return report!.JsonBytes / 1e6 / seconds; // it was set by the work that was timed
    }
}
