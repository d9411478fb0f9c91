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
        foreach (byte[] folded in Documents())
        {
            int inStep;
            do
            {
                cancellationToken.ThrowIfCancellationRequested();
                inStep = await _host.WriteAsync(writer => Enforce(writer, folded, wanted, includesForced), cancellationToken)
                    .ConfigureAwait(false);
                deleted += inStep;
            }
            while (inStep == RevisionsPerStep);
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
                        .Select(revision => KindKey.OfRevision(folded, revision.Etag))];
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
    /// created later. Returns the number of changed documents. Concurrent writes may or may not be reverted.
    /// </summary>
    public async Task<long> RevertToAsync(
        DateTime time, IReadOnlyList<string>? collections = null, CancellationToken cancellationToken = default)
    {
        var wanted = collections is { Count: > 0 } ? new HashSet<string>(collections, StringComparer.OrdinalIgnoreCase) : null;
        long changed = 0;
        foreach (byte[] folded in Documents())
        {
            cancellationToken.ThrowIfCancellationRequested();
            using var batch = new WriteBatch(_host.Options);
            using (DatabaseSnapshot snapshot = _host.BeginRead())
            {
                string id = System.Text.Encoding.UTF8.GetString(folded);
                Revision? newest = snapshot.Revisions(id, metadataOnly: true).FirstOrDefault();
                if (newest is null || wanted?.Contains(newest.Collection) == false)
                    continue;
                if (snapshot.RevisionBefore(id, time) is { } then)
                    Put(batch, snapshot, then);
                else if (snapshot.TryGet(folded, out Document _))
                    batch.Delete(newest.Id);
            }

            if (batch.Count == 0)
                continue;
            await _host.WriteWithoutResultsAsync(batch, cancellationToken).ConfigureAwait(false);
            changed++;
        }

        return changed;
    }

    private static int Enforce(DocumentWriter writer, byte[] folded, HashSet<string> wanted, bool includesForced)
    {
        if (writer.Kinds.Items.LastRevision(folded) is not { } last || !writer.Kinds.TryGet(last, out KindRecord record))
            return 0;
        string collection = System.Text.Encoding.UTF8.GetString(new RevisionRecord(record.Value).Collection);
        if (wanted.Count > 0 && !wanted.Contains(collection))
            return 0;
        RevisionsRule? ofCollection = writer.Revisions.RuleOf(collection);
        RevisionsRule rule = ofCollection ?? new RevisionsRule { MinimumToKeep = 0 };
        int deleted = rule.HasLimit
            ? writer.Revisions.Enforce(folded, rule, RevisionsPerStep, keepsForced: ofCollection is null && !includesForced)
            : 0;
        if (deleted > 0 && writer.Kinds.Items.LastRevision(folded) is null)
            writer.TouchUnrevised(folded); // removes the flag that says the document has revisions
        writer.Save();
        return deleted;
    }

    private static void Put(WriteBatch batch, DatabaseSnapshot snapshot, Revision revision)
    {
        bool exists = snapshot.TryGet(revision.Id, out Document document);
        if (revision.IsDeletion)
        {
            if (exists)
                batch.Delete(revision.Id);
            return;
        }

        byte[] folded = CollectionName.Fold(System.Text.Encoding.UTF8.GetBytes(revision.Id));
        ReadOnlySpan<byte> attachments = exists ? RevisionAttachments.Of(snapshot.Kinds, folded) : default;
        bool hasOthers = !attachments.SequenceEqual(revision.AttachmentList.Span);
        if (exists
            && !hasOthers
            && document.Body.SequenceEqual(revision.Body.Span)
            && MetadataWithoutFlags(document).SequenceEqual(revision.Metadata.IsEmpty ? "{}"u8 : revision.Metadata.Span))
            return;
        hasOthers |= !revision.AttachmentList.IsEmpty && exists && document.CollectionName != revision.Collection;
        if (hasOthers)
            batch.HoldContents(revision); // the commands below may delete the last other use of them
        if (exists && document.CollectionName != revision.Collection)
            batch.Delete(revision.Id); // changing the collection requires a deletion
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

    private List<byte[]> Documents()
    {
        using DatabaseSnapshot snapshot = _host.BeginRead();
        return [.. snapshot.Kinds.DocumentsWithRevisions()];
    }
}
