using System.Diagnostics;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Storage.Memory;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.TopK;

/// <summary>
/// A list of a <see cref="TopKPlan"/>: a scored term, or a filter that is a list, whose matches all score the same. Reused
/// by later queries on the same view.
/// </summary>
internal sealed class TopKTerm
{
    /// <summary>Cursor over the long list; kept for reuse by later queries.</summary>
    private PostingCursor? _cursor;
    private Tree? _cursorTree;
    private bool _isCursorOpen;

    /// <summary>The term's value in its dictionary.</summary>
    private HeldBytes _payload;
    private Tree? _tree;

    /// <summary>Number of entries.</summary>
    public long Entries { get; private set; }

    /// <summary>Whether it is a short list.</summary>
    public bool IsShort { get; private set; }

    /// <summary>Scores the entries; null if each scores <see cref="Boost"/>.</summary>
    public TermScorer? Scorer { get; private set; }

    /// <summary>Product of the enclosing boosts.</summary>
    public float Boost { get; private set; }

    /// <summary>Upper bound on the score of a match.</summary>
    public float Most { get; private set; }

    /// <summary>Score of an impact of 1/255; 0 if there are no impacts.</summary>
    public float Unit { get; private set; }

    /// <summary>The filter; null for a term.</summary>
    public TermOperator? Source { get; private set; }

    /// <summary>The plan node, or null if no plan is requested.</summary>
    public PlanNode? Node { get; set; }

    /// <summary>The postings, once opened.</summary>
    public PostingList List { get; } = new();

    /// <summary>The champion list stored beside the term; empty if there is none.</summary>
    public ReadOnlySpan<byte> Head => Scorer is null || IsShort ? default : Payload.Best;

    /// <summary>The term's payload in its dictionary.</summary>
    public TermPayload Payload => new(_payload.Span);

    /// <summary>Upper bound on the score of an entry in one of the list's windows.</summary>
    public float BoundOf(in HeldWindow window) => Unit == 0 ? Most : Unit * window.Postings.LargestImpact;

    /// <summary>
    /// Adds upper bounds to candidates in one of the list's windows, by block. Candidates that the list does not contain
    /// also get the bound, which is too high but safe.
    /// </summary>
    public void AddBounds(in HeldWindow window, ReadOnlySpan<ushort> candidates, Span<float> bounds)
    {
        Debug.Assert(bounds.Length >= candidates.Length, "each candidate has a bound");
        ReadOnlySpan<byte> impacts = Unit == 0 ? default : window.Postings.Impacts;
        if (impacts.Length == PostingWindow.Blocks)
        {
            for (int i = 0; i < candidates.Length; i++)
                bounds[i] += Unit * impacts[candidates[i] >> PostingWindow.BlockBits];
            return;
        }

        float bound = impacts.IsEmpty ? Most : Unit * impacts[0];
        for (int i = 0; i < candidates.Length; i++)
            bounds[i] += bound;
    }

    /// <summary>Initializes the list as a scored term.</summary>
    /// <param name="value">The term's value in its dictionary.</param>
    /// <param name="scorer">Scores the entries.</param>
    /// <param name="boost">Product of the enclosing boosts.</param>
    /// <param name="postings">The postings tree of the dictionary; null if it has none.</param>
    public void Begin(ReadOnlySpan<byte> value, TermScorer scorer, float boost, Tree? postings)
    {
        var beside = new TermPayload(value);
        Clear();
        _payload = new HeldBytes(value);
        (_tree, Entries, IsShort, Scorer, Boost) = (postings, beside.EntryCount, beside.Kind == PostingKind.Flat, scorer, boost);
        Most = scorer.Weight(boost);
        Unit = IsShort ? 0 : scorer.ImpactUnit * Most;
    }

    /// <summary>Initializes the list as a filter.</summary>
    public void Begin(TermOperator filter, float boost)
    {
        Clear();
        (Source, Entries, IsShort, Boost, Most) = (filter, filter.Estimate, filter is ShortListOperator, boost, boost);
    }

    /// <summary>Opens the list to be read as a whole.</summary>
    public void Open(QueryContext context)
    {
        context.Tracer?.Enter(Node);
        if (Source is not null)
            Source.Open(List);
        else if (IsShort)
            List.Open(Read(context));
        else
            List.Open(OpenCursor(context), context.Meter, context);
        if (Node is null)
            return;
        Node.Windows += List.Windows;
        Node.RowsOut += Entries;
        context.Tracer?.Leave(Node);
    }

    /// <summary>
    /// Moves unrolled lists to their first windows at or after <paramref name="from"/>; returns the first window that any
    /// of them has, or <see cref="PostingList.End"/>.
    /// </summary>
    public static long StepAny(ReadOnlySpan<TopKTerm> terms, Span<int> at, long from)
    {
        Debug.Assert(at.Length >= terms.Length, "each list has a place");
        long next = PostingList.End;
        for (int i = 0; i < terms.Length; i++)
        {
            PostingList list = terms[i].List;
            at[i] = list.Step(at[i], from);
            next = Math.Min(next, list[at[i]].Window);
        }

        return next;
    }

    /// <summary>As <see cref="StepAny"/>, to the first window that all of them have.</summary>
    public static long StepAll(ReadOnlySpan<TopKTerm> terms, Span<int> at, long from)
    {
        Debug.Assert(at.Length >= terms.Length, "each list has a place");
        long window = from;
        for (int i = 0; i < terms.Length && window != PostingList.End;)
        {
            PostingList list = terms[i].List;
            at[i] = list.Step(at[i], window);
            long mine = list[at[i]].Window;
            (i, window) = mine == window ? (i + 1, window) : (0, mine);
        }

        return window;
    }

    /// <summary>Decodes the short list.</summary>
    public ReadOnlySpan<Posting> Read(QueryContext context)
    {
        Debug.Assert(IsShort, "only a short list is read at once");
        Posting[] room = context.RentPostings((int)Entries);
        int count = Payload.Flat.CopyTo(room.AsSpan(0, (int)Entries));
        context.Meter.Count.BlocksDecoded++;
        context.Meter.Count.BytesDecoded += Payload.Bytes;
        context.Meter.Count.EntriesScanned += count;
        return room.AsSpan(0, count);
    }

    /// <summary>
    /// Finds one window in the long list without reading its directory, for use when few windows are needed.
    /// </summary>
    public bool TryHold(QueryContext context, long window, out HeldWindow held) => OpenCursor(context).TryHold(window, out held);

    /// <summary>Releases everything that belongs to the query.</summary>
    public void Clear()
    {
        List.Clear();
        (_isCursorOpen, _tree, Source, Scorer, Node, _payload) = (false, null, null, null, null, default);
        Unit = 0;
    }

    private PostingCursor OpenCursor(QueryContext context)
    {
        if (Source is not null)
            return ((LongListOperator)Source).Postings; // only called for long lists
        if (_isCursorOpen)
            return _cursor!; // set when it was opened
        long listId = Payload.ListId;
        Tree postings = _tree!; // not null for a term with a long list
        Scorer?.Factors.Announce(Entries);
        context.View.Announce(postings, listId, Entries);
        if (_cursorTree != postings)
            (_cursor, _cursorTree) = (new PostingCursor(postings, listId, context.Meter), postings);
        _cursor!.Reset(listId); // created above if necessary
        _isCursorOpen = true;
        return _cursor;
    }
}
