using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.Maps;

/// <summary>The frames of one bucket, accessed by the thread that holds it.</summary>
internal ref struct FrameChain<TKey, TKeySerializer>(
    FrameArena arena, BucketLayout layout, SerializerKeyHash<TKey, TKeySerializer> hashing, uint first, bool hasNext)
    where TKeySerializer : struct, IMapSerializer<TKey>
{
    private readonly FrameArena _arena = arena;
    private readonly BucketLayout _layout = layout;
    private readonly SerializerKeyHash<TKey, TKeySerializer> _hashing = hashing;
    private uint _before;
    private uint _frame;
    private int _slot;
    private uint _spare;

    /// <summary>The first frame, or 0.</summary>
    public uint First { get; private set; } = first;

    /// <summary>Whether there are frames after the first.</summary>
    public bool HasNext { get; private set; } = hasNext;

    /// <summary>
    /// Whether a key may be searched only in its lines. Not with custom hashes, which may be the same for all keys.
    /// </summary>
    private readonly bool HasKeyLines => _layout.HasKeyLines && !TKeySerializer.HasOwnHash;

    /// <summary>The number of bytes that the record found uses.</summary>
    public readonly int UsedBytes =>
        BucketPage.UsedBytesOf(_layout, Page(_frame).Key(_slot).Length, Page(_frame).Value(_slot, out _).Length);

    /// <summary>The value of the record found.</summary>
    public readonly ReadOnlySpan<byte> Value
    {
        get
        {
            Span<byte> value = Page(_frame).Value(_slot, out bool isRun);
            return isRun
                ? _arena.Bytes(
                    BinaryPrimitives.ReadUInt32LittleEndian(value), BinaryPrimitives.ReadInt32LittleEndian(value[sizeof(uint)..]))
                : value;
        }
    }

    /// <summary>Returns the number of frames of a long value.</summary>
    public static int RunFrames(int lengthBytes) => (int)(((long)lengthBytes + PageLayout.SizeBytes - 1) / PageLayout.SizeBytes);

    /// <summary>Releases the frames of a long value.</summary>
    public static void ReleaseRun(FrameArena arena, ReadOnlySpan<byte> cell) =>
        arena.Release(
            BinaryPrimitives.ReadUInt32LittleEndian(cell),
            RunFrames(BinaryPrimitives.ReadInt32LittleEndian(cell[sizeof(uint)..])));

    /// <summary>Finds the record of a key.</summary>
    public bool Find(ulong hash, scoped ReadOnlySpan<byte> key)
    {
        _before = 0;
        for (_frame = First; _frame != 0; _frame = HasNext ? (uint)Page(_frame).Next.Number : 0)
        {
            _slot = Page(_frame).Find(hash, key);
            if (_slot >= 0)
                return true;
            _before = _frame;
        }

        return false;
    }

    /// <summary>Whether the record found has the given value.</summary>
    public readonly bool HasValue(ReadOnlySpan<byte> expected) => Value.SequenceEqual(expected);

    /// <summary>Overwrites the value of the record found. Returns false if it has a different length.</summary>
    public readonly bool TryOverwrite(scoped ReadOnlySpan<byte> value, bool isRun)
    {
        Debug.Assert(_frame != 0, "a record was found");
        Span<byte> old = Page(_frame).Value(_slot, out bool wasRun);
        if (old.Length != value.Length || wasRun != isRun)
            return false;

        if (wasRun)
            ReleaseRun(_arena, old);
        value.CopyTo(old);
        return true;
    }

    /// <summary>Allocates a frame that <see cref="Add"/> may need.</summary>
    public void Reserve()
    {
        Debug.Assert(_spare == 0, "one frame is reserved at a time");
        _spare = _arena.Allocate(1);
    }

    /// <summary>Releases the reserved frame if <see cref="Add"/> did not use it.</summary>
    public void Unreserve()
    {
        if (_spare != 0)
            _arena.Release(_spare, 1);
        _spare = 0;
    }

    /// <summary>Adds a record with a new key. Returns whether the first frame was too full for it.</summary>
    public bool Add(ulong hash, scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value, bool isRun)
    {
        if (First == 0)
            First = NewFrame();
        for (uint frame = First; ;)
        {
            BucketPage page = Page(frame);
            int slot = page.Insert(hash, key, value.Length, isRun, _hashing);
            if (slot >= 0)
            {
                value.CopyTo(page.Value(slot, out _));
                return frame != First;
            }

            uint next = (uint)page.Next.Number;
            if (next == 0)
            {
                next = NewFrame();
                page.Next = new PageReference(next, 0);
                HasNext = true;
            }

            frame = next;
        }
    }

    /// <summary>Removes the record found, and its frame if it is empty and not needed to link others.</summary>
    public void Remove()
    {
        Debug.Assert(_frame != 0 && Page(_frame).IsUsed(_slot), "a record was found");
        BucketPage page = Page(_frame);
        Span<byte> value = page.Value(_slot, out bool isRun);
        if (isRun)
            ReleaseRun(_arena, value);
        int hole = page.Remove(_slot, _hashing);
        if (HasKeyLines)
            page.HideSlot(hole, _hashing);
        if (page.Count > 0)
            return;

        uint next = (uint)page.Next.Number;
        if (_before == 0 && next != 0)
            return;

        if (_before == 0)
        {
            First = 0;
        }
        else
        {
            BucketPage before = Page(_before);
            before.Next = new PageReference(next, 0);
            HasNext = Page(First).Next.Number != 0;
        }

        _arena.Release(_frame, 1);
        if (_before != 0 && !HasNext && Page(First).Count == 0)
        {
            _arena.Release(First, 1);
            First = 0;
        }
    }

    /// <summary>Distributes the records to two chains by a bit of their hash. Does not change this chain.</summary>
    public readonly void Divide(
        ulong bit, scoped ref FrameChain<TKey, TKeySerializer> low, scoped ref FrameChain<TKey, TKeySerializer> high)
    {
        Debug.Assert(bit != 0 && (bit & (bit - 1)) == 0, "one bit of the hash divides a chain");
        for (uint frame = First; frame != 0; frame = (uint)Page(frame).Next.Number)
        {
            BucketPage page = Page(frame);
            int slots = page.Slots;
            for (int slot = 0; slot < slots; slot++)
            {
                if (!page.IsUsed(slot))
                    continue;

                ReadOnlySpan<byte> key = page.Key(slot);
                ulong hash = _hashing.Of(key);
                if ((hash & bit) == 0)
                    low.Add(hash, key, page.Value(slot, out bool isRun), isRun);
                else
                    high.Add(hash, key, page.Value(slot, out bool isRun), isRun);
            }
        }
    }

    /// <summary>Releases the frames, but not the long values, which now belong to other chains.</summary>
    public void ReleaseFrames()
    {
        for (uint frame = First; frame != 0;)
        {
            uint next = (uint)Page(frame).Next.Number;
            _arena.Release(frame, 1);
            frame = next;
        }

        First = 0;
        HasNext = false;
    }

    /// <summary>Releases everything. Returns the number of records and their size.</summary>
    public (long Count, long UsedBytes) Release()
    {
        long count = 0, usedBytes = 0;
        for (uint frame = First; frame != 0; frame = (uint)Page(frame).Next.Number)
        {
            BucketPage page = Page(frame);
            count += page.Count;
            usedBytes += page.UsedBytes;
            int slots = _layout.IsFixed ? 0 : page.Slots; // fixed-size records have no runs
            for (int slot = 0; slot < slots; slot++)
            {
                if (page.IsUsed(slot) && page.Value(slot, out bool isRun) is var value && isRun)
                    ReleaseRun(_arena, value);
            }
        }

        ReleaseFrames();
        return (count, usedBytes);
    }

    /// <summary>Copies the frames, and the long values in the order in which the records refer to them.</summary>
    public readonly void CopyTo(List<byte[]> frames, List<byte[]> runs)
    {
        for (uint frame = First; frame != 0; frame = (uint)Page(frame).Next.Number)
        {
            BucketPage page = Page(frame);
            frames.Add(page.Bytes.ToArray());
            int slots = _layout.IsFixed ? 0 : page.Slots;
            for (int slot = 0; slot < slots; slot++)
            {
                if (page.IsUsed(slot) && page.Value(slot, out bool isRun) is var value && isRun)
                    runs.Add(
                        _arena.Bytes(
                            BinaryPrimitives.ReadUInt32LittleEndian(value),
                            BinaryPrimitives.ReadInt32LittleEndian(value[sizeof(uint)..])).ToArray());
            }
        }
    }

    private readonly BucketPage Page(uint frame) => new(_arena.Bytes(frame), _layout);

    private uint NewFrame()
    {
        uint frame = _spare != 0 ? _spare : _arena.Allocate(1);
        _spare = 0;
        Span<byte> bytes = _arena.Bytes(frame);
        bytes[..PageLayout.HeaderBytes].Clear();
        var page = new BucketPage(bytes, _layout);
        page.Clear();
        if (HasKeyLines)
            page.HideSlots(_hashing);
        return frame;
    }
}
