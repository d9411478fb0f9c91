using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace Treepie.Storage.Format;

/// <summary>
/// The directory of a hash map: pages of type <see cref="PageType.MapDirectory"/>, each with 512 references, over the buckets. A
/// page's level is 0 where the references lead to buckets, one more for each level above. The root page begins with what is to be
/// known about the map.
/// <code>
/// OFFSET SIZE MEANING
///     64    8 seed of the hash
///     72    8 buckets
///     80    8 bytes that records take in all buckets
///     88    4 bytes of every key; -1 where they differ
///     92    4 bytes of every value; -1 where they differ
///     96    1 hash: 1 that of the format; 0 one that the key's serializer brings
///     97    1 0
///     98    2 bytes of the key's description
///    100    2 bytes of the value's description
///    102      the two descriptions, UTF-8: type and serializer
///   2048 6144 512 references: 6 page, 6 birth; zeros: nothing is there
/// </code>
/// Entry i of a page of level n stands for the buckets from i × 512^n on. In pages below the root 64 to 2048 is 0.
/// </summary>
internal static class MapLayout
{
    public const int Fanout = 512;
    public const int FanoutBits = 9;
    public const int EntriesOffset = 2048;

    /// <summary>512^3 buckets of 8 KiB are 1 TiB.</summary>
    public const int MaxLevels = 3;

    public const long MaxBuckets = 1L << (FanoutBits * MaxLevels);

    /// <summary>Longest description of a key's or value's type and serializer.</summary>
    public const int MaxDescriptionBytes = 900;

    /// <summary>
    /// Longest key: two records with keys of this length, and the longest values that lie beside them, fit into a bucket.
    /// </summary>
    public const int MaxKeyBytes = 1024;

    /// <summary>Values up to this many bytes lie beside their key, longer ones in a run of pages of their own.</summary>
    public const int MaxInlineValueBytes = 2048;

    /// <summary>
    /// Where a bucket's header says how many slots it has, and how many bytes a record that lies side by side with others.
    /// </summary>
    public const int SlotsOffset = PageLayout.PrefixOffsetOffset;
    public const int RecordOffset = PageLayout.PrefixLengthOffset;

    /// <summary>The figures of the root page that change, side by side.</summary>
    public const int FiguresOffset = BucketsOffset;
    public const int FiguresBytes = 2 * sizeof(long);

    /// <summary>What stands there where records are cells.</summary>
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

    /// <summary>Where a place of a directory page lies.</summary>
    public static int EntryOffset(int index) => EntriesOffset + (index * PageReference.PackedBytes);

    /// <summary>The reference at a place of a directory page.</summary>
    public static PageReference Entry(ReadOnlySpan<byte> page, int index) =>
        PageReference.ReadPacked(page.Slice(EntryOffset(index), PageReference.PackedBytes));

    /// <summary>Sets the reference at a place of a directory page.</summary>
    public static void SetEntry(Span<byte> page, int index, PageReference reference) =>
        reference.WritePacked(page.Slice(EntryOffset(index), PageReference.PackedBytes));

    /// <summary>Type and level of a directory page as one number, the 16 bits at <see cref="PageLayout.TypeOffset"/>.</summary>
    public static int KindOf(int level) => (int)PageType.MapDirectory | (level << 8);

    /// <summary>The place of a bucket in a directory page of a level.</summary>
    public static int IndexOf(long bucket, int level) => (int)(bucket >> (level * FanoutBits)) & (Fanout - 1);

    /// <summary>
    /// The bucket of a hash: linear hashing. With N buckets the low bits of the hash that number below the next power of two
    /// choose, one bit fewer where that bucket is not there yet.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static long BucketOf(ulong hash, long buckets)
    {
        ulong mask = System.Numerics.BitOperations.RoundUpToPowerOf2((ulong)buckets) - 1;
        ulong bucket = hash & mask;
        return (long)(bucket < (ulong)buckets ? bucket : bucket & (mask >> 1));
    }

    /// <summary>The bucket that is divided to make bucket number <paramref name="buckets"/>.</summary>
    public static long Buddy(long buckets) =>
        buckets - (long)(System.Numerics.BitOperations.RoundUpToPowerOf2((ulong)buckets + 1) >> 1);

    /// <summary>Writes what the root page begins with.</summary>
    public static void Write(Span<byte> page, MapHeader header, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
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

    /// <summary>Sets the figures of the root page that change.</summary>
    public static void SetFigures(Span<byte> page, long buckets, long usedBytes)
    {
        BinaryPrimitives.WriteInt64LittleEndian(page[BucketsOffset..], buckets);
        BinaryPrimitives.WriteInt64LittleEndian(page[UsedOffset..], usedBytes);
    }

    /// <summary>What the root page begins with.</summary>
    public static MapHeader Read(ReadOnlySpan<byte> page) => new(
        BinaryPrimitives.ReadUInt64LittleEndian(page[SeedOffset..]),
        BinaryPrimitives.ReadInt64LittleEndian(page[BucketsOffset..]),
        BinaryPrimitives.ReadInt64LittleEndian(page[UsedOffset..]),
        BinaryPrimitives.ReadInt32LittleEndian(page[KeyBytesOffset..]),
        BinaryPrimitives.ReadInt32LittleEndian(page[ValueBytesOffset..]),
        page[HashOffset] == 1);

    /// <summary>Descriptions of key and value as the root page has them.</summary>
    public static void ReadDescriptions(ReadOnlySpan<byte> page, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        int keyLength = Math.Min(BinaryPrimitives.ReadUInt16LittleEndian(page[KeyLengthOffset..]), (ushort)MaxDescriptionBytes);
        int valueLength = Math.Min(
            BinaryPrimitives.ReadUInt16LittleEndian(page[ValueLengthOffset..]), (ushort)MaxDescriptionBytes);
        key = page.Slice(TextOffset, keyLength);
        value = page.Slice(TextOffset + keyLength, valueLength);
    }
}
