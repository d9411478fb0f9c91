using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests;

/// <summary>
/// Guarantee "disk full", on the simulated disk and on small real ones: a write without space fails as a whole and reports
/// it; deletes work and make space for writes again; nothing acknowledged is lost.
/// </summary>
public sealed class FullDiskTests : IDisposable
{
    private const int Megabytes = 16;
    private const int ValueBytes = 5000;

    private static readonly StorageOptions _options = new()
    {
        MaxDataFileBytes = 64 << 20,
        ScratchReserveBytes = 256 << 20,
        ScratchBudgetBytes = 4 << 20,
        FirstJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 512 << 10,
    };

    private readonly SortedDictionary<int, byte> _expected = [];
    private SmallFileSystem? _real;
    private SimulatedDisk? _simulated;

    public void Dispose() => _real?.Dispose();

    [Theory]
    [InlineData("simulated", Durability.Durable)]
    [InlineData("simulated", Durability.Relaxed)]
    [InlineData("tmpfs", Durability.Durable)]
    [InlineData("tmpfs", Durability.Relaxed)]
    [InlineData("ext4", Durability.Durable)]
    public void Writes_fail_with_a_clear_error_deletes_work_and_then_writes_again(string disk, Durability durability)
    {
        Begin(disk);
        using (StorageEnvironment environment = Open(durability))
        {
            WriteUntilFull(environment, from: 0, mark: 1);
            AssertHolds(environment);
            foreach (int key in _expected.Keys.Where(key => key % 4 != 0).ToArray())
                Delete(environment, key);
            environment.Checkpoint();
            for (int key = 100_000; key < 100_200; key++)
                Put(environment, key, 2);
            AssertHolds(environment);
        }

        using StorageEnvironment again = Open(durability);
        AssertHolds(again);
    }

    [Theory]
    [InlineData("simulated")]
    [InlineData("tmpfs")]
    [InlineData("ext4")]
    public void A_store_that_was_closed_before_others_filled_the_disk_opens_and_deletes(string disk)
    {
        Begin(disk);
        using (StorageEnvironment environment = Open(Durability.Durable))
            for (int key = 0; key < 1_000; key++)
                Put(environment, key, 1);
        Fill();
        using (StorageEnvironment environment = Open(Durability.Durable))
        {
            foreach (int key in _expected.Keys.Where(key => key % 10 != 0).ToArray())
                Delete(environment, key);
            environment.Checkpoint();
            for (int key = 100_000; key < 100_200; key++)
                Put(environment, key, 2);
            AssertHolds(environment);
        }

        using StorageEnvironment again = Open(Durability.Durable);
        AssertHolds(again);
    }

    [Theory]
    [InlineData("tmpfs")]
    [InlineData("ext4")]
    public void A_store_without_its_lock_file_opens_on_a_full_disk(string disk)
    {
        Begin(disk);
        using (StorageEnvironment environment = Open(Durability.Durable))
            for (int key = 0; key < 100; key++)
                Put(environment, key, 1);
        File.Delete(Path.Combine(_real!.Path, FormatLimits.LockFileName)); // not null: Begin has made it
        Fill();
        using StorageEnvironment again = Open(Durability.Durable);
        Delete(again, 3);
        AssertHolds(again);
    }

    [Theory]
    [InlineData("simulated")]
    [InlineData("tmpfs")]
    [InlineData("ext4")]
    public void With_a_named_snapshot_held_it_can_be_dropped_on_a_full_disk_and_its_room_is_written_again(string disk)
    {
        Begin(disk);
        using (StorageEnvironment environment = Open(Durability.Durable))
        {
            for (int key = 0; key < 500; key++)
                Put(environment, key, 1);
            environment.CreateSnapshot("before");
            for (int key = 0; key < 500; key++)
                Put(environment, key, 2);
            WriteUntilFull(environment, from: 500, mark: 2);
            Delete(environment, 3);
            using (ReadTransaction before = environment.OpenSnapshot("before"))
            {
                Tree tree = before.FindTree("t")!;
                Assert.Equal(500, tree.Count);
                Assert.True(tree.TryGet(BitConverter.GetBytes(3), out ReadOnlySpan<byte> old));
                Assert.True(old.IndexOfAnyExcept((byte)1) < 0);
            }

            Assert.True(environment.DropSnapshot("before"));
            environment.Checkpoint();
            for (int key = 100_000; key < 100_300; key++)
                Put(environment, key, 3);
            AssertHolds(environment);
        }

        using StorageEnvironment again = Open(Durability.Durable);
        AssertHolds(again);
    }

