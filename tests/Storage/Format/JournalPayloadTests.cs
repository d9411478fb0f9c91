using System.Buffers.Binary;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Format;

public class JournalPayloadTests
{
    [Fact]
    public void What_is_written_of_a_page_makes_it_again_from_its_original()
    {
        var random = new Random(Seed.Next());
        byte[] written = new byte[JournalPayload.MaxPageBytes];
        for (int round = 0; round < 1_000; round++)
        {
            byte[] original = new byte[PageLayout.SizeBytes];
            if (round % 4 != 0)
                random.NextBytes(original);
            byte[] page = [.. original];
            for (int change = random.Next(round % 10 == 0 ? 2_000 : 12); change > 0; change--)
                page[random.Next(page.Length)] ^= (byte)(1 << random.Next(8));

            int length = JournalPayload.WritePage(
                written, 7, round % 4 == 0 ? 0 : 5, page, round % 4 == 0 ? default : original, LineSet.All);

            Assert.Equal(length, JournalPayload.Apply(written, original));
            Assert.Equal(page, original);
        }
    }

    [Fact]
    public void A_range_has_the_bytes_that_differ_and_no_others()
    {
        byte[] original = new byte[PageLayout.SizeBytes], written = new byte[JournalPayload.MaxPageBytes];
        byte[] page = [.. original];
        page[1001] = 1;
        page[1002] = 2;

        int length = JournalPayload.WritePage(written, 7, 5, page, original, LineSet.All);

        Assert.Equal(JournalPayload.PageHeadBytes + 4 + 2, length);
    }

    [Fact]
    public void A_page_written_anew_is_told_by_where_its_cells_lay()
    {
        var random = new Random(Seed.Next());
        byte[] written = new byte[JournalPayload.MaxPageBytes];
        for (int round = 0; round < 200; round++)
        {
            byte[] original = Leaf(random, out List<byte[]> keys);
            byte[] page = [.. original];
            var leaf = new SlottedPage(page);
            leaf.Clear();
            int from = round % 3 == 0 ? keys.Count / 2 : 0; // rebuilt, or the right half of a split
            var rebuild = new PageRebuild([.. original], -1, default, 0, false);
            PageRebuild.Write(rebuild, leaf, from, keys.Count);

            int length = JournalPayload.WritePage(written, 7, 5, page, original, LineSet.All);

            Assert.True(length < 1_500, $"{length} bytes for {keys.Count} entries");
            Assert.Equal(length, JournalPayload.Apply(written, original));
            Assert.Equal(page, original);
        }
    }

    [Fact]
    public void An_entry_that_is_put_in_or_taken_out_costs_its_bytes_and_not_those_it_shifts()
    {
        var random = new Random(Seed.Next());
        byte[] written = new byte[JournalPayload.MaxPageBytes];
        long bytes = 0;
        const int Rounds = 400;
        for (int round = 0; round < Rounds; round++)
        {
            byte[] original = Leaf(random, out List<byte[]> keys);
            byte[] page = [.. original];
            var leaf = new SlottedPage(page);
            LineSet changed = default;
            changed.Add(0, PageLayout.HeaderBytes);
            if (round % 2 == 0)
            {
                byte[] key = new byte[16];
                random.NextBytes(key);
                int index = leaf.LowerBound(key, 0, out _);
                random.NextBytes(leaf.Insert(index, key, 20, false));
                changed.Add(leaf.LinesFrom(index));
                changed.Add(leaf.LinesOf(index));
            }
            else
            {
                int index = random.Next(keys.Count);
                leaf.Remove(index);
                changed = LineSet.All;
            }

            int length = JournalPayload.WritePage(written, 7, 5, page, original, changed);

            Assert.InRange(length, JournalPayload.PageHeadBytes, JournalPayload.MostPageBytes(changed, 1));
            bytes += length;
            Assert.Equal(length, JournalPayload.Apply(written, original));
            Assert.Equal(page, original);
        }

        Assert.InRange(bytes / Rounds, 40, 130); // 180 more if the headers and slots after the entry were written too
    }

    [Fact]
    public void A_range_that_lies_outside_the_page_it_is_taken_from_is_a_fault()
    {
        byte[] original = Leaf(new Random(Seed.Next()), out List<byte[]> keys);
        byte[] page = [.. original], payload = new byte[JournalPayload.HeadBytes + JournalPayload.MaxPageBytes];
        var leaf = new SlottedPage(page);
        leaf.Clear();
        PageRebuild.Write(new PageRebuild([.. original], -1, default, 0, false), leaf, 0, keys.Count);
        Span<byte> changed = payload.AsSpan(JournalPayload.HeadBytes);
        int length = JournalPayload.WritePage(changed, 7, 5, page, original, LineSet.All);
        TreeRecord.Empty(1).Write(payload);
        TreeRecord.Empty(2).Write(payload.AsSpan(56));
        BinaryPrimitives.WriteInt32LittleEndian(payload.AsSpan(36), 1);
        BinaryPrimitives.WriteInt64LittleEndian(payload.AsSpan(40), 100);
        payload = payload[..(JournalPayload.HeadBytes + length)];
        Assert.Null(JournalPayload.FindFault(payload));

        // The last range is a moved cell. Claim that it is at the page's last byte.
        BinaryPrimitives.WriteUInt16LittleEndian(payload.AsSpan(payload.Length - 2), PageLayout.SizeBytes - 1);

        Assert.Contains("of page 5", JournalPayload.FindFault(payload), StringComparison.Ordinal);
    }

    /// <summary>A leaf after changes: cells in no order, some unused.</summary>
    private static byte[] Leaf(Random random, out List<byte[]> keys)
    {
        byte[] page = new byte[PageLayout.SizeBytes];
        _ = new Page(page) { Number = 5, Birth = 3, TreeId = 9, Type = PageType.Leaf, HeapStart = PageLayout.SizeBytes };
        var leaf = new SlottedPage(page);
        keys = [];
        for (int i = 0; i < 60; i++)
        {
            byte[] key = new byte[16];
            random.NextBytes(key);
            int index = leaf.LowerBound(key, 0, out _);
            random.NextBytes(leaf.Insert(index, key, random.Next(8, 60), false));
            keys.Insert(index, key);
        }

        for (int i = 0; i < 20; i++)
        {
            int index = random.Next(keys.Count), length = random.Next(8, 100);
            if (leaf.HasRoom(16, length))
                random.NextBytes(leaf.Replace(index, length, false));
        }

        return page;
    }
}
