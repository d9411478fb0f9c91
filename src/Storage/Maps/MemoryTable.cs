using System.Buffers.Binary;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// The buckets of an in-memory map: the same pages as on disk, changed in place. A reader takes no lock: it reads the
/// bucket's entry, the bucket, and the entry again. A writer holds the entry of its bucket. Growing splits one bucket at a
/// time into new frames, while other threads continue.
/// </summary>
/// <remarks>
/// Invariants. 1. A record is in the bucket given by <see cref="MapLayout.BucketOf"/> for the current number of buckets; a
/// split publishes the new number while it holds the bucket, so a reader that sees the bucket released also sees the new
/// number. 2. The frames of a bucket change only while its entry is held, and the version of the entry then increases. 3.
/// Only the first frame of a chain may be empty. 4. In layouts with <see cref="BucketLayout.HasKeyLines"/> a free slot
/// contains a key that is searched in other lines, so a key found in its lines exists.
/// </remarks>
internal sealed class MemoryTable<TKey, TValue, TKeySerializer, TValueSerializer> : IDisposable
    where TKey : notnull
    where TKeySerializer : struct, IMapSerializer<TKey>
    where TValueSerializer : struct, IMapSerializer<TValue>
{
    private const int SplitFromPerMille = 400;
    private const int OptimisticAttempts = 16;
    private const int MaxChainFrames = 1 << 20;
    private const int RunCellBytes = 2 * sizeof(int);

    private readonly FrameArena _arena;
    private readonly BucketDirectory _directory;
    private readonly Lock _growth = new();
    private readonly SerializerKeyHash<TKey, TKeySerializer> _hashing;
    private bool _isDisposed;

    public MemoryTable(long maxBytes, ulong seed)
    {
        _hashing = new SerializerKeyHash<TKey, TKeySerializer>(seed);
        long frames = Math.Min(maxBytes / PageLayout.SizeBytes, BucketEntry.MaxFrame);
        _arena = new FrameArena(frames * PageLayout.SizeBytes);
        _directory = new BucketDirectory(Math.Min(2 * frames, MapLayout.MaxBuckets));
    }

    /// <summary>Sums over all records.</summary>
    public StripedFigures Figures { get; } = new();

    /// <summary>The memory in use, in bytes.</summary>
    public long MemoryBytes => _arena.BytesInUse + _directory.MemoryBytes;

    /// <summary>The number of buckets.</summary>
    public long Buckets => _directory.Count;

    private static BucketLayout Layout
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => new(TKeySerializer.FixedBytes, TValueSerializer.FixedBytes);
    }

    /// <summary>Returns the hash of a key.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong HashOf(ReadOnlySpan<byte> key) => _hashing.Of(key);

    /// <summary>Whether most keys are found with one memory access.</summary>
    private static bool HasKeyLines
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Layout.HasKeyLines && !TKeySerializer.HasOwnHash && default(TValueSerializer) is IPlainSerializer;
    }

    /// <summary>
    /// Finds the value of a key in its two preferred lines. Returns false if it is not there or was changed concurrently:
    /// then call <see cref="TryRead"/>. Kept short, so that the processor can overlap the memory accesses of several
    /// look-ups.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReadAtHome(ulong hash, scoped ReadOnlySpan<byte> key, [MaybeNullWhen(false)] out TValue value)
    {
        if (HasKeyLines)
        {
            ref ulong place = ref _directory.Place(_directory.BucketOf(hash));
            var entry = new BucketEntry(Volatile.Read(ref place));
            if (entry.IsReadable && FindAtHome(entry, hash, key, out Span<byte> found))
            {
                value = TValueSerializer.Read(found);
                Volatile.ReadBarrier();
                return Volatile.Read(ref place) == entry.Bits;
            }
        }

        value = default;
        return false;
    }

    /// <summary>Finds the value of a key. Returns false if it does not exist.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryRead<TTaken>(ulong hash, scoped ReadOnlySpan<byte> key, ref TTaken value)
        where TTaken : struct, ITaken
    {
        long buckets = _directory.Count;
        long bucket = MapLayout.BucketOf(hash, buckets);
        var entry = _directory.Read(bucket);
        if (!entry.IsHeld && _directory.Count == buckets)
        {
            bool isFound = Search(entry, hash, key, ref value);
            Volatile.ReadBarrier();
            if (_directory.Read(bucket) == entry)
                return isFound;
        }

        return TryReadAgain(hash, key, ref value);
    }

    /// <summary>
    /// Prefetches what is read first, the line of a key or its tags. The first of two steps before <see cref="TryRead"/>.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void PrefetchFirst(ulong hash)
    {
        uint frame = _directory.Read(_directory.BucketOf(hash)).Frame;
        _arena.Prefetch(
            frame, HasKeyLines ? BucketLines.HomeOffset(Layout, hash) : BucketPage.TagOffset(Layout, hash, PageLayout.SizeBytes));
    }

    /// <summary>Prefetches the record of a key. The second step.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void PrefetchRecord(ulong hash)
    {
        if (!Layout.IsFixed || HasKeyLines)
            return;

        uint frame = _directory.Read(_directory.BucketOf(hash)).Frame;
        if (frame != 0)
            new BucketPage(_arena.Bytes(frame), Layout).Prefetch(hash);
    }

    /// <summary>
    /// Sets the value of a key, unless <paramref name="onlyIfNew"/> and it exists. Returns whether the key is new.
    /// </summary>
    [SkipLocalsInit]
    public bool Put(ulong hash, scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value, bool onlyIfNew)
    {
        Span<byte> cell = stackalloc byte[RunCellBytes];
        bool isRun = !Layout.IsFixed && value.Length > MapLayout.MaxInlineValueBytes;
        if (isRun)
        {
            WriteRun(value, cell);
            value = cell;
        }

        long bucket = _directory.Hold(hash, out BucketEntry entry);
        if (HasKeyLines && !onlyIfNew && entry.Frame != 0 && FindAtHome(entry, hash, key, out Span<byte> old))
        {
            MemoryMarshal.Write(old, MemoryMarshal.Read<ulong>(value));
            _directory.Release(bucket, entry.After(entry.Frame, entry.IsChained));
            return false;
        }

        var chain = new FrameChain<TKey, TKeySerializer>(_arena, Layout, _hashing, entry.Frame, entry.IsChained);
        bool isThere = false, isChanged = true, isChained = false;
        try
        {
            isThere = chain.Find(hash, key);
            if (isThere && onlyIfNew)
                isChanged = false;
            else if (!isThere || !chain.TryOverwrite(value, isRun))
                isChained = Store(ref chain, hash, key, value, isRun, isThere);
        }
        catch
        {
            ReleaseRun(isRun, cell);
            throw;
        }
        finally
        {
            _directory.Release(bucket, isChanged ? entry.After(chain.First, chain.HasNext) : entry.Bits);
        }

        if (!isChanged)
            ReleaseRun(isRun, cell);
        if (isChained)
            TrySplit();
        return !isThere;
    }

    /// <summary>Replaces the value of a key if the current one is as expected. Returns false otherwise.</summary>
    public bool TryReplace(
        ulong hash, scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value, scoped ReadOnlySpan<byte> expected)
    {
        Span<byte> cell = stackalloc byte[RunCellBytes];
        bool isRun = !Layout.IsFixed && value.Length > MapLayout.MaxInlineValueBytes;
        if (isRun)
        {
            WriteRun(value, cell);
            value = cell;
        }

        long bucket = _directory.Hold(hash, out BucketEntry entry);
        var chain = new FrameChain<TKey, TKeySerializer>(_arena, Layout, _hashing, entry.Frame, entry.IsChained);
        bool isEqual = false;
        try
        {
            isEqual = chain.Find(hash, key) && chain.HasValue(expected);
            if (isEqual && !chain.TryOverwrite(value, isRun))
                Store(ref chain, hash, key, value, isRun, isThere: true);
        }
        catch
        {
            ReleaseRun(isRun, cell);
            throw;
        }
        finally
        {
            _directory.Release(bucket, isEqual ? entry.After(chain.First, chain.HasNext) : entry.Bits);
        }

        if (!isEqual)
            ReleaseRun(isRun, cell);
        return isEqual;
    }

    /// <summary>
    /// Removes a key and returns its value. Returns false if it does not exist, or if <paramref name="mustBeEqual"/> and it
    /// has a different value.
    /// </summary>
    public bool TryRemove(
        ulong hash, scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> expected, bool mustBeEqual,
        ref TakenValue<TValue, TValueSerializer> value)
    {
        long bucket = _directory.Hold(hash, out BucketEntry entry);
        var chain = new FrameChain<TKey, TKeySerializer>(_arena, Layout, _hashing, entry.Frame, entry.IsChained);
        bool isRemoved = false;
        try
        {
            if (chain.Find(hash, key) && (!mustBeEqual || chain.HasValue(expected)))
            {
                value.Take(chain.Value);
                isRemoved = true;
                Figures.Add(-1, -chain.UsedBytes);
                chain.Remove();
            }
        }
        finally
        {
            _directory.Release(bucket, isRemoved ? entry.After(chain.First, chain.HasNext) : entry.Bits);
        }

        return isRemoved;
    }

    /// <summary>Removes all records, one bucket at a time.</summary>
    public void Clear()
    {
        lock (_growth)
        {
            for (long bucket = 0; bucket < Buckets; bucket++)
            {
                BucketEntry entry = _directory.Hold(bucket);
                var chain = new FrameChain<TKey, TKeySerializer>(_arena, Layout, _hashing, entry.Frame, entry.IsChained);
                (long count, long usedBytes) = chain.Release();
                Figures.Add(-count, -usedBytes);
                _directory.Release(bucket, entry.After(0, isChained: false));
            }
        }
    }

    /// <summary>
    /// Copies the frames of a bucket and of those split from it since there were <paramref name="then"/> buckets, so that an
    /// enumeration of the buckets of that time returns every record once, whatever is split meanwhile.
    /// </summary>
    public void CopyFrames(long bucket, long then, List<byte[]> frames, List<byte[]> runs)
    {
        lock (_growth)
            CopyDescendants(bucket, then, frames, runs);
    }

    /// <summary>Returns the memory to the system. The table is then empty, and operations that need memory throw.</summary>
    public void Dispose()
    {
        lock (_growth)
        {
            Volatile.Write(ref _isDisposed, true);
            _directory.Discard();
            _arena.Dispose();
        }
    }

    public void ThrowIfDisposed() =>
        ObjectDisposedException.ThrowIf(
            Volatile.Read(ref _isDisposed), typeof(MemoryMap<TKey, TValue, TKeySerializer, TValueSerializer>));

    /// <summary>Finds the value of a key in its two preferred lines, in a bucket that has a frame.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool FindAtHome(BucketEntry entry, ulong hash, scoped ReadOnlySpan<byte> key, out Span<byte> value)
    {
        ulong word = MemoryMarshal.Read<ulong>(key);
        int offset = BucketLines.HomeOffset(Layout, hash);
        value = _arena.Line(entry.Frame, offset);
        int record = KeyLine.Find(value, word);
        if (record >= KeyLine.Bytes)
        {
            value = _arena.Line(entry.Frame, BucketLines.SecondOffset(Layout, offset));
            record = KeyLine.Find(value, word);
            if (record >= KeyLine.Bytes)
                return false;
        }

        value = value.Slice(record + sizeof(ulong), sizeof(ulong));
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool Search<TTaken>(BucketEntry entry, ulong hash, scoped ReadOnlySpan<byte> key, ref TTaken value)
        where TTaken : struct, ITaken
    {
        if (entry.Frame == 0)
            return IsAbsent();

        var page = new BucketPage(_arena.Bytes(entry.Frame), Layout);
        if (Layout.IsFixed)
            page.Prefetch(hash); // fetches the tags and the likely line of the record in parallel
        int slot = page.Find(hash, key);
        return slot >= 0 ? Take(page, slot, ref value) : entry.IsChained && SearchChain(page, hash, key, ref value);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool SearchChain<TTaken>(BucketPage page, ulong hash, scoped ReadOnlySpan<byte> key, ref TTaken value)
        where TTaken : struct, ITaken
    {
        for (int i = 0; i < MaxChainFrames; i++)
        {
            long next = page.Next.Number;
            if (next == 0 || next >= _arena.ReadableFrames)
                return false;

            page = new BucketPage(_arena.Bytes((uint)next), Layout);
            int slot = page.Find(hash, key);
            if (slot >= 0)
                return Take(page, slot, ref value);
        }

        return false;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool Take<TTaken>(BucketPage page, int slot, ref TTaken value)
        where TTaken : struct, ITaken
    {
        if (!page.TryGetValue(slot, out ReadOnlySpan<byte> bytes, out bool isRun))
            return false;
        if (isRun)
            return TakeRun(bytes, ref value);

        value.Take(bytes);
        return true;
    }

    private bool TakeRun<TTaken>(ReadOnlySpan<byte> cell, ref TTaken value)
        where TTaken : struct, ITaken
    {
        if (cell.Length != RunCellBytes)
            return false;

        uint frame = BinaryPrimitives.ReadUInt32LittleEndian(cell);
        int length = BinaryPrimitives.ReadInt32LittleEndian(cell[sizeof(uint)..]);
        if (length < 0 || ((long)frame * PageLayout.SizeBytes) + length > _arena.ReadableFrames * PageLayout.SizeBytes)
            return false;

        value.Take(_arena.Bytes(frame, length));
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool IsAbsent()
    {
        ThrowIfDisposed();
        return false;
    }

    /// <summary>
    /// Called if a concurrent writer interfered with the first attempt: tries again a few times, then holds the bucket like a
    /// writer.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryReadAgain<TTaken>(ulong hash, scoped ReadOnlySpan<byte> key, ref TTaken value)
        where TTaken : struct, ITaken
    {
        var spin = default(SpinWait);
        for (int i = 0; i < OptimisticAttempts; i++)
        {
            spin.SpinOnce(sleep1Threshold: -1);
            long buckets = _directory.Count;
            long at = MapLayout.BucketOf(hash, buckets);
            var before = _directory.Read(at);
            if (before.IsHeld || _directory.Count != buckets)
                continue;

            bool isFound = Search(before, hash, key, ref value);
            Volatile.ReadBarrier();
            if (_directory.Read(at) == before)
                return isFound;
        }

        long bucket = _directory.Hold(hash, out BucketEntry entry);
        try
        {
            return Search(entry, hash, key, ref value);
        }
        finally
        {
            _directory.Release(bucket, entry.Bits);
        }
    }

    /// <summary>
    /// Stores a record that is new or whose value has a different length than before. Returns whether the bucket's first
    /// frame was too full.
    /// </summary>
    private bool Store(
        ref FrameChain<TKey, TKeySerializer> chain, ulong hash, scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value,
        bool isRun, bool isThere)
    {
        ThrowIfDisposed();
        int usedBytes = BucketPage.UsedBytesOf(Layout, key.Length, value.Length), before = 0;
        if (isThere)
        {
            chain.Reserve(); // the record removed must fit again
            before = chain.UsedBytes;
            chain.Remove();
        }

        bool isChained = chain.Add(hash, key, value, isRun);
        chain.Unreserve();
        Figures.Add(isThere ? 0 : 1, usedBytes - before);
        return isChained;
    }

    /// <summary>Splits the bucket whose turn it is, unless another thread is splitting.</summary>
    private void TrySplit()
    {
        if (Figures.UsedBytes * 1000 < Buckets * PageLayout.ContentBytes * SplitFromPerMille || !_growth.TryEnter())
            return;

        try
        {
            if (Buckets < _directory.MaxCount)
                Split(Buckets);
        }
        finally
        {
            _growth.Exit();
        }
    }

    private void Split(long added)
    {
        ThrowIfDisposed();
        Debug.Assert(
            _growth.IsHeldByCurrentThread && added == Buckets, "1: one thread at a time adds the next bucket");
        _directory.Prepare(added + 1);
        long divided = MapLayout.Buddy(added);
        BucketEntry entry = _directory.Hold(divided);
        var old = new FrameChain<TKey, TKeySerializer>(_arena, Layout, _hashing, entry.Frame, entry.IsChained);
        var low = new FrameChain<TKey, TKeySerializer>(_arena, Layout, _hashing, 0, hasNext: false);
        FrameChain<TKey, TKeySerializer> high = low;
        bool isDone = false;
        try
        {
            old.Divide((ulong)(added - divided), ref low, ref high);
            isDone = true;
        }
        finally
        {
            // If memory runs out, the bucket is not changed.
            if (!isDone)
            {
                low.ReleaseFrames();
                high.ReleaseFrames();
                _directory.Release(divided, entry.Bits);
            }
        }

        _directory.Publish(added, high.First, high.HasNext);
        _directory.Release(divided, entry.After(low.First, low.HasNext));
        old.ReleaseFrames();
    }

    private void CopyDescendants(long bucket, long then, List<byte[]> frames, List<byte[]> runs)
    {
        Debug.Assert(_growth.IsHeldByCurrentThread, "1: no bucket is split while its records are copied");
        BucketEntry entry = _directory.Hold(bucket);
        try
        {
            var chain = new FrameChain<TKey, TKeySerializer>(_arena, Layout, _hashing, entry.Frame, entry.IsChained);
            chain.CopyTo(frames, runs);
        }
        finally
        {
            _directory.Release(bucket, entry.Bits);
        }

        // Bucket c was split from the bucket with the number c without its highest bit.
        for (long bit = (long)System.Numerics.BitOperations.RoundUpToPowerOf2((ulong)bucket + 1);
             bucket + bit < Buckets;
             bit <<= 1)
        {
            if (bucket + bit >= then)
                CopyDescendants(bucket + bit, then, frames, runs);
        }
    }

    private void WriteRun(ReadOnlySpan<byte> value, Span<byte> cell)
    {
        ThrowIfDisposed();
        uint frame = _arena.Allocate(FrameChain<TKey, TKeySerializer>.RunFrames(value.Length));
        value.CopyTo(_arena.Bytes(frame, value.Length));
        BinaryPrimitives.WriteUInt32LittleEndian(cell, frame);
        BinaryPrimitives.WriteInt32LittleEndian(cell[sizeof(uint)..], value.Length);
    }

    private void ReleaseRun(bool isRun, ReadOnlySpan<byte> cell)
    {
        if (isRun)
            FrameChain<TKey, TKeySerializer>.ReleaseRun(_arena, cell);
    }
}
