namespace Treepie.Indexing.Queries;

/// <summary>
/// Matches entries that are similar to an entry, or to texts: those that contain some of its most significant terms, scored by
/// BM25. A term is the more significant the more often it occurs there and the fewer entries contain it. The entry itself does
/// not match.
/// </summary>
/// <param name="Key">The key of the entry in this index; null if texts are given.</param>
/// <param name="Texts">Without a key: returns the texts of a field by its name.</param>
/// <param name="Options">How the significant terms are selected.</param>
public sealed record MoreLikeThisQuery(string? Key, Func<string, IReadOnlyList<string>>? Texts, MoreLikeThisOptions Options)
    : IndexQuery
{
    /// <summary>Without a key or texts: the first entry that matches this query is used.</summary>
    public IndexQuery? First { get; init; }
}

/// <summary>How the significant terms of an entry are selected.</summary>
public sealed record MoreLikeThisOptions
{
    /// <summary>The fields to use; empty: all full-text fields.</summary>
    public IReadOnlyList<string> Fields { get; init; } = [];

    /// <summary>The minimum number of occurrences of a term in the entry.</summary>
    public int MinTermFrequency { get; init; } = 2;

    /// <summary>The maximum number of terms to search for.</summary>
    public int MaxQueryTerms { get; init; } = 25;

    /// <summary>The maximum number of distinct terms of a field that are considered.</summary>
    public int MaxTokensParsed { get; init; } = 5_000;

    /// <summary>The minimum number of entries that contain a term.</summary>
    public int MinDocumentFrequency { get; init; } = 5;

    /// <summary>The maximum number of entries that contain a term.</summary>
    public long MaxDocumentFrequency { get; init; } = long.MaxValue;

    /// <summary>The maximum percentage of entries that contain a term.</summary>
    public int MaxDocumentFrequencyPercentage { get; init; } = 100;

    /// <summary>The minimum length of a term in bytes; 0: none.</summary>
    public int MinWordLength { get; init; }

    /// <summary>The maximum length of a term in bytes; 0: none.</summary>
    public int MaxWordLength { get; init; }

    /// <summary>Whether more significant terms have a higher weight.</summary>
    public bool Boost { get; init; }

    /// <summary>With <see cref="Boost"/>, the weight of the most significant term.</summary>
    public float BoostFactor { get; init; } = 1;

    /// <summary>Words to ignore, in the form that the field's analyzer produces.</summary>
    public IReadOnlyList<string> StopWords { get; init; } = [];
}
