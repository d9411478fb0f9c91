using Treepie.Kinds;
using Treepie.Writes;

namespace Treepie.Backups;

/// <summary>Who takes what a dump holds, in its order.</summary>
internal interface IDumpSink
{
    /// <summary>Called first; null for a dump of another program.</summary>
    ValueTask BeginAsync(DumpHeader? header, CancellationToken cancellationToken);

    /// <summary>
    /// A document; what it gives is copied before this completes. The etag and time are those of the backup, or given here.
    /// False: left out.
    /// </summary>
    ValueTask<bool> DocumentAsync(DumpDocument document, long etag, long ticks, CancellationToken cancellationToken);

    ValueTask<bool> TombstoneAsync(DumpTombstone tombstone, CancellationToken cancellationToken);

    ValueTask<bool> IndexAsync(DumpedIndex index, CancellationToken cancellationToken);

    ValueTask<bool> IdentityAsync(string name, long value, CancellationToken cancellationToken);

    /// <summary>Where the content of an attachment goes that comes next; null where it is not kept.</summary>
    AttachmentUpload? BeginContent();

    /// <summary>A content has come, and is complete; the attachments that have it follow.</summary>
    ValueTask ContentAsync(AttachmentUpload content, CancellationToken cancellationToken);

    /// <summary>A value beside documents, or its deletion. False: left out.</summary>
    ValueTask<bool> BesideAsync(RestoredKind item, CancellationToken cancellationToken);

    ValueTask CollectionAsync(string name, long lastEtag, CancellationToken cancellationToken);
}

/// <summary>A deletion of a dump.</summary>
/// <param name="Id">Id of the document.</param>
/// <param name="Collection">The collection it was in.</param>
/// <param name="Etag">Etag of the deletion.</param>
/// <param name="Ticks">When, UTC.</param>
/// <param name="IsSuperseded">Whether the id has changed again in another collection.</param>
internal sealed record DumpTombstone(string Id, string Collection, long Etag, long Ticks, bool IsSuperseded);

/// <summary>Takes nothing: for who only wants to know whether a backup is whole.</summary>
internal sealed class NoSink : IDumpSink
{
    public ValueTask BeginAsync(DumpHeader? header, CancellationToken cancellationToken) => ValueTask.CompletedTask;

    public ValueTask<bool> DocumentAsync(DumpDocument document, long etag, long ticks, CancellationToken cancellationToken) =>
        ValueTask.FromResult(true);

    public ValueTask<bool> TombstoneAsync(DumpTombstone tombstone, CancellationToken cancellationToken) =>
        ValueTask.FromResult(true);

    public ValueTask<bool> IndexAsync(DumpedIndex index, CancellationToken cancellationToken) => ValueTask.FromResult(true);

    public ValueTask<bool> IdentityAsync(string name, long value, CancellationToken cancellationToken) =>
        ValueTask.FromResult(true);

    public AttachmentUpload? BeginContent() => null;

    public ValueTask ContentAsync(AttachmentUpload content, CancellationToken cancellationToken) => ValueTask.CompletedTask;

    public ValueTask<bool> BesideAsync(RestoredKind item, CancellationToken cancellationToken) => ValueTask.FromResult(true);

    public ValueTask CollectionAsync(string name, long lastEtag, CancellationToken cancellationToken) => ValueTask.CompletedTask;
}
