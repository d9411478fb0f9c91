namespace Treepie.Indexes.Reducing;

/// <summary>The result of mapping a changed document.</summary>
/// <param name="Key">The key of the document in the state: its folded id.</param>
/// <param name="Label">Its id, for messages; empty if it was deleted.</param>
/// <param name="Results">Its results; empty if it was deleted or the map failed.</param>
/// <param name="Error">Why the map failed; null if it did not.</param>
/// <param name="Time">When it was mapped (UTC).</param>
internal readonly record struct MappedDocument(
    byte[] Key, string Label, IReadOnlyList<MappedResult> Results, string? Error, DateTime Time)
{
    /// <summary>Its references to other documents and values, ascending.</summary>
    public UInt128[] References { get; init; } = [];
}

/// <summary>A mapped result.</summary>
/// <param name="Group">The key of its group.</param>
/// <param name="Json">The result, a JSON object.</param>
internal readonly record struct MappedResult(byte[] Group, byte[] Json);
