namespace Treepie.Storage;

/// <summary>The result of a salvage for one tree.</summary>
public sealed record SalvagedTree
{
    /// <summary>The name in the target: the original name, or <c>lost-tree-</c> and a number if it is no longer known.</summary>
    public required string Name { get; init; }

    /// <summary>The number of keys written to the target, including doubtful ones.</summary>
    public required long Keys { get; init; }

    /// <summary>The number of keys that the tree should have; null if unknown.</summary>
    public required long? ExpectedKeys { get; init; }

    /// <summary>
    /// The number of keys that may belong to an older state: deleted since, or with a value that was replaced. They come from
    /// pages that the files do not prove to be in use in the newest state.
    /// </summary>
    public required long DoubtfulKeys { get; init; }

    /// <summary>The number of keys whose long value is damaged; they are not in the target.</summary>
    public required long LostValues { get; init; }

    /// <summary>The number of its pages that could not be read, including runs of long values.</summary>
    public required long DamagedPages { get; init; }

    /// <summary>
    /// The ranges in which keys may be missing, in key order; at most a hundred, beyond which neighbours are merged.
    /// </summary>
    public required IReadOnlyList<KeyRange> MissingRanges { get; init; }

    /// <summary>The ranges of the doubtful keys, in key order; at most a hundred, beyond which neighbours are merged.</summary>
    public required IReadOnlyList<KeyRange> DoubtfulRanges { get; init; }

    /// <summary>Why the tree could not be copied at all; null if it was copied.</summary>
    public string? Failure { get; init; }

    /// <summary>Whether the tree was recovered completely and nothing is doubtful.</summary>
    public bool IsComplete => Failure is null && DoubtfulKeys == 0 && LostValues == 0 && MissingRanges.Count == 0;
}
