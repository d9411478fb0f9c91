namespace Treepie.Indexes.Reducing;

/// <summary>What a map has made of a change of a document.</summary>
/// <param name="Key">The document as the state knows it: its folded id.</param>
/// <param name="Label">Its id, for people; empty where it was deleted.</param>
/// <param name="Results">Its results; empty where it was deleted or the map failed.</param>
/// <param name="Error">Why the map failed; null: it did not.</param>
/// <param name="Time">When it was mapped (UTC).</param>
internal readonly record struct MappedDocument(
    byte[] Key, string Label, IReadOnlyList<MappedResult> Results, string? Error, DateTime Time)
{
    /// <summary>What it has looked at beside itself, ascending.</summary>
    public UInt128[] References { get; init; } = [];
}

/// <summary>A mapped result.</summary>
/// <param name="Group">The key of its group.</param>
/// <param name="Json">A JSON object.</param>
internal readonly record struct MappedResult(byte[] Group, byte[] Json);
