namespace Treepie.Writes;

/// <summary>One thing that a script looked at or did beside its document.</summary>
/// <param name="Kind">What it did.</param>
/// <param name="Id">Id of the document, or key of the compare-exchange value.</param>
public sealed record PatchAction(PatchActionKind Kind, string Id)
{
    /// <summary>Name of the counter or time series; null for others.</summary>
    public string? Name { get; init; }

    /// <summary>What was added to the counter; null for others.</summary>
    public long? Delta { get; init; }

    /// <summary>The document or value as JSON; empty where there is none.</summary>
    public ReadOnlyMemory<byte> Json { get; init; }
}
