using System.Buffers.Binary;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// Reads related data: one item, the items of a document, those whose name starts with a text, or the log of changes. The trees
/// are created by the first write of any kind.
/// </summary>
/// <param name="find">Returns the trees.</param>
/// <param name="unpacked">Decompresses bodies of revisions; null if none are read.</param>
internal sealed class KindItems(Func<string, Tree?> find, UnpackedBodies? unpacked = null)
{
    private readonly Tree? _items = find(TreeNames.Kinds);

    /// <summary>Whether there have never been any items.</summary>
    public bool IsEmpty => _items is null;

    /// <summary>The number of items of all kinds, including tombstones.</summary>
    public long Total => _items?.Count ?? 0;

    /// <summary>Returns the number of items of a kind.</summary>
    public long Count(Kind kind) => ReadCount((byte)kind);

    /// <summary>Returns the number of tombstones of a kind.</summary>
    public long DeletedCount(Kind kind) => ReadCount(DeletedCountKey(kind));

    /// <summary>Gets the item with the specified key; returns false if it does not exist or was deleted.</summary>
    public bool TryGet(scoped ReadOnlySpan<byte> key, out KindRecord record)
    {
        record = default;
        if (_items is null || !_items.TryGet(key, out ReadOnlySpan<byte> value))
            return false;
        record = new KindRecord(value);
        return !record.IsDeleted;
    }

    /// <summary>Returns the items whose keys start with a prefix, in key order. The cursor must be disposed.</summary>
    public KindCursor Under(byte[] prefix) => new(_items?.OpenCursor(), prefix);

    /// <summary>Returns the keys of items with an etag greater than the specified one, in etag order.</summary>
    public LogReader Log(long afterEtag = 0) =>
        find(TreeNames.KindsByEtag) is { } log ? new LogReader(log, null, afterEtag) : LogReader.Empty;

    /// <summary>Returns the keys of deleted items with an etag greater than the specified one, in etag order.</summary>
    public LogReader Deletions(long afterEtag = 0) =>
        find(TreeNames.KindsDeleted) is { } log ? new LogReader(log, null, afterEtag) : LogReader.Empty;

    /// <summary>Returns the record that a log entry refers to, which may be a tombstone.</summary>
    public KindRecord RecordOf(scoped ReadOnlySpan<byte> key) =>
        _items is not null && _items.TryGet(key, out ReadOnlySpan<byte> value)
            ? new KindRecord(value)
            : throw new Storage.CorruptionException(
                "The log of what lies beside documents names a key that does not exist. Run a check of the database and restore "
                    + "a backup.");

    /// <summary>The number of distinct attachment contents.</summary>
    public long ContentCount => find(TreeNames.ContentsByHash)?.Count ?? 0;

    /// <summary>Returns the size of a content in bytes; null if there is none with this hash.</summary>
    public long? ContentSize(ReadOnlySpan<byte> hash) =>
        find(TreeNames.ContentsByHash) is { } byHash && byHash.TryGet(hash, out ReadOnlySpan<byte> value)
            ? ContentRecord.Read(value).SizeBytes
            : null;

    /// <summary>Returns the contiguous part of a content that starts at an offset; empty at its end.</summary>
    public ReadOnlySpan<byte> Content(ReadOnlySpan<byte> hash, long offset)
    {
        if (find(TreeNames.ContentsByHash) is not { } byHash || !byHash.TryGet(hash, out ReadOnlySpan<byte> value))
            throw Missing(hash);
        ContentRecord record = ContentRecord.Read(value);
        if (offset >= record.SizeBytes)
            return default;
        return find(TreeNames.Contents) is { } pieces
            && pieces.TryGet(
                ContentRecord.PieceKey(record.Id, (int)(offset / ContentRecord.PieceBytes)), out ReadOnlySpan<byte> piece)
            ? piece[(int)(offset % ContentRecord.PieceBytes)..]
            : throw Missing(hash);
    }

    private static Storage.CorruptionException Missing(ReadOnlySpan<byte> hash) =>
        new(
            $"The content {Convert.ToHexStringLower(hash)} of an attachment is not whole. Run a check of the database and "
                + $"restore a backup.");

