using System.Text.Json;

namespace Treepie.Writes;

/// <summary>
/// Options of a patch. Immutable; data that it refers to must not be modified until the batch has been written.
/// </summary>
public sealed record PatchOptions
{
    /// <summary>The arguments of the script, as a JSON object; undefined: an empty object.</summary>
    public JsonElement Arguments { get; init; }

    /// <summary>
    /// The change vector that the document must have. Empty: the document must not exist. Null: not checked.
    /// </summary>
    public string? ExpectedChangeVector { get; init; }

    /// <summary>Whether a document with another change vector is skipped; otherwise the whole batch fails.</summary>
    public bool SkipsOtherChangeVectors { get; init; }

    /// <summary>
    /// The script to run if the document does not exist; it starts with an empty document. Null: no document is created.
    /// </summary>
    public Patch? IfMissing { get; init; }

    /// <summary>The arguments of <see cref="IfMissing"/>.</summary>
    public JsonElement IfMissingArguments { get; init; }

    /// <summary>The document to store if none exists, instead of running a script. Empty: none.</summary>
    public ReadOnlyMemory<byte> CreateIfMissing { get; init; }

    /// <summary>Whether the result contains the document before and after the patch.</summary>
    public bool ReturnsDocuments { get; init; }

    /// <summary>Whether the result lists what the script read and wrote apart from its document.</summary>
    public bool ReturnsActions { get; init; }

    /// <summary>Cancels the script while it runs; nothing of its batch is written then.</summary>
    public CancellationToken CancellationToken { get; init; }
}
