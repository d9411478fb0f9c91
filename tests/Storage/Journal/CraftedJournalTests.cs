using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Journal;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Journal;

/// <summary>
/// A journal crafted to slow down recovery. The amount read and hashed must stay proportional to the file, whatever its
/// blocks claim.
/// </summary>
public sealed class CraftedJournalTests
{
    private const int BlockBytes = 4096;

    [Fact]
    public void Blocks_that_all_claim_the_rest_of_the_file_are_hashed_in_proportion_to_its_length()
    {
        const int Blocks = 2048; // 8 MiB; hashing to the end from each block would hash 8 GiB
        var random = new Random(7);
        var disk = new SimulatedDisk(random);
        StorageOptions options = SmallDisk.Options with
        {
            FirstJournalFileBytes = Blocks * BlockBytes,
            MaxJournalFileBytes = Blocks * BlockBytes
        };
        using (StorageEnvironment environment = StorageEnvironment.Open(
            new World(disk, TimeProvider.System, random, false), options))
        {
            for (int i = 0; i < 3; i++)
                environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, new byte[100]));
            disk.CrashAt = disk.Operations; // so that closing writes no checkpoint
        }

        disk.Crash();
        string name = disk.List()
            .First(
                file => file.StartsWith("journal-", StringComparison.Ordinal)
                    && disk.Bytes(file).AsSpan().IndexOfAnyExcept((byte)0) >= 0);
        byte[] bytes = disk.Bytes(name);
        Assert.True(FrameHeader.TryRead(bytes.AsSpan(BlockBytes), out FrameHeader first));
        for (int block = 8; block < Blocks - 2; block++)
        {
            var claim = first with
            {
                Frame = first.Frame + block,
                FirstTransaction = 1000 + block,
                LastTransaction = 1000 + block,
                DurableUpTo = 999,
                PayloadBytes = ((Blocks - 1 - block) * BlockBytes) - FrameHeader.SizeBytes
            };
            claim.Write(bytes.AsSpan(block * BlockBytes));
        }

        long read = 0;
        using IFile data = disk.Open(FormatLimits.DataFileName, create: false, writable: false);
        MetaPage meta = DataFile.ReadMeta(disk, data);
        using var files = new JournalFiles(disk);
        var counted = files.OpenAll(meta.StoreId, writable: false)
            .Select(
                file => new JournalFile(new CountedFile(file.File, count => read += count), file.LengthBytes)
                {
                    Header = file.Header
                }).ToList();
        int frames = 0;
        CorruptionException error = Assert.Throws<CorruptionException>(() =>
            new JournalReader(disk, counted, null).Read(meta.Journal, meta.LastTransaction, meta.IsClean, (_, _) => frames++));
        Assert.True(frames >= 3, $"{frames} frames are whole.");
        Assert.Contains(name, error.Message, StringComparison.Ordinal);
        Assert.True(read <= 8L * bytes.Length, $"{read} bytes were read and hashed of a file of {bytes.Length}.");
    }

    private sealed class CountedFile(IFile inner, Action<int> onRead) : IFile
    {
        public string Name => inner.Name;

        public long Length => inner.Length;

        public int Read(Span<byte> destination, long offset)
        {
            int read = inner.Read(destination, offset);
            onRead(read);
            return read;
        }

        public void Write(ReadOnlySpan<byte> source, long offset) => inner.Write(source, offset);

        public void Sync() => inner.Sync();

        public bool TryAllocate(long offset, long lengthBytes) => inner.TryAllocate(offset, lengthBytes);

        public void Truncate(long lengthBytes) => inner.Truncate(lengthBytes);

        public void Dispose() => inner.Dispose();
    }
}
