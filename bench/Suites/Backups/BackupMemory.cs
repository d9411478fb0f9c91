using Treepie.Backups;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Backups;

/// <summary>Memory of a backup beyond what the process had before it, looked at while it runs.</summary>
internal static class BackupMemory
{
    private const double MostMiB = 64;

    /// <summary>The row.</summary>
    public static async Task<BenchRow> RowAsync(Database database, BackupOptions options, CancellationToken cancellationToken)
    {
        // what stays of the first belongs to the engine
        await database.BackupAsync(Stream.Null, options, null, cancellationToken);
        GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        double before = ProcessCounters.PrivateMiB, most = before;
        Task backup = Task.Run(() => database.BackupAsync(Stream.Null, options, null, cancellationToken), cancellationToken);
        while (!backup.IsCompleted)
        {
            most = Math.Max(most, ProcessCounters.PrivateMiB);
            await Task.WhenAny(backup, Task.Delay(10, cancellationToken));
        }

        await backup;
        return new BenchRow(
            $"{options.Kind}, {options.Compression}, memory beyond the engine's", "MiB", false,
            Math.Max(0.01, most - before))
        { Limit = MostMiB, Goals = [Goal.AtMost(1)] };
    }
}
