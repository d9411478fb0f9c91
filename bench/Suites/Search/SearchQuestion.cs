using System.Globalization;
using Treepie.Indexing.Queries;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Bench.Suites.Search;

/// <summary>One question, as each engine is asked it.</summary>
/// <param name="Kind">Row of the report it counts for.</param>
/// <param name="Form">What is asked.</param>
/// <param name="Words">Its words.</param>
/// <param name="Low">Lowest number of a range.</param>
/// <param name="High">Highest number of a range.</param>
internal sealed record SearchQuestion(string Kind, SearchForm Form, string[] Words, long Low = 0, long High = 0)
{
    /// <summary>Hits wanted of what is no count.</summary>
    public const int Top = 10;

    private const string Field = "text";

    /// <summary>Whether hits are counted where the best ten are wanted.</summary>
    public bool Counts { get; init; } = true;

    /// <summary>What is asked beside the text; null: nothing.</summary>
    public SearchMix? Mix { get; init; }

    /// <summary>Whether hits are counted where a range is ordered by its own numbers.</summary>
    public bool CountsRange { get; init; }

    private static readonly SortKey[] _best = [new SortKey("", SortKind.Score, Descending: true)];

    /// <summary>Whether the best are wanted by score.</summary>
    public bool IsScored => Mix is not { ByNumber: true } && Form is SearchForm.Any or SearchForm.All or SearchForm.Phrase;

    /// <summary>Ours; of <see cref="SearchForm.Facet"/> the part that finds.</summary>
    public SearchRequest Request => Mix is null ? Plain : Mix.Over(Plain, Field);

    private SearchRequest Plain => Form switch
    {
        SearchForm.Any or SearchForm.All =>
            new SearchRequest { Query = Text(Form == SearchForm.All), Sort = _best, Take = Top, CountsHits = Counts },
        SearchForm.Phrase => new SearchRequest
        {
            Query = new PhraseQuery(Field, string.Join(' ', Words)),
            Sort = _best,
            Take = Top,
            CountsHits = Counts
        },
        SearchForm.CountAny or SearchForm.CountAll => new SearchRequest { Query = Text(Form == SearchForm.CountAll), Take = 0 },
        SearchForm.Prefix => new SearchRequest { Query = new PrefixQuery(Field, Words[0]), Take = Top },
        SearchForm.RangeByNumber => new SearchRequest { Query = Range, Sort = [By("num")], Take = Top, CountsHits = CountsRange },
        SearchForm.AllByDay => new SearchRequest { Query = new MatchAllQuery(), Sort = [By("day")], Take = Top },
        SearchForm.TermByNumber => new SearchRequest { Query = Text(all: true), Sort = [By("num")], Take = Top },
        SearchForm.TermRangeByNumber => new SearchRequest
        {
            Query = new AndQuery([Text(all: true), Range]),
            Sort = [By("num")],
            Take = Top,
            CountsHits = CountsRange
        },
        _ => new SearchRequest { Query = Text(all: true), Take = 0 },
    };

    /// <summary>As Lucene's process reads it.</summary>
    public string Line
    {
        get
        {
            string words = string.Join(' ', Words);
            string range = string.Create(CultureInfo.InvariantCulture, $"{Low} {High}");
            return Form switch
            {
                SearchForm.Any => $"any {words}{Mix?.Suffix}",
                SearchForm.All => $"all {words}{Mix?.Suffix}",
                SearchForm.Phrase => $"phrase {words}{Mix?.Suffix}",
                SearchForm.CountAny => $"count-any {words}",
                SearchForm.CountAll => $"count-all {words}",
                SearchForm.Prefix => $"prefix {words}",
                SearchForm.RangeByNumber => $"range-num {range}",
                SearchForm.AllByDay => "sort-day",
                SearchForm.TermByNumber => $"term-num {words}",
                SearchForm.TermRangeByNumber => $"term-range-num {words} {range}",
                _ => $"facet {words}",
            };
        }
    }

    /// <summary>The words in SQLite's full-text language.</summary>
    public string Match => Form switch
    {
        SearchForm.Any or SearchForm.CountAny => string.Join(" OR ", Words.Select(Quoted)),
        SearchForm.Phrase => Quoted(string.Join(' ', Words)),
        SearchForm.Prefix => $"{Quoted(Words[0])} *",
        _ => string.Join(" AND ", Words.Select(Quoted)),
    };

    private RangeQuery Range => new("num", FieldValue.Of(Low), true, FieldValue.Of(High), true);

    private static string Quoted(string word) => $"\"{word}\"";

    private static SortKey By(string field) => new(field, SortKind.Long);

    private FullTextQuery Text(bool all) => new(Field, string.Join(' ', Words), all);
}

/// <summary>What is asked.</summary>
internal enum SearchForm
{
    /// <summary>The best that have any of the words.</summary>
    Any,

    /// <summary>The best that have all of the words.</summary>
    All,

    /// <summary>The best in which the words stand together.</summary>
    Phrase,

    /// <summary>How many have any of the words.</summary>
    CountAny,

    /// <summary>How many have all of the words.</summary>
    CountAll,

    /// <summary>The first that have a word beginning so, in no order.</summary>
    Prefix,

    /// <summary>The first between two numbers, by number.</summary>
    RangeByNumber,

    /// <summary>The first of all, by day.</summary>
    AllByDay,

    /// <summary>The first that have a word, by number.</summary>
    TermByNumber,

    /// <summary>The first that have a word and are between two numbers, by number.</summary>
    TermRangeByNumber,

    /// <summary>How many of those that have a word are in each group.</summary>
    Facet,
}
