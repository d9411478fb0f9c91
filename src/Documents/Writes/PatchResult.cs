namespace Treepie.Writes;

/// <summary>What a patch did to a document.</summary>
/// <param name="Status">What.</param>
/// <param name="Original">The document before, with metadata; empty where it was not asked for, or there was none.</param>
/// <param name="Modified">The document after; as above.</param>
/// <param name="Output">What the script wrote for people.</param>
public sealed record PatchResult(
    PatchStatus Status, ReadOnlyMemory<byte> Original, ReadOnlyMemory<byte> Modified, IReadOnlyList<string> Output)
{
    /// <summary>
    /// What the script looked at and did beside its document, in its order, at most 1,024; empty where it was not asked for.
    /// </summary>
    public IReadOnlyList<PatchAction> Actions { get; init; } = [];
}
