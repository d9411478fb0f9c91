using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>Reads related data of documents, such as attachments and counters, from a snapshot.</summary>
public static class SnapshotKinds
{
    /// <summary>Returns a compare-exchange value by key (case-insensitive); null if it does not exist.</summary>
    public static CompareExchangeValue? CompareExchange(this DatabaseSnapshot snapshot, string key)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        return TryFold(key, out byte[] folded)
            && snapshot.Kinds.TryGet(KindKey.Of(Kind.CompareExchange, default, folded), out KindRecord record)
            ? CompareExchangeValue.Read(record, snapshot.ChangeVectors)
            : null;
    }

    /// <summary>
    /// Returns the compare-exchange values whose keys start with a prefix (case-insensitive), in key order.
    /// </summary>
    public static IEnumerable<CompareExchangeValue> CompareExchangeStartingWith(this DatabaseSnapshot snapshot, string prefix)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        ArgumentNullException.ThrowIfNull(prefix);
        return TryFold(prefix, out byte[] folded) ? Values(snapshot, KindKey.Of(Kind.CompareExchange, default, folded)) : [];
    }

    /// <summary>Returns the index of a document's atomic guard; 0 if it has none.</summary>
    public static long AtomicGuardIndex(this DatabaseSnapshot snapshot, string documentId) =>
        snapshot.CompareExchange(CompareExchangeValue.AtomicGuardPrefix + documentId)?.Index ?? 0;

    /// <summary>
    /// Returns the change vector of a document as cluster-wide sessions see it: including the index of its atomic guard, if it
    /// has one.
    /// </summary>
    public static string GuardedChangeVector(this DatabaseSnapshot snapshot, string documentId, string changeVector) =>
        AtomicGuard.ChangeVector(changeVector, snapshot.AtomicGuardIndex(documentId));

    /// <summary>Returns a counter of a document (both case-insensitive); null if it does not exist.</summary>
    public static CounterValue? Counter(this DatabaseSnapshot snapshot, string documentId, string name)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        return TryGet(snapshot, Kind.Counter, documentId, name, out KindRecord record)
            ? CounterValue.Read(documentId, record, snapshot.ChangeVectors)
            : null;
    }

    /// <summary>Returns all counters of a document, sorted by name, case-insensitively.</summary>
    public static IEnumerable<CounterValue> Counters(this DatabaseSnapshot snapshot, string documentId)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        return TryFold(documentId, out byte[] owner) ? Counters(snapshot, documentId, KindKey.Prefix(Kind.Counter, owner)) : [];
    }

    /// <summary>Returns an attachment of a document (both case-insensitive); null if it does not exist.</summary>
    public static AttachmentValue? Attachment(this DatabaseSnapshot snapshot, string documentId, string name)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        return TryGet(snapshot, Kind.Attachment, documentId, name, out KindRecord record)
            ? AttachmentValue.Read(documentId, record, snapshot.ChangeVectors)
            : null;
    }

    /// <summary>Returns all attachments of a document, sorted by name, case-insensitively.</summary>
    public static IEnumerable<AttachmentValue> Attachments(this DatabaseSnapshot snapshot, string documentId)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        return TryFold(documentId, out byte[] owner)
            ? Attachments(snapshot, documentId, KindKey.Prefix(Kind.Attachment, owner))
            : [];
    }

    /// <summary>
    /// Returns the contiguous part of an attachment's content that starts at an offset; empty at its end. Valid until
    /// <see cref="DatabaseSnapshot.ReleasePages"/> is called or the snapshot is disposed.
    /// </summary>
    /// <exception cref="Storage.CorruptionException">The content is missing.</exception>
    public static ReadOnlySpan<byte> Content(this DatabaseSnapshot snapshot, AttachmentValue attachment, long offset)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        ArgumentNullException.ThrowIfNull(attachment);
        ReadOnlySpan<byte> part = snapshot.Kinds.Content(Convert.FromBase64String(attachment.Hash), offset);
        return part.IsEmpty && offset < attachment.SizeBytes // who reads up to the size would never come to an end
            ? throw new Storage.CorruptionException(
                $"The attachment '{attachment.Name}' of '{attachment.DocumentId}' should have {attachment.SizeBytes:N0} bytes, "
                    + $"and its content ends at {offset:N0}. Store the attachment again, or restore a backup.")
            : part;
    }

    /// <summary>Returns the entries of a time series within a range, both ends included, in time order.</summary>
    public static IEnumerable<TimeSeriesPoint> TimeSeries(
        this DatabaseSnapshot snapshot, string documentId, string name, DateTime? from = null, DateTime? to = null)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        return TryFold(documentId, out byte[] owner) && Encoding.UTF8.GetByteCount(name) is > 0 and <= KindNames.MaxBytes
            ? snapshot.Kinds.TimeSeries(owner, name, from ?? DateTime.MinValue, to ?? DateTime.MaxValue)
            : [];
    }

    /// <summary>Returns the statistics of a document's time series, sorted by name, case-insensitively.</summary>
    public static IReadOnlyList<TimeSeriesStatistics> TimeSeriesOf(this DatabaseSnapshot snapshot, string documentId)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        var found = new List<TimeSeriesStatistics>();
        if (!TryFold(documentId, out byte[] owner))
            return found;
        foreach (byte[] first in snapshot.Kinds.FirstSegments(owner))
        {
            long count = 0;
            DateTime begin = default, end = default;
            string name = Encoding.UTF8.GetString(snapshot.Kinds.RecordOf(first).Name);
            foreach (byte[] key in snapshot.Kinds.Segments(first[..^TreeNames.EtagKeyBytes]))
            {
                var segment = new TimeSeriesSegment(snapshot.Kinds.RecordOf(key).Value);
                begin = count == 0 ? new DateTime(segment.FirstTicks, DateTimeKind.Utc) : begin;
                end = new DateTime(segment.LastTicks, DateTimeKind.Utc);
                count += segment.Count;
            }

            found.Add(new TimeSeriesStatistics(name, count, begin, end));
        }

        return found;
    }

    /// <summary>Returns a setting of the database by name; null if it does not exist.</summary>
    internal static byte[]? Setting(this DatabaseSnapshot snapshot, string name) =>
        TryFold(name, out byte[] folded)
            && snapshot.Kinds.TryGet(KindKey.Of(Kind.Setting, default, folded), out KindRecord record)
                ? record.Value.ToArray()
                : null;

    /// <summary>Returns a setting with the etag of its last change; 0 if it does not exist.</summary>
    internal static (long Etag, byte[]? Json) SettingWithEtag(this DatabaseSnapshot snapshot, string name) =>
        TryFold(name, out byte[] folded)
            && snapshot.Kinds.TryGet(KindKey.Of(Kind.Setting, default, folded), out KindRecord record)
                ? (record.Etag, record.Value.ToArray())
                : (0, null);

    private static bool TryGet(DatabaseSnapshot snapshot, Kind kind, string documentId, string name, out KindRecord record)
    {
        record = default;
        return TryFold(documentId, out byte[] owner)
            && TryFold(name, out byte[] folded)
            && snapshot.Kinds.TryGet(KindKey.Of(kind, owner, folded), out record);
    }

    private static IEnumerable<AttachmentValue> Attachments(DatabaseSnapshot snapshot, string documentId, byte[] prefix)
    {
        using KindCursor cursor = snapshot.Kinds.Under(prefix);
        while (cursor.MoveNext())
            yield return AttachmentValue.Read(documentId, cursor.Record, snapshot.ChangeVectors);
    }

    private static IEnumerable<CounterValue> Counters(DatabaseSnapshot snapshot, string documentId, byte[] prefix)
    {
        using KindCursor cursor = snapshot.Kinds.Under(prefix);
        while (cursor.MoveNext())
            yield return CounterValue.Read(documentId, cursor.Record, snapshot.ChangeVectors);
    }

    private static IEnumerable<CompareExchangeValue> Values(DatabaseSnapshot snapshot, byte[] prefix)
    {
        using KindCursor cursor = snapshot.Kinds.Under(prefix);
        while (cursor.MoveNext())
            yield return CompareExchangeValue.Read(cursor.Record, snapshot.ChangeVectors);
    }

    /// <summary>Folds a name to search for; returns false if it is longer than names can be.</summary>
    private static bool TryFold(string text, out byte[] folded)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        bool fits = utf8.Length <= DocumentId.MaxBytes + CompareExchangeValue.AtomicGuardPrefix.Length;
        folded = fits ? CollectionName.Fold(utf8) : [];
        return fits;
    }
}
