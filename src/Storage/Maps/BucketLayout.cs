using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// How the records of a map are stored in its buckets: adjacent, if all keys and all values have a fixed length and are
/// small, otherwise in cells that are found by their offsets.
/// </summary>
/// <param name="KeyBytes">The length of every key, or -1.</param>
/// <param name="ValueBytes">The length of every value, or -1.</param>
internal readonly record struct BucketLayout(int KeyBytes, int ValueBytes)
{
    private const int MaxFixedRecordBytes = 256;
    private const int LineBytes = 64;

    /// <summary>Whether records are adjacent and have a fixed size.</summary>
    public bool IsFixed
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => KeyBytes >= 0 && ValueBytes >= 0 && KeyBytes + ValueBytes <= MaxFixedRecordBytes;
    }

    /// <summary>The size of a fixed-size record.</summary>
    public int RecordBytes
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => KeyBytes + ValueBytes;
    }

    /// <summary>The record size stored in the header of buckets.</summary>
    public int Code => IsFixed ? RecordBytes : MapLayout.RecordOfCells;

    /// <summary>
    /// Whether four records with 8-byte keys and values fill a cache line, so that the preferred line of a record can be
    /// searched with one comparison (<see cref="BucketLines.HomeOffset"/>).
    /// </summary>
    public bool HasKeyLines
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => KeyBytes == sizeof(ulong) && RecordBytes == KeyLine.RecordBytes;
    }

    /// <summary>
    /// Returns the number of slots of a bucket with fixed-size records. For whole pages it is a constant in code compiled for
    /// the map's types, so no division is needed.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int SlotsIn(int bucketBytes) =>
        bucketBytes == PageLayout.SizeBytes ? Divide(PageLayout.SizeBytes) : Divide(bucketBytes);

    /// <summary>Returns the offset of the first fixed-size record: the start of a cache line.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int RecordsOffset(int slots) => (BucketPage.TagsOffset + slots + LineBytes - 1) & -LineBytes;

    /// <summary>
    /// Returns the preferred slot of a record within its group, at the start of a cache line, so that a search can prefetch
    /// that line before it has read the tags.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int FirstChoice(ulong hash) => (int)(hash >> 36) & (TagGroup.Size - 1) & -SlotsInLine();

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int SlotsInLine() =>
        SlotBytes() >= LineBytes
            ? 1
            : 1 << (31 - System.Numerics.BitOperations.LeadingZeroCount((uint)(LineBytes / SlotBytes())));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int SlotBytes() => IsFixed ? Math.Max(RecordBytes, LineBytes / TagGroup.Size) : LineBytes / TagGroup.Size;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int Divide(int bucketBytes) =>
        (int)((uint)(bucketBytes - BucketPage.TagsOffset - LineBytes + TagGroup.Size) / (uint)(TagGroup.Size * (1 + RecordBytes)))
            * TagGroup.Size;
}
