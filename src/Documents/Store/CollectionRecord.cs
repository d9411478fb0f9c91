using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Store;

/// <summary>
/// The value of a collection, with its number as the big-endian key, in the tree <see cref="TreeNames.Collections"/>.
/// Little-endian. Numbers are never reused and names never change.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 number of documents
///      8    8 bytes of their JSON
///     16    8 etag of the last change in it, including deletions
///     24    … name as first written, UTF-8
/// </code>
/// </summary>
internal readonly ref struct CollectionRecord
{
    private const int HeaderBytes = 24;

    private readonly ReadOnlySpan<byte> _bytes;

    public CollectionRecord(ReadOnlySpan<byte> bytes)
    {
        Debug.Assert(bytes.Length > HeaderBytes, "a collection has a header and a name");
        _bytes = bytes;
    }

    public long DocumentCount => BinaryPrimitives.ReadInt64LittleEndian(_bytes);

    public long SizeBytes => BinaryPrimitives.ReadInt64LittleEndian(_bytes[8..]);

    public long LastEtag => BinaryPrimitives.ReadInt64LittleEndian(_bytes[16..]);

    public ReadOnlySpan<byte> Name => _bytes[HeaderBytes..];

    public static int SizeOf(int nameLength) => HeaderBytes + nameLength;

    public static void Write(Span<byte> destination, long documentCount, long sizeBytes, long lastEtag, ReadOnlySpan<byte> name)
    {
        Debug.Assert(destination.Length == SizeOf(name.Length), "room is exact");
        BinaryPrimitives.WriteInt64LittleEndian(destination, documentCount);
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], sizeBytes);
        BinaryPrimitives.WriteInt64LittleEndian(destination[16..], lastEtag);
        name.CopyTo(destination[HeaderBytes..]);
    }
}
