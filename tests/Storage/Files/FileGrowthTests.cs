using System.Buffers.Binary;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Files;

/// <summary>Files grow without changing their content, whether or not the file system supports preallocation.</summary>
public sealed class FileGrowthTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Growing_leaves_what_others_write_meanwhile(bool refuses)
    {
        using var directory = new TemporaryDirectory();
        var files = new DiskFileSystem(directory.Path, calls: new SystemFloor { RefusesAllocation = refuses });
        using IFile file = files.Open("f", create: true, writable: true);
        const int Blocks = 256, BlockBytes = 4096, Rounds = 40;
        file.Allocate(Blocks * BlockBytes);
        long round = 0;
        var writer = new Thread(() =>
        {
            var block = new byte[BlockBytes];
            for (long i = 1; i <= Rounds * 8; i++)
            {
                BinaryPrimitives.WriteInt64LittleEndian(block, i);
                BinaryPrimitives.WriteInt64LittleEndian(block.AsSpan(BlockBytes - 8), i);
                for (int at = 0; at < Blocks; at++)
                    file.Write(block, at * BlockBytes);
                Volatile.Write(ref round, i);
            }
        });
        writer.Start();
        for (int i = 1; i <= Rounds; i++)
            file.Allocate((Blocks + (i * 64L)) * BlockBytes);
        writer.Join();

        var read = new byte[BlockBytes];
        for (int at = 0; at < Blocks; at++)
        {
            Assert.Equal(BlockBytes, file.Read(read, at * BlockBytes));
            Assert.Equal(round, BinaryPrimitives.ReadInt64LittleEndian(read));
            Assert.Equal(round, BinaryPrimitives.ReadInt64LittleEndian(read.AsSpan(BlockBytes - 8)));
        }

        Assert.Equal((Blocks + (Rounds * 64L)) * BlockBytes, file.Length);
    }

    [Fact]
    public void Without_blocks_ahead_zeros_are_written_and_only_behind_the_end()
    {
        var disk = new SimulatedDisk(new Random(1)) { RefusesAllocation = true, Story = [] };
        using IFile file = disk.Open("f", create: true, writable: true);
        file.Allocate(3_000_000);
        file.Write([1, 2, 3], 2_999_997);
        disk.Story!.Clear();
        file.Allocate(5_000_000);
        Assert.Equal(["  5: Write 'f' at 3000000, 1048576 bytes", "  6: Write 'f' at 4048576, 951424 bytes"], disk.Story);
        var end = new byte[4];
        file.Read(end, 2_999_997);
        Assert.Equal(new byte[] { 1, 2, 3, 0 }, end);
        file.Allocate(4_000_000);
        Assert.Equal(5_000_000, file.Length);
    }

    [Fact]
    public void A_full_disk_leaves_the_file_as_long_as_it_was()
    {
        var disk = new SimulatedDisk(new Random(1)) { RefusesAllocation = true, CapacityBytes = 3_500_000 };
        using IFile file = disk.Open("f", create: true, writable: true);
        file.Allocate(1_000_000);
        Assert.Throws<DiskFullException>(() => file.Allocate(5_000_000));
        Assert.Equal(1_000_000, file.Length);
        file.Allocate(2_000_000);
    }

    /// <summary>
    /// Regression test: the C library wrote a zero back into each block of the file while a checkpoint wrote there.
    /// </summary>
    [Fact]
    public void A_store_without_blocks_ahead_loses_nothing_to_checkpoints_beside_its_growth()
    {
        using var directory = new TemporaryDirectory();
        var floor = new SystemFloor { RefusesAllocation = true };
        var options = new StorageOptions
        {
            ScratchBudgetBytes = 1 << 20,
            FirstJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 256 << 10
        };
        const int Count = 3_000;
        var value = new byte[3_000];
        using (StorageEnvironment environment = StorageEnvironment.Open(floor.World(directory.Path), options))
        {
            for (int i = 0; i < Count; i++)
            {
                BinaryPrimitives.WriteInt32BigEndian(value, i);
                environment.Write(transaction => transaction.GetOrCreateTree("t").Put(value.AsSpan(0, 4), value));
            }

            Assert.False(environment.GetStatistics().Platform.GivesBlocksAhead);
        }

        using (StorageEnvironment environment = StorageEnvironment.Open(floor.World(directory.Path), options))
        {
            using Storage.Transactions.ReadTransaction read = environment.BeginRead();
            Tree tree = read.FindTree("t")!;
            for (int i = 0; i < Count; i++)
            {
                BinaryPrimitives.WriteInt32BigEndian(value, i);
                Assert.True(
                    tree.TryGet(value.AsSpan(0, 4), out ReadOnlySpan<byte> found) && found.SequenceEqual(value),
                    $"Value {i} is lost.");
            }

            Assert.Empty(environment.Check().Problems);
        }
    }
}
