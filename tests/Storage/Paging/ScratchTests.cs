using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Paging;

public sealed class ScratchTests
{
    [Theory]
    [InlineData(false, 256)]
    [InlineData(true, 256)]
    [InlineData(false, 4)] // 4 MiB of addresses, then 32 MiB at a time
    [InlineData(true, 4)]
    public void Frames_keep_their_bytes_and_memory_beyond_what_is_kept_goes_back(bool spills, int firstMegabytes)
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        var files = new DiskFileSystem(directory.Path);
        spills &= files.CanSpill;
        using var scratch = new Scratch(
            256 << 20, keptBytes: 8 << 20, openSpill: spills ? () => files.CreateSpill(Scratch.ArenaBytes) : null,
            firstBytes: firstMegabytes << 20);
        var held = new Dictionary<uint, (int Pages, byte Stamp)>();
        for (int step = 0; step < 4_000; step++)
        {
            bool isGrowing = step % 2_000 < 1_200;
            if (held.Count == 0 || random.Next(100) < (isGrowing ? 60 : 35))
            {
                int pages = random.Next(20) == 0 ? random.Next(2, 300) : 1;
                if (scratch.BytesInUse > 100 << 20)
                    continue;
                uint frame = scratch.Allocate(pages, step, 1);
                Assert.DoesNotContain(frame, held.Keys);
                byte stamp = (byte)random.Next(256);
                Span<byte> bytes = scratch.Bytes(frame, pages * PageLayout.SizeBytes);
                bytes[0] = bytes[^1] = stamp;
                held.Add(frame, (pages, stamp));
            }
            else
            {
                uint frame = held.Keys.ElementAt(random.Next(Math.Min(held.Count, 50)));
                (int pages, byte stamp) = held[frame];
                Span<byte> bytes = scratch.Bytes(frame, pages * PageLayout.SizeBytes);
                Assert.Equal((stamp, stamp), (bytes[0], bytes[^1]));
                scratch.Release(frame);
                held.Remove(frame);
            }

            if (spills)
                Assert.InRange(scratch.ResidentBytes, 0, 8 << 20);
            if (step % 50 == 0)
                Assert.Equal(held.Values.Sum(run => (long)run.Pages) * PageLayout.SizeBytes, scratch.BytesInUse);
        }

        held.Add(scratch.Allocate(3800, -1, 1), (3800, 0));
        Assert.True(scratch.ResidentBytes + scratch.SpilledBytes >= 29 << 20);
        Assert.Equal(spills, scratch.SpilledBytes > 0);
        Assert.Empty(Directory.GetFiles(directory.Path)); // the file has no name
        foreach (uint frame in held.Keys)
            scratch.Release(frame);
        Assert.Equal(0, scratch.BytesInUse);
        Assert.InRange(scratch.ResidentBytes, 0, 8 << 20);
        Assert.Equal(0, scratch.SpilledBytes);
        scratch.Trim();
        Assert.InRange(scratch.ResidentBytes, 0, Scratch.ArenaBytes);
    }

    [Fact]
    public void A_run_that_no_segment_has_room_for_is_refused_by_name()
    {
        using var scratch = new Scratch(256 << 20, keptBytes: 8 << 20, firstBytes: 4 << 20);
        Assert.Contains(
            "smaller transactions", Assert.Throws<StorageException>(() => scratch.Allocate(4096, 1, 1)).Message,
            StringComparison.Ordinal);
        uint frame = scratch.Allocate(3840, 1, 1);
        Assert.True(scratch.IsCommitted(frame));
        Assert.False(scratch.IsCommitted(frame - 1)); // at the end of the previous segment
        Assert.Contains(
            "smaller transactions", Assert.Throws<StorageException>(() => AllocateAll(scratch)).Message,
            StringComparison.Ordinal);
    }

    private static void AllocateAll(Scratch scratch)
    {
        for (int i = 0; i < 256 << 20 >> 13; i++)
            scratch.Allocate(1, i, 1);
    }
}
