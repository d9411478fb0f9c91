namespace Treepie.Writes;

/// <summary>The result of a patch.</summary>
/// <param name="Status">The outcome.</param>
/// <param name="Original">The document before the patch, with metadata; empty if not requested or if it did not exist.</param>
/// <param name="Modified">The document after the patch, with metadata; empty if not requested or if it does not exist.</param>
/// <param name="Output">The output of the script, for debugging.</param>
public sealed record PatchResult(
    PatchStatus Status, ReadOnlyMemory<byte> Original, ReadOnlyMemory<byte> Modified, IReadOnlyList<string> Output)
{
    /// <summary>
    /// What the script read and wrote apart from its document, in order, at most 1,024 actions; empty if not requested.
    /// </summary>
    public IReadOnlyList<PatchAction> Actions { get; init; } = [];
}
