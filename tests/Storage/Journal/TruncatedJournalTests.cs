using System.Buffers.Binary;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Journal;

/// <summary>
/// A journal file that is shorter than when its use began has lost frames that may have been acknowledged. A power failure
/// cannot cause that, because the length is durable before the first frame, so it is damage and never the end of the log.
/// </summary>
public sealed class TruncatedJournalTests
{
    private const int Commits = 40;
    private const int BlockBytes = 4096;

    /// <summary>Options without checkpoints, so that the journal contains everything.</summary>
    private static readonly StorageOptions _options = SmallDisk.Options with
    {
        ScratchBudgetBytes = 4 << 20,
        MaxJournalFileBytes = 16 << 20
    };

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_journal_file_cut_off_anywhere_is_refused_unless_nothing_is_lost(int sessions)
    {
        var random = new Random(Seed.Next());
        SimulatedDisk store = Build(random, sessions);
        int refused = 0;
        foreach (string file in Uses(store))
        {
            byte[] whole = store.Bytes(file);
            foreach (int length in Cuts(whole.Length))
            {
                SimulatedDisk disk = store.Copy(random);
                disk.Replace(file, whole[..length]);
                refused += IsRefused(
                    disk, random, $"'{file}' cut off at {length} of {whole.Length}", length < BlockBytes ? null : file) ? 1 : 0;
            }
        }

        Assert.True(refused > 20, $"Only {refused} were refused.");
    }

    [Fact]
    public void The_newest_file_missing_empty_or_of_zeros_is_refused()
    {
        var random = new Random(Seed.Next());
        SimulatedDisk store = Build(random, sessions: 1);
        string newest = Uses(store)[^1];
        int length = store.Bytes(newest).Length;
        SimulatedDisk missing = store.Copy(random);
        missing.Delete(newest);
        Assert.Throws<CorruptionException>(() => Open(missing, random));
        foreach (byte[] content in (byte[][])[[], new byte[length]])
        {
            SimulatedDisk disk = store.Copy(random);
            disk.Replace(newest, content);
            Assert.True(IsRefused(disk, random, $"'{newest}' replaced by {content.Length} zeros", file: null));
        }
    }

