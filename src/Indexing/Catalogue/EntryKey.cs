using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Indexing.Catalogue;

/// <summary>Encodes entry ids: as keys in 8 bytes, big-endian; as values likewise, but without leading zeros.</summary>
internal static class EntryKey
{
    public const int Bytes = sizeof(long);

    public static void Write(Span<byte> output, long id)
    {
        Debug.Assert(id >= 0, "keys order as ids because ids are not negative");
        BinaryPrimitives.WriteInt64BigEndian(output, id);
    }

    /// <summary>Writes an id as a value into a buffer of 8 bytes; returns the part of the buffer that was used.</summary>
    public static ReadOnlySpan<byte> WriteValue(Span<byte> room, long id)
    {
        Write(room, id);
        int zeros = room[..(Bytes - 1)].IndexOfAnyExcept((byte)0);
        return room[(zeros < 0 ? Bytes - 1 : zeros)..Bytes];
    }

    /// <summary>Reads an id from a key or a value.</summary>
    public static long Read(ReadOnlySpan<byte> key)
    {
        long id = 0;
        foreach (byte part in key)
            id = (id << 8) | part;
        return id;
    }
}
