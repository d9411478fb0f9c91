using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Storage.Memory;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.TopK;

/// <summary>
/// A list of a <see cref="TopKPlan"/>: a word that is scored, or a filter that is a list, whose matches all count the same. It is
/// reused by the queries that follow on the same view.
/// </summary>
internal sealed class TopKTerm
{
    /// <summary>Of the long list, or of one of an earlier query, which is used again.</summary>
    private PostingCursor? _cursor;
    private Tree? _cursorTree;
    private bool _isCursorOpen;

    /// <summary>What stands beside the word in its dictionary.</summary>
    private HeldBytes _payload;
    private Tree? _tree;

    /// <summary>Entries it has.</summary>
    public long Entries { get; private set; }

    /// <summary>Whether it is a short list.</summary>
    public bool IsShort { get; private set; }

    /// <summary>Scores its entries; null: each counts <see cref="Boost"/>.</summary>
    public TermScorer? Scorer { get; private set; }

    /// <summary>The boosts around it, multiplied.</summary>
    public float Boost { get; private set; }

    /// <summary>What no match counts more than.</summary>
    public float Most { get; private set; }

    /// <summary>What an impact of 1/255 counts; 0 where nothing is known of impacts.</summary>
    public float Unit { get; private set; }

    /// <summary>The filter; null for a word.</summary>
    public TermOperator? Source { get; private set; }

    /// <summary>What it did, where a plan is wanted.</summary>
    public PlanNode? Node { get; set; }

    /// <summary>Its postings, once it is open.</summary>
    public PostingList List { get; } = new();

    /// <summary>The entries that score most, kept beside the word; empty: none are kept.</summary>
    public ReadOnlySpan<byte> Head => Scorer is null || IsShort ? default : Payload.Best;

    /// <summary>What stands beside the word.</summary>
    public TermPayload Payload => new(_payload.Span);

    /// <summary>The most that it gives an entry of one of its windows.</summary>
    public float BoundOf(in HeldWindow window) => Unit == 0 ? Most : Unit * window.Postings.LargestImpact;

    /// <summary>
    /// Adds the most that it gives candidates in one of its windows, by block; where it has not got one that is too much, and
    /// harmless.
    /// </summary>
    public void AddBounds(in HeldWindow window, ReadOnlySpan<ushort> candidates, Span<float> bounds)
    {
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

    /// <summary>Becomes a word.</summary>
    /// <param name="value">What stands beside it.</param>
    /// <param name="scorer">Scores its entries.</param>
    /// <param name="boost">The boosts around it.</param>
    /// <param name="postings">The long lists of its dictionary; null where it has none.</param>
    public void Begin(ReadOnlySpan<byte> value, TermScorer scorer, float boost, Tree? postings)
    {
        var beside = new TermPayload(value);
        Clear();
        _payload = new HeldBytes(value);
        (_tree, Entries, IsShort, Scorer, Boost) = (postings, beside.EntryCount, beside.Kind == PostingKind.Flat, scorer, boost);
        Most = scorer.Weight(boost);
        Unit = IsShort ? 0 : scorer.ImpactUnit * Most;
    }

    /// <summary>Becomes a filter.</summary>
    public void Begin(TermOperator filter, float boost)
    {
        Clear();
        (Source, Entries, IsShort, Boost, Most) = (filter, filter.Estimate, filter is ShortListOperator, boost, boost);
    }

    /// <summary>Opens its list, all of which will be read.</summary>
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

    /// <summary>Decodes its short list.</summary>
    public ReadOnlySpan<Posting> Read(QueryContext context)
    {
        Posting[] room = context.RentPostings((int)Entries);
        int count = Payload.Flat.CopyTo(room.AsSpan(0, (int)Entries));
        context.Meter.Count.BlocksDecoded++;
        context.Meter.Count.BytesDecoded += Payload.Bytes;
        context.Meter.Count.EntriesScanned += count;
        return room.AsSpan(0, count);
    }

    /// <summary>Finds one window in its long list, of which hardly any are asked about: its directory is not read.</summary>
    public bool TryHold(QueryContext context, long window, out HeldWindow held) => OpenCursor(context).TryHold(window, out held);

    /// <summary>Forgets the query.</summary>
    public void Clear()
    {
        List.Clear();
        (_isCursorOpen, _tree, Source, Scorer, Node, _payload) = (false, null, null, null, null, default);
        Unit = 0;
    }

    private PostingCursor OpenCursor(QueryContext context)
    {
        if (Source is not null)
            return ((LongListOperator)Source).Postings; // only long lists are asked so
        if (_isCursorOpen)
            return _cursor!; // it was opened
        long listId = Payload.ListId;
        Tree postings = _tree!; // where a word has a long list they are there
        Scorer?.Factors.Announce(Entries);
        context.View.Announce(postings, listId, Entries);
        if (_cursorTree != postings)
            (_cursor, _cursorTree) = (new PostingCursor(postings, listId, context.Meter), postings);
        _cursor!.Reset(listId); // it was just made, if there was none
        _isCursorOpen = true;
        return _cursor;
    }
}
