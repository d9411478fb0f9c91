using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Treepie.Bench.Measuring;

/// <summary>What the machine itself can do, without any engine: the limits beside which figures stand.</summary>
internal static unsafe class RawMachine
{
    private const int BlockBytes = 4096;
    private const int OpenReadWrite = 0x2, OpenDirect = 0x4000, OpenDataSync = 0x1000;

    /// <summary>
    /// Microseconds of writes of 4 KB to a preallocated, zero-filled file, each durable when it returns. Direct: past the page
    /// cache with <c>O_DSYNC</c>, the fastest durable write there is; otherwise a buffered write and <c>fdatasync</c>. Empty
    /// where the system has neither.
    /// </summary>
    public static double[] SyncedWrites(string directory, bool isDirect, TimeSpan duration)
    {
        if (!OperatingSystem.IsLinux() || RuntimeInformation.ProcessArchitecture != Architecture.X64)
            return [];

        string path = Path.Combine(directory, "raw");
        const int FileBytes = 16 << 20;
        if (!File.Exists(path))
        {
            using FileStream created = File.Create(path);
            created.Write(new byte[FileBytes]);
            created.Flush(flushToDisk: true);
        }

        int file = open(path, OpenReadWrite | (isDirect ? OpenDirect | OpenDataSync : 0));
        if (file < 0)
            return [];

        void* block = NativeMemory.AlignedAlloc(BlockBytes, BlockBytes);
        NativeMemory.Fill(block, BlockBytes, 0x5A);
        var microseconds = new List<double>();
        long began = Stopwatch.GetTimestamp();
        for (long offset = 0; Stopwatch.GetElapsedTime(began) < duration; offset = (offset + BlockBytes) % FileBytes)
        {
            long start = Stopwatch.GetTimestamp();
            if (pwrite(file, block, BlockBytes, offset) != BlockBytes || (!isDirect && fdatasync(file) != 0))
                break; // a file system without direct writes: no limit to show
            microseconds.Add(Stopwatch.GetElapsedTime(start).TotalMicroseconds);
        }

        NativeMemory.AlignedFree(block);
        _ = close(file);
        return [.. microseconds];
    }

    /// <summary>Bytes per second that so many threads read from memory in order.</summary>
    public static double SequentialReads(int threads, TimeSpan duration)
    {
        const int ArrayBytes = 256 << 20;
        var words = GC.AllocateUninitializedArray<long>(ArrayBytes / sizeof(long));
        Array.Fill(words, 1);
        return InParallel(threads, duration, () =>
        {
            System.Numerics.Vector<long> sum = default;
            foreach (System.Numerics.Vector<long> vector in MemoryMarshal.Cast<long, System.Numerics.Vector<long>>(words))
                sum += vector;
            return sum == default ? 0 : ArrayBytes;
        });
    }

    /// <summary>
    /// Cache lines per second that so many threads read from so many bytes of memory, each place known only when the one before
    /// was read.
    /// </summary>
    public static double DependentReads(int threads, long memoryBytes, TimeSpan duration)
    {
        const int WordsPerLine = 16;
        int lines = (int)(memoryBytes / 64);
        var memory = GC.AllocateUninitializedArray<int>(lines * WordsPerLine);
        var order = new int[lines];
        for (int i = 0; i < lines; i++)
            order[i] = i;
        new Random(1).Shuffle(order);
        for (int i = 0; i < lines; i++)
            memory[order[i] * WordsPerLine] = order[(i + 1) % lines];
        return InParallel(threads, duration, () =>
        {
            int line = order[Environment.CurrentManagedThreadId % lines];
            for (int i = 0; i < 100_000; i++)
                line = memory[line * WordsPerLine];
            return line < 0 ? 0 : 100_000;
        });
    }

    private static double InParallel(int threads, TimeSpan duration, Func<double> step)
    {
        double total = 0;
        long began = Stopwatch.GetTimestamp();
        Thread[] all = [.. Enumerable.Range(0, threads).Select(_ => new Thread(() =>
        {
            double own = 0;
            while (Stopwatch.GetElapsedTime(began) < duration)
                own += step();
            lock (step)
                total += own;
        }))];
        foreach (Thread thread in all)
            thread.Start();
        foreach (Thread thread in all)
            thread.Join();
        return total / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

#pragma warning disable SYSLIB1054, CA2101 // as in Peers
    [DllImport("libc", SetLastError = true)]
    private static extern int open([MarshalAs(UnmanagedType.LPUTF8Str)] string path, int flags);

    [DllImport("libc", SetLastError = true)]
    private static extern int close(int file);

    [DllImport("libc", SetLastError = true)]
    private static extern nint pwrite(int file, void* buffer, nint count, long offset);

    [DllImport("libc", SetLastError = true)]
    private static extern int fdatasync(int file);
#pragma warning restore SYSLIB1054, CA2101
}
