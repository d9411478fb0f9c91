using System.Globalization;
using System.Text;
using Treepie.Indexing.Queries;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Bench.Suites.Search;

/// <summary>What a user adds to a question for a text: filters, a boost, a word to leave out, a plan, facets, an order.</summary>
internal sealed record SearchMix
{
    private const string NumberMark = "+num", GroupMark = "+tr", DayMark = "+day", BoostMark = "^", WithoutMark = "-";
    private const string PlanMark = "=plan", FacetsMark = "=facets", OrderMark = "=num";

    /// <summary>Field <c>num</c> has to be between these.</summary>
    public (long Low, long High)? Number { get; init; }

    /// <summary>Field <c>tr</c> has to be this.</summary>
    public string? Group { get; init; }

    /// <summary>Field <c>day</c> has to be between these.</summary>
    public (long Low, long High)? Day { get; init; }

    /// <summary>What the first word, or the phrase, counts more than the others; 1: nothing.</summary>
    public float Boost { get; init; } = 1;

    /// <summary>Texts with this word are left out.</summary>
    public string? Without { get; init; }

    /// <summary>Whether the plan with its times is wanted. Lucene has none, and answers as if it were not.</summary>
    public bool WithPlan { get; init; }

    /// <summary>Whether hits are counted by group, too.</summary>
    public bool WithFacets { get; init; }

    /// <summary>Whether the first by number are wanted, not the best.</summary>
    public bool ByNumber { get; init; }

    /// <summary>Conditions that hits have to meet beside the text: each adds 1 to our scores, and nothing to Lucene's.</summary>
    public int Filters => (Number is null ? 0 : 1) + (Group is null ? 0 : 1) + (Day is null ? 0 : 1);

    /// <summary>As words behind those of the question's line, none of which a text has.</summary>
    public string Suffix
    {
        get
        {
            var text = new StringBuilder();
            if (Number is { } number)
                text.Append(CultureInfo.InvariantCulture, $" {NumberMark}:{number.Low}:{number.High}");
            if (Group is not null)
                text.Append(CultureInfo.InvariantCulture, $" {GroupMark}:{Group}");
            if (Day is { } day)
                text.Append(CultureInfo.InvariantCulture, $" {DayMark}:{day.Low}:{day.High}");
            if (Boost != 1)
                text.Append(CultureInfo.InvariantCulture, $" {BoostMark}:{Boost}");
            if (Without is not null)
                text.Append(CultureInfo.InvariantCulture, $" {WithoutMark}:{Without}");
            text.Append(WithPlan ? " " + PlanMark : "").Append(WithFacets ? " " + FacetsMark : "");
            return text.Append(ByNumber ? " " + OrderMark : "").ToString();
        }
    }

    /// <summary>Reads <see cref="Suffix"/>; null where there is none.</summary>
    public static SearchMix? Parse(string suffix)
    {
        string[] marks = suffix.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        var mix = new SearchMix();
        foreach (string mark in marks)
        {
            string[] parts = mark.Split(':');
            mix = parts[0] switch
            {
                NumberMark => mix with { Number = Bounds(parts) },
                GroupMark => mix with { Group = parts[1] },
                DayMark => mix with { Day = Bounds(parts) },
                BoostMark => mix with { Boost = float.Parse(parts[1], CultureInfo.InvariantCulture) },
                WithoutMark => mix with { Without = parts[1] },
                PlanMark => mix with { WithPlan = true },
                FacetsMark => mix with { WithFacets = true },
                OrderMark => mix with { ByNumber = true },
                _ => throw new FormatException($"'{mark}' is no part of a question."),
            };
        }

        return marks.Length == 0 ? null : mix;
    }

    /// <summary>The request with all this in it.</summary>
    /// <param name="plain">The text, with the order and the number of hits wanted.</param>
    /// <param name="field">The field of the text.</param>
    public SearchRequest Over(SearchRequest plain, string field)
    {
        List<IndexQuery> clauses = [Boost == 1 ? plain.Query : Boosted(plain.Query)];
        if (Number is { } number)
            clauses.Add(Range("num", number));
        if (Group is not null)
            clauses.Add(new TermQuery("tr", FieldValue.Of(Group)));
        if (Day is { } day)
            clauses.Add(Range("day", day));
        if (Without is not null)
            clauses.Add(new NotQuery(new FullTextQuery(field, Without, All: true)));
        return plain with
        {
            Query = clauses.Count == 1 ? clauses[0] : new AndQuery(clauses),
            Sort = ByNumber ? [new SortKey("num", SortKind.Long)] : plain.Sort,
        };
    }

    private IndexQuery Boosted(IndexQuery text)
    {
        if (text is not FullTextQuery words || words.Text.Split(' ', 2) is not [var first, var others])
            return new BoostQuery(text, Boost);
        IndexQuery[] both = [new BoostQuery(words with { Text = first }, Boost), words with { Text = others }];
        return words.All ? new AndQuery(both) : new OrQuery(both);
    }

    private static RangeQuery Range(string field, (long Low, long High) bounds) =>
        new(field, FieldValue.Of(bounds.Low), true, FieldValue.Of(bounds.High), true);

    private static (long Low, long High) Bounds(string[] parts) =>
        (long.Parse(parts[1], CultureInfo.InvariantCulture), long.Parse(parts[2], CultureInfo.InvariantCulture));
}
