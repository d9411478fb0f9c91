namespace Treepie.Storage;

/// <summary>What became of one tree.</summary>
public sealed record SalvagedTree
{
    /// <summary>Its name in the target: its own, or <c>lost-tree-</c> and its number where that is not known any more.</summary>
    public required string Name { get; init; }

    /// <summary>Keys written to the target, the doubtful ones among them.</summary>
    public required long Keys { get; init; }

    /// <summary>Keys there should be, or null where nothing says so.</summary>
    public required long? ExpectedKeys { get; init; }

    /// <summary>
    /// Keys that may be of an older state: deleted since, or with a value that was replaced. They come from pages of which the
    /// files do not prove that the newest state uses them.
    /// </summary>
    public required long DoubtfulKeys { get; init; }

    /// <summary>Keys that are known, but whose long value is damaged; they are not in the target.</summary>
    public required long LostValues { get; init; }

    /// <summary>Pages of it that could not be read, runs of long values among them.</summary>
    public required long DamagedPages { get; init; }

    /// <summary>Where keys may be missing, in key order; at most a hundred: of more, neighbours are joined.</summary>
    public required IReadOnlyList<KeyRange> MissingRanges { get; init; }

    /// <summary>Where the doubtful keys are, in key order; at most a hundred: of more, neighbours are joined.</summary>
    public required IReadOnlyList<KeyRange> DoubtfulRanges { get; init; }

    /// <summary>Why it could not be copied at all, or null.</summary>
    public string? Failure { get; init; }

    /// <summary>True when all of it came back and nothing of it is in doubt.</summary>
    public bool IsComplete => Failure is null && DoubtfulKeys == 0 && LostValues == 0 && MissingRanges.Count == 0;
}
