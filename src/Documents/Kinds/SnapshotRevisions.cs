using System.Globalization;
using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>Reads revisions of documents from a snapshot.</summary>
public static class SnapshotRevisions
{
    /// <summary>Returns the revisions of a document (case-insensitive), which may be deleted, newest first.</summary>
    public static IEnumerable<Revision> Revisions(this DatabaseSnapshot snapshot, string documentId, bool metadataOnly = false)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        List<byte[]> keys = Keys(snapshot, documentId);
        keys.Reverse();
        return keys.Select(key => Read(snapshot, key, metadataOnly)).OfType<Revision>();
    }

    /// <summary>Returns the number of revisions of a document.</summary>
    public static long RevisionCount(this DatabaseSnapshot snapshot, string documentId)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        return Keys(snapshot, documentId).Count;
    }

    /// <summary>Returns the revision with the specified change vector; null if there is none.</summary>
    public static Revision? RevisionOf(this DatabaseSnapshot snapshot, string changeVector, bool metadataOnly = false)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        ArgumentNullException.ThrowIfNull(changeVector);
        int colon = changeVector.IndexOf(':', StringComparison.Ordinal),
            dash = changeVector.IndexOf('-', StringComparison.Ordinal);
        if (colon < 0
            || dash < colon
            || !long.TryParse(
                changeVector.AsSpan(colon + 1, dash - colon - 1), NumberStyles.None, CultureInfo.InvariantCulture, out long etag)
            || !snapshot.ChangeVectors.Matches(changeVector, etag))
            return null;

        using LogReader log = snapshot.Kinds.Log(etag - 1);
        return log.MoveNext() && log.Etag == etag && KindKey.KindOf(log.Value) == Kind.Revision
            ? Read(snapshot, log.Value.ToArray(), metadataOnly)
            : null;
    }

    /// <summary>
    /// Returns the revision of a document that was current at a point in time: the last one at or before it; null if there is
    /// none.
    /// </summary>
    public static Revision? RevisionBefore(
        this DatabaseSnapshot snapshot, string documentId, DateTime time, bool metadataOnly = false)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        List<byte[]> keys = Keys(snapshot, documentId);
        for (int i = keys.Count - 1; i >= 0; i--)
            if (snapshot.Kinds.TryGet(keys[i], out KindRecord record) && new RevisionRecord(record.Value).Ticks <= time.Ticks)
                return Read(snapshot, keys[i], metadataOnly);
        return null;
    }

    /// <summary>
    /// Returns an attachment of a document (both case-insensitive) as of the revision with the specified change vector; null if
    /// there is none. Read its content with <see cref="SnapshotKinds.Content"/>.
    /// </summary>
    public static AttachmentValue? RevisionAttachment(
        this DatabaseSnapshot snapshot, string documentId, string name, string changeVector)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        ArgumentNullException.ThrowIfNull(name);
        return snapshot.RevisionOf(changeVector, metadataOnly: true) is { } revision && IsSame(revision.Id, documentId)
            ? revision.Attachments.FirstOrDefault(attachment => IsSame(attachment.Name, name))
            : null;

        static bool IsSame(string one, string other) =>
            CollectionName.Fold(one).AsSpan().SequenceEqual(CollectionName.Fold(other));
    }

    /// <summary>
    /// Returns whether a document is known not to have existed at a time before its first revision: the document was created
    /// with that, and the database had forgotten no later deletion then.
    /// </summary>
    internal static bool WasCreatedAfter(this DatabaseSnapshot snapshot, string documentId, DateTime time) =>
        Keys(snapshot, documentId) is [var first, ..]
            && snapshot.Kinds.TryGet(first, out KindRecord record)
            && new RevisionRecord(record.Value).Origin is { IsCreation: true } origin
            && origin.ForgottenTicks < time.Ticks;

    /// <summary>
    /// Returns the deletion revisions of deleted documents that have revisions and so can be restored, in the order of their ids.
    /// </summary>
    /// <param name="snapshot">The snapshot.</param>
    /// <param name="after">The id of the document after which to begin; null: at the first.</param>
    public static IEnumerable<Revision> RevisionsBin(this DatabaseSnapshot snapshot, string? after = null)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        byte[]? behind = after is null ? null : CollectionName.Fold(Encoding.UTF8.GetBytes(after));
        if (behind?.Length > DocumentId.MaxFoldedBytes)
            yield break;
        foreach (byte[] folded in snapshot.Kinds.DocumentsWithRevisions(behind))
            if (!snapshot.TryGet(folded, out Document _)
                && Read(snapshot, snapshot.Kinds.Revisions(folded)[^1], metadataOnly: true) is { IsDeletion: true } deletion)
                yield return deletion;
    }

    /// <summary>Returns the revisions configuration; null if there is none.</summary>
    public static RevisionsConfiguration? RevisionsConfiguration(this DatabaseSnapshot snapshot)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        return SettingReader.Read(
            snapshot, Treepie.Kinds.RevisionsConfiguration.SettingName, Treepie.Kinds.RevisionsConfiguration.FromJson);
    }

    private static List<byte[]> Keys(DatabaseSnapshot snapshot, string documentId)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(documentId);
        return utf8.Length is > 0 and <= DocumentId.MaxBytes ? snapshot.Kinds.Revisions(CollectionName.Fold(utf8)) : [];
    }

    private static Revision? Read(DatabaseSnapshot snapshot, byte[] key, bool metadataOnly) =>
        snapshot.Kinds.TryGet(key, out KindRecord record)
            ? Revision.Read(key, record, snapshot.Kinds, snapshot.ChangeVectors, metadataOnly)
            : null;
}
