using System.Diagnostics;
using System.Globalization;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Torture;

/// <summary>
/// Keeps a reader open while the whole database is overwritten many times. It may retain one version of each page and no
/// more; memory and journal must not grow; the statistics must name it; and it must still read what it read at first.
/// </summary>
/// <param name="directory">Directory of the environment; the caller deletes it.</param>
/// <param name="databaseBytes">Size of the data.</param>
/// <param name="writtenBytes">Bytes written while the reader is open.</param>
/// <param name="say">Receives progress messages.</param>
internal sealed class LongReader(string directory, long databaseBytes, long writtenBytes, Action<string> say)
{
    private const string Name = "the report that never ends";
    private const int ValueBytes = 64_000;
    private const int PutsPerCommit = 8;
    private const int Samples = 10;

    private readonly StorageOptions _options = new()
    {
        ScratchBudgetBytes = Math.Clamp(databaseBytes / 4, 1 << 20, 256 << 20),
        MaxJournalBytes = 256 << 20
    };

    private long Keys => Math.Max(8, databaseBytes / ValueBytes);

    /// <summary>
    /// Maximum file size. The reader's snapshot takes as much as the newest state, because every page it sees has been replaced.
    /// </summary>
    private long FileBound(long before) =>
        (2 * before) // the reader's snapshot, and the newest state
        + (3 * (_options.ScratchBudgetBytes + (4 * _options.MaxJournalFileBytes))) // held by the last checkpoints
        + (64 << 20); // one growth step

    // The current file, two spare files, and one that is not full.
    private long JournalBound => _options.MaxJournalBytes + (4 * _options.MaxJournalFileBytes);

    private long ScratchBound => 2 * _options.ScratchBudgetBytes;

    /// <summary>Runs the test. Returns the bounds that were exceeded, empty if none.</summary>
    public List<string> Run()
    {
        var problems = new List<string>();
        using StorageEnvironment environment = StorageEnvironment.Open(directory, _options);
        for (long key = 0; key < Keys;)
            key += Put(environment, key, stamp: 0, count: Math.Min(PutsPerCommit, Keys - key));
        environment.Checkpoint();
        long before = environment.GetStatistics().DataFileBytes;
        long memory = MemoryBytes();
        say(Invariant($"{Mib(before)} MiB stored; {Mib(writtenBytes)} MiB are written while '{Name}' stays open"));
        say("written MiB | data file | journal | scratch | held by the reader | process memory without the map (MiB)");

        var watch = Stopwatch.StartNew();
        using (ReadTransaction reader = environment.BeginRead(Name))
        {
            var random = new Random(1);
            long written = 0, next = 0;
            for (int stamp = 1; written < writtenBytes; stamp++)
            {
                written += Put(environment, random.NextInt64(Math.Max(1, Keys - PutsPerCommit)), stamp, PutsPerCommit)
                    * ValueBytes;
                Look(environment.GetStatistics(), before, problems);
                if (written < next)
                    continue;

                next += writtenBytes / Samples;
                StorageStatistics now = environment.GetStatistics();
                say(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"{Mib(written)} | {Mib(now.DataFileBytes)} | {Mib(now.JournalBytes)} | {Mib(now.ScratchBytes)} | "
                                + $"{Mib(now.BytesHeldByReaders)} | {Mib(MemoryBytes())} (at first {Mib(memory)})"));
                if (problems.Count > 0)
                    return problems;
            }

            Look(reader, problems);
        }

        say(
            string.Create(
                CultureInfo.InvariantCulture,
                $"bounds: data file {Mib(FileBound(before))}, journal {Mib(JournalBound)}, scratch {Mib(ScratchBound)} MiB; "
                        + $"{watch.Elapsed.TotalSeconds:f1} s"));
        Put(environment, 0, stamp: -1, count: 1);
        environment.Checkpoint();
        if (environment.GetStatistics() is { BytesHeldByReaders: not 0 } still)
            problems.Add(Invariant($"The reader has ended, and {still.BytesHeldByReaders} bytes are still held."));
        return problems;
    }

    private static long Put(StorageEnvironment environment, long key, int stamp, long count)
    {
        environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("t");
            for (long i = 0; i < count; i++)
                BitConverter.TryWriteBytes(tree.Reserve(Key(key + i), ValueBytes), stamp);
            return true;
        });
        return count;
    }

    private void Look(StorageStatistics statistics, long before, List<string> problems)
    {
        if (statistics.DataFileBytes > FileBound(before))
            problems.Add(Invariant($"The data file has {statistics.DataFileBytes} bytes, the bound is {FileBound(before)}."));
        if (statistics.JournalBytes > JournalBound)
            problems.Add(Invariant($"The journal has {statistics.JournalBytes} bytes, the bound is {JournalBound}."));
        if (statistics.ScratchBytes > ScratchBound)
            problems.Add(Invariant($"Scratch has {statistics.ScratchBytes} bytes, the bound is {ScratchBound}."));
        if (statistics.BytesHeldByReaders > before)
            problems.Add(Invariant($"The reader holds {statistics.BytesHeldByReaders} bytes, it sees {before}."));
        if (statistics.OldestReader?.Name != Name)
            problems.Add($"The statistics name '{statistics.OldestReader?.Name}' as the oldest reader.");
    }

    private void Look(ReadTransaction reader, List<string> problems)
    {
        Tree tree = reader.FindTree("t")!; // it was filled before
        for (long key = 0; key < Keys; key++)
            if (!tree.TryGet(Key(key), out ReadOnlySpan<byte> value)
                || value.Length != ValueBytes
                || BitConverter.ToInt32(value) != 0)
                problems.Add(Invariant($"The reader sees another value under key {key} than it did."));
    }

    private static byte[] Key(long key)
    {
        byte[] bytes = BitConverter.GetBytes(key);
        Array.Reverse(bytes);
        return bytes;
    }

    /// <summary>Private memory of the process. Mapped pages of the file belong to the system's cache.</summary>
    private static long MemoryBytes()
    {
        if (!OperatingSystem.IsLinux())
            return Environment.WorkingSet;

        string line = File.ReadLines("/proc/self/status").First(line => line.StartsWith("RssAnon:", StringComparison.Ordinal));
        return long.Parse(line.AsSpan("RssAnon:".Length).Trim(" \tkB"), CultureInfo.InvariantCulture) << 10;
    }

    private static long Mib(long bytes) => bytes >> 20;

    private static string Invariant(FormattableString text) => FormattableString.Invariant(text);
}
