using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Suggestions;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Suggestions;

/// <summary>What holds for every measure of likeness, and how suggestions depend on it.</summary>
public sealed class TextLikenessTests
{
    private static readonly string[] _letters = ["a", "b", "c", "ä", "\U0001F600", "d"];

    [Fact]
    public void Likeness_is_from_0_to_1_the_same_both_ways_and_1_for_equal_texts()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        foreach (SuggestionDistance distance in Enum.GetValues<SuggestionDistance>())
        {
            for (int round = 0; round < 2_000; round++)
            {
                string x = Word(random, 9), y = random.Next(3) == 0 ? Edited(x, random) : Word(random, 9);
                float likeness = TextLikeness.Of(distance, x, y);
                string what = $"seed {seed}, {distance} of '{x}' and '{y}' is {likeness}";
                Assert.True(likeness is >= 0 and <= 1.0001f, what);
                Assert.True(Math.Abs(1 - TextLikeness.Of(distance, x, x)) < 1e-6, what);
                if (distance != SuggestionDistance.JaroWinkler) // which character is taken first depends on the side
                    Assert.True(Math.Abs(likeness - TextLikeness.Of(distance, y, x)) < 1e-6, what);
                if (distance != SuggestionDistance.None && x != y)
                    Assert.True(likeness < 1 || (distance == SuggestionDistance.NGram && SamePairs(x, y)), what);
                if (distance != SuggestionDistance.None && x.Length > 0 && y.Length > 0
                    && !x.EnumerateRunes().Intersect(y.EnumerateRunes()).Any())
                    Assert.True(likeness == 0, what);
            }
        }
    }

    /// <summary>
    /// The number of edits is the least number of steps in which one text becomes the other, found by trying all.
    /// </summary>
    [Fact]
    public void Edits_are_the_fewest_steps_from_one_text_to_the_other()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 150; round++)
        {
            string x = Small(random), y = Small(random);
            int longer = Math.Max(1, Math.Max(x.Length, y.Length));
            float expected = 1 - (Steps(x, y, []) / (float)longer);
            Assert.True(
                Math.Abs(expected - TextLikeness.Of(SuggestionDistance.Levenshtein, x, y)) < 1e-6,
                $"seed {seed}, round {round}: '{x}' and '{y}'");
        }
    }

    /// <summary>
    /// By any measure, the suggestions are those of all near words that are like enough, in the order that was asked for.
    /// </summary>
    [Fact]
    public void Suggestions_are_the_words_that_are_like_enough_in_their_order()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var fixture = new IndexFixture(RandomData.Schema);
        var counts = new Dictionary<string, long>();
        for (int i = 0; i < 500; i++)
        {
            string word = Word(random, 6);
            counts[word] = counts.GetValueOrDefault(word) + 1;
            fixture.Put("docs/" + i, (1, FieldValue.Of(word)));
        }

        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        int found = 0;
        for (int round = 0; round < 300; round++)
        {
            var request = new SuggestionRequest
            {
                Field = "tag",
                Text = Word(random, 6),
                Distance = (SuggestionDistance)random.Next(4),
                Accuracy = random.Next(11) / 10f,
                Take = random.Next(20),
                ByPopularity = random.Next(2) == 0,
            };
            int edits = request.Text.EnumerateRunes().Count() <= 2 ? 1 : 2;
            IEnumerable<Suggestion> near = counts
                .Where(word => word.Key != request.Text && NaivePatterns.IsNear(word.Key, request.Text, edits, 0))
                .Select(word => new Suggestion(
                    word.Key, word.Value, TextLikeness.Of(request.Distance, request.Text, word.Key)))
                .Where(word => word.Likeness >= request.Accuracy);
            IOrderedEnumerable<Suggestion> ordered = request.ByPopularity
                ? near.OrderByDescending(word => word.EntryCount).ThenByDescending(word => word.Likeness)
                : near.OrderByDescending(word => word.Likeness).ThenByDescending(word => word.EntryCount);
            List<Suggestion> expected =
                [.. ordered.ThenBy(word => word.Term, StringComparer.Ordinal).Take(request.Take)];
            IReadOnlyList<Suggestion> actual = searcher.Suggest(request, TestContext.Current.CancellationToken);
            Assert.True(expected.SequenceEqual(actual), $"seed {seed}, round {round}: {request}");
            found += actual.Count;
        }

        Assert.True(found > 300, $"only {found} words were suggested");
    }

    private static string Word(Random random, int longest) =>
        string.Concat(Enumerable.Range(0, random.Next(1, longest)).Select(_ => _letters[random.Next(_letters.Length)]));

    private static string Small(Random random) =>
        string.Concat(Enumerable.Range(0, random.Next(5)).Select(_ => (char)('a' + random.Next(3))));

    private static string Edited(string word, Random random)
    {
        List<Rune> runes = [.. word.EnumerateRunes()];
        runes.Insert(random.Next(runes.Count + 1), new Rune('b'));
        runes.RemoveAt(random.Next(runes.Count));
        return string.Concat(runes);
    }

    private static bool SamePairs(string x, string y) => Pairs(x).SequenceEqual(Pairs(y));

    private static IEnumerable<string> Pairs(string text)
    {
        Rune[] runes = [.. text.EnumerateRunes()];
        return runes.Select((rune, i) => (i == 0 ? "" : runes[i - 1].ToString()) + rune).Order(StringComparer.Ordinal);
    }

    /// <summary>
    /// Inserted, removed and replaced characters, and neighbours exchanged; what was exchanged is not edited again, so the
    /// first characters of both decide what is left.
    /// </summary>
    private static int Steps(string x, string y, Dictionary<(string, string), int> known)
    {
        if (x.Length == 0 || y.Length == 0)
            return x.Length + y.Length;
        if (known.TryGetValue((x, y), out int steps))
            return steps;
        steps = Math.Min(Steps(x[1..], y, known), Steps(x, y[1..], known)) + 1;
        steps = Math.Min(steps, Steps(x[1..], y[1..], known) + (x[0] == y[0] ? 0 : 1));
        if (x.Length > 1 && y.Length > 1 && x[0] == y[1] && x[1] == y[0])
            steps = Math.Min(steps, Steps(x[2..], y[2..], known) + 1);
        return known[(x, y)] = steps;
    }
}
