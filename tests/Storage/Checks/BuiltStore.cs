using System.Buffers.Binary;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests.Checks;

/// <summary>
/// An environment on a simulated disk with pages of all kinds, and its expected content after each of its transactions.
/// </summary>
internal sealed class BuiltStore
{
    public const string DataFile = "data.treepie";
    public const int PageBytes = 8192;

    public static readonly StorageOptions Options = new()
    {
        MaxDataFileBytes = 64 << 20,
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 4 << 20,
        FirstJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 1 << 20,
    };

    private BuiltStore(SimulatedDisk disk) => Disk = disk;

    public SimulatedDisk Disk { get; }

    /// <summary>The content after each transaction.</summary>
    public Dictionary<long, Model> States { get; } = new() { [0] = new Model() };

    public Model Last { get; private set; } = new();

    /// <summary>Last transaction contained in the last checkpoint. Later ones are in the journal only.</summary>
    public long CheckpointedUpTo { get; private set; }

    /// <summary>Builds a store. Without a clean close, the last commits are in the journal only.</summary>
    public static BuiltStore Build(
        Random random, bool closesCleanly, WorkloadShape? shape = null, int commits = 120, EncryptionKey? key = null)
    {
        var store = new BuiltStore(new SimulatedDisk(random));
        var workload = new Workload(
            random,
            shape
                ?? new WorkloadShape
                {
                    Keys = 6000,
                    MaxSteps = 200,
                    MaxValueBytes = 40_000,
                    DropPerMille = 0,
                    DeletePerMille = 250
                });
        var model = new Model();
        using (StorageEnvironment environment = Open(store.Disk, random, Options with { EncryptionKey = key }))
        {
            for (int i = 0; i < commits; i++)
            {
                Commit(environment);
                if (i % 25 == 20 && i < commits - 12)
                    environment.Checkpoint();
            }

            while (!closesCleanly && environment.GetStatistics().JournalBytesSinceCheckpoint == 0)
                Commit(environment); // the last commit was followed by a checkpoint
            store.CheckpointedUpTo = environment.State.Durable.LastTransaction;
            if (!closesCleanly)
                store.Disk.CrashAt = store.Disk.Operations;
        }

        if (!closesCleanly)
        {
            store.Disk.LeavesGarbage = false;
            store.Disk.Crash();
        }

        store.Last = model;
        return store;

        void Commit(StorageEnvironment environment)
        {
            environment.Write(workload.Next(model));
            store.States[environment.GetStatistics().LastTransactionId] = model.Copy();
        }
    }

    public static StorageEnvironment Open(SimulatedDisk disk, Random random, StorageOptions? options = null) =>
        StorageEnvironment.Open(WorldOf(disk, random), options ?? Options);

    public static World WorldOf(SimulatedDisk disk, Random random) => new(disk, TimeProvider.System, random, false);

    /// <summary>A copy of the disk with some bytes of a file changed.</summary>
    public SimulatedDisk With(Random random, string file, Action<byte[]> damage)
    {
        SimulatedDisk copy = Disk.Copy(random);
        byte[] bytes = [.. copy.Bytes(file)];
        damage(bytes);
        copy.Replace(file, bytes);
        return copy;
    }

    /// <summary>Pages of trees by type and tree id, according to their headers, including pages of older states.</summary>
    public List<(long Number, int Type, int Level, uint Tree)> Pages()
    {
        byte[] data = Disk.Bytes(DataFile);
        var pages = new List<(long, int, int, uint)>();
        for (int offset = 0; offset + PageBytes <= data.Length; offset += PageBytes)
        {
            ReadOnlySpan<byte> page = data.AsSpan(offset, PageBytes);
            if (BinaryPrimitives.ReadInt64LittleEndian(page) == offset / PageBytes)
                pages.Add((offset / PageBytes, page[20], page[21], BinaryPrimitives.ReadUInt32LittleEndian(page[16..])));
        }

        return pages;
    }

    /// <summary>Changes a number in both copies of a meta page, and corrects the checksums.</summary>
    public static void ForgeMeta(byte[] file, int slot, int offset, long value, int sizeBytes)
    {
        for (int copy = 0; copy < 2; copy++)
        {
            Span<byte> bytes = file.AsSpan((slot * PageBytes) + (copy * PageBytes / 2), PageBytes / 2);
            if (sizeBytes == 8)
                BinaryPrimitives.WriteInt64LittleEndian(bytes[offset..], value);
            else
                BinaryPrimitives.WriteInt32LittleEndian(bytes[offset..], (int)value);
            new Page(bytes).Checksum = Page.ComputeChecksum(bytes);
        }
    }

    /// <summary>The frames that no checkpoint contains, as file and offset.</summary>
    public List<(string Journal, int Offset)> LiveFrames()
    {
        var frames = new List<(string, int)>();
        foreach (string journal in Disk.List()
            .Where(name => name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal)))
        {
            byte[] whole = Disk.Bytes(journal);
            ulong salt = BinaryPrimitives.ReadUInt64LittleEndian(whole.AsSpan(40));
            for (int offset = FrameHeader.AlignmentBytes;
                 offset + FrameHeader.SizeBytes <= whole.Length;
                 offset += FrameHeader.AlignmentBytes)
                if (FrameHeader.TryRead(whole.AsSpan(offset), out FrameHeader header)
                    && header.Salt == salt
                    && header.LastTransaction > CheckpointedUpTo)
                    frames.Add((journal, offset));
        }

        return frames;
    }

    /// <summary>Damages a page: one bit, some random bytes, or all of it set to zero.</summary>
    public static void Spoil(byte[] file, long page, Random random)
    {
        Span<byte> bytes = file.AsSpan((int)page * PageBytes, PageBytes);
        switch (random.Next(3))
        {
            case 0:
                bytes[random.Next(64 + random.Next(200))] ^= (byte)(1 << random.Next(8));
                break;
            case 1:
                random.NextBytes(bytes.Slice(random.Next(PageBytes - 600), 600));
                break;
            default:
                bytes.Clear();
                break;
        }
    }
}
