using System.Diagnostics;

namespace Treepie.Store;

/// <summary>
/// The key of related data in the tree <see cref="TreeNames.Kinds"/>.
/// <code>
/// SIZE MEANING
///    1 kind
///    … folded id of the document it belongs to; empty for items of the database itself
///    1 00, which ids cannot contain
///    … folded name
/// </code>
/// </summary>
internal static class KindKey
{
    /// <summary>The maximum length of a key: an id and a name, both folded.</summary>
    public const int MaxBytes = 1 + DocumentId.MaxFoldedBytes + 1 + (KindNames.MaxBytes / 2 * 3);

    /// <summary>Creates a key from a folded id and a folded name.</summary>
    public static byte[] Of(Kind kind, ReadOnlySpan<byte> foldedId, ReadOnlySpan<byte> foldedName)
    {
        byte[] key = new byte[1 + foldedId.Length + 1 + foldedName.Length];
        key[0] = (byte)kind;
        foldedId.CopyTo(key.AsSpan(1));
        foldedName.CopyTo(key.AsSpan(1 + foldedId.Length + 1));
        return key;
    }

    /// <summary>Creates a key from a folded id and a name as given.</summary>
    public static byte[] OfName(Kind kind, ReadOnlySpan<byte> foldedId, ReadOnlySpan<byte> name)
    {
        Span<byte> folded = stackalloc byte[KindNames.MaxBytes / 2 * 3];
        return Of(kind, foldedId, folded[..DocumentId.Fold(name, folded)]);
    }

    /// <summary>Creates the key of a document's atomic guard, which is a compare-exchange value.</summary>
    public static byte[] OfGuard(ReadOnlySpan<byte> foldedId) => Of(Kind.CompareExchange, default, [.. GuardPrefix, .. foldedId]);

    /// <summary>The prefix of the names of atomic guards, followed by the document's id.</summary>
    public static ReadOnlySpan<byte> GuardPrefix => "rvn-atomic/"u8;

    /// <summary>Creates the key of a document's revision with an etag; id and etag form its name.</summary>
    public static byte[] OfRevision(ReadOnlySpan<byte> foldedId, long etag)
    {
        byte[] key = [.. RevisionPrefix(foldedId), .. new byte[TreeNames.EtagKeyBytes]];
        TreeNames.WriteEtagKey(key.AsSpan(key.Length - TreeNames.EtagKeyBytes), etag);
        return key;
    }

    /// <summary>Returns the common prefix of the keys of a document's revisions.</summary>
    public static byte[] RevisionPrefix(ReadOnlySpan<byte> foldedId) => Of(Kind.Revision, default, [.. foldedId, 0]);

    /// <summary>Returns the common prefix of the keys of a time series' segments.</summary>
    public static byte[] TimeSeriesPrefix(ReadOnlySpan<byte> foldedId, ReadOnlySpan<byte> name) =>
        [.. OfName(Kind.TimeSeries, foldedId, name), 0];

    /// <summary>
    /// Creates the key of a segment from a time: all of its entries are at that time or later, and before the next segment.
    /// </summary>
    public static byte[] OfSegment(ReadOnlySpan<byte> prefix, long ticks)
    {
        byte[] key = [.. prefix, .. new byte[TreeNames.EtagKeyBytes]];
        TreeNames.WriteEtagKey(key.AsSpan(prefix.Length), ticks);
        return key;
    }

    /// <summary>Returns the folded id of a revision's document.</summary>
    public static ReadOnlySpan<byte> DocumentOfRevision(ReadOnlySpan<byte> key) => key[2..^(1 + TreeNames.EtagKeyBytes)];

    /// <summary>Returns the folded id of the document that an item belongs to; empty if it belongs to none.</summary>
    public static ReadOnlySpan<byte> DocumentOf(ReadOnlySpan<byte> key) =>
        KindOf(key) == Kind.Revision ? DocumentOfRevision(key) : OwnerOf(key);

    /// <summary>Returns the common prefix of the keys of a kind and document.</summary>
    public static byte[] Prefix(Kind kind, ReadOnlySpan<byte> foldedId) => Of(kind, foldedId, default);

    /// <summary>Returns the folded name in the key of an item that belongs to no document.</summary>
    public static ReadOnlySpan<byte> FoldedNameOfShared(ReadOnlySpan<byte> key) => key[2..];

    public static Kind KindOf(ReadOnlySpan<byte> key) => (Kind)key[0];

    /// <summary>Returns the folded id of the document; empty if there is none.</summary>
    public static ReadOnlySpan<byte> OwnerOf(ReadOnlySpan<byte> key)
    {
        int end = key.IndexOf((byte)0);
        Debug.Assert(end > 0, "every key has a kind and an end of its id");
        return key[1..end];
    }
}
