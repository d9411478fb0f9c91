using System.Diagnostics;

namespace Treepie.Store;

/// <summary>
/// Key of what lies beside documents, in the tree <see cref="TreeNames.Kinds"/>.
/// <code>
/// SIZE MEANING
///    1 kind
///    … folded id of the document it belongs to; nothing for values of the database itself
///    1 00, which no id holds
///    … folded name
/// </code>
/// </summary>
internal static class KindKey
{
    /// <summary>Longest key: an id and a name, both folded.</summary>
    public const int MaxBytes = 1 + DocumentId.MaxFoldedBytes + 1 + (KindNames.MaxBytes / 2 * 3);

    /// <summary>A key from folded id and folded name.</summary>
    public static byte[] Of(Kind kind, ReadOnlySpan<byte> foldedId, ReadOnlySpan<byte> foldedName)
    {
        byte[] key = new byte[1 + foldedId.Length + 1 + foldedName.Length];
        key[0] = (byte)kind;
        foldedId.CopyTo(key.AsSpan(1));
        foldedName.CopyTo(key.AsSpan(1 + foldedId.Length + 1));
        return key;
    }

    /// <summary>A key from folded id and a name as it was given.</summary>
    public static byte[] OfName(Kind kind, ReadOnlySpan<byte> foldedId, ReadOnlySpan<byte> name)
    {
        Span<byte> folded = stackalloc byte[KindNames.MaxBytes / 2 * 3];
        return Of(kind, foldedId, folded[..DocumentId.Fold(name, folded)]);
    }

    /// <summary>The key of a document's atomic guard, a compare-exchange value.</summary>
    public static byte[] OfGuard(ReadOnlySpan<byte> foldedId) => Of(Kind.CompareExchange, default, [.. GuardPrefix, .. foldedId]);

    /// <summary>What names of atomic guards begin with; the document's id follows.</summary>
    public static ReadOnlySpan<byte> GuardPrefix => "rvn-atomic/"u8;

    /// <summary>The key of a document's revision of an etag: id and etag are its name.</summary>
    public static byte[] OfRevision(ReadOnlySpan<byte> foldedId, long etag)
    {
        byte[] key = [.. RevisionPrefix(foldedId), .. new byte[TreeNames.EtagKeyBytes]];
        TreeNames.WriteEtagKey(key.AsSpan(key.Length - TreeNames.EtagKeyBytes), etag);
        return key;
    }

    /// <summary>What all revisions of a document begin with.</summary>
    public static byte[] RevisionPrefix(ReadOnlySpan<byte> foldedId) => Of(Kind.Revision, default, [.. foldedId, 0]);

    /// <summary>What all segments of a time series begin with.</summary>
    public static byte[] TimeSeriesPrefix(ReadOnlySpan<byte> foldedId, ReadOnlySpan<byte> name) =>
        [.. OfName(Kind.TimeSeries, foldedId, name), 0];

    /// <summary>
    /// The key of a segment: none of its entries is before that time, and those of the next segment are at its own or later.
    /// </summary>
    public static byte[] OfSegment(ReadOnlySpan<byte> prefix, long ticks)
    {
        byte[] key = [.. prefix, .. new byte[TreeNames.EtagKeyBytes]];
        TreeNames.WriteEtagKey(key.AsSpan(prefix.Length), ticks);
        return key;
    }

    /// <summary>The folded id of the document that a revision is of.</summary>
    public static ReadOnlySpan<byte> DocumentOfRevision(ReadOnlySpan<byte> key) => key[2..^(1 + TreeNames.EtagKeyBytes)];

    /// <summary>What all keys of a kind and document begin with.</summary>
    public static byte[] Prefix(Kind kind, ReadOnlySpan<byte> foldedId) => Of(kind, foldedId, default);

    public static Kind KindOf(ReadOnlySpan<byte> key) => (Kind)key[0];

    /// <summary>The folded id of the document; empty where there is none.</summary>
    public static ReadOnlySpan<byte> OwnerOf(ReadOnlySpan<byte> key)
    {
        int end = key.IndexOf((byte)0);
        Debug.Assert(end > 0, "every key has a kind and an end of its id");
        return key[1..end];
    }
}
