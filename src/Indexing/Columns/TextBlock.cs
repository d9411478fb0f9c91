using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Columns;

/// <summary>
/// The sort values of 2,048 neighbouring entries (half a window) that have few distinct texts and no other values, read in
/// place. Each text is stored once, and the place of each entry's text as bit planes, so that matches are counted by text 256
/// at a time. Key in the tree: entry id / 2,048, 8 bytes big-endian. The entries of a block have no <see cref="SortChunk"/>.
/// <code>
/// OFFSET   SIZE     MEANING
/// 0        1        n, distinct texts: 1 to 63
/// 1        1        s, words of a bitmap, 1 to 32; entries after the last have no value
/// 2        2·n      ends of the texts, little-endian
/// 2+2·n    …        the texts, ascending
/// …        8·s·w    a bitmap for each bit of the entries' places, lowest bit first: 0 no value, 1 the first text; w bits hold n
/// </code>
/// </summary>
internal readonly ref struct TextBlock(ReadOnlySpan<byte> bytes)
{
    public const int EntryBits = 11;
    public const int Entries = 1 << EntryBits;

    /// <summary>Blocks per window of postings.</summary>
    public const int OfWindow = PostingWindow.Size / Entries;

    /// <summary>Number of chunks that the block replaces.</summary>
    public const int Chunks = Entries / SortChunk.Entries;

    public const int MaxTexts = 63;

    /// <summary>Most bits of the place of a text.</summary>
    public const int MaxBits = 6;

    /// <summary>Length of the longest block in bytes; such values fit into a leaf.</summary>
    public const int MaxBytes = 2_048;

    public const int HeaderBytes = 2;

    private readonly ReadOnlySpan<byte> _bytes = bytes;

    /// <summary>Number of distinct texts.</summary>
    public int Count => _bytes[0];

    /// <summary>Words per bitmap.</summary>
    public int Words => _bytes[1];

    /// <summary>Number of bitmaps.</summary>
    public int Bits => BitsOf(Count);

    /// <summary>The encoded texts with their ends, which are equal for blocks with the same texts.</summary>
    public ReadOnlySpan<byte> Texts => _bytes[HeaderBytes..PlanesStart];

    /// <summary>The bitmaps, one after another.</summary>
    public ReadOnlySpan<byte> Planes => _bytes.Slice(PlanesStart, sizeof(ulong) * Words * Bits);

    private int TextsStart => HeaderBytes + (sizeof(ushort) * Count);

    private int PlanesStart => TextsStart + EndOf(Count);

    /// <summary>Number of bits that encode one of <paramref name="texts"/> texts, or none.</summary>
    public static int BitsOf(int texts) => 32 - BitOperations.LeadingZeroCount((uint)texts);

    /// <summary>The place of an entry's text; 0 if it has none.</summary>
    public int PlaceOf(int entry)
    {
        int words = Words, word = entry >> 6;
        if (word >= words)
            return 0;

        ReadOnlySpan<ulong> planes = MemoryMarshal.Cast<byte, ulong>(Planes);
        ulong place = 0;
        for (int plane = 0, at = word; at < planes.Length; plane++, at += words)
            place |= (planes[at] >> entry & 1) << plane;
        return (int)Math.Min(place, _bytes[0]);
    }

    /// <summary>A text by its place, which starts at 1.</summary>
    public ReadOnlySpan<byte> TextAt(int place) => TextIn(_bytes[HeaderBytes..], Count, place);

    /// <summary>A text of <see cref="Texts"/> by its place.</summary>
    public static ReadOnlySpan<byte> TextIn(ReadOnlySpan<byte> texts, int count, int place)
    {
        int start = EndIn(texts, place - 1);
        return texts.Slice((sizeof(ushort) * count) + start, EndIn(texts, place) - start);
    }

    /// <summary>
    /// The first eight bytes of a text, zero-filled, as an integer with the same order. The bitmaps follow the last text, so
    /// at least eight bytes can be read.
    /// </summary>
    public ulong HeadAt(int place)
    {
        int start = EndOf(place - 1), length = EndOf(place) - start;
        ulong head = BinaryPrimitives.ReadUInt64BigEndian(_bytes[(TextsStart + start)..]);
        return length >= sizeof(ulong) ? head : head & ~(ulong.MaxValue >> (8 * length));
    }

    private int EndOf(int place) => EndIn(_bytes[HeaderBytes..], place);

    /// <summary>The end of a text among the texts.</summary>
    private static int EndIn(ReadOnlySpan<byte> texts, int place) =>
        place == 0 ? 0 : BinaryPrimitives.ReadUInt16LittleEndian(texts[(sizeof(ushort) * (place - 1))..]);
}
