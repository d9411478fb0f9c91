namespace Treepie.Indexing.Queries;

/// <summary>A query whose hits are counted in groups.</summary>
/// <param name="Query">What to find.</param>
/// <param name="Facets">The groupings, each counted for itself.</param>
public sealed record FacetRequest(IndexQuery Query, IReadOnlyList<FacetQuery> Facets);

/// <summary>
/// One grouping of hits: by the terms of a field, or by conditions of its own. A hit may be in several groups, and in none.
/// </summary>
public sealed record FacetQuery
{
    /// <summary>The field whose terms are the groups; null where <see cref="Ranges"/> are.</summary>
    public string? Field { get; init; }

    /// <summary>The groups, where they are no terms.</summary>
    public IReadOnlyList<FacetRange> Ranges { get; init; } = [];

    /// <summary>Number fields that are summed up in each group. Of an array the first value counts.</summary>
    public IReadOnlyList<string> Aggregates { get; init; } = [];

    /// <summary>Order of terms; ranges keep theirs.</summary>
    public FacetOrder Order { get; init; }

    /// <summary>Terms to leave out at the start.</summary>
    public int Start { get; init; }

    /// <summary>Most terms.</summary>
    public int PageSize { get; init; } = int.MaxValue;

    /// <summary>Whether the names of the terms behind the page are wanted.</summary>
    public bool WithRemainingTerms { get; init; }

    /// <summary>How terms are to be counted, for tests that hold the ways equal.</summary>
    internal FacetHint Hint { get; init; }
}

/// <summary>A group: what it is called, and what belongs to it.</summary>
public sealed record FacetRange(string Name, IndexQuery Query);

/// <summary>Orders of terms. Where counts are equal, by term.</summary>
public enum FacetOrder
{
    /// <summary>By term, in byte order.</summary>
    Value,

    /// <summary>By term, backwards.</summary>
    ValueDescending,

    /// <summary>Fewest hits first.</summary>
    Count,

    /// <summary>Most hits first.</summary>
    CountDescending,
}

/// <summary>Ways to count terms. All give the same answer.</summary>
internal enum FacetHint
{
    /// <summary>The cheaper by exact counts.</summary>
    Cheaper,

    /// <summary>By the sort value of every hit, where that is right.</summary>
    Values,

    /// <summary>By the entries of every term.</summary>
    Terms,
}
