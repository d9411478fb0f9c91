using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// The compare-exchange value <c>rvn-atomic/{id}</c> that cluster-wide batches put beside each document they write: its index
/// says whether another such batch wrote the document in between.
/// </summary>
internal static class AtomicGuard
{
    /// <summary>What stands in a change vector before the index of a guard.</summary>
    private const string Tag = "TRXN:"; // as Document.WriteTo writes it

    /// <summary>The index of a document's guard; 0 where there is none.</summary>
    public static long IndexOf(IKindHost host, ReadOnlySpan<byte> foldedId) =>
        host.Kinds.TryGet(KindKey.OfGuard(foldedId), out KindRecord record) ? record.Etag : 0;

    /// <summary>Puts the guard of a document that is written, or deletes that of one that is deleted; gives its index.</summary>
    public static long Move(IKindHost host, ReadOnlySpan<byte> foldedId, ReadOnlySpan<byte> id, bool isDeleted)
    {
        long etag = host.NextEtag();
        byte[] key = KindKey.OfGuard(foldedId);
        if (isDeleted)
            host.Kinds.Delete(key, etag, host.NowTicks);
        else
            host.Kinds.Put(
                key, [.. KindKey.GuardPrefix, .. id], CompareExchangeValue.Encode("{\"Object\":{}}"u8, default), etag,
                host.NowTicks);
        return etag;
    }

    /// <summary>The index that a change vector of a client names; 0 where it names none.</summary>
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

    /// <summary>A document's change vector with the index of its guard, as cluster-wide sessions are given it.</summary>
    public static string ChangeVector(string changeVector, long index) => index == 0
        ? changeVector
        : $"{changeVector}, "
            + $"{Tag}{index.ToString(System.Globalization.CultureInfo.InvariantCulture)}"
            + $"{changeVector.AsSpan(changeVector.IndexOf('-', StringComparison.Ordinal))}";
}
