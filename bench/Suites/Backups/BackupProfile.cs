using System.Globalization;
using Treepie.Backups;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Backups;

/// <summary>
/// One form of backup again and again, for a profiler; or its plain content to a file, for a compressor by itself.
/// </summary>
internal static class BackupProfile
{
    /// <summary>
    /// First argument of the process that runs it: <c>backup-profile set kind compression megabytes times [file]</c>.
    /// </summary>
    public const string Verb = "backup-profile";

    /// <summary>Runs it.</summary>
    public static async Task RunAsync(
        string set, BackupKind kind, BackupCompression compression, int megabytes, int times, string? file)
    {
        using var folder = new Scratch();
        await using Database database = Database.Open(folder.Path);
        await BackupData.FillAsync(database, set, megabytes * 1_000_000L, CancellationToken.None);
        var options = new BackupOptions { Kind = kind, Compression = compression };
        if (file is not null)
            await database.BackupAsync(file, options with { Compression = BackupCompression.None }, null, CancellationToken.None);
        for (int time = 0; time < times; time++)
        {
            BackupReport? report = null;
            ProcessCounters before = ProcessCounters.Now;
            double seconds = await Timing.SecondsAsync(
                async () => report = await database.BackupAsync(Stream.Null, options, null, CancellationToken.None));
            ProcessCounters used = ProcessCounters.Now.Since(before);
            double content = report!.JsonBytes / 1e6; // it was set by the work that was timed
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{set} {kind} {compression}: {content:N0} MB, {content / seconds:N0} MB/s, {content / used.CpuSeconds:N0} MB "
                    + $"per second of processor, {100.0 * report.StoredBytes / report.JsonBytes:N2} %, "
                    + $"{used.AllocatedBytes / 1e6:N1} MB allocated"));
        }
    }
}
