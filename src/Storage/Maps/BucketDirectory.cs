using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// Where the buckets of a map without a disk are: an entry for each, in one stretch of addresses that grows in its place. Who
/// changes a bucket holds its entry; who reads reads the entry before and after. Thread-safe, but for <see cref="Prepare"/> and
/// <see cref="Publish"/>, which are for one at a time.
/// </summary>
internal sealed class BucketDirectory
{
    private const long StepBytes = 64 << 10;

    private readonly AddressRange _entries;
    private long _count = 1;
    private long _mask; // the power of two at or above the number of buckets, less one
    private long _committedBytes;

    public BucketDirectory(long maxBuckets)
    {
        MaxCount = maxBuckets;
        _entries = AddressRange.Reserve((maxBuckets * sizeof(ulong)) + StepBytes);
        Prepare(1);
    }

    /// <summary>Most buckets there may be.</summary>
    public long MaxCount { get; }

    /// <summary>Buckets.</summary>
    public long Count
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Volatile.Read(ref _count);
    }

    /// <summary>Bytes of memory in use.</summary>
    public long MemoryBytes => Volatile.Read(ref _committedBytes);

    /// <summary>
    /// The bucket of a hash for the number of buckets now. The mask may be of a moment later, never of one before: with one bit
    /// too many a bucket that is not there yet is chosen, and the bit is taken back.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public long BucketOf(ulong hash)
    {
        ulong count = (ulong)Volatile.Read(ref _count), mask = (ulong)Volatile.Read(ref _mask), bucket = hash & mask;
        return (long)(bucket < count ? bucket : bucket & (mask >> 1));
    }

    /// <summary>The place of a bucket's entry, to be read with <see cref="Volatile"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ref ulong Place(long bucket) => ref _entries.Word(bucket);

    /// <summary>The entry of a bucket.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BucketEntry Read(long bucket) => new(_entries.ReadUInt64(bucket));

    /// <summary>Sets the entry of a bucket that the caller holds: it is free then.</summary>
    public void Release(long bucket, ulong bits) => _entries.WriteUInt64(bucket, bits);

    /// <summary>Holds the bucket of a hash.</summary>
    public long Hold(ulong hash, out BucketEntry entry)
    {
        var spin = default(SpinWait);
        while (true)
        {
            long buckets = Count;
            long bucket = MapLayout.BucketOf(hash, buckets);
            entry = Read(bucket);
            if (!entry.IsHeld && _entries.TryExchange(bucket, entry.Bits, entry.Held))
            {
                if (Count == buckets || MapLayout.BucketOf(hash, Count) == bucket)
                    return bucket;
                Release(bucket, entry.Bits);
            }

            spin.SpinOnce(sleep1Threshold: -1);
        }
    }

    /// <summary>Holds a bucket.</summary>
    public BucketEntry Hold(long bucket)
    {
        var spin = default(SpinWait);
        while (true)
        {
            BucketEntry entry = Read(bucket);
            if (!entry.IsHeld && _entries.TryExchange(bucket, entry.Bits, entry.Held))
                return entry;
            spin.SpinOnce(sleep1Threshold: -1);
        }
    }

    /// <summary>Makes room for so many entries.</summary>
    public void Prepare(long buckets)
    {
        while (_committedBytes < buckets * sizeof(ulong))
        {
            _entries.Commit(_committedBytes, StepBytes);
            Volatile.Write(ref _committedBytes, _committedBytes + StepBytes);
        }
    }

    /// <summary>From now on there is one bucket more, with these frames; room for its entry is there.</summary>
    public void Publish(long added, uint frame, bool isChained)
    {
        _entries.WriteUInt64(added, Read(added).After(frame, isChained));
        if (added > _mask)
            Volatile.Write(ref _mask, (2 * _mask) + 1);
        Volatile.Write(ref _count, added + 1);
    }

    /// <summary>Gives the memory back; all entries read as empty from then on.</summary>
    public void Discard() => _entries.Discard(0, _committedBytes);
}
