using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Store;

/// <summary>
/// The value of a deletion, with its etag as the key, in the tree <see cref="TreeNames.TombstonesByEtag"/>. Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 time of the deletion, UTC ticks
///      8    4 collection of the document
///     12    2 flags; bit 0: superseded, the id has changed again in another collection
///     14    2 0
///     16    … id as it was written, UTF-8
/// </code>
/// A superseded tombstone is kept for readers of its collection and skipped by readers of all changes.
/// </summary>
internal readonly ref struct TombstoneRecord
{
    /// <summary>The number of bytes before the id.</summary>
    public const int HeaderBytes = 16;

    private const ushort SupersededFlag = 1;

    private readonly ReadOnlySpan<byte> _bytes;

    public TombstoneRecord(ReadOnlySpan<byte> bytes)
    {
        Debug.Assert(bytes.Length > HeaderBytes, "a tombstone has a header and an id");
        _bytes = bytes;
    }

    public long DeletedAtTicks => BinaryPrimitives.ReadInt64LittleEndian(_bytes);

    public int CollectionId => BinaryPrimitives.ReadInt32LittleEndian(_bytes[8..]);

    public bool IsSuperseded => (BinaryPrimitives.ReadUInt16LittleEndian(_bytes[12..]) & SupersededFlag) != 0;

    public ReadOnlySpan<byte> Id => _bytes[HeaderBytes..];

    /// <summary>Writes a tombstone to a buffer of exactly its size.</summary>
    public static void Write(Span<byte> destination, long ticks, int collectionId, bool superseded, ReadOnlySpan<byte> id)
    {
        Debug.Assert(destination.Length == HeaderBytes + id.Length, "room is exact");
        BinaryPrimitives.WriteInt64LittleEndian(destination, ticks);
        BinaryPrimitives.WriteInt32LittleEndian(destination[8..], collectionId);
        BinaryPrimitives.WriteUInt16LittleEndian(destination[12..], superseded ? SupersededFlag : (ushort)0);
        BinaryPrimitives.WriteUInt16LittleEndian(destination[14..], 0);
        id.CopyTo(destination[HeaderBytes..]);
    }
}
