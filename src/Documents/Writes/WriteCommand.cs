using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>What a command does.</summary>
internal enum WriteKind : byte
{
    Put,
    Delete,
    DeleteByPrefix,
    Beside,
    Patch,
    Require,
}

/// <summary>One command of a batch, checked and in the form it is written in.</summary>
/// <param name="Kind">What it does.</param>
/// <param name="Id">The id or prefix as given; for <see cref="IdKind.Identity"/> and <see cref="IdKind.ServerSide"/> its first
/// part.</param>
/// <param name="IdKind">Whether the id is complete.</param>
/// <param name="IdUtf8">The same in UTF-8.</param>
/// <param name="FoldedId">The same folded.</param>
/// <param name="Metadata">Minified metadata object; empty for none.</param>
/// <param name="Body">Minified body.</param>
/// <param name="Collection">Its collection; null for deletions.</param>
/// <param name="ExpectedChangeVector">Null: any; empty: no document; else this one.</param>
/// <param name="Beside">What is done beside documents; null for documents.</param>
/// <param name="ExpectedGuard">In cluster-wide batches the index expected of the document's guard.</param>
/// <param name="Patch">How a document is patched; null for others.</param>
/// <param name="ForcesRevision">Whether a revision is made of what was there before.</param>
/// <param name="IsRevised">Whether a revision of the new state comes from elsewhere, so that none is made.</param>
/// <param name="Packed">The body packed, which is then written in its place; empty for none.</param>
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
    /// <summary>Stands for a guard of any index: who deletes a document without having read it wants it gone as it is.</summary>
    public const long AnyGuard = -1;
}

/// <summary>Who completes an id.</summary>
internal enum IdKind : byte
{
    /// <summary>Nobody: it is complete.</summary>
    Given,

    /// <summary>Ended in <c>/</c>: the database adds a number of 19 digits and its tag.</summary>
    ServerSide,

    /// <summary>Ended in <c>|</c>: the database adds <c>/</c> and the next number of that identity.</summary>
    Identity,
}
