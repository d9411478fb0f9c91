namespace Treepie.Indexing.Suggestions;

/// <summary>Asks for terms of a field that are nearly a text: "did you mean".</summary>
public sealed record SuggestionRequest
{
    /// <summary>Most suggestions of one request.</summary>
    public const int MaxTake = 1_024;

    /// <summary>The field.</summary>
    public required string Field { get; init; }

    /// <summary>The text; of several words the last one counts, as clients send one at a time.</summary>
    public required string Text { get; init; }

    /// <summary>How like each other two texts are said to be.</summary>
    public SuggestionDistance Distance { get; init; } = SuggestionDistance.Levenshtein;

    /// <summary>Least likeness, 0 to 1.</summary>
    public float Accuracy { get; init; } = 0.5f;

    /// <summary>Most suggestions; up to <see cref="MaxTake"/>.</summary>
    public int Take { get; init; } = 15;

    /// <summary>Whether terms of more entries come first; else those most alike.</summary>
    public bool ByPopularity { get; init; } = true;
}

/// <summary>Measures of likeness.</summary>
public enum SuggestionDistance
{
    /// <summary>None: all that is near counts as alike.</summary>
    None,

    /// <summary>Edits, as a part of the longer text.</summary>
    Levenshtein,

    /// <summary>Common characters and common beginning.</summary>
    JaroWinkler,

    /// <summary>Common pairs of neighbouring characters.</summary>
    NGram,
}

/// <summary>A term that may have been meant.</summary>
/// <param name="Term">As it stands in the index.</param>
/// <param name="EntryCount">Entries that have it.</param>
/// <param name="Likeness">1 for the same, 0 for nothing in common.</param>
public sealed record Suggestion(string Term, long EntryCount, float Likeness);
