using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Suggestions;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>Suggestions, against a scan of all words.</summary>
public sealed class SuggestionTests
{
    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText), new IndexField("name")]);

    [Fact]
    public void Suggestions_are_the_near_words_of_a_scan_most_frequent_first()
    {
        var random = new Random(Seed.Next());
        var make = new RandomPatterns(random);
        using var fixture = new IndexFixture(_schema);
        var names = new List<string>();
        for (int i = 0; i < 300; i++)
        {
            names.Add(make.Text() + make.Text());
            fixture.Put("e/" + i, (1, FieldValue.Of(names[^1])));
        }

        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        for (int i = 0; i < 100; i++)
        {
            string text = make.Edited(names[random.Next(names.Count)]);
            int edits = text.EnumerateRunes().Count() <= 2 ? 1 : 2;
            var expected = names.Where(name => name != text && NaivePatterns.IsNear(name, text, edits, 0))
                .GroupBy(name => name)
                .OrderByDescending(group => group.Count())
                .Select(group => (Term: group.Key, Count: (long)group.Count()))
                .ToList();
            var request = new SuggestionRequest
            {
                Field = "name",
                Text = text,
                Distance = SuggestionDistance.None,
                Accuracy = 0,
                Take = 1_000
            };
            IReadOnlyList<Suggestion> found = searcher.Suggest(request, TestContext.Current.CancellationToken);
            Assert.Equal(
                expected.OrderBy(e => e.Term, StringComparer.Ordinal),
                found.Select(s => (s.Term, s.EntryCount)).OrderBy(s => s.Term, StringComparer.Ordinal));
            Assert.Equal(expected.Select(e => e.Count), found.Select(s => s.EntryCount));
            Assert.Equal(found.Take(3), searcher.Suggest(request with { Take = 3 }, TestContext.Current.CancellationToken));
        }
    }

    [Theory]
    [InlineData(SuggestionDistance.Levenshtein, "martha", "marhta", 0.8333f)]
    [InlineData(SuggestionDistance.JaroWinkler, "martha", "marhta", 0.9611f)]
    [InlineData(SuggestionDistance.JaroWinkler, "dixon", "dicksonx", 0.8133f)]
    [InlineData(SuggestionDistance.NGram, "night", "nacht", 0.4f)]
    [InlineData(SuggestionDistance.None, "a", "b", 1f)]
    public void Likeness_is_what_the_books_say(SuggestionDistance distance, string left, string right, float expected) =>
        Assert.Equal(expected, TextLikeness.Of(distance, left, right), 0.0001f);

    [Fact]
    public void Accuracy_order_and_limits_hold()
    {
        using var fixture = new IndexFixture(_schema);
        fixture.Put("1", (0, FieldValue.Of("quick fox")));
        fixture.Put("2", (0, FieldValue.Of("quack fox")));
        fixture.Put("3", (0, FieldValue.Of("quack box")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        var request = new SuggestionRequest { Field = "text", Text = "QUICKS" };
        Assert.Equal(["quack", "quick"], searcher.Suggest(request, TestContext.Current.CancellationToken).Select(s => s.Term));
        Assert.Equal(
            ["quick", "quack"],
            searcher.Suggest(request with { ByPopularity = false }, TestContext.Current.CancellationToken).Select(s => s.Term));
        Assert.Equal(
            ["quick"],
            searcher.Suggest(request with { Accuracy = 0.8f }, TestContext.Current.CancellationToken).Select(s => s.Term));
        Assert.Equal(
            ["quack"],
            searcher.Suggest(request with { Text = "quick" }, TestContext.Current.CancellationToken).Select(s => s.Term));
        Assert.Empty(searcher.Suggest(request with { Text = new string('x', 1_000_000) }, TestContext.Current.CancellationToken));
        Assert.Empty(searcher.Suggest(request with { Text = " - " }, TestContext.Current.CancellationToken));
        Assert.Throws<IndexQueryException>(
            () => searcher.Suggest(request with { Accuracy = float.NaN }, TestContext.Current.CancellationToken));
        Assert.Throws<IndexQueryException>(
            () => searcher.Suggest(request with { Take = -1 }, TestContext.Current.CancellationToken));
        Assert.Throws<UnknownFieldException>(
            () => searcher.Suggest(request with { Field = "nothing" }, TestContext.Current.CancellationToken));
    }
}
