using Treepie.Indexing.Postings;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Postings;

/// <summary>Lists as they lie beside their term and in segments, in every form.</summary>
public sealed class PostingSegmentTests
{
    /// <summary>Lists that do not go farther are set in a bitmap of all windows, too.</summary>
    private const int MostWindows = 1_000;

    [Fact]
    public void Segments_give_back_the_windows_they_were_made_of()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 200; round++)
        {
            var ids = new SortedSet<long>();
            long window = random.Next(3) == 0 ? random.NextInt64(1L << 40) : 0;
            for (int windows = random.Next(1, 60); windows > 0; windows--)
            {
                int count = random.Next(8) switch
                {
                    0 => random.Next(250, 260),
                    1 => PostingWindow.Size,
                    2 =>
                    random.Next(1, 1_000),
                    _ => random.Next(1, 10)
                };
                while (count-- > 0)
                    ids.Add((window << PostingWindow.SizeBits) + random.Next(PostingWindow.Size));
                window += random.Next(20) switch { 0 => 254 + random.Next(4), 1 => random.Next(1, 5_000), _ => 1 };
            }

            long[] expected = [.. ids];
            var edit = new PostingEdit();
            edit.Run(new PostingRun([.. expected.Select(id => new Posting(id, 1))], default, default));
            var read = new List<long>();
            ushort[] offsets = new ushort[PostingWindow.Size];
            ulong[] bits = new ulong[window < MostWindows ? (window + 1) * PostingWindow.Blocks : 0];
            for (int next = 0; next < edit.WindowCount;)
            {
                var segment = new PostingSegment(edit.PackSegment(default, ref next, out long firstWindow));
                Assert.Equal(firstWindow, segment.FirstWindow);
                for (int i = 0; i < segment.Count; i++)
                {
                    Assert.Equal(i, segment.LowerBound(segment.WindowAt(i)));
                    Assert.True(i == 0 || segment.WindowAt(i - 1) < segment.WindowAt(i));
                    int count = segment.PostingsAt(i).CopyOffsets(offsets);
                    Assert.Equal(segment.CountAt(i), count);
                    long start = segment.WindowAt(i) << PostingWindow.SizeBits;
                    read.AddRange(offsets.Take(count).Select(offset => start + offset));
                }

                Assert.Equal(segment.Count, segment.LowerBound(segment.LastWindow + 1));
                if (window < MostWindows)
                    segment.CopyTo(bits);
            }

            if (window < MostWindows)
                Assert.True(
                    expected.SequenceEqual(
                        Enumerable.Range(0, bits.Length * 64).Where(id => (bits[id >> 6] >> id & 1) != 0).Select(id => (long)id)),
                    $"seed {seed}, round {round}");

            Assert.True(expected.SequenceEqual(read), $"seed {seed}, round {round}");
        }
    }

    [Fact]
    public void Short_lists_are_read_as_they_were_written()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        byte[] output = new byte[TermPayload.MaxHeadBytes + FlatPostings.MaxBytes];
        for (int round = 0; round < 2_000; round++)
        {
            bool hasPositions = random.Next(2) == 0;
            var buffer = new PostingBuffer(hasPositions);
            long id = 0;
            for (int count = random.Next(3) == 0 ? 1 : random.Next(1, 40); count > 0; count--)
            {
                id += random.NextInt64(1, 1L << random.Next(1, 40));
                int frequency = hasPositions && random.Next(3) == 0 ? random.Next(2, 6) : 1;
                buffer.Add(new Posting(id, frequency), [.. Enumerable.Range(0, frequency).Select(place => place * 200)]);
            }

            long word = random.Next(2) == 0 ? -1 : random.NextInt64(1L << 40);
            PostingRun run = buffer.Run;
            int length = TermPayload.WriteFlat(output, word, run);
            var payload = new TermPayload(output.AsSpan(0, length));
            Assert.Equal((PostingKind.Flat, word, (long)run.Count), (payload.Kind, payload.Word, payload.EntryCount));
            FlatPostings flat = payload.Flat;
            Assert.Equal(run.Count, flat.Count);
            for (int i = 0; i < run.Count; i++)
            {
                Assert.True(flat.MoveNext(out Posting posting) && posting == run[i], $"seed {seed}, round {round}");
                if (hasPositions)
                    Assert.True(flat.TakePositions(posting).SequenceEqual(run.PositionsOf(i)), $"seed {seed}, round {round}");
            }

            Assert.False(flat.MoveNext(out _));
        }
    }
}
