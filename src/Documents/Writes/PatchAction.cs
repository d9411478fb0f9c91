namespace Treepie.Writes;

/// <summary>A read or write by a script of something other than its document.</summary>
/// <param name="Kind">The kind of the action.</param>
/// <param name="Id">The id of the document, or the key of the compare-exchange value.</param>
public sealed record PatchAction(PatchActionKind Kind, string Id)
{
    /// <summary>The name of the counter or time series; null for other actions.</summary>
    public string? Name { get; init; }

    /// <summary>The amount added to the counter; null for other actions.</summary>
    public long? Delta { get; init; }

    /// <summary>The document or value as JSON; empty if there is none.</summary>
    public ReadOnlyMemory<byte> Json { get; init; }
}
