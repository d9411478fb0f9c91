namespace Treepie;

/// <summary>What of a database is made shorter.</summary>
public sealed record CompactionOptions
{
    /// <summary>Documents, and what lies beside them.</summary>
    public bool Documents { get; init; } = true;

    /// <summary>Names of indexes (compared without case); null: all there are.</summary>
    public IReadOnlyList<string>? Indexes { get; init; }
}
