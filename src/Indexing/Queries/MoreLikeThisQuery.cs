namespace Treepie.Indexing.Queries;

/// <summary>
/// Entries that are like another one, or like texts: those that have some of its most telling terms, scored by BM25. A term tells
/// the more the more often it stands there and the fewer entries have it. The entry itself is not among them.
/// </summary>
/// <param name="Key">Key of the entry in this index; null: the texts are given.</param>
/// <param name="Texts">Where there is no key: the texts of a field, by its name.</param>
/// <param name="Options">What counts as telling.</param>
public sealed record MoreLikeThisQuery(string? Key, Func<string, IReadOnlyList<string>>? Texts, MoreLikeThisOptions Options)
    : IndexQuery
{
    /// <summary>Where there are neither key nor texts: the first entry that matches is the one.</summary>
    public IndexQuery? First { get; init; }
}

/// <summary>Which terms of an entry tell what it is about.</summary>
public sealed record MoreLikeThisOptions
{
    /// <summary>Fields to look at; empty: all full-text fields.</summary>
    public IReadOnlyList<string> Fields { get; init; } = [];

    /// <summary>A term stands in the entry at least so often.</summary>
    public int MinTermFrequency { get; init; } = 2;

    /// <summary>Most terms taken.</summary>
    public int MaxQueryTerms { get; init; } = 25;

    /// <summary>Most different terms of a field that are looked at.</summary>
    public int MaxTokensParsed { get; init; } = 5_000;

    /// <summary>At least so many entries have the term.</summary>
    public int MinDocumentFrequency { get; init; } = 5;

    /// <summary>At most so many entries have it.</summary>
    public long MaxDocumentFrequency { get; init; } = long.MaxValue;

    /// <summary>At most so many of a hundred entries have it.</summary>
    public int MaxDocumentFrequencyPercentage { get; init; } = 100;

    /// <summary>Shortest term, in bytes; 0: any.</summary>
    public int MinWordLength { get; init; }

    /// <summary>Longest term, in bytes; 0: any.</summary>
    public int MaxWordLength { get; init; }

    /// <summary>Whether more telling terms weigh more.</summary>
    public bool Boost { get; init; }

    /// <summary>With <see cref="Boost"/>, the weight of the most telling term.</summary>
    public float BoostFactor { get; init; } = 1;

    /// <summary>Words that tell nothing; taken as the field's analyzer has them.</summary>
    public IReadOnlyList<string> StopWords { get; init; } = [];
}
