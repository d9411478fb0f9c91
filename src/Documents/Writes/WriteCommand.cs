using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>The kinds of commands.</summary>
internal enum WriteKind : byte
{
    Put,
    Delete,
    DeleteByPrefix,
    Beside,
    Patch,
    Require,
    RequireUnchanged,
}

/// <summary>One command of a batch, validated and in the form in which it is written.</summary>
/// <param name="Kind">The kind of the command.</param>
/// <param name="Id">The id or prefix as given; for <see cref="IdKind.Identity"/> and <see cref="IdKind.ServerSide"/> its first
/// part.</param>
/// <param name="IdKind">Whether the id is complete.</param>
/// <param name="IdUtf8">The id in UTF-8.</param>
/// <param name="FoldedId">The folded id.</param>
/// <param name="Metadata">The minified metadata object; empty if there is none.</param>
/// <param name="Body">The minified body.</param>
/// <param name="Collection">The collection; null for deletions.</param>
/// <param name="ExpectedChangeVector">Null: any; empty: the document must not exist; else the expected change vector.</param>
/// <param name="Beside">The operation on related data; null for documents.</param>
/// <param name="ExpectedGuard">In cluster-wide batches, the expected index of the document's guard; of
/// <see cref="WriteKind.RequireUnchanged"/> the expected last change.</param>
/// <param name="Patch">The patch of a document; null for other commands.</param>
/// <param name="ForcesRevision">Whether a revision of the previous state is created.</param>
/// <param name="IsRevised">Whether a revision of the new state is provided separately, so that none is created.</param>
/// <param name="Packed">The compressed body, which is written in place of the body; empty if there is none.</param>
internal readonly record struct WriteCommand(
    WriteKind Kind,
    string Id,
    IdKind IdKind,
    ReadOnlyMemory<byte> IdUtf8,
    ReadOnlyMemory<byte> FoldedId,
    ReadOnlyMemory<byte> Metadata,
    ReadOnlyMemory<byte> Body,
    CollectionName? Collection,
    string? ExpectedChangeVector,
    KindCommand? Beside = null,
    long ExpectedGuard = 0,
    PatchCommand? Patch = null,
    bool ForcesRevision = false,
    bool IsRevised = false,
    ReadOnlyMemory<byte> Packed = default)
{
    /// <summary>Represents any index of a guard: a document deleted without having been read is deleted in any state.</summary>
    public const long AnyGuard = -1;
}

/// <summary>How an id is completed.</summary>
internal enum IdKind : byte
{
    /// <summary>The id is complete.</summary>
    Given,

    /// <summary>Ends in <c>/</c>: the database appends a number of 19 digits and its tag.</summary>
    ServerSide,

    /// <summary>Ends in <c>|</c>: the database appends <c>/</c> and the next number of that identity.</summary>
    Identity,
}
