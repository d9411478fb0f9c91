using System.Diagnostics;
using System.Globalization;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Bench.Suites.Opening;

/// <summary>
/// Environments that take long to come by honestly: one of a hundred gigabytes, and one whose process died with a journal tail of
/// a given length.
/// </summary>
internal static class OpenedStores
{
    /// <summary>
    /// Makes an environment with a little data and so many bytes of pages in use that nothing was ever written to.
    /// </summary>
    public static void MakeSparse(string path, long bytes, Action<StorageEnvironment> fill)
    {
        var world = new World(new SparseFiles(path), TimeProvider.System, new Random(1), IsBackgroundAllowed: true);
        using StorageEnvironment environment = StorageEnvironment.Open(world, new StorageOptions());
        fill(environment);
        long pages = bytes / PageLayout.SizeBytes;
        environment.Commits.RunExclusive(() =>
        {
            for (long left = pages; left > 0; left -= FormatLimits.PagesPerBitmap)
                environment.State.Space.Allocate((int)Math.Min(left, FormatLimits.PagesPerBitmap));
        });
        // a checkpoint has something to write
        environment.Write(static transaction => transaction.GetOrCreateTree("last").Put("k"u8, "v"u8));
    }

    /// <summary>
    /// Makes an environment with 1 MB of data and a tail of frames, as a process that was killed leaves it; returns the bytes of
    /// the frames.
    /// </summary>
    public static long MakeTail(string path, long bytes, Action<StorageEnvironment, long, long> put)
    {
        var files = new SparseFiles(path);
        var options = new StorageOptions // no checkpoint on the way
        {
            MaxJournalFileBytes = 64L << 20,
            ScratchBudgetBytes = 2L << 30,
            MemoryBudgetBytes = 2L << 30,
        };
        using StorageEnvironment environment = StorageEnvironment.Open(
            new World(files, TimeProvider.System, new Random(1), IsBackgroundAllowed: true), options);
        put(environment, 0, 1000);
        environment.Checkpoint();
        for (long at = 1000; environment.GetStatistics().JournalBytesSinceCheckpoint < bytes; at += 10)
            put(environment, at, 10);
        files.IsDead = true;
        return environment.GetStatistics().JournalBytesSinceCheckpoint;
    }

    /// <summary>Bytes that the files of a directory really take.</summary>
    public static double BlockBytes(string directory)
    {
        using Process process = Process.Start(
            new ProcessStartInfo("du", ["-s", "-B1", directory]) { RedirectStandardOutput = true })
            ?? throw new InvalidOperationException("du could not be started.");
        string text = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return double.Parse(text.Split('\t')[0], CultureInfo.InvariantCulture);
    }
}
