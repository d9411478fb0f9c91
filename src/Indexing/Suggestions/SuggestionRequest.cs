namespace Treepie.Indexing.Suggestions;

/// <summary>A request for terms of a field that are similar to a text: "did you mean".</summary>
public sealed record SuggestionRequest
{
    /// <summary>The maximum number of suggestions of one request.</summary>
    public const int MaxTake = 1_024;

    /// <summary>The field.</summary>
    public required string Field { get; init; }

    /// <summary>The text; of several words only the last one is used, since clients send one at a time.</summary>
    public required string Text { get; init; }

    /// <summary>The measure of similarity.</summary>
    public SuggestionDistance Distance { get; init; } = SuggestionDistance.Levenshtein;

    /// <summary>The minimum similarity, 0 to 1.</summary>
    public float Accuracy { get; init; } = 0.5f;

    /// <summary>The maximum number of suggestions, at most <see cref="MaxTake"/>.</summary>
    public int Take { get; init; } = 15;

    /// <summary>Whether terms of more entries come first; otherwise the most similar ones.</summary>
    public bool ByPopularity { get; init; } = true;
}

/// <summary>Measures of similarity.</summary>
public enum SuggestionDistance
{
    /// <summary>None: all candidates count as similar.</summary>
    None,

    /// <summary>The edit distance, relative to the longer text.</summary>
    Levenshtein,

    /// <summary>Common characters and a common prefix.</summary>
    JaroWinkler,

    /// <summary>Common pairs of adjacent characters.</summary>
    NGram,
}

/// <summary>A suggested term.</summary>
/// <param name="Term">The term as indexed.</param>
/// <param name="EntryCount">The number of entries that contain it.</param>
/// <param name="Likeness">The similarity: 1 for equal, 0 for nothing in common.</param>
public sealed record Suggestion(string Term, long EntryCount, float Likeness);
