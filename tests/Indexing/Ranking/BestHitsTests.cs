using Treepie.Indexing.Ranking;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Ranking;

public sealed class BestHitsTests
{
    [Fact]
    public void The_hits_kept_are_the_first_of_a_sorted_list_at_every_moment()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 400; round++)
        {
            int wanted = random.Next(1, 12);
            long[] ids = new long[wanted];
            float[] scores = new float[wanted];
            var best = new BestHits(ids, scores);
            var all = new List<(float Score, long Id)>();
            foreach (int id in Shuffled(random, random.Next(60)))
            {
                float score = random.Next(3) == 0 ? random.Next(3) : random.NextSingle() * 3;
                all.Add((score, id));
                best.Offer(id, score);
                (float Score, long Id)[] expected =
                    [.. all.OrderByDescending(hit => hit.Score).ThenBy(hit => hit.Id).Take(wanted)];
                string what = $"seed {seed}, round {round}, after {all.Count} hits";
                Assert.True(expected.Length == best.Count, what);
                Assert.True(expected.Select(hit => hit.Id).SequenceEqual(ids[..best.Count]), what);
                Assert.True(expected.Select(hit => hit.Score).SequenceEqual(scores[..best.Count]), what);
                float worst = best.WorstScore;
                Assert.True(worst == (all.Count < wanted ? float.NegativeInfinity : expected[^1].Score), what);
            }
        }
    }

    /// <summary>What makes a word count more or less in an entry, whatever the exact formula.</summary>
    [Fact]
    public void A_rare_word_is_worth_more_than_a_frequent_one_and_never_less_than_nothing()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 2_000; round++)
        {
            long entries = random.NextInt64(1, 1L << random.Next(1, 40));
            long having = random.NextInt64(1, entries + 1);
            double worth = Bm25.Idf(entries, having);
            Assert.True(worth > 0 && double.IsFinite(worth), $"{having} of {entries}: {worth}");
            if (having < entries)
                Assert.True(worth >= Bm25.Idf(entries, having + 1), $"{having} of {entries}: {worth}");
            Assert.True(worth <= Bm25.Idf(entries * 2, having), $"{having} of {entries}: {worth}");
        }
    }

    private static int[] Shuffled(Random random, int count)
    {
        int[] ids = [.. Enumerable.Range(0, count)];
        random.Shuffle(ids);
        return ids;
    }
}
