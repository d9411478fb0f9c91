using System.Runtime.InteropServices;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests;

/// <summary>
/// What the simulated disk may leave of pending writes. If it were less, the torture test would prove less.
/// </summary>
public sealed class SimulatedDiskTests
{
    private const int SectorBytes = 512;
    private const int BlockBytes = 4096;
    private const int Sectors = 4;
    private const int Draws = 400;

    private readonly SimulatedDisk _disk = new(new Random(1));

    [Theory]
    [InlineData(0)]
    [InlineData(7)]
    public void A_sector_that_is_written_again_as_it_is_may_be_damaged_and_its_neighbours_not(byte content)
    {
        IFile file = Durable(content);
        file.Write(Filled(content, SectorBytes), SectorBytes);

        var damaged = new HashSet<int>();
        bool isPartly = false;
        foreach (byte[] found in Losses())
        {
            for (int sector = 0; sector < Sectors; sector++)
            {
                ReadOnlySpan<byte> bytes = found.AsSpan(sector * SectorBytes, SectorBytes);
                if (!bytes.ContainsAnyExcept(content))
                    continue;

                damaged.Add(sector);
                isPartly |= bytes[0] == content && bytes[1] == content && bytes[2] == content;
            }
        }

        Assert.Equal([1], damaged);
        Assert.True(isPartly, "A sector is never damaged in a part only.");
    }

    [Theory]
    [InlineData(0)]
    [InlineData(7)]
    public void A_write_of_what_is_there_is_on_its_way_until_it_is_synced(byte content)
    {
        IFile file = Durable(content);
        file.Write(Filled(content, 2 * SectorBytes), SectorBytes);
        Assert.Equal(2, new PowerLoss(_disk).Sectors);
        Assert.Empty(new PowerLoss(_disk).ChangedSectors);
        file.Sync();
        Assert.Equal(0, new PowerLoss(_disk).Sectors);
        Assert.All(Losses(), found => Assert.False(found.AsSpan().ContainsAnyExcept(content)));
    }

    [Fact]
    public void A_sector_may_be_torn_between_any_two_of_the_writes_since_the_sync()
    {
        IFile file = Durable(1);
        file.Write(Filled(2, SectorBytes), 0);
        file.Write(Filled(1, SectorBytes), 0);

        bool isTorn = Losses().Any(static found => found[0] == 2 && found[SectorBytes - 1] == 1
            && !found.AsSpan(0, SectorBytes).ContainsAnyExcept((byte)1, (byte)2));
        Assert.True(isTorn, "A write that the next one undid is never found in a part.");
    }

    [Fact]
    public void A_write_past_the_cache_makes_its_own_bytes_durable_and_none_that_went_through_it()
    {
        IFile file = Durable(1, 4 * BlockBytes);
        file.Write(Filled(2, 4 * BlockBytes), 0);
        PastCache(file);
        file.WriteDurable(Aligned(3), BlockBytes);

        byte[] lost = new PowerLoss(_disk).None().Build().Files["f"].ToArray();
        for (int block = 0; block < 4; block++)
            Assert.False(
                lost.AsSpan(block * BlockBytes, BlockBytes).ContainsAnyExcept(block == 1 ? (byte)3 : (byte)1), $"Block {block}");

        byte[] kept = new PowerLoss(_disk).All().Build().Files["f"].ToArray();
        Assert.Equal([2, 3, 2, 2], [kept[0], kept[BlockBytes], kept[2 * BlockBytes], kept[3 * BlockBytes]]);
    }

    [Fact]
    public void A_write_past_the_cache_is_on_its_way_until_it_ends()
    {
        IFile file = Durable(1, 2 * BlockBytes);
        PastCache(file);
        int sectors = 0;
        _disk.Acting = (kind, _) => sectors = kind == DiskOperation.Sync ? new PowerLoss(_disk).Sectors : sectors;
        file.WriteDurable(Aligned(3), 0);
        Assert.Equal(BlockBytes / SectorBytes, sectors);
        Assert.Equal(0, new PowerLoss(_disk).Sectors);
    }

    [Fact]
    public void A_write_past_the_cache_that_failed_is_made_durable_by_no_later_sync()
    {
        IFile file = Durable(1, 2 * BlockBytes);
        PastCache(file);
        _disk.Fault = new DiskFault(DiskOperation.Sync, _disk.Count(DiskOperation.Sync), IsForever: false);
        Assert.Throws<StorageException>(() => file.WriteDurable(Aligned(3), 0));
        file.Sync();

        Assert.Equal(1, new PowerLoss(_disk).None().Build().Files["f"].ToArray()[0]);
        Assert.Equal(3, new PowerLoss(_disk).All().Build().Files["f"].ToArray()[0]);
    }

    [Fact]
    public void A_call_past_the_cache_that_Linux_would_refuse_is_refused()
    {
        IFile file = Durable(1, 4 * BlockBytes);
        Assert.False(file.TryWriteDirectly(true));
        PastCache(file);
        Memory<byte> aligned = Pinned(2 * BlockBytes);
        Assert.Equal(BlockBytes, file.ReadPastCache(aligned.Span[..BlockBytes], BlockBytes));
        Assert.Throws<InvalidOperationException>(() => file.ReadPastCache(aligned.Span[..BlockBytes], SectorBytes));
        Assert.Throws<InvalidOperationException>(() => file.ReadPastCache(aligned.Span[..SectorBytes], 0));
        Assert.Throws<InvalidOperationException>(() => file.ReadPastCache(aligned.Span.Slice(8, BlockBytes), 0));
        Assert.Throws<InvalidOperationException>(() => file.WriteDurable(aligned.Span.Slice(8, BlockBytes), 0));
    }

    [Fact]
    public void Advice_is_for_what_the_file_has()
    {
        IFile file = Durable(1, 4 * BlockBytes);
        using IFileMap map = _disk.Map(file, 1 << 20);
        map.Grow(4 * BlockBytes);
        map.Announce(0, 4 * BlockBytes);
        Assert.Throws<InvalidOperationException>(() => map.Announce(BlockBytes, 4 * BlockBytes));
    }

    private static Memory<byte> Pinned(int length)
    {
        byte[] bytes = GC.AllocateArray<byte>(length + BlockBytes, pinned: true);
        nint address = Marshal.UnsafeAddrOfPinnedArrayElement(bytes, 0);
        return bytes.AsMemory((int)((BlockBytes - (address % BlockBytes)) % BlockBytes), length);
    }

    private static ReadOnlySpan<byte> Aligned(byte content)
    {
        Span<byte> bytes = Pinned(BlockBytes).Span;
        bytes.Fill(content);
        return bytes;
    }

    private void PastCache(IFile file)
    {
        _disk.DirectClock = new SimulatedClock();
        Assert.True(file.TryWriteDirectly(true));
    }

    private static byte[] Filled(byte content, int length)
    {
        var bytes = new byte[length];
        bytes.AsSpan().Fill(content);
        return bytes;
    }

    private IFile Durable(byte content, int length = Sectors * SectorBytes)
    {
        IFile file = _disk.Open("f", create: true, writable: true);
        file.Write(Filled(content, length), 0);
        file.Sync();
        _disk.SyncDirectory();
        return file;
    }

    private IEnumerable<byte[]> Losses()
    {
        var random = new Random(1);
        for (int i = 0; i < Draws; i++)
            yield return new PowerLoss(_disk).Draw(random, withDamage: true).Build().Files["f"].ToArray();
    }
}
