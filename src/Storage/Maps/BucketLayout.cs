using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// How the records of a map lie in its buckets: side by side, where all keys and all values have one length and both are small, otherwise
/// in cells that are found by their offsets.
/// </summary>
/// <param name="KeyBytes">Bytes of every key, or -1.</param>
/// <param name="ValueBytes">Bytes of every value, or -1.</param>
internal readonly record struct BucketLayout(int KeyBytes, int ValueBytes)
{
    private const int MaxFixedRecordBytes = 256;

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

    /// <summary>Slots of a bucket of records that lie side by side.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int SlotsIn(int bucketBytes) => (int)((uint)(bucketBytes - BucketPage.TagsOffset) / (uint)(TagGroup.Size * (1 + RecordBytes))) * TagGroup.Size;
}
