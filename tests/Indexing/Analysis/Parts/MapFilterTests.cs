using System.Diagnostics;
using System.Text;
using Treepie.Indexing.Analysis.Parts;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Analysis.Parts;

/// <summary>Texts that are replaced before a text is cut into words.</summary>
public sealed class MapFilterTests
{
    [Theory]
    [InlineData("a", "1", "aa", "2", "ab", "3", "aab", "4")]
    [InlineData("a", "1", "abc", "2", "abd", "3")]
    [InlineData("ä", "ae", "ß", "ss", "€", "euro", "", "")]
    public void The_longest_of_all_that_stand_at_a_place_is_replaced(params string[] given)
    {
        var pairs = new Dictionary<string, string>();
        for (int i = 0; i < given.Length; i += 2)
            if (given[i].Length > 0)
                pairs[given[i]] = given[i + 1];
        var random = new Random(Seed.Next());
        for (int round = 0; round < 300; round++)
        {
            if (round % 10 == 9)
                pairs[Drawn(random, random.Next(1, 6))] = Drawn(random, random.Next(0, 3));
            string text = Drawn(random, random.Next(1, 40));
            Assert.Equal(Expected(text, pairs), Replaced(text, pairs));
        }
    }

    [Fact]
    public void Many_pairs_cost_little_more_than_few()
    {
        var pairs = Enumerable.Range(0, AnalyzerParts.MaxWords).ToDictionary(
            static number => $"a{number:D5}", static number => "b");
        Dictionary<string, string> few = pairs.Take(2).ToDictionary();
        string text = new('a', 1 << 18);
        TimeSpan ofMany = LeastTime(pairs), ofFew = LeastTime(few);
        Assert.True(ofMany < 60 * ofFew, $"{pairs.Count} pairs take {ofMany}, {few.Count} take {ofFew}");

        // The least of several times is that of the filter alone, without what else the machine does.
        TimeSpan LeastTime(Dictionary<string, string> some) => Enumerable.Range(0, 3).Min(_ =>
        {
            var clock = Stopwatch.StartNew();
            Assert.Equal(text, Replaced(text, some));
            return clock.Elapsed;
        });
    }

    private static string Drawn(Random random, int length) =>
        string.Concat(Enumerable.Range(0, length).Select(_ => "abcdäß€x"[random.Next(8)]));

    private static string Expected(string text, Dictionary<string, string> pairs)
    {
        var result = new StringBuilder();
        for (int i = 0; i < text.Length;)
        {
            string? found = pairs.Keys.Where(from => text.AsSpan(i).StartsWith(from, StringComparison.Ordinal))
                .MaxBy(static from => from.Length);
            result.Append(found is null ? text[i] : pairs[found]);
            i += found?.Length ?? 1;
        }

        return result.ToString();
    }

    private static string Replaced(string text, Dictionary<string, string> pairs)
    {
        var filter = new MapFilter(pairs.Select(static pair => (Encoding.UTF8.GetBytes(pair.Key), Encoding.UTF8.GetBytes(pair.Value))));
        var result = new FilteredText(null, Encoding.UTF8.GetByteCount(text));
        filter.Apply(Encoding.UTF8.GetBytes(text), result);
        return Encoding.UTF8.GetString(result.Text);
    }
}
