using System.Text.RegularExpressions;
using Treepie.Indexing.Highlighting;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Highlighting;

/// <summary>
/// Fragments of random texts: what is marked is what a word by itself would match, and what is not marked matches nothing.
/// </summary>
public sealed partial class FieldHighlighterTests
{
    private const int Conditions = 64;

    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText), new IndexField("other")]);

    [Fact]
    public void The_words_that_match_are_marked_and_no_others()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(_schema);
        fixture.Put("docs/1", (0, FieldValue.Of("w1")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        int marked = 0;
        for (int i = 0; i < 400; i++)
        {
            var units = new List<IndexQuery>();
            IndexQuery query = Query(random, data, units, 3);
            string[] texts = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => data.Text(random.Next(0, 60)))];
            var options = new HighlightOptions
            {
                FragmentLength = random.Next(HighlightOptions.MinFragmentLength, 160),
                FragmentCount = random.Next(1, 6),
                PreTags = [.. Enumerable.Range(0, Conditions).Select(number => $"<{number}>")],
                PostTags = ["</>"],
            };
            using FieldHighlighter highlighter = searcher.OpenHighlighter(query, "text", TestContext.Current.CancellationToken);
            IReadOnlyList<string> fragments = highlighter.Fragments(texts, options);
            Assert.True(fragments.Count <= options.FragmentCount);
            Assert.Equal(
                texts.SelectMany(NaiveText.Words).Any(word => IsWanted(fixture.Model, units, word)), fragments.Count > 0);
            int last = int.MaxValue;
            foreach (string fragment in fragments)
            {
                int worth = CheckFragment(fixture.Model, units, texts, fragment, options.FragmentLength);
                Assert.True(worth <= last, "the fragments with the most matches come first");
                last = worth;
                marked += Mark().Count(fragment);
            }

            // All of them: each word that matches is in one.
            IReadOnlyList<string> all = highlighter.Fragments(texts, options with { FragmentCount = int.MaxValue });
            Assert.Equal(
                texts.SelectMany(NaiveText.Words).Count(word => IsWanted(fixture.Model, units, word)),
                all.Sum(fragment => Mark().Count(fragment)));
            Assert.Equal(fragments, all.Take(options.FragmentCount));
        }

        Assert.True(marked > 500, $"only {marked} words were marked");
    }

    [Fact]
    public void Conditions_of_other_fields_and_below_a_not_mark_nothing()
    {
        using var fixture = new IndexFixture(_schema);
        fixture.Put("docs/1", (0, FieldValue.Of("fox")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        IndexQuery[] queries =
        [
            new TermQuery("other", FieldValue.Of("fox")), new NotQuery(new FullTextQuery("text", "fox", All: true)),
            new MatchAllQuery(), new TermQuery("text", FieldValue.Of(1L)), new ExistsQuery("text"),
        ];
        foreach (IndexQuery query in queries)
        {
            using FieldHighlighter highlighter = searcher.OpenHighlighter(query, "text", TestContext.Current.CancellationToken);
            Assert.Empty(highlighter.Fragments(["a fox"], new HighlightOptions()));
        }

        Assert.Throws<UnknownFieldException>(
            () => searcher.OpenHighlighter(new MatchAllQuery(), "nowhere", TestContext.Current.CancellationToken));
    }

    [Fact]
    public void Similar_entries_mark_the_words_they_are_found_by()
    {
        using var fixture = new IndexFixture(_schema);
        fixture.Put("docs/1", (0, FieldValue.Of("fox fox hen")));
        fixture.Put("docs/2", (0, FieldValue.Of("fox dog")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        var like = new MoreLikeThisQuery(
            "docs/1", null, new MoreLikeThisOptions { Fields = ["text"], MinDocumentFrequency = 2, MinTermFrequency = 2 });
        using FieldHighlighter highlighter = searcher.OpenHighlighter(like, "text", TestContext.Current.CancellationToken);
        var options = new HighlightOptions { PreTags = ["["], PostTags = ["]"] };
        Assert.Equal(["a [Fox] and a hen"], highlighter.Fragments(["a Fox and a hen"], options));
        Assert.Equal(["a Fox"], highlighter.Fragments(["a Fox"], options with { PreTags = [], PostTags = [] }));
        Assert.StartsWith(
            HighlightOptions.DefaultPreTags[0], highlighter.Fragments(["fox"], new HighlightOptions())[0],
            StringComparison.Ordinal);
    }

    [Fact]
    public void Whole_values_are_marked_as_a_whole()
    {
        using var fixture = new IndexFixture(_schema);
        fixture.Put("docs/1", (1, FieldValue.Of("Old Fox")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        var options = new HighlightOptions { PreTags = ["["], PostTags = ["]"] };
        using FieldHighlighter highlighter = searcher.OpenHighlighter(
            new InQuery("other", [FieldValue.Of("OLD fox"), FieldValue.Of(1L)]), "other", TestContext.Current.CancellationToken);
        Assert.Equal(["[Old Fox]"], highlighter.Fragments(["Old Fox", "an Old Fox"], options));
    }

    [Fact]
    public void A_canceled_highlighter_stops()
    {
        using var fixture = new IndexFixture(_schema);
        fixture.Put("docs/1", (0, FieldValue.Of("fox")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        using var source = new CancellationTokenSource();
        using FieldHighlighter highlighter = searcher.OpenHighlighter(
            new FullTextQuery("text", "fox", All: true), "text", source.Token);
        Assert.Throws<OperationCanceledException>(() => highlighter.Fragments(Texts(), new HighlightOptions()));

        IEnumerable<string> Texts()
        {
            yield return "a fox";
            source.Cancel();
            yield return "a fox";
            Assert.Fail("the text after the cancellation is not read");
        }
    }

    /// <summary>Checks one fragment and returns what it is worth.</summary>
    private static int CheckFragment(NaiveIndex model, List<IndexQuery> units, string[] texts, string fragment, int length)
    {
        MatchCollection marks = Mark().Matches(fragment);
        string plain = Mark().Replace(fragment, "$2");
        Assert.Contains(texts, text => text.Contains(plain, StringComparison.Ordinal));
        string[] words = [.. marks.Select(mark => mark.Groups[2].Value)];
        Assert.True(plain.Length <= Math.Max(length, words.Max(word => word.Length)), $"'{plain}' is longer than {length}");
        Assert.All(
            words, word => Assert.True(IsWanted(model, units, Assert.Single(NaiveText.Words(word))), $"'{word}' {fragment}"));

        // Between the marks nothing matches: words there are whole, since fragments are cut at spaces.
        foreach (string between in Mark().Split(fragment).Where((_, part) => part % 3 == 0))
            Assert.All(NaiveText.Words(between), word => Assert.False(IsWanted(model, units, word), $"'{word}' {fragment}"));
        return (marks.Select(mark => mark.Groups[1].Value).Distinct().Count() * 1_000) + marks.Count;
    }

    /// <summary>Whether a condition matches an entry that has nothing but the word.</summary>
    private static bool IsWanted(NaiveIndex model, List<IndexQuery> units, string word)
    {
        var single = new NaiveIndex(model.Schema);
        single.Put("word", [(0, FieldValue.Of(word))]);
        return units.Exists(unit => single.Matches(unit, single.Entries.First()));
    }

    /// <summary>A random query; its conditions, each about one word, are added to the list.</summary>
    private static IndexQuery Query(Random random, RandomData data, List<IndexQuery> units, int depth)
    {
        if (depth > 0 && random.Next(2) == 0)
        {
            IndexQuery[] clauses =
                [.. Enumerable.Range(0, random.Next(1, 3)).Select(_ => Query(random, data, units, depth - 1))];
            return random.Next(6) switch
            {
                0 => new AndQuery(clauses),
                1 => new IntersectQuery(clauses),
                2 => new BoostQuery(clauses.Length == 1 ? clauses[0] : new OrQuery(clauses), 2),
                3 => new FusionQuery([.. clauses.Select(clause => new FusionClause(clause))], FusionMethod.ReciprocalRank),
                4 => new AndQuery([.. clauses, new NotQuery(new FullTextQuery("text", "w0", All: true))]),
                _ => new OrQuery(clauses),
            };
        }

        string[] words = [.. NaiveText.Words(data.Text(random.Next(1, 3))).DefaultIfEmpty("w1")];
        string some = words[0][..random.Next(1, words[0].Length + 1)];
        IndexQuery[] of = [.. words.Select(word => new FullTextQuery("text", word, All: true))];
        switch (random.Next(10))
        {
            case 0:
                units.AddRange(of);
                return new PhraseQuery("text", string.Join(' ', words));
            case 1:
                units.AddRange(of);
                return new TextQuery("text", string.Join('-', words));
            case 2:
                units.AddRange(of);
                return new InQuery("text", [.. words.Select(FieldValue.Of), FieldValue.Null]);
            case 3:
                units.AddRange(of);
                return new AllInQuery("text", [.. words.Select(FieldValue.Of)]);
            case 4:
                units.Add(new PrefixQuery("text", some));
                return new FullTextQuery("text", some + "*", All: false);
            case 5:
                return Same(new SuffixQuery("text", some));
            case 6:
                return Same(new ContainsQuery("text", some));
            case 7:
                return Same(new WildcardQuery("text", some + "?*"));
            case 8:
                return Same(new RegexQuery("text", "^" + some + "[0-9]$"));
            default:
                return Same(new FuzzyQuery("text", words[0], 1));
        }

        IndexQuery Same(IndexQuery unit)
        {
            units.Add(unit);
            return unit;
        }
    }

    [GeneratedRegex("<([0-9]+)>(.*?)</>", RegexOptions.Singleline)]
    private static partial Regex Mark();
}
