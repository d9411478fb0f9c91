using System.Diagnostics;
using System.Globalization;
using System.Text;
using Treepie.Backups;
using Treepie.Bench.Measuring;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Backups;

/// <summary>What those who write lose while the database is backed up: the same writers with a backup running all the while and without, by turns.</summary>
internal static class WritersMeanwhile
{
    private const int Writers = 4;
    private const int DocumentsPerBatch = 10;

    private static readonly byte[] _document = Encoding.UTF8.GetBytes($"{{\"text\":\"{new string('x', 300)}\",\"@metadata\":{{\"@collection\":\"written\"}}}}");

    /// <summary>A row for each kind of backup.</summary>
    public static async Task<IReadOnlyList<BenchRow>> RowsAsync(Database database, int rounds, TimeSpan time, CancellationToken cancellationToken)
    {
        BackupKind[] kinds = [BackupKind.Logical, BackupKind.Snapshot];
        var alone = new List<double>();
        List<double>[] during = [[], []];
        for (int round = 0; round < rounds; round++)
        {
            alone.Add(await WriteAsync(database, time, cancellationToken));
            for (int kind = 0; kind < kinds.Length; kind++)
            {
                using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
                Task backups = BackUpAgainAndAgainAsync(database, kinds[kind], stop.Token);
                during[kind].Add(await WriteAsync(database, time, cancellationToken));
                await stop.CancelAsync();
                await backups;
            }
        }

        return
        [
            .. kinds.Select((kind, at) => BenchRow.Of($"4 writers while backups of kind {kind} run", "documents/s", true, during[at]) with
            {
                Peers = new Dictionary<string, double> { ["no backup"] = Statistics.Median(alone) },
                Goals = [new Goal(0.9, "no backup")],
                Reason = string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessorCount} cores, which writers and compressor share"),
            }),
        ];
    }

    private static async Task<double> WriteAsync(Database database, TimeSpan time, CancellationToken cancellationToken)
    {
        long began = Stopwatch.GetTimestamp();
        long[] written = new long[Writers];
        await Task.WhenAll(Enumerable.Range(0, Writers).Select(writer => Task.Run(
            async () =>
            {
                while (Stopwatch.GetElapsedTime(began) < time)
                {
                    var batch = new WriteBatch(database.Options);
                    for (int i = 0; i < DocumentsPerBatch; i++)
                        batch.Put(string.Create(CultureInfo.InvariantCulture, $"written/{writer}/{i}"), _document);
                    await database.WriteAsync(batch, cancellationToken);
                    written[writer] += DocumentsPerBatch;
                }
            },
            cancellationToken)));
        return written.Sum() / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    private static async Task BackUpAgainAndAgainAsync(Database database, BackupKind kind, CancellationToken cancellationToken)
    {
        try
        {
            while (!cancellationToken.IsCancellationRequested)
                await database.BackupAsync(Stream.Null, new BackupOptions { Kind = kind }, null, cancellationToken);
        }
        catch (OperationCanceledException)
        {
            // the writers are done
        }
    }
}
