namespace Treepie.Indexing.Queries;

/// <summary>A query whose hits are counted by facets.</summary>
/// <param name="Query">The query.</param>
/// <param name="Facets">The facets, each counted independently.</param>
public sealed record FacetRequest(IndexQuery Query, IReadOnlyList<FacetQuery> Facets);

/// <summary>
/// One facet: counts hits by the terms of a field, or by ranges given as conditions. A hit may count for several values, or for
/// none.
/// </summary>
public sealed record FacetQuery
{
    /// <summary>The field whose terms are counted; null if <see cref="Ranges"/> are given.</summary>
    public string? Field { get; init; }

    /// <summary>The ranges, if terms are not counted.</summary>
    public IReadOnlyList<FacetRange> Ranges { get; init; } = [];

    /// <summary>The number fields that are aggregated for each value. Only the first value of an array counts.</summary>
    public IReadOnlyList<string> Aggregates { get; init; } = [];

    /// <summary>The order of terms; ranges keep their order.</summary>
    public FacetOrder Order { get; init; }

    /// <summary>The number of terms to skip.</summary>
    public int Start { get; init; }

    /// <summary>The maximum number of terms.</summary>
    public int PageSize { get; init; } = int.MaxValue;

    /// <summary>Whether to return the names of the terms after the page.</summary>
    public bool WithRemainingTerms { get; init; }

    /// <summary>How terms are to be counted, for tests that compare the alternatives.</summary>
    internal FacetHint Hint { get; init; }
}

/// <summary>A range of a facet: its name, and its condition.</summary>
public sealed record FacetRange(string Name, IndexQuery Query);

/// <summary>The orders of terms. Equal counts are ordered by term.</summary>
public enum FacetOrder
{
    /// <summary>By term: numbers, of fields that have some, by their values, then texts in byte order.</summary>
    Value,

    /// <summary>By term, in the reverse of that order.</summary>
    ValueDescending,

    /// <summary>By count, ascending.</summary>
    Count,

    /// <summary>By count, descending.</summary>
    CountDescending,
}

/// <summary>How to count terms. All give the same result.</summary>
internal enum FacetHint
{
    /// <summary>The cheaper method according to exact counts.</summary>
    Cheaper,

    /// <summary>By the sort value of every hit, where that is correct.</summary>
    Values,

    /// <summary>By the entries of every term.</summary>
    Terms,
}
