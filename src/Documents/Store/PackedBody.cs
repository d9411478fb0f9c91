using System.Buffers.Binary;

namespace Treepie.Store;

/// <summary>
/// A body compressed with the dictionary of its collection, as stored in a record. Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    4 number of the dictionary
///      4    4 length of the body in bytes
///      8    … zstd frame without magic number
/// </code>
/// </summary>
internal static class PackedBody
{
    /// <summary>The number of bytes before the frame.</summary>
    public const int HeaderBytes = 8;

    /// <summary>Shorter bodies are not compressed.</summary>
    public const int LeastBytes = 64;

    /// <summary>Returns the length of the decompressed body.</summary>
    public static int LengthOf(ReadOnlySpan<byte> packed) => BinaryPrimitives.ReadInt32LittleEndian(packed[4..]);

    /// <summary>Returns the number of the dictionary.</summary>
    public static uint DictionaryOf(ReadOnlySpan<byte> packed) => BinaryPrimitives.ReadUInt32LittleEndian(packed);

    /// <summary>
    /// Compresses a body; returns the number of bytes written, 0 if that would not save at least an eighth. The destination must
    /// be as long as the body.
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
