using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Columns;

/// <summary>
/// The sort values of 2,048 neighbouring entries, half a window, that have few different texts and nothing else, read in place:
/// each text once, and of each entry which one it has, as so many bitmaps as that number has bits. So hits are counted by their
/// texts 256 at a time. Key in the tree: entry id / 2,048, 8 bytes big-endian; its entries have no <see cref="SortChunk"/>.
/// <code>
/// OFFSET   SIZE     MEANING
/// 0        1        n, different texts: 1 to 63
/// 1        1        s, words of a bitmap, 1 to 32: entries behind the last have no value
/// 2        2·n      ends of the texts, little-endian
/// 2+2·n    …        the texts, ascending
/// …        8·s·w    bitmaps of the bits of each entry's place, the lowest first: 0 no value, 1 the first text; w bits say n
/// </code>
/// </summary>
internal readonly ref struct TextBlock(ReadOnlySpan<byte> bytes)
{
    public const int EntryBits = 11;
    public const int Entries = 1 << EntryBits;

    /// <summary>Blocks of a window of postings.</summary>
    public const int OfWindow = PostingWindow.Size / Entries;

    /// <summary>Chunks it stands for.</summary>
    public const int Chunks = Entries / SortChunk.Entries;

    public const int MaxTexts = 63;

    /// <summary>Most bits of a place.</summary>
    public const int MaxBits = 6;

    /// <summary>Longest encoding: such values lie in a leaf.</summary>
    public const int MaxBytes = 2_048;

    public const int HeaderBytes = 2;

    private readonly ReadOnlySpan<byte> bytes = bytes;

    /// <summary>Different texts.</summary>
    public int Count => bytes[0];

    /// <summary>Words of a bitmap.</summary>
    public int Words => bytes[1];

    /// <summary>Bitmaps.</summary>
    public int Bits => BitsOf(Count);

    /// <summary>Its texts and how many they are, as bytes: blocks that have the same ones have the same bytes here.</summary>
    public ReadOnlySpan<byte> Texts => bytes[HeaderBytes..PlanesStart];

    /// <summary>The bitmaps, one behind the other.</summary>
    public ReadOnlySpan<byte> Planes => bytes.Slice(PlanesStart, sizeof(ulong) * Words * Bits);

    private int TextsStart => HeaderBytes + (sizeof(ushort) * Count);

    private int PlanesStart => TextsStart + EndOf(Count);

    /// <summary>Bits that say which of so many texts, or none.</summary>
    public static int BitsOf(int texts) => 32 - BitOperations.LeadingZeroCount((uint)texts);

    /// <summary>Which text an entry has: 0: none.</summary>
    public int PlaceOf(int entry)
    {
        int words = Words, word = entry >> 6;
        if (word >= words)
            return 0;

        ReadOnlySpan<ulong> planes = MemoryMarshal.Cast<byte, ulong>(Planes);
        ulong place = 0;
        for (int plane = 0, at = word; at < planes.Length; plane++, at += words)
            place |= (planes[at] >> entry & 1) << plane;
        return (int)Math.Min(place, bytes[0]);
    }

    /// <summary>A text, by its place: from 1 on.</summary>
    public ReadOnlySpan<byte> TextAt(int place) => TextIn(bytes[HeaderBytes..], Count, place);

    /// <summary>A text, by its place, of <see cref="Texts"/>.</summary>
    public static ReadOnlySpan<byte> TextIn(ReadOnlySpan<byte> texts, int count, int place)
    {
        int start = EndIn(texts, place - 1);
        return texts.Slice((sizeof(ushort) * count) + start, EndIn(texts, place) - start);
    }

    /// <summary>
    /// The first eight bytes of a text, zero-filled, as a number that orders as they do: behind the last text there are the
    /// bitmaps, eight bytes at the least.
    /// </summary>
    public ulong HeadAt(int place)
    {
        int start = EndOf(place - 1), length = EndOf(place) - start;
        ulong head = BinaryPrimitives.ReadUInt64BigEndian(bytes[(TextsStart + start)..]);
        return length >= sizeof(ulong) ? head : head & ~(ulong.MaxValue >> (8 * length));
    }

    private int EndOf(int place) => EndIn(bytes[HeaderBytes..], place);

    /// <summary>Where a text ends, among the texts.</summary>
    private static int EndIn(ReadOnlySpan<byte> texts, int place) =>
        place == 0 ? 0 : BinaryPrimitives.ReadUInt16LittleEndian(texts[(sizeof(ushort) * (place - 1))..]);
}
