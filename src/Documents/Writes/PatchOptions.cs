using System.Text.Json;

namespace Treepie.Writes;

/// <summary>How a document is patched. Immutable; what it refers to must stay as it is until the batch is written.</summary>
public sealed record PatchOptions
{
    /// <summary>Values for the script, a JSON object; undefined: an empty one.</summary>
    public JsonElement Arguments { get; init; }

    /// <summary>The change vector the document must have; empty: it must not exist; null: any.</summary>
    public string? ExpectedChangeVector { get; init; }

    /// <summary>Whether a document with another change vector is left as it is; else the whole batch fails.</summary>
    public bool SkipsOtherChangeVectors { get; init; }

    /// <summary>The script for a document that does not exist, which begins as an empty one; null: it stays so.</summary>
    public Patch? IfMissing { get; init; }

    /// <summary>Values for that script.</summary>
    public JsonElement IfMissingArguments { get; init; }

    /// <summary>The document that is put where there is none, instead of a script; empty: none.</summary>
    public ReadOnlyMemory<byte> CreateIfMissing { get; init; }

    /// <summary>Whether the result has the document before and after.</summary>
    public bool ReturnsDocuments { get; init; }

    /// <summary>Whether the result says what the script looked at and did beside its document.</summary>
    public bool ReturnsActions { get; init; }

    /// <summary>Ends the script where it stands; nothing of its batch is written then.</summary>
    public CancellationToken CancellationToken { get; init; }
}
