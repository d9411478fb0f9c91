using Treepie.Kinds;
using Treepie.Writes;

namespace Treepie.Backups;

/// <summary>Receives the contents of a dump, in its order.</summary>
internal interface IDumpSink
{
    /// <summary>Called first, with the header; null for a dump by another program.</summary>
    ValueTask BeginAsync(DumpHeader? header, CancellationToken cancellationToken);

    /// <summary>
    /// Receives a document, whose data is copied before this completes. Etag and time are those of the backup, or assigned by
    /// the reader. Returns false if the document is skipped.
    /// </summary>
    ValueTask<bool> DocumentAsync(DumpDocument document, long etag, long ticks, CancellationToken cancellationToken);

    ValueTask<DumpItemFate> TombstoneAsync(DumpTombstone tombstone, CancellationToken cancellationToken);

    ValueTask<DumpItemFate> IndexAsync(DumpedIndex index, CancellationToken cancellationToken);

    /// <summary>Receives an identity.</summary>
    ValueTask<DumpItemFate> IdentityAsync(string name, long value, CancellationToken cancellationToken);

    /// <summary>Begins the content of an attachment, which follows; returns null if it is not stored.</summary>
    AttachmentUpload? BeginContent();

    /// <summary>Called when a content is complete, before the attachments that refer to it.</summary>
    ValueTask ContentAsync(AttachmentUpload content, CancellationToken cancellationToken);

    /// <summary>Receives an item of related data, or its deletion.</summary>
    ValueTask<DumpItemFate> BesideAsync(string section, RestoredKind item, CancellationToken cancellationToken);

    /// <summary>Called when a section is complete, before the next one begins.</summary>
    ValueTask EndSectionAsync(CancellationToken cancellationToken);

    ValueTask CollectionAsync(string name, long lastEtag, CancellationToken cancellationToken);
}

/// <summary>What a sink does with an item of a dump.</summary>
internal enum DumpItemFate
{
    /// <summary>It is taken.</summary>
    Taken,

    /// <summary>It is left out.</summary>
    LeftOut,

    /// <summary>The sink knows only later, up to the end of the section, and counts the item itself.</summary>
    Pending,
}

/// <summary>A tombstone of a dump.</summary>
/// <param name="Id">The id of the document.</param>
/// <param name="Collection">The collection of the document.</param>
/// <param name="Etag">The etag of the deletion.</param>
/// <param name="Ticks">The time of the deletion (UTC).</param>
/// <param name="IsSuperseded">Whether the document with this id was changed again in another collection.</param>
internal sealed record DumpTombstone(string Id, string Collection, long Etag, long Ticks, bool IsSuperseded);

/// <summary>Discards everything; used for verification.</summary>
internal sealed class NoSink : IDumpSink
{
    public ValueTask BeginAsync(DumpHeader? header, CancellationToken cancellationToken) => ValueTask.CompletedTask;

    public ValueTask<bool> DocumentAsync(DumpDocument document, long etag, long ticks, CancellationToken cancellationToken) =>
        ValueTask.FromResult(true);

    public ValueTask<DumpItemFate> TombstoneAsync(DumpTombstone tombstone, CancellationToken cancellationToken) =>
        ValueTask.FromResult(DumpItemFate.Taken);

    public ValueTask<DumpItemFate> IndexAsync(DumpedIndex index, CancellationToken cancellationToken) =>
        ValueTask.FromResult(DumpItemFate.Taken);

    public ValueTask<DumpItemFate> IdentityAsync(string name, long value, CancellationToken cancellationToken) =>
        ValueTask.FromResult(DumpItemFate.Taken);

    public AttachmentUpload? BeginContent() => null;

    public ValueTask ContentAsync(AttachmentUpload content, CancellationToken cancellationToken) => ValueTask.CompletedTask;

    public ValueTask<DumpItemFate> BesideAsync(string section, RestoredKind item, CancellationToken cancellationToken) =>
        ValueTask.FromResult(DumpItemFate.Taken);

    public ValueTask EndSectionAsync(CancellationToken cancellationToken) => ValueTask.CompletedTask;

    public ValueTask CollectionAsync(string name, long lastEtag, CancellationToken cancellationToken) => ValueTask.CompletedTask;
}
