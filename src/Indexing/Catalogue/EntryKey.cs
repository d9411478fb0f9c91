using System.Buffers.Binary;

namespace Treepie.Indexing.Catalogue;

/// <summary>Entry ids as keys and values: 8 bytes, big-endian.</summary>
internal static class EntryKey
{
    public const int Bytes = sizeof(long);

    public static void Write(Span<byte> output, long id) => BinaryPrimitives.WriteInt64BigEndian(output, id);

    public static long Read(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadInt64BigEndian(key);
}
