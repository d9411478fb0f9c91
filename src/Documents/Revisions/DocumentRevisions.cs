using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Revisions;

/// <summary>
/// Front door of the room: what is done with revisions of a whole database. They are read from snapshots. Thread-safe.
/// </summary>
public sealed class DocumentRevisions
{
    private const int RevisionsPerStep = 256;

    private readonly IWriteHost _host;

    internal DocumentRevisions(IWriteHost host) => _host = host;

    /// <summary>Of which collections they are kept; null where nothing is configured.</summary>
    public RevisionsConfiguration? Configuration
    {
        get
        {
            using DatabaseSnapshot snapshot = _host.BeginRead();
            return snapshot.RevisionsConfiguration();
        }
    }

    /// <summary>Configures them for changes from now on, or forgets what was configured; revisions there are stay.</summary>
    public async Task ConfigureAsync(RevisionsConfiguration? configuration, CancellationToken cancellationToken = default)
    {
        using var batch = new WriteBatch(_host.Options);
        await _host.WriteWithoutResultsAsync(
            batch.Setting(RevisionsConfiguration.SettingName, configuration?.ToJson()), cancellationToken)
            .ConfigureAwait(false);
    }

    /// <summary>
    /// Deletes revisions that the configuration does not keep, those of collections without one too, in small durable steps.
    /// Gives how many.
    /// </summary>
    public Task<long> EnforceAsync(CancellationToken cancellationToken = default) =>
        EnforceAsync([], cancellationToken: cancellationToken);

    /// <summary>The same for some collections alone; for all where none are given.</summary>
    /// <param name="collections">The collections.</param>
    /// <param name="includesForced">Whether those of collections without a configuration go too that somebody asked for.</param>
    /// <param name="cancellationToken">Ends it between two steps.</param>
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
    /// Deletes revisions of a document: those of the change vectors, or all where there are none given. Gives how many.
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
    /// Puts documents as they were at revisions, with their attachments, all or none; where that is a deletion, deletes them.
    /// </summary>
    /// <exception cref="DocumentNotFoundException">A document has no revision of that change vector; nothing was
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
    /// Puts all documents that have revisions as they were at a time, a limited number in each durable step; those that came
    /// later are deleted. Gives how many changed. What is written meanwhile may be reverted too, or not.
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
            writer.TouchUnrevised(folded); // its flag goes
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
            batch.HoldContents(revision); // what has them may go
        if (exists && document.CollectionName != revision.Collection)
            batch.Delete(revision.Id); // it moves
        var json = new System.Buffers.ArrayBufferWriter<byte>();
        revision.WriteTo(json);
        batch.IsRevised = hasOthers; // the revision is made when the attachments are there too
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
