using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

public sealed class WindowSetTests
{
    [Fact]
    public void Every_pair_of_forms_combines_as_sets_do()
    {
        var random = new Random(Seed.Next());
        int[] sizes = [0, 1, 5, 126, 127, 128, 1000, 4095, 4096];
        foreach (int leftSize in sizes)
        {
            foreach (int rightSize in sizes)
            {
                for (int operation = 0; operation < 6; operation++)
                    Check(random, leftSize, rightSize, operation);
            }
        }
    }

    [Fact]
    public void Members_added_one_by_one_are_a_set()
    {
        var random = new Random(Seed.Next());
        var set = new WindowSet();
        set.SetEmpty();
        var model = new SortedSet<ushort>();
        for (int i = 0; i < 500; i++)
        {
            ushort offset = (ushort)random.Next(600);
            set.Add(offset);
            model.Add(offset);
            Assert.Equal(model.Count, set.Count);
        }

        Assert.Equal(model, Members(set));
    }

    [Fact]
    public void A_posting_window_reads_back_what_was_encoded()
    {
        var random = new Random(Seed.Next());
        foreach (int size in (int[])[1, 2, 127, 128, 129, 4095, 4096])
        {
            foreach (int largest in (int[])[0, 1, 15, 16, 255, 256, 65535, 65536])
            {
                ushort[] offsets = Offsets(random, size);
                int[] frequencies = largest == 0 ? [] : [.. offsets.Select(_ => random.Next(1, largest + 1))];
                if (largest > 0)
                    frequencies[random.Next(size)] = largest;
                byte[] impacts = new byte[PostingWindow.Blocks];
                random.NextBytes(impacts);
                byte[] bytes = new byte[PostingWindow.MaxEncodedBytes(size)];
                int length = PostingWindow.Encode(offsets, frequencies, impacts, bytes);
                var window = new PostingWindow(size, bytes.AsSpan(0, length));
                for (int i = 0; i < size && largest > 0; i++)
                    Assert.True(window.ImpactAt(offsets[i]) >= impacts[offsets[i] >> PostingWindow.BlockBits]);
                for (int i = 0; i < 5; i++)
                {
                    int from = random.Next(size + 1);
                    int to = random.Next(from, size + 1);
                    int sum = 0;
                    for (int rank = from; rank < to; rank++)
                        sum += window.Frequency(rank);
                    Assert.Equal(sum, window.SumFrequencies(from, to));
                }

                ushort[] before = new ushort[PostingWindow.Blocks];
                if (window.TryCountBefore(before))
                {
                    for (int offset = 0; offset < 4096; offset++)
                        Assert.Equal(window.Rank(offset), window.Rank(offset, before));
                }

                ushort[] decoded = new ushort[4096];
                Assert.Equal(size, window.CopyOffsets(decoded));
                Assert.Equal(offsets, decoded[..size]);
                for (int rank = 0; rank < size; rank += 1 + random.Next(50))
                {
                    Assert.Equal(rank, window.Rank(offsets[rank]));
                    Assert.Equal(largest == 0 ? 1 : frequencies[rank], window.Frequency(rank));
                }

                int probe = random.Next(4096);
                Assert.Equal(offsets.Contains((ushort)probe), window.Contains(probe));
                Assert.Equal(window.Contains(probe), window.Rank(probe) >= 0);
            }
        }
    }

    private static void Check(Random random, int leftSize, int rightSize, int operation)
    {
        ushort[] left = Offsets(random, leftSize);
        ushort[] right = Offsets(random, rightSize);
        var set = new WindowSet();
        set.SetEmpty();
        if (leftSize == 4096)
            set.SetFull();
        else
            set.SetOffsets(left);
        var other = new WindowSet();
        other.SetEmpty();
        if (rightSize == 4096)
            other.SetFull();
        else
            other.SetOffsets(right);
        byte[] bytes = new byte[PostingWindow.MaxEncodedBytes(4096)];
        int length = rightSize == 0 ? 0 : PostingWindow.Encode(right, [], [], bytes);
        var window = new PostingWindow(rightSize, bytes.AsSpan(0, length));
        IEnumerable<ushort> expected;
        switch (operation)
        {
            case 0: set.Combine(SetOperation.And, other); expected = left.Intersect(right); break;
            case 1: set.Combine(SetOperation.And, window); expected = left.Intersect(right); break;
            case 2: set.Combine(SetOperation.Or, other); expected = left.Union(right); break;
            case 3: set.Combine(SetOperation.Or, window); expected = left.Union(right); break;
            case 4: set.Combine(SetOperation.AndNot, other); expected = left.Except(right); break;
            default: set.Combine(SetOperation.AndNot, window); expected = left.Except(right); break;
        }

        ushort[] wanted = [.. expected.Order()];
        Assert.Equal(wanted, Members(set));
        Assert.Equal(wanted.Length, set.Count);
        Assert.Equal(wanted.Length == 0, set.IsEmpty);
        int probe = random.Next(4096);
        Assert.Equal(wanted.Contains((ushort)probe), set.Contains(probe));
    }

    private static ushort[] Members(WindowSet set)
    {
        ushort[] members = new ushort[4096];
        return members[..set.CopyTo(members)];
    }

    private static ushort[] Offsets(Random random, int size) =>
        [.. Enumerable.Range(0, 4096).OrderBy(_ => random.Next()).Take(size).Order().Select(i => (ushort)i)];
}
