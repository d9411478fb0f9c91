using System.Buffers;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// Bodies of one snapshot that were packed, unpacked by the first look, and kept until all are released. One thread at a time.
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
        Unpack(dictionaries, find, packed, bytes.AsSpan(0, length));
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

    /// <summary>Unpacks a body into room of exactly its length.</summary>
    /// <exception cref="CorruptionException">It cannot be unpacked.</exception>
    public static void Unpack(
        BodyDictionaries dictionaries, Func<string, Tree?> find, ReadOnlySpan<byte> packed, Span<byte> destination)
    {
        BodyDictionary dictionary = dictionaries.Get(PackedBody.DictionaryOf(packed), find);
        if (!dictionary.TryDecompress(packed[PackedBody.HeaderBytes..], destination))
            throw new CorruptionException(
                "The compressed body of a document is damaged. Run a check of the database and restore a backup.");
    }
}
