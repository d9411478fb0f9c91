using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Treepie.Storage.Format;

/// <summary>
/// The directory of a hash map: pages of type <see cref="PageType.MapDirectory"/> with 512 references each, above the
/// buckets. The level of a page is 0 if its references lead to buckets, and one more for each level above. The root page
/// starts with the properties of the map.
/// <code>
/// OFFSET SIZE MEANING
///     64    8 seed of the hash
///     72    8 number of buckets
///     80    8 bytes used by records in all buckets
///     88    4 length of every key; -1 if variable
///     92    4 length of every value; -1 if variable
///     96    1 hash: 1 the standard one; 0 one defined by the key's serializer
///     97    1 0
///     98    2 length of the key's description in bytes
///    100    2 length of the value's description in bytes
///    102      both descriptions, UTF-8: type and serializer
///   2048 6144 512 references: 6 page, 6 birth; zeros: none
/// </code>
/// Entry i of a page of level n covers the buckets from i × 512^n on. In pages below the root, bytes 64 to 2048 are 0.
/// </summary>
internal static class MapLayout
{
    public const int Fanout = 512;
    public const int FanoutBits = 9;
    public const int EntriesOffset = 2048;

    /// <summary>512^3 buckets of 8 KiB are 1 TiB.</summary>
    public const int MaxLevels = 3;

    public const long MaxBuckets = 1L << (FanoutBits * MaxLevels);

    /// <summary>The maximum length of the description of a key's or value's type and serializer.</summary>
    public const int MaxDescriptionBytes = 900;

    /// <summary>
    /// The maximum length of a key: two records with keys of this length and the longest inline values fit into a bucket.
    /// </summary>
    public const int MaxKeyBytes = 1024;

    /// <summary>Values up to this length are stored in the record, longer ones in an overflow run.</summary>
    public const int MaxInlineValueBytes = 2048;

    /// <summary>The offsets in a bucket's header of the number of slots and of the size of a fixed-size record.</summary>
    public const int SlotsOffset = PageLayout.PrefixOffsetOffset;
    public const int RecordOffset = PageLayout.PrefixLengthOffset;

    /// <summary>The values of the root page that change; they are adjacent.</summary>
    public const int FiguresOffset = BucketsOffset;
    public const int FiguresBytes = 2 * sizeof(long);

    /// <summary>The record size stored if records are cells of variable size.</summary>
    public const int RecordOfCells = ushort.MaxValue;

    private const int SeedOffset = 64;
    private const int BucketsOffset = 72;
    private const int UsedOffset = 80;
    private const int KeyBytesOffset = 88;
    private const int ValueBytesOffset = 92;
    private const int HashOffset = 96;
    private const int KeyLengthOffset = 98;
    private const int ValueLengthOffset = 100;
    private const int TextOffset = 102;

    /// <summary>Returns the offset of an entry of a directory page.</summary>
    public static int EntryOffset(int index) => EntriesOffset + (index * PageReference.PackedBytes);

    /// <summary>Returns an entry of a directory page.</summary>
    public static PageReference Entry(ReadOnlySpan<byte> page, int index) =>
        PageReference.ReadPacked(page.Slice(EntryOffset(index), PageReference.PackedBytes));

    /// <summary>Sets an entry of a directory page.</summary>
    public static void SetEntry(Span<byte> page, int index, PageReference reference) =>
        reference.WritePacked(page.Slice(EntryOffset(index), PageReference.PackedBytes));

    /// <summary>
    /// Returns type and level of a directory page as one number, the 16 bits at <see cref="PageLayout.TypeOffset"/>.
    /// </summary>
    public static int KindOf(int level) => (int)PageType.MapDirectory | (level << 8);

    /// <summary>Returns the index of a bucket's entry in a directory page of a level.</summary>
    public static int IndexOf(long bucket, int level) => (int)(bucket >> (level * FanoutBits)) & (Fanout - 1);

    /// <summary>
    /// Returns the bucket of a hash by linear hashing: with N buckets, the low bits of the hash up to the next power of two
    /// select a bucket, and one bit fewer if that bucket does not exist yet.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static long BucketOf(ulong hash, long buckets)
    {
        ulong mask = System.Numerics.BitOperations.RoundUpToPowerOf2((ulong)buckets) - 1;
        ulong bucket = hash & mask;
        return (long)(bucket < (ulong)buckets ? bucket : bucket & (mask >> 1));
    }

    /// <summary>Returns the bucket that is split to create bucket number <paramref name="buckets"/>.</summary>
    public static long Buddy(long buckets) =>
        buckets - (long)(System.Numerics.BitOperations.RoundUpToPowerOf2((ulong)buckets + 1) >> 1);

    /// <summary>Writes the header of the root page.</summary>
    public static void Write(Span<byte> page, MapHeader header, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        Debug.Assert(
            key.Length <= MaxDescriptionBytes && value.Length <= MaxDescriptionBytes, "both descriptions have room");
        Debug.Assert(
            header.Buckets is > 0 and <= MaxBuckets, "a map has buckets, and no more than its directory can have");
        BinaryPrimitives.WriteUInt64LittleEndian(page[SeedOffset..], header.Seed);
        BinaryPrimitives.WriteInt64LittleEndian(page[BucketsOffset..], header.Buckets);
        BinaryPrimitives.WriteInt64LittleEndian(page[UsedOffset..], header.UsedBytes);
        BinaryPrimitives.WriteInt32LittleEndian(page[KeyBytesOffset..], header.KeyBytes);
        BinaryPrimitives.WriteInt32LittleEndian(page[ValueBytesOffset..], header.ValueBytes);
        page[HashOffset] = header.IsStandardHash ? (byte)1 : (byte)0;
        BinaryPrimitives.WriteUInt16LittleEndian(page[KeyLengthOffset..], (ushort)key.Length);
        BinaryPrimitives.WriteUInt16LittleEndian(page[ValueLengthOffset..], (ushort)value.Length);
        key.CopyTo(page[TextOffset..]);
        value.CopyTo(page[(TextOffset + key.Length)..]);
    }

    /// <summary>Updates the values of the root page that change.</summary>
    public static void SetFigures(Span<byte> page, long buckets, long usedBytes)
    {
        BinaryPrimitives.WriteInt64LittleEndian(page[BucketsOffset..], buckets);
        BinaryPrimitives.WriteInt64LittleEndian(page[UsedOffset..], usedBytes);
    }

    /// <summary>Reads the header of the root page.</summary>
    public static MapHeader Read(ReadOnlySpan<byte> page) => new(
        BinaryPrimitives.ReadUInt64LittleEndian(page[SeedOffset..]),
        BinaryPrimitives.ReadInt64LittleEndian(page[BucketsOffset..]),
        BinaryPrimitives.ReadInt64LittleEndian(page[UsedOffset..]),
        BinaryPrimitives.ReadInt32LittleEndian(page[KeyBytesOffset..]),
        BinaryPrimitives.ReadInt32LittleEndian(page[ValueBytesOffset..]),
        page[HashOffset] == 1);

    /// <summary>Reads the descriptions of key and value from the root page.</summary>
    public static void ReadDescriptions(ReadOnlySpan<byte> page, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        int keyLength = Math.Min(BinaryPrimitives.ReadUInt16LittleEndian(page[KeyLengthOffset..]), (ushort)MaxDescriptionBytes);
        int valueLength = Math.Min(
            BinaryPrimitives.ReadUInt16LittleEndian(page[ValueLengthOffset..]), (ushort)MaxDescriptionBytes);
        key = page.Slice(TextOffset, keyLength);
        value = page.Slice(TextOffset + keyLength, valueLength);
    }
}
