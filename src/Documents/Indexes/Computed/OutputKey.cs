using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Keys of the entries of one document: that of its first result is its folded id, as where nothing is computed; behind that of
/// another stand 0xFF, which is in no id, and the number of the result (3 bytes, big-endian).
/// </summary>
internal static class OutputKey
{
    /// <summary>Bytes behind the id.</summary>
    public const int SuffixBytes = 4;

    private const byte Mark = 0xFF;

    /// <summary>Writes the key of a result behind the id that stands in front of the room; returns its length.</summary>
    public static int Complete(Span<byte> idAndRoom, int idLength, int number)
    {
        Debug.Assert(number is >= 0 and < 1 << 24, "a document has no more results");
        if (number == 0)
            return idLength;
        BinaryPrimitives.WriteUInt32BigEndian(idAndRoom[idLength..], ((uint)Mark << 24) | (uint)number);
        return idLength + SuffixBytes;
    }

    /// <summary>The folded id of the document that an entry is of.</summary>
    public static ReadOnlySpan<byte> DocumentOf(ReadOnlySpan<byte> key) =>
        key.Length > SuffixBytes && key[^SuffixBytes] == Mark ? key[..^SuffixBytes] : key;
}
