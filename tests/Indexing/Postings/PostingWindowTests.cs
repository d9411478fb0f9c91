using Treepie.Indexing.Postings;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Postings;

public sealed class PostingWindowTests
{
    [Fact]
    public void Offsets_and_frequencies_of_every_width_are_read_as_they_were_written()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        byte[] output = new byte[PostingWindow.MaxEncodedBytes(PostingWindow.Size)];
        byte[] impacts = new byte[PostingWindow.Blocks];
        foreach (int count in new[] { 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 700, 4_095, 4_096 })
        {
            foreach (int largest in new[] { 1, 2, 15, 16, 255, 256, 70_000 })
            {
                foreach (int oneIn in new[] { 1, 6, 100 })
                {
                    ushort[] offsets = [
                        .. Enumerable.Range(0, PostingWindow.Size)
                            .OrderBy(_ => random.Next())
                            .Take(count)
                            .Order()
                            .Select(offset => (ushort)offset)];
                    int[] frequencies = [.. offsets.Select(_ => random.Next(oneIn) == 0 ? random.Next(largest) + 1 : 1)];
                    int length = PostingWindow.Encode(offsets, frequencies, impacts, output);
                    var window = new PostingWindow(count, output.AsSpan(0, length));
                    ushort[] read = new ushort[PostingWindow.Size];
                    Assert.Equal(count, window.CopyOffsets(read));
                    Assert.Equal(offsets, read.AsSpan(0, count).ToArray());
                    for (int rank = 0; rank < count; rank++)
                        Assert.True(
                            frequencies[rank] == window.Frequency(rank), $"seed {seed}: rank {rank} of {count}, up to {largest}");
                    for (int i = 0; i < 20; i++)
                    {
                        int from = random.Next(count + 1), to = random.Next(from, count + 1);
                        Assert.Equal(frequencies.AsSpan(from, to - from).ToArray().Sum(), window.SumFrequencies(from, to));
                    }

                    if (count >= PostingWindow.MinBitsCount)
                        CheckAbove(window, offsets, frequencies, random);

                    var reader = new FrequencyReader(window);
                    for (int from = 0, to = random.Next(3); to < count; from = to + 1, to = from + random.Next(80))
                    {
                        Assert.Equal(frequencies.AsSpan(from, to - from).ToArray().Sum(), reader.Sum(from, to));
                        Assert.Equal(frequencies[to], reader.At(to));
                    }

                    var sums = new FrequencySums(window, new int[FrequencySums.ScratchLength]);
                    ushort[] ranks = [.. Enumerable.Range(0, count).Where(_ => random.Next(3) == 0).Select(rank => (ushort)rank)];
                    int[] starts = new int[ranks.Length], counts = new int[ranks.Length];
                    for (int from = 0, to; from < ranks.Length; from = to)
                    {
                        // Some, then those behind: it goes on where it was.
                        to = random.Next(from + 1, ranks.Length + 1);
                        sums.Reach(random.Next(ranks[to - 1], count + 1));
                        sums.Locate(ranks.AsSpan(from..to), starts.AsSpan(from..to), counts.AsSpan(from..to));
                    }

                    for (int i = 0; i < ranks.Length; i++)
                    {
                        Assert.Equal(frequencies.AsSpan(0, ranks[i]).ToArray().Sum(), starts[i]);
                        Assert.Equal(starts[i], sums.Before(ranks[i]));
                        Assert.Equal(frequencies[ranks[i]], counts[i]);
                    }

                    sums.Reach(count);
                    Assert.Equal(frequencies.Sum(), sums.Before(count));

                    ushort[] before = new ushort[PostingWindow.Blocks];
                    ushort[] asked = [.. ranks.Select(rank => offsets[rank])], found = new ushort[ranks.Length];
                    if (window.TryCountBefore(before))
                        window.CopyRanks(asked, before, found);
                    else
                        window.CopyRanks(asked, 0, found);
                    Assert.Equal(ranks, found);
                    if (window.Form != WindowSetForm.Bits)
                        continue;
                    window.CopyRanks(asked, found = new ushort[ranks.Length]);
                    Assert.Equal(ranks, found);
                }
            }
        }
    }

    private static void CheckAbove(PostingWindow window, ushort[] offsets, int[] frequencies, Random random)
    {
        ulong[] expected = new ulong[PostingWindow.Blocks], above = new ulong[PostingWindow.Blocks];
        bool isKnown = frequencies.Max() <= 15;
        for (int rank = 0; rank < offsets.Length; rank++)
            expected[offsets[rank] / 64] |= !isKnown || frequencies[rank] > 1 ? 1UL << (offsets[rank] % 64) : 0;
        ulong[] asked = [.. expected.Select(_ => (ulong)random.Next(2))];
        FrequenciesAbove.Copy(in window, asked, above);
        for (int block = 0; block < asked.Length; block++)
            Assert.Equal(asked[block] == 0 ? 0 : expected[block], above[block]);
    }
}