    [Theory]
    [InlineData("simulated", Durability.Durable)]
    [InlineData("simulated", Durability.Relaxed)]
    [InlineData("tmpfs", Durability.Durable)]
    [InlineData("ext4", Durability.Durable)]
    [InlineData("ext4", Durability.Relaxed)]
    public void A_checkpoint_on_a_disk_that_others_filled_has_its_room_or_is_tried_again_and_loses_nothing(
        string disk, Durability durability)
    {
        Begin(disk);
        using (StorageEnvironment environment = Open(durability))
        {
            for (int round = 0; round < 3; round++)
            {
                for (int key = 0; key < 150; key++)
                    Put(environment, (key * 7) + round, (byte)(round + 1));
                Fill();
                environment.Checkpoint(); // needs no more space than the commits reserved
                for (int key = 0; key < 20; key++)
                    Delete(environment, (key * 7) + round);
                AssertHolds(environment);
                environment.Checkpoint();
                Free();
                Put(environment, 50_000 + round, 9);
            }

            Fill();
        }

        using (StorageEnvironment again = Open(durability)) // as full as before
            AssertHolds(again);
        Free();
        using StorageEnvironment last = Open(durability);
        Put(last, 60_000, 1);
        AssertHolds(last);
    }

    private void Begin(string disk)
    {
        if (disk == "simulated")
            _simulated = new SimulatedDisk(new Random(1)) { CapacityBytes = Megabytes << 20 };
        else
            _real = SmallFileSystem.Mount(disk, Megabytes);
    }

    private StorageEnvironment Open(Durability durability)
    {
        StorageOptions options = _options with { Durability = durability };
        return _real is { } real
            ? StorageEnvironment.Open(Path.Combine(real.Path, "store"), options)
            // Begin created one of them.
            : StorageEnvironment.Open(
                new World(_simulated!, TimeProvider.System, new Random(1), IsBackgroundAllowed: false), options);
    }

    private void Fill()
    {
        if (_real is { } real)
            real.Fill();
        else
            _simulated!.CapacityBytes = 0;
    }

    private void Free()
    {
        if (_real is { } real)
            real.Free();
        else
            _simulated!.CapacityBytes = Megabytes << 20;
    }

    private void WriteUntilFull(StorageEnvironment environment, int from, byte mark)
    {
        DiskFullException error = Assert.Throws<DiskFullException>(() =>
        {
            for (int key = from; key < from + 10_000; key++)
                Put(environment, key, mark);
        });
        if (_real is { } real)
        {
            Assert.Contains(real.Path, error.Message, StringComparison.Ordinal);
            Assert.Contains("Free some space and try again", error.Message, StringComparison.Ordinal);
        }
    }

    private void Put(StorageEnvironment environment, int key, byte mark)
    {
        environment.Write(transaction =>
        {
            transaction.GetOrCreateTree("t").Reserve(BitConverter.GetBytes(key), ValueBytes).Fill(mark);
            return true;
        });
        _expected[key] = mark;
    }

    private void Delete(StorageEnvironment environment, int key)
    {
        Assert.True(environment.Write(transaction => transaction.FindTree("t")!.Delete(BitConverter.GetBytes(key))));
        _expected.Remove(key);
    }

    private void AssertHolds(StorageEnvironment environment)
    {
        using (ReadTransaction read = environment.BeginRead())
        {
            Tree tree = read.FindTree("t")!;
            Assert.Equal(_expected.Count, tree.Count);
            foreach ((int key, byte mark) in _expected)
                Assert.True(
                    tree.TryGet(BitConverter.GetBytes(key), out ReadOnlySpan<byte> value)
                        && value.Length == ValueBytes
                        && value.IndexOfAnyExcept(mark) < 0,
                    $"Key {key} is not as it was acknowledged.");
        }

        Assert.Empty(environment.Check().Problems);
    }
}
