using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Store;

/// <summary>
/// A deletion as the value of its etag in the tree <see cref="TreeNames.TombstonesByEtag"/>. Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 time of the deletion, UTC ticks
///      8    4 collection the document was in
///     12    2 flags; bit 0: superseded, the id has changed again in another collection
///     14    2 0
///     16    … id as it was written, UTF-8
/// </code>
/// A superseded tombstone stays for those who follow its collection and is passed over by those who follow all changes.
/// </summary>
internal readonly ref struct TombstoneRecord
{
    /// <summary>Bytes before the id.</summary>
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

    /// <summary>Writes a tombstone into room of exactly its size.</summary>
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
