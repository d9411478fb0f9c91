using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// How the records of a map lie in its buckets: side by side, where all keys and all values have one length and both are small,
/// otherwise in cells that are found by their offsets.
/// </summary>
/// <param name="KeyBytes">Bytes of every key, or -1.</param>
/// <param name="ValueBytes">Bytes of every value, or -1.</param>
internal readonly record struct BucketLayout(int KeyBytes, int ValueBytes)
{
    private const int MaxFixedRecordBytes = 256;
    private const int LineBytes = 64;

    /// <summary>Whether records lie side by side.</summary>
    public bool IsFixed
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => KeyBytes >= 0 && ValueBytes >= 0 && KeyBytes + ValueBytes <= MaxFixedRecordBytes;
    }

    /// <summary>Bytes of a record, where they lie side by side.</summary>
    public int RecordBytes
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => KeyBytes + ValueBytes;
    }

    /// <summary>What buckets say of it in their header.</summary>
    public int Code => IsFixed ? RecordBytes : MapLayout.RecordOfCells;

    /// <summary>
    /// Whether four records of 8-byte keys and values fill a cache line, so that the line a record is put into first can be
    /// searched with one comparison (<see cref="BucketLines.HomeOffset"/>).
    /// </summary>
    public bool HasKeyLines
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => KeyBytes == sizeof(ulong) && RecordBytes == KeyLine.RecordBytes;
    }

    /// <summary>
    /// Slots of a bucket of records that lie side by side. Of a page it is known when the code is compiled for the map's types,
    /// so nothing is divided.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int SlotsIn(int bucketBytes) =>
        bucketBytes == PageLayout.SizeBytes ? Divide(PageLayout.SizeBytes) : Divide(bucketBytes);

    /// <summary>Where the first record lies, where they lie side by side: at the beginning of a cache line.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int RecordsOffset(int slots) => (BucketPage.TagsOffset + slots + LineBytes - 1) & -LineBytes;

    /// <summary>
    /// The slot of its group that a record is put into if it is free, the beginning of a cache line: so a search can begin to
    /// bring that line near before it has looked at the tags.
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
