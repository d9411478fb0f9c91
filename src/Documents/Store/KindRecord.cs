using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Store;

/// <summary>
/// The value of an item of related data, with its <see cref="KindKey"/> as the key, or its tombstone. Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 etag of the last change
///      8    8 time of the last change, UTC ticks
///     16    1 flags: 1 deleted; nothing follows the name
///     17    1 0
///     18    2 length of the name in bytes (N)
///     20    N name as first written, UTF-8
///   20+N    … value, in the form of its kind
/// </code>
/// </summary>
internal readonly ref struct KindRecord
{
    private const int HeaderBytes = 20;
    private const byte DeletedFlag = 1;

    private readonly ReadOnlySpan<byte> _bytes;

    public KindRecord(ReadOnlySpan<byte> bytes)
    {
        Debug.Assert(bytes.Length >= HeaderBytes, "every record has a header");
        _bytes = bytes;
    }

    public long Etag => BinaryPrimitives.ReadInt64LittleEndian(_bytes);

    public long Ticks => BinaryPrimitives.ReadInt64LittleEndian(_bytes[8..]);

    public bool IsDeleted => (_bytes[16] & DeletedFlag) != 0;

    public ReadOnlySpan<byte> Name => _bytes.Slice(HeaderBytes, NameLength);

    public ReadOnlySpan<byte> Value => _bytes[(HeaderBytes + NameLength)..];

    private int NameLength => BinaryPrimitives.ReadUInt16LittleEndian(_bytes[18..]);

    public static int SizeOf(int nameLength, int valueLength) => checked(HeaderBytes + nameLength + valueLength);

    /// <summary>Writes all but the value, and returns the span for it.</summary>
    public static Span<byte> Write(Span<byte> destination, long etag, long ticks, bool isDeleted, ReadOnlySpan<byte> name)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, etag);
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], ticks);
        destination[16] = isDeleted ? DeletedFlag : (byte)0;
        destination[17] = 0;
        BinaryPrimitives.WriteUInt16LittleEndian(destination[18..], checked((ushort)name.Length));
        name.CopyTo(destination[HeaderBytes..]);
        return destination[(HeaderBytes + name.Length)..];
    }
}
