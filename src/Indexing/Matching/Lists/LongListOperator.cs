using System.Diagnostics;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>A term with a long list, whose windows are combined in place in the pages.</summary>
internal sealed class LongListOperator(
    QueryContext context, Tree postings, long listId, long count, TermScorer? scorer, PositionPlaces? positions = null,
    Tree? largest = null)
    : TermOperator(context, count, new(CostModel.ListWindow, CostModel.ListProbe))
{
    /// <summary>With at least this many entries per window, a segment holds only a few windows.</summary>
    private const int DenseEntries = PostingWindow.MinBitsCount / 2;

    private readonly PositionCursor? _positionCursor = positions is null ? null : new PositionCursor(positions, listId);
    private PostingCursor? _opened;
    private WindowsAhead? _ahead;
    private bool _isAnnounced;

    /// <summary>The list, opened on first use. No page of it is read if only its metadata is needed.</summary>
    private PostingCursor List => _opened ??= Open();

    public override TermScorer? Scorer => scorer;

    protected override string Form => "term, long list";

    public override WindowsAhead Ahead => _ahead ??= OpenAhead();

    public override long Next(long from) => List.Next(from);

    public override void Fill(long window, WindowSet set)
    {
        if (TryGet(window, out PostingWindow mine))
            set.Set(mine);
        else
            set.SetEmpty();
    }

    public override void Combine(long window, WindowSet set, SetOperation operation)
    {
        if (TryGet(window, out PostingWindow mine))
            set.Combine(operation, mine);
        else
            set.CombineNone(operation);
    }

    public override int Keep(long window, Span<ushort> offsets, bool wanted) =>
        TryGet(window, out PostingWindow mine) ? mine.Keep(offsets, wanted) : wanted ? 0 : offsets.Length;

    /// <summary>Adds all entries to a union.</summary>
    public void AddTo(UnionOperator union) => union.Add(postings, listId, Estimate);

    /// <summary>The list, for looking up single windows.</summary>
    public PostingCursor Postings => List;

    public override void Open(PostingList list) => list.Open(List, Context.Meter, Context);

    public override int Count(long window) => TryGet(window, out PostingWindow mine) ? mine.Count : 0;

    public override bool Contains(long id) =>
        TryGet(id >> PostingWindow.SizeBits, out PostingWindow mine) && mine.Contains((int)(id & (PostingWindow.Size - 1)));

    public override ReadOnlySpan<int> Positions(long id)
    {
        if (_positionCursor is null || !TryHold(id >> PostingWindow.SizeBits, out HeldWindow held))
            return default;

        int rank = held.Postings.Rank((int)(id & (PostingWindow.Size - 1)));
        return rank < 0 ? default : _positionCursor.Read(held, rank);
    }

    public override void LocatePositions(long window, ReadOnlySpan<ushort> entries) => Ahead.Locate(window, entries);

    public override void ReadMasks(Span<ulong> masks, Span<byte> isLong) => Ahead.ReadMasks(masks, isLong);

    /// <summary>Copies the positions of all entries of a window; false if they cannot be copied as a whole.</summary>
    public bool TryCopyPlaces(long window, WindowPlaces places) =>
        _positionCursor is not null && TryHold(window, out HeldWindow held) && _positionCursor.TryCopy(held, places);

    public override void CopyPositions(long window, ReadOnlySpan<ushort> entries, PositionTable table)
    {
        table.Clear();
        if (_positionCursor is not null && TryHold(window, out HeldWindow held))
        {
            _positionCursor.Read(held, entries, table);
            return;
        }

        foreach (ushort _ in entries)
            table.Next(0);
    }

    public override void Parts(long window, Span<float> parts)
    {
        Debug.Assert(parts.Length == PostingWindow.Blocks, "each block gets a part");
        parts.Clear();
        if (!TryGet(window, out PostingWindow mine))
            return;
        if (scorer is null)
            parts.Fill(1);
        else
            scorer.AddBounds(in mine, parts, 1);
    }

    public override void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry)
    {
        if (byEntry is null
            || scorer is null
            || !TryGet(window, out PostingWindow mine)
            || !byEntry.TryAdd(in mine, scorer, boost))
            base.AddBounds(window, bounds, boost, byEntry);
    }

    public override void PartBounds(Span<float> windows)
    {
        if (scorer is null)
        {
            windows.Fill(NoMatch);
            for (long window = Next(0); window < windows.Length; window = Next(window + 1))
            {
                Context.Check();
                windows[(int)window] = 1;
            }

            return;
        }

        Span<byte> impacts = Context.RentBytes(windows.Length).AsSpan(0, windows.Length);
        impacts.Clear();
        if (largest is null)
            List.CopyImpacts(impacts);
        else
            WindowImpacts.Copy(largest, listId, impacts);
        float unit = scorer.ImpactUnit;
        for (int i = 0; i < windows.Length; i++)
            windows[i] = impacts[i] == 0 ? NoMatch : unit * impacts[i];
    }

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        if (!TryGet(window, out PostingWindow mine))
            return;

        if (scorer is not null)
        {
            scorer.Score(window, in mine, hits, scores, boost);
            return;
        }

        for (int i = 0; i < hits.Length; i++)
        {
            if (mine.Contains(hits[i]))
                scores[i] += boost;
        }
    }

    /// <summary>Calls after the first do nothing.</summary>
    public override void Announce()
    {
        if (_isAnnounced)
            return;
        _isAnnounced = true;
        Context.View.Announce(postings, listId, Estimate);
    }

    public override void AnnounceLengths() => scorer?.Factors.Announce(Estimate);

    private bool TryGet(long window, out PostingWindow found) =>
        (_ahead is not null && _ahead.TryGet(window, out found)) || List.TryGet(window, out found);

    private bool TryHold(long window, out HeldWindow held) =>
        (_ahead is not null && _ahead.TryHold(window, out held)) || List.TryHold(window, out held);

    private WindowsAhead OpenAhead()
    {
        Debug.Assert(_ahead is null, "windows are located for the list once");
        WindowsAhead room = Context.Rent<WindowsAhead>();
        room.Open(
            List, listId, positions ?? throw new InvalidOperationException("The term was opened without positions."),
            Context.Rent<PositionBatch>(), isDense: Estimate >= DenseEntries * Context.View.WindowCount);
        Context.Own(room);
        return room;
    }

    private PostingCursor Open()
    {
        Debug.Assert(_opened is null, "the list is opened once");
        Announce();
        AnnounceLengths();
        return Context.OpenPostings(postings, listId);
    }
}
