namespace Treepie;

/// <summary>Selects what to compact.</summary>
public sealed record CompactionOptions
{
    /// <summary>Whether to compact the documents and their related data.</summary>
    public bool Documents { get; init; } = true;

    /// <summary>The names of the indexes to compact (case-insensitive). Null: all.</summary>
    public IReadOnlyList<string>? Indexes { get; init; }
}
