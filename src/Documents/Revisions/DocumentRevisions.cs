using System.Text;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Revisions;

/// <summary>
/// Configures, deletes and reverts revisions of a database. To read revisions, use a snapshot. Thread-safe.
/// </summary>
public sealed class DocumentRevisions
{
    private const int RevisionsPerStep = 256;

    /// <summary>The maximum number of documents whose revisions are processed in one step.</summary>
    private const int DocumentsPerStep = 256;

    /// <summary>The size in bytes of reverted documents after which a step ends.</summary>
    private const int BytesPerStep = 4 << 20;

    private readonly IWriteHost _host;

    internal DocumentRevisions(IWriteHost host) => _host = host;

    /// <summary>The configuration; null if there is none.</summary>
    public RevisionsConfiguration? Configuration
    {
        get
        {
            using DatabaseSnapshot snapshot = _host.BeginRead();
            return snapshot.RevisionsConfiguration();
        }
    }

    /// <summary>Sets or, with null, removes the configuration for future changes; existing revisions are kept.</summary>
    public async Task ConfigureAsync(RevisionsConfiguration? configuration, CancellationToken cancellationToken = default)
    {
        using var batch = new WriteBatch(_host.Options);
        await _host.WriteWithoutResultsAsync(
            batch.Setting(RevisionsConfiguration.SettingName, configuration?.ToJson()), cancellationToken)
            .ConfigureAwait(false);
    }

    /// <summary>
    /// Deletes all revisions that the configuration does not keep, including those of collections without a configuration, in
    /// small durable steps. Returns the number of deleted revisions.
    /// </summary>
    public Task<long> EnforceAsync(CancellationToken cancellationToken = default) =>
        EnforceAsync([], cancellationToken: cancellationToken);

    /// <summary>
    /// Same as <see cref="EnforceAsync(CancellationToken)"/>, for some collections only; for all if none are given.
    /// </summary>
    /// <param name="collections">The collections.</param>
    /// <param name="includesForced">Whether manually created revisions of collections without a configuration are deleted as
    /// well.</param>
    /// <param name="cancellationToken">Cancels the operation between two steps.</param>
    public async Task<long> EnforceAsync(
        IReadOnlyList<string> collections, bool includesForced = false, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(collections);
        var wanted = new HashSet<string>(collections, StringComparer.OrdinalIgnoreCase);
        long deleted = 0;
        foreach (byte[][] documents in Documents())
        {
            for (int done = 0; done < documents.Length;)
            {
                cancellationToken.ThrowIfCancellationRequested();
                int from = done;
                (int inStep, done) = await _host.WriteAsync(
                    writer => Enforce(writer, documents, from, wanted, includesForced), cancellationToken).ConfigureAwait(false);
                deleted += inStep;
            }
        }

        return deleted;
    }

    /// <summary>
    /// Deletes revisions of a document, either those with the specified change vectors or all; returns the number of deleted
    /// revisions.
    /// </summary>
    public async Task<long> DeleteAsync(
        string documentId, IReadOnlyList<string>? changeVectors = null, CancellationToken cancellationToken = default)
    {
        byte[] folded = CollectionName.Fold(DocumentId.Encode(documentId, DocumentId.MaxBytes));
        List<byte[]> keys;
        using (DatabaseSnapshot snapshot = _host.BeginRead())
        {
            keys = changeVectors is null or { Count: 0 }
                ? snapshot.Kinds.Revisions(folded)
                : [
                    .. changeVectors.Select(vector => snapshot.RevisionOf(vector, metadataOnly: true))
                        .OfType<Revision>()
                        .Where(revision => CollectionName.Fold(revision.Id).AsSpan().SequenceEqual(folded))
                        .Select(static revision => revision.Etag)
                        .Distinct()
                        .Select(etag => KindKey.OfRevision(folded, etag))];
        }

        for (int at = 0; at < keys.Count; at += RevisionsPerStep)
        {
            using var batch = new WriteBatch(_host.Options);
            await _host.WriteWithoutResultsAsync(
                batch.DeleteRevisions(folded, keys[at..Math.Min(keys.Count, at + RevisionsPerStep)], RevisionsPerStep),
                cancellationToken).ConfigureAwait(false);
        }

        return keys.Count;
    }

