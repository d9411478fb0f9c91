using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Terms;
using Treepie.Storage;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>A term with at most <see cref="FlatPostings.MaxEntries"/> entries, decoded when the query is compiled.</summary>
internal sealed class ShortListOperator : TermOperator
{
    private readonly Posting[] _room;
    private readonly int _count;
    private readonly byte[] _encoded = [];
    private readonly int _encodedBytes;
    private int[] _positionStarts = [];
    private int[] _positions = [];
    private readonly TermScorer? _scorer;
    private float[]? _parts;
    private ushort[]? _located;
    private int _locatedCount;
    private int _position;

    public ShortListOperator(QueryContext context, TermPayload payload, TermScorer? scorer, bool withPositions = false)
        : base(context, payload.EntryCount, new(CostModel.ShortWindow, CostModel.ShortProbe))
    {
        _room = context.RentPostings((int)payload.EntryCount); // at most FlatPostings.MaxEntries
        FlatPostings flat = payload.Flat;
        _count = flat.CopyTo(_room.AsSpan(0, (int)payload.EntryCount));
        Debug.Assert(_count == flat.Count);
        _scorer = scorer;
        if (withPositions)
        {
            _encodedBytes = flat.Positions.Length;
            _encoded = context.RentBytes(_encodedBytes);
            flat.Positions.CopyTo(_encoded);
        }

        context.Meter.Count.BlocksDecoded++;
        context.Meter.Count.BytesDecoded += payload.Bytes;
        context.Meter.Count.EntriesScanned += _count;
    }

    private ReadOnlySpan<Posting> Postings => _room.AsSpan(0, _count);

    public override TermScorer? Scorer => _scorer;

    protected override string Form => "term, short list";

    public override long Next(long from)
    {
        Seek(from);
        return _position < _count ? _room[_position].Window : End;
    }

    public override void Fill(long window, WindowSet set)
    {
        Span<ushort> offsets = stackalloc ushort[FlatPostings.MaxEntries];
        set.SetOffsets(offsets[..CopyOffsets(window, offsets)]);
    }

    /// <summary>Writes the ids of all entries, ascending; returns how many.</summary>
    public int CopyIds(Span<ulong> ids)
    {
        Debug.Assert(ids.Length >= _count, "each entry gets an id");
        for (int i = 0; i < _count; i++)
            ids[i] = (ulong)_room[i].EntryId;
        return _count;
    }

    /// <summary>Filters ascending ids in place to those that have the term; returns how many.</summary>
    public int KeepIds(Span<ulong> ids)
    {
        int kept = 0, next = 0;
        foreach (ulong id in ids)
        {
            while (next < _count && (ulong)_room[next].EntryId < id)
                next++;
            ids[kept] = id;
            kept += next < _count && (ulong)_room[next].EntryId == id ? 1 : 0;
        }

        return kept;
    }

    /// <summary>Writes the offsets of the entries in a window; returns how many.</summary>
    public int CopyOffsets(long window, Span<ushort> offsets)
    {
        ReadOnlySpan<Posting> mine = In(window);
        for (int i = 0; i < mine.Length; i++)
            offsets[i] = mine[i].Offset;
        return mine.Length;
    }

    public override void Open(PostingList list) => list.Open(Postings);

    public override int Count(long window) => In(window).Length;

    public override int Keep(long window, Span<ushort> offsets, bool wanted)
    {
        ReadOnlySpan<Posting> mine = In(window);
        int kept = 0, next = 0;
        foreach (ushort offset in offsets)
        {
            while (next < mine.Length && mine[next].Offset < offset)
                next++;
            offsets[kept] = offset;
            kept += (next < mine.Length && mine[next].Offset == offset) == wanted ? 1 : 0;
        }

        return kept;
    }