    /// <summary>Returns the kinds of related data of a document.</summary>
    public DocumentFlags FlagsOf(ReadOnlySpan<byte> foldedId)
    {
        DocumentFlags flags = DocumentFlags.None;
        if (_items is null)
            return flags;
        foreach (Kind kind in DocumentFlagsExtensions.KindsOfDocuments)
        {
            using KindCursor cursor = Under(KindKey.Prefix(kind, foldedId));
            if (cursor.MoveNext())
                flags |= kind.Flag();
        }

        if (LastRevision(foldedId) is not null)
            flags |= DocumentFlags.HasRevisions;

        return flags;
    }

    /// <summary>
    /// Returns the keys of a document's revisions, the oldest state first: those written by this database follow the revision
    /// before them, whatever the clock said; imported ones stand where their time is.
    /// </summary>
    public List<byte[]> Revisions(ReadOnlySpan<byte> foldedId)
    {
        var keys = new List<byte[]>();
        var times = new List<long>();
        bool isOrdered = true;
        using (KindCursor cursor = Under(KindKey.RevisionPrefix(foldedId)))
        {
            while (cursor.MoveNext())
            {
                var revision = new RevisionRecord(cursor.Record.Value);
                long ticks = revision.Origin.IsOwn && times.Count > 0
                    ? Math.Max(revision.Ticks, times[^1])
                    : revision.Ticks;
                isOrdered &= times.Count == 0 || times[^1] <= ticks;
                keys.Add(cursor.Key.ToArray());
                times.Add(ticks);
            }
        }

        return isOrdered
            ? keys
            : [.. keys.Zip(times).OrderBy(static one => one.Second).Select(static one => one.First)]; // keeps the order of etags
    }

    /// <summary>Returns the key of the revision of a document that was stored last; null if it has none.</summary>
    public byte[]? LastRevision(ReadOnlySpan<byte> foldedId) =>
        _items is null ? null : LastBefore(KindKey.OfRevision(foldedId, -1), KindKey.RevisionPrefix(foldedId));

    /// <summary>Returns the body of a revision, which may be stored in an earlier one.</summary>
    public ReadOnlySpan<byte> RevisionBody(ReadOnlySpan<byte> key)
    {
        byte[] prefix = key[..^TreeNames.EtagKeyBytes].ToArray();
        for (byte[]? at = key.ToArray(); at is not null; at = LastBefore(at, prefix))
            if (TryGet(at, out KindRecord record) && new RevisionRecord(record.Value) is { IsShared: false } revision)
                return revision.IsPacked
                    ? unpacked!.Get(TreeNames.EtagOfKey(at), revision.StoredBody)
                    : revision.StoredBody;
        throw new Storage.CorruptionException(
            "The body of a revision is missing. Run a check of the database and restore a backup.");
    }

    /// <summary>Returns the value of a revision with decompressed body.</summary>
    public ReadOnlySpan<byte> RevisionValue(ReadOnlySpan<byte> key)
    {
        ReadOnlySpan<byte> value = RecordOf(key).Value;
        return new RevisionRecord(value) is { IsPacked: true } revision ? revision.WithBody(RevisionBody(key)) : value;
    }

    /// <summary>Returns the key of the next revision of the same document; null after the last.</summary>
    public byte[]? RevisionAfter(ReadOnlySpan<byte> key)
    {
        using Cursor cursor = _items!.OpenCursor(); // the key is that of an existing revision
        ReadOnlySpan<byte> prefix = key[..^TreeNames.EtagKeyBytes];
        for (bool found = cursor.Seek(key) && cursor.MoveNext();
             found && cursor.Key.StartsWith(prefix);
             found = cursor.MoveNext())
            if (!new KindRecord(cursor.Value).IsDeleted)
                return cursor.Key.ToArray();
        return null;
    }

    /// <summary>
    /// Returns the folded ids of documents that have revisions, including deleted documents, in order, those behind an id.
    /// </summary>
    public IEnumerable<byte[]> DocumentsWithRevisions(byte[]? behind = null)
    {
        byte[] from = behind is null ? KindKey.Prefix(Kind.Revision, default) : After(behind);
        while (FirstRevisionFrom(from) is { } key)
        {
            byte[] folded = KindKey.DocumentOfRevision(key).ToArray();
            yield return folded;
            from = After(folded);
        }

        static byte[] After(byte[] folded)
        {
            byte[] key = KindKey.RevisionPrefix(folded);
            key[^1] = 1; // after all revisions of this document
            return key;
        }
    }

