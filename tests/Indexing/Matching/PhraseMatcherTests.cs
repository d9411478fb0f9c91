using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Phrases;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// How often and how closely words stand together, against trying every choice of positions: words that occur twice, words at
/// one place of the query, and places left out of it, as analyzers with stop words and synonyms give them.
/// </summary>
public sealed class PhraseMatcherTests
{
    [Fact]
    public void A_phrase_counts_as_trying_every_choice_of_positions_says()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        _ = new IndexWriter(environment, Model.RandomData.Schema);
        using var searcher = new IndexSearcher(environment);
        using var context = new QueryContext(searcher.View, TestContext.Current.CancellationToken);
        int matched = 0, inexact = 0;
        for (int round = 0; round < 6_000; round++)
        {
            int words = random.Next(1, 5), distinct = 0;
            int[] terms = new int[words], offsets = new int[words];
            for (int i = 0; i < words; i++)
            {
                terms[i] = distinct > 0 && random.Next(4) == 0 ? random.Next(distinct) : distinct++;
                offsets[i] = (i == 0 ? random.Next(3) : offsets[i - 1]) + (i == 0 ? 0 : random.Next(3));
                if (i > 0 && offsets[i] == offsets[i - 1] && terms.AsSpan(0, i).Contains(terms[i]))
                    offsets[i]++; // the same word twice at one place is one word
            }

            int slop = random.Next(2) == 0 ? 0 : random.Next(1, 6);
            bool isOrdered = random.Next(2) == 0;
            var matcher = new PhraseMatcher(context, terms, offsets, slop, isOrdered);
            for (int entry = 0; entry < 4; entry++)
            {
                int[][] positions = [.. Enumerable.Range(0, distinct).Select(_ => Positions(random))];
                PositionList[] lists = [.. positions.Select(List)];
                double expected = Frequency(terms, offsets, positions, slop, isOrdered);
                float actual = matcher.Match(lists);
                Assert.True(
                    Math.Abs(expected - actual) < 1e-5,
                    $"seed {seed}, round {round}: words {string.Join(' ', terms)} at {string.Join(' ', offsets)}, slop {slop}, "
                        + $"ordered {isOrdered}, in {string.Join(" | ", positions.Select(own => string.Join(' ', own)))}: "
                        + $"{actual} instead of {expected}");
                matched += expected > 0 ? 1 : 0;
                inexact += expected % 1 > 0 ? 1 : 0;
            }
        }

        Assert.True(matched > 3_000 && inexact > 500, $"only {matched} phrases were there, {inexact} of them not exactly");
    }

    private static PositionList List(int[] positions)
    {
        var list = new PositionList();
        list.Set(positions);
        return list;
    }

    private static int[] Positions(Random random)
    {
        int last = random.Next(3) - 1;
        int[] positions = new int[random.Next(7)];
        foreach (ref int position in positions.AsSpan())
            position = last += random.Next(1, 4);
        return positions;
    }

    /// <summary>The sum over all starts, each by the smallest slop that suffices there.</summary>
    private static double Frequency(int[] terms, int[] offsets, int[][] positions, int slop, bool isOrdered)
    {
        double sum = 0;
        foreach (int start in terms.SelectMany((term, i) => positions[term].Select(at => at - offsets[i])).Distinct())
        {
            if (start < 0 && slop == 0)
                continue; // an exact phrase begins in the text
            for (int least = 0; least <= slop; least++)
            {
                if (!Fits(start, least, []))
                    continue;
                sum += 1.0 / (1 + least);
                break;
            }
        }

        return sum;

        bool Fits(int start, int most, List<int> taken)
        {
            int i = taken.Count;
            return i == terms.Length || Array.Exists(
                positions[terms[i]],
                at => at >= start + offsets[i] && at <= start + offsets[i] + most
                    && !taken.Where((other, j) => terms[j] == terms[i] && other == at).Any()
                    && (!isOrdered || i == 0 || (offsets[i] > offsets[i - 1] ? at > taken[^1] : at >= taken[^1]))
                    && Fits(start, most, [.. taken, at]));
        }
    }
}