    public override bool Contains(long id)
    {
        foreach (Posting posting in In(id >> PostingWindow.SizeBits))
        {
            if (posting.EntryId == id)
                return true;
        }

        return false;
    }

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        Debug.Assert(scores.Length >= hits.Length, "each hit has a score");
        ReadOnlySpan<Posting> mine = In(window);
        int j = 0;
        for (int i = 0; i < hits.Length && j < mine.Length; i++)
        {
            while (j < mine.Length && mine[j].Offset < hits[i])
                j++;
            if (j < mine.Length && mine[j].Offset == hits[i])
                scores[i] += _scorer is null ? boost : _scorer.Score(mine[j].EntryId, mine[j].Frequency, boost);
        }
    }

    public override void Parts(long window, Span<float> parts)
    {
        parts.Clear();
        ReadOnlySpan<Posting> mine = In(window);
        ReadOnlySpan<float> exact = Exact().AsSpan(_position, mine.Length);
        for (int i = 0; i < mine.Length; i++)
        {
            ref float part = ref parts[mine[i].Offset >> PostingWindow.BlockBits];
            part = Math.Max(part, exact[i]);
        }
    }

    public override void PartBounds(Span<float> windows)
    {
        windows.Fill(NoMatch);
        float[] exact = Exact();
        for (int i = 0; i < _count; i++)
        {
            ref float part = ref windows[(int)_room[i].Window];
            part = Math.Max(part, exact[i]);
        }
    }

    /// <summary>
    /// By posting, the entry-dependent part of its BM25 score. Computed once for all postings, since they are few and their
    /// bounds would be requested for many windows.
    /// </summary>
    private float[] Exact()
    {
        if (_parts is not null)
            return _parts;

        _parts = Context.RentNumbers(_count);
        if (_scorer is null)
            _parts.AsSpan(0, _count).Fill(1);
        else
            _scorer.Parts(Postings, _parts);
        return _parts;
    }

    /// <summary>Moves to the first posting in the window or after it.</summary>
    private void Seek(long window)
    {
        Debug.Assert(_position >= 0 && _position <= _count, "a position is of a posting, or past the last");
        ReadOnlySpan<Posting> postings = Postings;
        if (_position > 0 && postings[_position - 1].Window >= window)
            _position = 0;
        while (_position < postings.Length && postings[_position].Window < window)
            _position++;
    }

    private ReadOnlySpan<Posting> In(long window)
    {
        Seek(window);
        ReadOnlySpan<Posting> postings = Postings;
        int end = _position;
        while (end < postings.Length && postings[end].Window == window)
            end++;
        return postings[_position..end];
    }

    public override ReadOnlySpan<int> Positions(long id)
    {
        ReadOnlySpan<Posting> mine = In(id >> PostingWindow.SizeBits);
        for (int i = 0; i < mine.Length; i++)
        {
            if (mine[i].EntryId == id)
                return PositionsAt(_position + i);
        }

        return default;
    }

    public override void CopyPositions(long window, ReadOnlySpan<ushort> entries, PositionTable table)
    {
        table.Clear();
        ReadOnlySpan<Posting> mine = In(window);
        int next = 0;
        foreach (ushort entry in entries)
        {
            while (next < mine.Length && mine[next].Offset < entry)
                next++;
            ReadOnlySpan<int> found = next < mine.Length && mine[next].Offset == entry ? PositionsAt(_position + next) : default;
            found.CopyTo(table.Next(found.Length));
        }
    }

    public override void LocatePositions(long window, ReadOnlySpan<ushort> entries)
    {
        ReadOnlySpan<Posting> mine = In(window);
        _located ??= Context.RentOffsets(FlatPostings.MaxEntries);
        int next = 0;
        foreach (ushort entry in entries)
        {
            while (mine[next].Offset < entry)
                next++;
            _located[_locatedCount++] = (ushort)(_position + next);
        }
    }

    public override void ReadMasks(Span<ulong> masks, Span<byte> isLong)
    {
        Debug.Assert(masks.Length >= _locatedCount && isLong.Length >= _locatedCount, "each located entry gets a mask");
        // Located postings ascend; the positions between them are skipped.
        ReadOnlySpan<byte> rest = _encoded.AsSpan(0, _encodedBytes);
        for (int i = 0, next = 0; i < _locatedCount; i++)
        {
            int passed = 0, last = 0;
            while (next < _located![i]) // not null when there are located postings
                passed += CheckedFrequency(next++, _encodedBytes);
            rest = rest[VarintKernels.Skip(rest, passed)..];
            masks[i] = 0;
            for (int left = CheckedFrequency(next++, rest.Length); left > 0; left--)
                masks[i] |= 1UL << (last += Varint.Read(ref rest));
            isLong[i] = (byte)(last >= PositionKernels.MaskBits ? 1 : 0);
        }

        _locatedCount = 0;
    }

    /// <summary>
    /// Returns the frequency of a posting, after checking that as many positions fit in the given bytes, at one or more
    /// each.
    /// </summary>
    private int CheckedFrequency(int place, int bytes) =>
        _room[place].Frequency <= bytes
            ? _room[place].Frequency
            : throw new CorruptionException(
                $"A short list in the index has more positions than the {_encodedBytes} bytes they take. Reset the index to "
                + $"build "
                    + $"it again.");

    /// <summary>
    /// Returns the positions of the posting at an index. All are decoded on first use: most phrases with a rare word never
    /// need them.
    /// </summary>
    private ReadOnlySpan<int> PositionsAt(int place)
    {
        if (_positionStarts.Length == 0)
            Decode();
        return _positions.AsSpan(_positionStarts[place].._positionStarts[place + 1]);
    }

    private void Decode()
    {
        Debug.Assert(_positionStarts.Length == 0, "positions are decoded once");
        int[] starts = new int[_count + 1];
        for (int i = 0; i < _count; i++)
        {
            // Each position takes at least one byte.
            starts[i + 1] = starts[i] + CheckedFrequency(i, _encodedBytes - starts[i]);
        }

        _positions = new int[starts[_count]];
        ReadOnlySpan<byte> rest = _encoded.AsSpan(0, _encodedBytes);
        for (int i = 0; i < _count; i++)
        {
            int last = 0;
            foreach (ref int value in _positions.AsSpan(starts[i]..starts[i + 1]))
                value = last += Varint.Read(ref rest);
        }

        _positionStarts = starts;
    }
}