    /// <summary>Returns the keys of a time series' segments, in time order.</summary>
    public List<byte[]> Segments(byte[] prefix)
    {
        var keys = new List<byte[]>();
        using KindCursor cursor = Under(prefix);
        while (cursor.MoveNext())
            keys.Add(cursor.Key.ToArray());
        return keys;
    }

    /// <summary>
    /// Returns the segment for a time: the last one that starts at or before it, otherwise the first; null if there is none.
    /// </summary>
    public byte[]? SegmentAt(byte[] prefix, long ticks)
    {
        if (_items is null)
            return null;
        byte[] from = KindKey.OfSegment(prefix, ticks);
        return LastBefore([.. from, 0], prefix) ?? SegmentAfter(prefix, -1);
    }

    /// <summary>Returns the first segment that starts after a time; null if there is none.</summary>
    public byte[]? SegmentAfter(byte[] prefix, long ticks)
    {
        using Cursor? cursor = _items?.OpenCursor();
        for (bool found = cursor?.Seek(ticks < 0 ? prefix : [.. KindKey.OfSegment(prefix, ticks), 0]) == true;
             found && cursor!.Key.StartsWith(prefix);
             found = cursor.MoveNext())
            if (!new KindRecord(cursor.Value).IsDeleted)
                return cursor.Key.ToArray();
        return null;
    }

    /// <summary>Returns the first segment of each time series of a document, sorted by name.</summary>
    /// <param name="foldedId">The folded id of the document.</param>
    /// <param name="after">A segment of a time series: returns only series after it. Null: all.</param>
    /// <param name="limit">The maximum number returned.</param>
    public List<byte[]> FirstSegments(byte[] foldedId, byte[]? after = null, int limit = int.MaxValue)
    {
        var keys = new List<byte[]>();
        byte[] owner = KindKey.Prefix(Kind.TimeSeries, foldedId);
        for (byte[]? key = after is null ? SegmentAfter(owner, -1) : FirstOfNextSeries(after, owner);
             key is not null && keys.Count < limit;
             key = FirstOfNextSeries(key, owner))
            keys.Add(key);
        return keys;
    }

    private byte[]? FirstOfNextSeries(byte[] segment, byte[] owner)
    {
        byte[] next = segment[..^TreeNames.EtagKeyBytes];
        next[^1] = 1; // after all segments of this series
        return FirstFrom(next, owner);
    }

    private byte[]? FirstFrom(byte[] from, byte[] prefix)
    {
        using Cursor? cursor = _items?.OpenCursor();
        for (bool found = cursor?.Seek(from) == true; found && cursor!.Key.StartsWith(prefix); found = cursor.MoveNext())
            if (!new KindRecord(cursor.Value).IsDeleted)
                return cursor.Key.ToArray();
        return null;
    }

    private byte[]? FirstRevisionFrom(byte[] from)
    {
        using Cursor? cursor = _items?.OpenCursor();
        for (bool found = cursor?.Seek(from) == true;
             found && KindKey.KindOf(cursor!.Key) == Kind.Revision;
             found = cursor.MoveNext())
            if (!new KindRecord(cursor.Value).IsDeleted)
                return cursor.Key.ToArray();
        return null;
    }

    private byte[]? LastBefore(byte[] key, byte[] prefix)
    {
        using Cursor cursor = _items!.OpenCursor(); // called only if there are items
        for (bool found = cursor.SeekBefore(key); found && cursor.Key.StartsWith(prefix); found = cursor.MovePrevious())
            if (!new KindRecord(cursor.Value).IsDeleted)
                return cursor.Key.ToArray();
        return null;
    }

    public static byte DeletedCountKey(Kind kind) => (byte)((byte)kind | 0x80);

    private long ReadCount(byte key) =>
        find(TreeNames.KindCounts) is { } counts && counts.TryGet([key], out ReadOnlySpan<byte> value)
            ? BinaryPrimitives.ReadInt64LittleEndian(value)
            : 0;
}
