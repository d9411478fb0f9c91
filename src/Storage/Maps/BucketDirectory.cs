using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// The directory of an in-memory map: one entry per bucket, in one range of addresses that grows in place. A writer of a
/// bucket holds its entry; a reader reads the entry before and after. Thread-safe except for <see cref="Prepare"/> and
/// <see cref="Publish"/>, which one thread at a time may call.
/// </summary>
/// <remarks>
/// Invariants. 1. The entry of every bucket has memory. 2. Buckets are added one after the other, and the mask is the power of
/// two at or above their number, minus one.
/// </remarks>
internal sealed class BucketDirectory
{
    private const long StepBytes = 64 << 10;

    private readonly AddressRange _entries;
    private long _count = 1;
    private long _mask; // the power of two at or above the number of buckets, minus one
    private long _committedBytes;

    public BucketDirectory(long maxBuckets)
    {
        MaxCount = maxBuckets;
        _entries = AddressRange.Reserve((maxBuckets * sizeof(ulong)) + StepBytes);
        Prepare(1);
    }

    /// <summary>The maximum number of buckets.</summary>
    public long MaxCount { get; }

    /// <summary>The number of buckets.</summary>
    public long Count
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Volatile.Read(ref _count);
    }

    /// <summary>The memory in use, in bytes.</summary>
    public long MemoryBytes => Volatile.Read(ref _committedBytes);

    /// <summary>
    /// Returns the bucket of a hash for the current number of buckets. The mask read may be newer than the count, never
    /// older: if it has one bit too many and selects a bucket that does not exist yet, the bit is dropped.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public long BucketOf(ulong hash)
    {
        ulong count = (ulong)Volatile.Read(ref _count), mask = (ulong)Volatile.Read(ref _mask), bucket = hash & mask;
        return (long)(bucket < count ? bucket : bucket & (mask >> 1));
    }

    /// <summary>Returns a reference to the entry of a bucket, to be read with <see cref="Volatile"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ref ulong Place(long bucket) => ref _entries.Word(bucket);

    /// <summary>Reads the entry of a bucket.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BucketEntry Read(long bucket) => new(_entries.ReadUInt64(bucket));

    /// <summary>Sets the entry of a bucket that the caller holds, and thereby releases it.</summary>
    public void Release(long bucket, ulong bits) => _entries.WriteUInt64(bucket, bits);

    /// <summary>Holds the bucket of a hash: waits until it is free.</summary>
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

    /// <summary>Holds a bucket: waits until it is free.</summary>
    public BucketEntry Hold(long bucket)
    {
        Debug.Assert((ulong)bucket < (ulong)Count, "2: only a bucket that was added is held");
        var spin = default(SpinWait);
        while (true)
        {
            BucketEntry entry = Read(bucket);
            if (!entry.IsHeld && _entries.TryExchange(bucket, entry.Bits, entry.Held))
                return entry;
            spin.SpinOnce(sleep1Threshold: -1);
        }
    }

    /// <summary>Commits memory for a number of entries.</summary>
    public void Prepare(long buckets)
    {
        Debug.Assert(
            buckets <= Math.Max(1, MaxCount), "1: addresses are reserved for the entries of the most buckets");
        while (_committedBytes < buckets * sizeof(ulong))
        {
            _entries.Commit(_committedBytes, StepBytes);
            Volatile.Write(ref _committedBytes, _committedBytes + StepBytes);
        }
    }

    /// <summary>Adds a bucket with its frames. The memory for its entry must have been committed.</summary>
    public void Publish(long added, uint frame, bool isChained)
    {
        Debug.Assert(added == _count && added < MaxCount, "2: buckets are added one after the other");
        Debug.Assert((added + 1) * sizeof(ulong) <= _committedBytes, "1: the entry of a bucket has memory");
        _entries.WriteUInt64(added, Read(added).After(frame, isChained));
        if (added > _mask)
            Volatile.Write(ref _mask, (2 * _mask) + 1);
        Debug.Assert(
            _mask >= added && (_mask & (_mask + 1)) == 0 && _mask >> 1 < added, "2: the mask fits the number of buckets");
        Volatile.Write(ref _count, added + 1);
    }

    /// <summary>Returns the memory to the system. All entries then read as empty.</summary>
    public void Discard() => _entries.Discard(0, _committedBytes);
}
