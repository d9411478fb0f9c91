using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Keys of the entries of one document: the key of its first result is its folded id, as in indexes that do not compute;
/// that of another is followed by 0xFF, which occurs in no id, and the number of the result (3 bytes, big-endian).
/// </summary>
internal static class OutputKey
{
    /// <summary>The number of bytes after the id.</summary>
    public const int SuffixBytes = 4;

    private const byte Mark = 0xFF;

    /// <summary>Writes the key of a result after the id in a buffer; returns its length.</summary>
    public static int Complete(Span<byte> idAndRoom, int idLength, int number)
    {
        Debug.Assert(number is >= 0 and < 1 << 24, "a document has no more results");
        if (number == 0)
            return idLength;
        BinaryPrimitives.WriteUInt32BigEndian(idAndRoom[idLength..], ((uint)Mark << 24) | (uint)number);
        return idLength + SuffixBytes;
    }

    /// <summary>Returns the folded id of the document of an entry.</summary>
    public static ReadOnlySpan<byte> DocumentOf(ReadOnlySpan<byte> key) =>
        key.Length > SuffixBytes && key[^SuffixBytes] == Mark ? key[..^SuffixBytes] : key;
}
