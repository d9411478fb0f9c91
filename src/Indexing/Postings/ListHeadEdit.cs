using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Updates the head of a list; see <see cref="ListHead"/>, whose invariants it asserts. Call <see cref="Begin"/>, make
/// changes, then call <see cref="Bytes"/>. Most added entries are covered by a limit and change nothing, so only the limits
/// are read. Reusable for one term after another.
/// </summary>
internal sealed class ListHeadEdit
{
    private readonly HeadEntry[] _best = new HeadEntry[ListHead.MaxEntries + 1];
    private readonly double[] _parts = new double[ListHead.MaxEntries + 1];
    private readonly HeadEntry[] _limits = new HeadEntry[ListHead.MaxLimits + 1];
    private readonly byte[] _old = new byte[ListHead.MaxBytes];
    private readonly byte[] _output = new byte[ListHead.MaxBytes];
    private readonly ushort[] _offsets = new ushort[PostingWindow.Size];
    private readonly int[] _frequencies = new int[PostingWindow.Size];
    private IImpacts _weights = null!; // Begin sets it before any change
    private int _oldBytes;
    private int _entriesFrom;
    private int _count;
    private int _limitCount;
    private bool _isLoaded;
    private bool _isChanged;

    /// <summary>Starts editing the head of a list.</summary>
    /// <param name="head">Its head; empty if the list has no entries yet.</param>
    /// <param name="impacts">Weighs its postings.</param>
    public void Begin(ReadOnlySpan<byte> head, IImpacts impacts)
    {
        if (head.Length > _old.Length)
            throw ListHead.Damaged();
        _weights = impacts;
        head.CopyTo(_old);
        _oldBytes = head.Length;
        _count = _limitCount = _entriesFrom = 0;
        _isChanged = _isLoaded = head.IsEmpty;
        if (head.IsEmpty)
            return;
        ReadOnlySpan<byte> rest = head;
        _limitCount = ListHead.ReadLimits(ref rest, _limits);
        _entriesFrom = head.Length - rest.Length;
    }

    /// <summary>The head with all changes; valid until the next <see cref="Begin"/>.</summary>
    public ReadOnlySpan<byte> Bytes() =>
        _isChanged
            ? _output.AsSpan(0, ListHead.Write(_best.AsSpan(0, _count), _limits.AsSpan(0, _limitCount), _output))
            : _old.AsSpan(0, _oldBytes);

    /// <summary>Adds entries, whose ids are greater than all ids of the list.</summary>
    public void Add(ReadOnlySpan<Posting> postings)
    {
        foreach (Posting posting in postings)
            Add(posting.EntryId, posting.Frequency);
    }

    /// <summary>
    /// Removes entries. Returns true if the head then has too few entries for a list of <paramref name="left"/> entries, so
    /// that the caller must call <see cref="Rebuild"/>.
    /// </summary>
    public bool Remove(ReadOnlySpan<long> ascending, long left)
    {
        Load();
        int kept = 0;
        for (int i = 0; i < _count; i++)
        {
            if (ascending.BinarySearch(_best[i].Id) >= 0)
                continue;
            (_best[kept], _parts[kept]) = (_best[i], _parts[i]);
            kept++;
        }

        _isChanged |= kept < _count;
        _count = kept;
        return _count < Math.Min(ListHead.MinEntries, left);
    }

    /// <summary>Rebuilds the head from the whole list.</summary>
    public void Rebuild(Tree postings, long listId)
    {
        Begin(default, _weights);
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, listId, 0);
        using Cursor cursor = postings.OpenCursor();
        for (bool more = cursor.Seek(key);
             more && cursor.IsAt(key[..sizeof(long)], out ReadOnlySpan<byte> value);
             more = cursor.MoveNext())
        {
            var segment = new PostingSegment(value);
            for (int i = 0; i < segment.Count; i++)
            {
                PostingWindow window = segment.PostingsAt(i);
                int inWindow = window.CopyOffsets(_offsets);
                window.CopyFrequencies(_frequencies);
                long start = segment.WindowAt(i) << PostingWindow.SizeBits;
                for (int rank = 0; rank < inWindow; rank++)
                    Add(start + _offsets[rank], _frequencies[rank]);
            }
        }
    }

    private void Add(long id, int frequency)
    {
        int length = _weights.LengthOf(id);
        foreach (ref readonly HeadEntry limit in _limits.AsSpan(0, _limitCount))
        {
            if (limit.Covers(frequency, length))
                return; // invariants 1 and 2: ids only grow
        }

        Load();
        _isChanged = true;
        Debug.Assert(_count <= ListHead.MaxEntries, "4: a head is bounded");
        double part = _weights.PartOf(frequency, length);
        int place = _count++;
        for (; place > 0 && (_parts[place - 1] < part || (_parts[place - 1] == part && _best[place - 1].Id > id)); place--)
            (_best[place], _parts[place]) = (_best[place - 1], _parts[place - 1]);
        (_best[place], _parts[place]) = (new HeadEntry(id, frequency, length), part);
        if (_count > ListHead.MaxEntries)
            Limit(_best[--_count]);
    }

    /// <summary>Adds or raises a limit for an entry that left the head.</summary>
    private void Limit(HeadEntry entry)
    {
        Debug.Assert(_count == ListHead.MaxEntries, "1: an entry leaves only a full head");
        int kept = 0;
        for (int i = 0; i < _limitCount; i++)
        {
            HeadEntry limit = _limits[i];
            if (limit.Covers(entry.Frequency, entry.Length))
                return; // no limit was dropped before: this limit would have covered it too

            if (!entry.Covers(limit.Frequency, limit.Length))
                _limits[kept++] = limit;
        }

        _limitCount = kept + 1;
        InsertionSort.Insert(_limits.AsSpan(0, _limitCount), entry with { Id = 0 }, default(FrequentFirst));
        if (_limitCount > ListHead.MaxLimits)
            Join();
    }

    /// <summary>
    /// Replaces two neighbouring limits by one that covers both, choosing the pair whose combined limit is lowest.
    /// </summary>
    private void Join()
    {
        int least = 0;
        double leastPart = double.MaxValue;
        for (int i = 0; i + 1 < _limitCount; i++)
        {
            Debug.Assert(
                _limits[i].Frequency > _limits[i + 1].Frequency && _limits[i].Length > _limits[i + 1].Length,
                "4: no limit covers another");
            double part = _weights.PartOf(_limits[i].Frequency, _limits[i + 1].Length);
            if (part < leastPart)
                (least, leastPart) = (i, part);
        }

        _limits[least] = new HeadEntry(0, _limits[least].Frequency, _limits[least + 1].Length);
        _limits.AsSpan((least + 2).._limitCount).CopyTo(_limits.AsSpan(least + 1));
        _limitCount--;
        Debug.Assert(_limitCount <= ListHead.MaxLimits, "4: limits are bounded");
    }

    private void Load()
    {
        if (_isLoaded)
            return;
        _isLoaded = true;
        Debug.Assert(_count == 0, "entries are loaded before any is added");
        _count = ListHead.ReadEntries(_old.AsSpan(_entriesFrom, _oldBytes - _entriesFrom), _best);
        for (int i = 0; i < _count; i++)
            _parts[i] = _weights.PartOf(_best[i].Frequency, _best[i].Length);
    }

    /// <summary>Orders limits by their frequency, greatest first.</summary>
    private readonly struct FrequentFirst : IItemOrder<HeadEntry>
    {
        public bool IsAfter(in HeadEntry left, in HeadEntry right) => left.Frequency < right.Frequency;
    }
}