    [Fact]
    public void The_newest_file_missing_is_refused_also_where_garbage_lies_behind_the_record_that_announces_it()
    {
        var random = new Random(Seed.Next());
        SimulatedDisk disk = Build(random, sessions: 1);
        string[] uses = Uses(disk);
        disk.Delete(uses[^1]);
        byte[] before = disk.Bytes(uses[^2]);
        random.NextBytes(before.AsSpan((int)JournalNextUse.OffsetIn(before.Length) + PendingWrite.SectorBytes));
        disk.Replace(uses[^2], before);
        CorruptionException error = Assert.Throws<CorruptionException>(() => Open(disk, random));
        Assert.Contains($"'{uses[^2]}' says that it continues", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_error_names_file_lengths_and_transactions_and_salvage_saves_what_is_before_the_cut()
    {
        var random = new Random(Seed.Next());
        SimulatedDisk disk = Build(random, sessions: 1);
        string newest = Uses(disk)[^1];
        byte[] whole = disk.Bytes(newest);
        int cut = BlockBytes * 3; // leaves the header and two frames
        disk.Replace(newest, whole[..cut]);
        CorruptionException error = Assert.Throws<CorruptionException>(() => Open(disk, random));
        Assert.Contains(newest, error.Message, StringComparison.Ordinal);
        Assert.Contains($"{cut} bytes", error.Message, StringComparison.Ordinal);
        Assert.Contains($"{whole.Length}", error.Message, StringComparison.Ordinal);
        Assert.True(FrameHeader.TryRead(whole.AsSpan(BlockBytes * 2), out FrameHeader last));
        Assert.Contains($"transaction {last.LastTransaction}", error.Message, StringComparison.Ordinal);
        Assert.Contains("salvage", error.Message, StringComparison.OrdinalIgnoreCase);

        CheckReport report = StorageCheck.Run(
            WorldOf(disk, random), key: null, progress: null, TestContext.Current.CancellationToken);
        Assert.Contains(report.Problems, problem => problem.What.Contains(newest, StringComparison.Ordinal));
        var rescued = new SimulatedDisk(random);
        SalvageReport saved = Salvage.Run(
            WorldOf(disk, random), WorldOf(rescued, random), null, null, TestContext.Current.CancellationToken);
        Assert.NotEmpty(saved.Problems);
        using StorageEnvironment environment = Open(rescued, random);
        using ReadTransaction read = environment.BeginRead();
        Assert.Equal(last.LastTransaction, read.FindTree("t")!.Count); // each transaction puts one key
    }

    [Fact]
    public void After_a_clean_close_a_journal_file_cut_off_is_not_missed_and_is_used_again()
    {
        var random = new Random(Seed.Next());
        SimulatedDisk disk = Build(random, sessions: 1);
        using (StorageEnvironment environment = Open(
            disk, random, _options with { FirstJournalFileBytes = 1 << 20, MaxJournalFileBytes = 1 << 20 }))
            Put(environment, 0);
        foreach (string file in disk.List().Where(name => name.StartsWith("journal-", StringComparison.Ordinal)).ToArray())
            disk.Replace(file, disk.Bytes(file)[..(disk.Bytes(file).Length / 2 / BlockBytes * BlockBytes)]);
        for (int session = 0; session < 2; session++)
        {
            Write(disk, random, 10);
            disk.Crash();
        }

        using StorageEnvironment again = Open(disk, random);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(Commits, read.FindTree("t")!.Count);
        Assert.Empty(again.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Fact]
    public void A_journal_of_an_older_program_opens_and_a_cut_in_it_is_noticed_where_it_can_be()
    {
        var random = new Random(Seed.Next());
        SimulatedDisk store = Build(random, sessions: 1);
        foreach (string file in Uses(store))
            ForgetLength(store.Bytes(file));
        using (StorageEnvironment environment = Open(store.Copy(random), random))
        using (ReadTransaction read = environment.BeginRead())
            Assert.Equal(Commits, read.FindTree("t")!.Count);

        string newest = Uses(store)[^1];
        byte[] whole = store.Bytes(newest);
        foreach (int length in (int[])[BlockBytes * 3 + 512, BlockBytes * 3 + 1, whole.Length - 512])
        {
            // The length of a journal file is always a multiple of 4 KiB.
            SimulatedDisk disk = store.Copy(random);
            disk.Replace(newest, whole[..length]);
            Assert.True(IsRefused(disk, random, $"cut off at {length}", newest));
        }
    }

    [Fact]
    public void A_frame_that_is_cut_off_in_a_journal_of_an_older_program_is_noticed()
    {
        var random = new Random(Seed.Next());
        SimulatedDisk disk = Build(random, sessions: 1, lastValueBytes: 30_000);
        string newest = Uses(disk)[^1];
        byte[] whole = disk.Bytes(newest);
        ForgetLength(whole);
        int frame = LastFrame(whole);
        disk.Replace(newest, whole[..(frame + (3 * BlockBytes))]);
        Assert.True(IsRefused(disk, random, "The last frame is cut off.", newest));
    }

    [Fact]
    public void A_length_in_the_header_of_a_frame_that_power_loss_damaged_is_no_cut()
    {
        var random = new Random(Seed.Next());
        SimulatedDisk disk = Build(random, sessions: 1);
        string newest = Uses(disk)[^1];
        byte[] damaged = disk.Bytes(newest);
        int frame = LastFrame(damaged);
        const int LengthOffset = 48, DecodedLengthOffset = 52;
        damaged[frame + LengthOffset + 2] ^= 0xF7; // 16 MB, while the file has all of its length
        damaged[frame + DecodedLengthOffset + 2] ^= 0xF7;
        disk.Replace(newest, damaged);
        using StorageEnvironment environment = Open(disk, random);
        using ReadTransaction read = environment.BeginRead();
        Assert.Equal(Commits - 1, read.FindTree("t")!.Count);
    }

    [Fact]
    public void A_file_shorter_than_the_journal_position_of_the_meta_page_is_refused()
    {
        var random = new Random(Seed.Next());
        SimulatedDisk disk = Build(random, sessions: 1);
        using (StorageEnvironment environment = Open(disk, random))
        {
            for (int i = 0; i < 6; i++)
                Put(environment, i);
            environment.Checkpoint(TestContext.Current.CancellationToken);
            Put(environment, 0);
            Put(environment, 1);
            disk.CrashAt = disk.Operations;
        }

        disk.Crash();
        string newest = Uses(disk)[^1];
        byte[] bytes = disk.Bytes(newest);
        ForgetLength(bytes);
        disk.Replace(newest, bytes[..(2 * BlockBytes)]);
        Assert.True(IsRefused(disk, random, "cut off before the position of the checkpoint", newest));
    }

    /// <summary>Every block and sector boundary near the beginning, and some later ones.</summary>
    private static IEnumerable<int> Cuts(int length)
    {
        for (int at = 0; at < length; at += at < 6 * BlockBytes ? 512 : BlockBytes)
            yield return at;
        yield return 1;
        yield return length - 1;
    }

    /// <summary>
    /// Returns true if opening is refused, for writing and for reading, without writing anything. Otherwise everything
    /// acknowledged must be there.
    /// </summary>
    private static bool IsRefused(SimulatedDisk disk, Random random, string what, string? file)
    {
        try
        {
            using StorageEnvironment environment = Open(disk, random);
            using ReadTransaction read = environment.BeginRead();
            Assert.True(
                Commits == (read.FindTree("t")?.Count ?? 0),
                $"{what}: {read.FindTree("t")?.Count ?? 0} of {Commits} are there, and nobody notices.");
            return false;
        }
        catch (CorruptionException error)
        {
            if (file is not null)
                Assert.Contains(file, error.Message, StringComparison.Ordinal);
            Assert.Equal(0, disk.Operations);
            Assert.Throws<CorruptionException>(() => Open(disk, random, _options with { ReadOnly = true }));
            return true;
        }
    }

    /// <summary>Builds a store of 40 transactions whose last state is in its journal only.</summary>
    private static SimulatedDisk Build(Random random, int sessions, int lastValueBytes = 500)
    {
        var disk = new SimulatedDisk(random);
        for (int session = 0; session < sessions; session++)
        {
            Write(disk, random, Commits, lastValueBytes);
            disk.Crash();
        }

        return disk;
    }

    private static void Write(SimulatedDisk disk, Random random, int commits, int lastValueBytes = 500)
    {
        using StorageEnvironment environment = Open(disk, random);
        for (int i = 0; i < commits; i++)
            Put(environment, i, i == commits - 1 ? lastValueBytes : 500);
        disk.CrashAt = disk.Operations; // so that closing writes no checkpoint
    }

    /// <summary>Changes the header to that of an older program, which did not record the length.</summary>
    private static void ForgetLength(byte[] file)
    {
        Span<byte> block = file.AsSpan(0, BlockBytes);
        block.Slice(80, 8).Clear();
        block.Slice(64, 8).Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(block[64..], FrameHash.Compute(block));
    }

    private static int LastFrame(byte[] file)
    {
        int last = 0;
        for (int at = BlockBytes; at < file.Length; at += BlockBytes)
            if (FrameHeader.TryRead(file.AsSpan(at), out _))
                last = at;
        return last;
    }

    /// <summary>Journal files in use, in the order of their uses.</summary>
    private static string[] Uses(SimulatedDisk disk) =>
        [.. disk.List()
            .Where(name => name.StartsWith("journal-", StringComparison.Ordinal) && UseOf(disk.Bytes(name)) > 0)
            .OrderBy(name => UseOf(disk.Bytes(name)))];

    private static long UseOf(byte[] file) =>
        file.Length >= BlockBytes
            && JournalFileHeader.TryRead(file.AsSpan(0, BlockBytes).ToArray(), "", out JournalFileHeader header)
                ? header.Use
                : -1;

    private static World WorldOf(SimulatedDisk disk, Random random) => new(disk, TimeProvider.System, random, false);

    private static StorageEnvironment Open(SimulatedDisk disk, Random random, StorageOptions? options = null) =>
        StorageEnvironment.Open(WorldOf(disk, random), options ?? _options);

    private static void Put(StorageEnvironment environment, int key, int bytes = 500) =>
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[bytes]));
}