    /// <summary>
    /// Reverts documents and their attachments to revisions, atomically; if the revision is a deletion, deletes the document.
    /// </summary>
    /// <exception cref="InvalidDocumentException">A document is in another collection now, and changing it would delete its
    /// counters, time series or revisions; nothing was changed.</exception>
    /// <exception cref="DocumentNotFoundException">A document has no revision with the specified change vector; nothing was
    /// changed.</exception>
    public async Task RevertAsync(
        IReadOnlyDictionary<string, string> changeVectorById, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(changeVectorById);
        using var batch = new WriteBatch(_host.Options);
        using (DatabaseSnapshot snapshot = _host.BeginRead())
        {
            foreach ((string id, string changeVector) in changeVectorById)
            {
                if (snapshot.RevisionOf(changeVector) is not { } revision
                    || !string.Equals(revision.Id, id, StringComparison.OrdinalIgnoreCase))
                    throw new DocumentNotFoundException(id, $"has no revision '{changeVector}'");
                Put(batch, snapshot, revision);
            }
        }

        await _host.WriteWithoutResultsAsync(batch, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Reverts all documents that have revisions to a point in time, in several durable steps of limited size; deletes those
    /// created later, and leaves those whose state at that time is no longer kept, or whose revisions would go with them.
    /// Returns the number of changed documents. Concurrent writes may or may not be reverted.
    /// </summary>
    /// <exception cref="InvalidDocumentException">A document would lose data beside it; see <see cref="RevertAsync"/>. Earlier
    /// steps stay.</exception>
    public async Task<long> RevertToAsync(
        DateTime time, IReadOnlyList<string>? collections = null, CancellationToken cancellationToken = default)
    {
        var wanted = collections is { Count: > 0 } ? new HashSet<string>(collections, StringComparer.OrdinalIgnoreCase) : null;
        long changed = 0;
        foreach (byte[][] documents in Documents())
        {
            for (int at = 0; at < documents.Length;)
            {
                cancellationToken.ThrowIfCancellationRequested();
                using var batch = new WriteBatch(_host.Options);
                int inStep = 0;
                using (DatabaseSnapshot snapshot = _host.BeginRead())
                    for (; at < documents.Length && batch.SizeBytes < BytesPerStep; at++)
                        inStep += Revert(batch, snapshot, documents[at], time, wanted) ? 1 : 0;
                if (inStep > 0)
                    await _host.WriteWithoutResultsAsync(batch, cancellationToken).ConfigureAwait(false);
                changed += inStep;
            }
        }

        return changed;
    }

    /// <summary>Adds what reverts a document to a batch; returns whether there is anything.</summary>
    private static bool Revert(
        WriteBatch batch, DatabaseSnapshot snapshot, byte[] folded, DateTime time, HashSet<string>? collections)
    {
        string id = Encoding.UTF8.GetString(folded);
        Revision? newest = snapshot.Revisions(id, metadataOnly: true).FirstOrDefault();
        if (newest is null || collections?.Contains(newest.Collection) == false)
            return false;
        int before = batch.Count;
        if (snapshot.RevisionBefore(id, time) is { } then)
            Put(batch, snapshot, then);
        else if (snapshot.WasCreatedAfter(id, time)
            && snapshot.TryGet(folded, out Document document)
            && snapshot.RevisionsConfiguration()?.RuleOf(document.CollectionName) is not { PurgeOnDelete: true })
            batch.Delete(newest.Id);
        return batch.Count > before;
    }

    /// <summary>
    /// Deletes revisions of documents from one on, in a step of limited size; returns their number, and where to continue.
    /// </summary>
    private static (int Deleted, int Next) Enforce(
        DocumentWriter writer, byte[][] documents, int from, HashSet<string> wanted, bool includesForced)
    {
        int deleted = 0;
        for (; from < documents.Length; from++)
        {
            deleted += Enforce(writer, documents[from], wanted, includesForced, RevisionsPerStep - deleted);
            if (deleted == RevisionsPerStep)
                break; // this one may have more
        }

        if (deleted > 0)
            writer.Save();
        return (deleted, from);
    }

    private static int Enforce(
        DocumentWriter writer, byte[] folded, HashSet<string> wanted, bool includesForced, int most)
    {
        if (writer.Kinds.Items.LastRevision(folded) is not { } last || !writer.Kinds.TryGet(last, out KindRecord record))
            return 0;
        string collection = Encoding.UTF8.GetString(new RevisionRecord(record.Value).Collection);
        if (wanted.Count > 0 && !wanted.Contains(collection))
            return 0;
        RevisionsRule? ofCollection = writer.Revisions.RuleOf(collection);
        RevisionsRule rule = ofCollection ?? new RevisionsRule { MinimumToKeep = 0 };
        int deleted = rule.HasLimit
            ? writer.Revisions.Enforce(folded, rule, most, keepsForced: ofCollection is null && !includesForced)
            : 0;
        if (deleted > 0 && writer.Kinds.Items.LastRevision(folded) is null)
            writer.TouchUnrevised(folded); // removes the flag that says the document has revisions
        return deleted;
    }

    private static void Put(WriteBatch batch, DatabaseSnapshot snapshot, Revision revision)
    {
        bool exists = snapshot.TryGet(revision.Id, out Document document),
            changesCollection = exists && !revision.IsDeletion && document.CollectionName != revision.Collection;
        if (changesCollection)
            CheckMove(snapshot, revision, document.CollectionName);
        if (revision.IsDeletion)
        {
            if (exists)
                batch.Delete(revision.Id);
            return;
        }

        byte[] folded = CollectionName.Fold(revision.Id);
        ReadOnlySpan<byte> attachments = exists ? RevisionAttachments.Of(snapshot.Kinds, folded) : default;
        bool hasOthers = !attachments.SequenceEqual(revision.AttachmentList.Span);
        if (exists
            && !hasOthers
            && document.Body.SequenceEqual(revision.Body.Span)
            && MetadataWithoutFlags(document).SequenceEqual(revision.Metadata.IsEmpty ? "{}"u8 : revision.Metadata.Span))
            return;
        hasOthers |= !revision.AttachmentList.IsEmpty && changesCollection;
        if (hasOthers)
            batch.HoldContents(revision); // the commands below may delete the last other use of them
        if (changesCollection)
            batch.Delete(revision.Id);
        var json = new System.Buffers.ArrayBufferWriter<byte>();
        revision.WriteTo(json);
        batch.IsRevised = hasOthers; // the revision is created once the attachments are restored
        batch.Put(revision.Id, json.WrittenSpan);
        batch.IsRevised = false;
        if (hasOthers)
            batch.RevertAttachments(folded, revision);
    }

    private static ReadOnlySpan<byte> MetadataWithoutFlags(Document document) =>
        Json.MetadataMember.Without(document.Metadata, Json.MetadataKeys.Flags) is { IsEmpty: false } metadata
            ? metadata
            : "{}"u8;

    /// <summary>A document changes its collection by being deleted: checks that nothing else goes with it.</summary>
    private static void CheckMove(DatabaseSnapshot snapshot, Revision revision, string collection)
    {
        DocumentFlags flags = snapshot.Kinds.FlagsOf(CollectionName.Fold(revision.Id));
        string? lost = (flags & (DocumentFlags.HasCounters | DocumentFlags.HasTimeSeries)) != 0 ? "its counters and time series"
            : snapshot.RevisionsConfiguration()?.RuleOf(collection) is { PurgeOnDelete: true } ? "its revisions"
            : null;
        if (lost is not null)
            throw new InvalidDocumentException(
                $"Document '{revision.Id}' is in collection '{collection}' now and was in '{revision.Collection}' then. "
                + $"Reverting it would delete it first, and {lost} with it. It was not changed. If you want that, delete it "
                + "yourself and revert it again.");
    }

    /// <summary>Returns all documents that have revisions, a limited number at once.</summary>
    private IEnumerable<byte[][]> Documents()
    {
        byte[][] documents = Next(null);
        for (; documents.Length > 0; documents = Next(documents[^1]))
            yield return documents;

        byte[][] Next(byte[]? behind)
        {
            using DatabaseSnapshot snapshot = _host.BeginRead();
            return [.. snapshot.Kinds.DocumentsWithRevisions(behind).Take(DocumentsPerStep)];
        }
    }
}
