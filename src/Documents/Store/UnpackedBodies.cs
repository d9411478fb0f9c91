using System.Buffers;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// Decompresses bodies of one snapshot or transaction on first use and keeps them until all are released. Not thread-safe.
/// </summary>
internal sealed class UnpackedBodies(BodyDictionaries dictionaries, Func<string, Tree?> find)
{
    private Dictionary<long, (byte[] Bytes, int Length)>? _bodies;

    /// <summary>Returns the decompressed body of a change.</summary>
    /// <exception cref="CorruptionException">The body cannot be decompressed.</exception>
    public ReadOnlySpan<byte> Get(long etag, ReadOnlySpan<byte> packed)
    {
        _bodies ??= [];
        if (_bodies.TryGetValue(etag, out (byte[] Bytes, int Length) known))
            return known.Bytes.AsSpan(0, known.Length);
        int length = PackedBody.LengthOf(packed);
        byte[] bytes = ArrayPool<byte>.Shared.Rent(length);
        BodyDictionary dictionary = dictionaries.Get(PackedBody.DictionaryOf(packed), find);
        if (!dictionary.TryDecompress(packed[PackedBody.HeaderBytes..], bytes.AsSpan(0, length)))
            throw new CorruptionException(
                "The compressed body of a document is damaged. Run a check of the database and restore a backup.");
        _bodies.Add(etag, (bytes, length));
        return bytes.AsSpan(0, length);
    }

    /// <summary>Invalidates all returned bodies.</summary>
    public void Release()
    {
        if (_bodies is not { Count: > 0 })
            return;
        foreach ((byte[] bytes, _) in _bodies.Values)
            ArrayPool<byte>.Shared.Return(bytes, dictionaries.IsSecret);
        _bodies.Clear();
    }
}
