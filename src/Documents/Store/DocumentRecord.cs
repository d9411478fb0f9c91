using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Store;

/// <summary>
/// The value of a document, with its folded id as the key, in the tree <see cref="TreeNames.Documents"/>. Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 etag of the last change
///      8    8 time of the last change, UTC ticks
///     16    4 collection
///     20    2 length of the id in bytes (I), 1 to 512
///     22    2 DocumentFlags: the kinds of its related data
///     24    4 length of the metadata in bytes (M), 0 for {}
///     28    4 length of the body in bytes (B); its highest bit: the body is compressed
///     32    I id as first written, UTF-8
///   32+I    M metadata, minified JSON object
/// 32+I+M    B body, minified JSON object without @metadata; or a PackedBody
/// </code>
/// </summary>
internal readonly ref struct DocumentRecord
{
    /// <summary>The number of bytes before the id.</summary>
    public const int HeaderBytes = 32;

    private readonly ReadOnlySpan<byte> _bytes;

    /// <summary>Creates a view of a value in the tree.</summary>
    public DocumentRecord(ReadOnlySpan<byte> bytes)
    {
        Debug.Assert(bytes.Length >= HeaderBytes, "every record has a header");
        _bytes = bytes;
        Debug.Assert(bytes.Length == HeaderBytes + IdLength + MetadataLength + BodyLength, "lengths add up");
    }

    public long Etag => BinaryPrimitives.ReadInt64LittleEndian(_bytes);

    public long LastModifiedTicks => BinaryPrimitives.ReadInt64LittleEndian(_bytes[8..]);

    public int CollectionId => BinaryPrimitives.ReadInt32LittleEndian(_bytes[16..]);

    public DocumentFlags Flags => (DocumentFlags)BinaryPrimitives.ReadUInt16LittleEndian(_bytes[22..]);

    public ReadOnlySpan<byte> Id => _bytes.Slice(HeaderBytes, IdLength);

    public ReadOnlySpan<byte> Metadata => _bytes.Slice(HeaderBytes + IdLength, MetadataLength);

    /// <summary>The body as it is stored.</summary>
    public ReadOnlySpan<byte> StoredBody => _bytes[(HeaderBytes + IdLength + MetadataLength)..];

    /// <summary>Whether the stored body is a <see cref="PackedBody"/>.</summary>
    public bool IsPacked => BinaryPrimitives.ReadInt32LittleEndian(_bytes[28..]) < 0;

    /// <summary>The number of bytes of its JSON, which count for the size of its collection.</summary>
    public int ContentBytes => MetadataLength + (IsPacked ? PackedBody.LengthOf(StoredBody) : BodyLength);

    private int IdLength => BinaryPrimitives.ReadUInt16LittleEndian(_bytes[20..]);

    private int MetadataLength => BinaryPrimitives.ReadInt32LittleEndian(_bytes[24..]);

    private int BodyLength => BinaryPrimitives.ReadInt32LittleEndian(_bytes[28..]) & int.MaxValue;

    /// <summary>Returns the size of a record in bytes.</summary>
    public static int SizeOf(int idLength, int metadataLength, int bodyLength) =>
        checked(HeaderBytes + idLength + metadataLength + bodyLength);

    /// <summary>Writes a record to a buffer of exactly its size.</summary>
    public static void Write(
        Span<byte> destination, long etag, long ticks, int collectionId, DocumentFlags flags, ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> metadata, ReadOnlySpan<byte> body, bool isPacked)
    {
        Debug.Assert(destination.Length == SizeOf(id.Length, metadata.Length, body.Length), "room is exact");
        BinaryPrimitives.WriteInt64LittleEndian(destination, etag);
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], ticks);
        BinaryPrimitives.WriteInt32LittleEndian(destination[16..], collectionId);
        BinaryPrimitives.WriteUInt16LittleEndian(destination[20..], checked((ushort)id.Length));
        BinaryPrimitives.WriteUInt16LittleEndian(destination[22..], (ushort)flags);
        BinaryPrimitives.WriteInt32LittleEndian(destination[24..], metadata.Length);
        BinaryPrimitives.WriteInt32LittleEndian(destination[28..], body.Length | (isPacked ? int.MinValue : 0));
        id.CopyTo(destination[HeaderBytes..]);
        metadata.CopyTo(destination[(HeaderBytes + id.Length)..]);
        body.CopyTo(destination[(HeaderBytes + id.Length + metadata.Length)..]);
    }
}
