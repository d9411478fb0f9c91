using System.Buffers.Binary;

namespace Treepie.Indexing.Catalogue;

/// <summary>Entry ids: as keys 8 bytes, big-endian; as values the same without the zeros in front.</summary>
internal static class EntryKey
{
    public const int Bytes = sizeof(long);

    public static void Write(Span<byte> output, long id) => BinaryPrimitives.WriteInt64BigEndian(output, id);

    /// <summary>Writes an id as a value; returns it in its room of 8 bytes.</summary>
    public static ReadOnlySpan<byte> WriteValue(Span<byte> room, long id)
    {
        Write(room, id);
        int zeros = room[..(Bytes - 1)].IndexOfAnyExcept((byte)0);
        return room[(zeros < 0 ? Bytes - 1 : zeros)..Bytes];
    }

    /// <summary>Reads a key or a value.</summary>
    public static long Read(ReadOnlySpan<byte> key)
    {
        long id = 0;
        foreach (byte part in key)
            id = (id << 8) | part;
        return id;
    }
}
