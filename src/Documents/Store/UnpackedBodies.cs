using System.Buffers;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// Decompresses packed bodies of one snapshot or transaction on first use and keeps them until all are released. One thread at a
/// time.
/// </summary>
internal sealed class UnpackedBodies(BodyDictionaries dictionaries, Func<string, Tree?> find)
{
    private Dictionary<long, (byte[] Bytes, int Length)>? _bodies;

    /// <summary>The body of a change, as it was before it was packed.</summary>
    /// <exception cref="CorruptionException">It cannot be unpacked.</exception>
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

    /// <summary>Ends the life of all that was given.</summary>
    public void Release()
    {
        if (_bodies is not { Count: > 0 })
            return;
        foreach ((byte[] bytes, _) in _bodies.Values)
            ArrayPool<byte>.Shared.Return(bytes, dictionaries.IsSecret);
        _bodies.Clear();
    }
}
