using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// The compare-exchange value <c>rvn-atomic/{id}</c> that cluster-wide batches store for each document they write: its index
/// tells whether another such batch has written the document in the meantime.
/// </summary>
internal static class AtomicGuard
{
    /// <summary>The text before the index of a guard in a change vector.</summary>
    private const string Tag = "TRXN:"; // as written by Document.WriteTo

    /// <summary>Returns the index of a document's guard; 0 if it has none.</summary>
    public static long IndexOf(IKindHost host, ReadOnlySpan<byte> foldedId) =>
        host.Kinds.TryGet(KindKey.OfGuard(foldedId), out KindRecord record) ? record.Etag : 0;

    /// <summary>Updates the guard of a written document; returns its index.</summary>
    public static long Move(IKindHost host, ReadOnlySpan<byte> foldedId, ReadOnlySpan<byte> id)
    {
        long etag = host.NextEtag();
        host.Kinds.Put(
            KindKey.OfGuard(foldedId), [.. KindKey.GuardPrefix, .. id],
            CompareExchangeValue.Encode("{\"Object\":{}}"u8, default), etag, host.NowTicks);
        return etag;
    }

    /// <summary>Deletes the guard of a deleted document, if it has one.</summary>
    public static void Delete(IKindHost host, ReadOnlySpan<byte> foldedId)
    {
        byte[] key = KindKey.OfGuard(foldedId);
        if (host.Kinds.TryGet(key, out _))
            host.Kinds.Delete(key, host.NextEtag(), host.NowTicks);
    }

    /// <summary>Returns the guard index in a client's change vector; 0 if there is none.</summary>
    public static long IndexIn(string? changeVector)
    {
        int start = changeVector?.IndexOf(Tag, StringComparison.Ordinal) ?? -1;
        if (start < 0)
            return 0;
        ReadOnlySpan<char> rest = changeVector.AsSpan(start + Tag.Length);
        int end = rest.IndexOf('-');
        return long.TryParse(
            end < 0 ? rest : rest[..end], System.Globalization.NumberStyles.None,
            System.Globalization.CultureInfo.InvariantCulture, out long index) ? index : 0;
    }

    /// <summary>Returns a document's change vector with the index of its guard, as cluster-wide sessions see it.</summary>
    public static string ChangeVector(string changeVector, long index) => index == 0
        ? changeVector
        : $"{changeVector}, "
            + $"{Tag}{index.ToString(System.Globalization.CultureInfo.InvariantCulture)}"
            + $"{changeVector.AsSpan(changeVector.IndexOf('-', StringComparison.Ordinal))}";
}
