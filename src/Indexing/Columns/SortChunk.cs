using System.Buffers.Binary;

namespace Treepie.Indexing.Columns;

/// <summary>
/// The sort values of one field for up to 64 neighbouring entries, read in place. Key in the tree: chunk number (entry
/// id / 64), 8 bytes big-endian.
/// <code>
/// OFFSET   SIZE  MEANING
/// 0        1     n, slots; entries behind the last have no value
/// 1        13·n  slots
/// 1+13·n   …     texts beyond their first eight bytes
/// a slot:
/// 0        1     SortTag
/// 1        8     number: first eight bytes of its NumberKey; text: its first eight bytes, zero-filled; both order as bytes
/// 9        2     number: last two bytes of its key; text: its length, little-endian
/// 11       2     text: where the rest begins among the texts
/// </code>
/// A text is compared by its first eight bytes without touching the rest, which is read for ties only.
/// </summary>
internal readonly ref struct SortChunk(ReadOnlySpan<byte> bytes)
{
    public const int EntryBits = 6;
    public const int Entries = 1 << EntryBits;
    public const int SlotBytes = 13;
    public const int HeadBytes = 8;

    private readonly ReadOnlySpan<byte> bytes = bytes;

    public int Count => bytes.IsEmpty ? 0 : bytes[0];

    public SortTag TagAt(int slot) => slot < Count ? (SortTag)Slot(slot)[0] : SortTag.None;

    /// <summary>The first eight bytes of a value (0 where there is none) as a number that orders as they do.</summary>
    public ulong HeadAt(int slot) => BinaryPrimitives.ReadUInt64BigEndian(Slot(slot)[1..]);

    /// <summary>The ten bytes of a number.</summary>
    public ReadOnlySpan<byte> NumberAt(int slot) => Slot(slot).Slice(1, 10);

    public int TextLengthAt(int slot) => BinaryPrimitives.ReadUInt16LittleEndian(Slot(slot)[9..]);

    /// <summary>The first bytes of a text, at most eight.</summary>
    public ReadOnlySpan<byte> TextHeadAt(int slot) => Slot(slot).Slice(1, Math.Min(HeadBytes, TextLengthAt(slot)));

    /// <summary>The bytes of a text from the ninth on.</summary>
    public ReadOnlySpan<byte> TextRestAt(int slot)
    {
        int length = TextLengthAt(slot) - HeadBytes;
        return length <= 0
            ? default
            : bytes.Slice(1 + (Count * SlotBytes) + BinaryPrimitives.ReadUInt16LittleEndian(Slot(slot)[11..]), length);
    }

    private ReadOnlySpan<byte> Slot(int slot) => bytes.Slice(1 + (slot * SlotBytes), SlotBytes);
}
