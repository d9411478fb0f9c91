using System.Buffers.Binary;

namespace Treepie.Store;

/// <summary>
/// A body that is compressed with the dictionary of its collection, as it stands in a record. Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    4 number of the dictionary
///      4    4 length of the body in bytes
///      8    … zstd frame without magic number
/// </code>
/// </summary>
internal static class PackedBody
{
    /// <summary>Bytes before the frame.</summary>
    public const int HeaderBytes = 8;

    /// <summary>Shorter ones stay as they are.</summary>
    public const int LeastBytes = 64;

    /// <summary>Length of the body.</summary>
    public static int LengthOf(ReadOnlySpan<byte> packed) => BinaryPrimitives.ReadInt32LittleEndian(packed[4..]);

    /// <summary>Number of its dictionary.</summary>
    public static uint DictionaryOf(ReadOnlySpan<byte> packed) => BinaryPrimitives.ReadUInt32LittleEndian(packed);

    /// <summary>
    /// Packs a body; gives the bytes written, 0 where that would not save an eighth of them. Room for all bodies is as long as
    /// the body.
    /// </summary>
    public static int Pack(BodyDictionary dictionary, ReadOnlySpan<byte> body, Span<byte> destination)
    {
        int most = body.Length - (body.Length / 8);
        if (body.Length < LeastBytes)
            return 0;
        int length = dictionary.Compress(body, destination[HeaderBytes..most]);
        if (length == 0)
            return 0;
        BinaryPrimitives.WriteUInt32LittleEndian(destination, dictionary.Number);
        BinaryPrimitives.WriteInt32LittleEndian(destination[4..], body.Length);
        return HeaderBytes + length;
    }
}
