using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Sorting;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.TopK;

/// <summary>
/// Finds the best hits of a <see cref="TopKPlan"/> without scoring the others:
/// <list type="number">
/// <item>champion lists (the entries of a list that score most, stored beside its term) give a score to beat, and show for a
/// term that no other entry having only this term can be among the best;</item>
/// <item>entries of lists with few entries per window are looked up in the other lists
/// (<see cref="CandidateSearch"/>);</item>
/// <item>hits that only lists with many entries have are found from the blocks with the greatest bounds down
/// (<see cref="BlockSearch"/>).</item>
/// </list>
/// Filters are evaluated for the remaining candidates. Hits are counted on the way if all of them are seen, otherwise by
/// window.
/// </summary>
internal sealed class BlockMaxSearch
{
    /// <summary>
    /// If at least one in this many windows of a list is requested, reading its directory is cheaper than seeking each
    /// window.
    /// </summary>
    private const int UnrolledRatio = 2;

    /// <summary>Below this score, bounds are unreliable because they are built from even smaller parts.</summary>
    private const float LeastFloor = 1e-20f;

    private const string Question = "how to find the best hits";

    /// <summary>Maximum number of rare terms whose pairs are searched first.</summary>
    private const int MostPaired = 3;

    private static readonly SortKey[] _byScore = [new SortKey("", SortKind.Score, Descending: true)];

    private readonly QueryContext _context;
    private readonly TopKPlan _plan;
    private readonly HitSorter _sorter;
    private readonly TopKHits _hits;
    private readonly bool[] _countsAlone;
    private readonly int[] _order;
    private (string Name, string Reason) _way;
    private List<(int List, long Id, float Score)>? _alone;

    public BlockMaxSearch(QueryContext context, TopKPlan plan, HitSorter sorter)
    {
        (_context, _plan, _sorter) = (context, plan, sorter);
        _hits = new TopKHits(context, plan, sorter);
        _countsAlone = new bool[plan.TermCount];
        _order = new int[plan.TermCount];
        Array.Fill(_countsAlone, true);
        for (int i = 0; i < _order.Length; i++)
            _order[i] = i;
        InsertionSort.Sort(_order, new RarestFirst(plan));
    }

    /// <summary>Number of windows in which hits were scored.</summary>
    public long WindowsScored => _hits.WindowsScored;

    /// <summary>Number of windows that may have hits, but none among the best.</summary>
    public long WindowsBelowBound => _hits.WindowsBelowBound;

    /// <summary>How the hits were found, for the plan.</summary>
    public PlanDecision Decision => new(Question, _way.Name, null, _way.Reason, []);

    /// <summary>The decision shown in the plan if <see cref="TryDictionary"/> sufficed.</summary>
    public static PlanDecision FromDictionary => new(
        Question,
        "what is beside the word",
        null,
        "all entries of a short list, or the best of a long one, are in the dictionary, and no other entry can score as much",
        []);

    /// <summary>Offers the best hits. Returns the number of hits, or a lower bound if they are not counted.</summary>
    /// <param name="counts">Whether all hits are counted.</param>
    /// <param name="isExact">Whether the returned number is exact.</param>
    public long Run(bool counts, out bool isExact)
    {
        isExact = true;
        if (_plan.IsEmpty)
        {
            _way = ("nothing", "a condition matches no entry");
            return 0;
        }

        long entries = _plan.Terms[_order[0]].Entries;
        bool isList = _plan.TermCount == 1 && _plan.Filters.Count == 0;
        if (TryHeads())
        {
            _way = ("the best entries of the list", "they are kept beside the word, and no other entry can score as much");
            isExact = counts || isList;
            return isList ? entries : counts ? CountAll() : _sorter.Count;
        }

        long total = _plan.IsAll ? RankAll(_order, counts, out isExact) : RankAny(counts, out isExact);
        isExact |= isList;
        return isList ? entries : Math.Max(total, _sorter.Count);
    }

    /// <summary>
    /// Finds the best entries of a single term without filters from its dictionary payload alone: a short list, or a
    /// champion list. Returns false if that is not enough. Avoids setting up a search, which takes longer than this.
    /// </summary>
    /// <param name="context">The query.</param>
    /// <param name="plan">Its plan.</param>
    /// <param name="wanted">Number of hits wanted, at least one.</param>
    /// <param name="ids">Receives the ids; room for <see cref="ListHead.MaxEntries"/>.</param>
    /// <param name="scores">Receives the scores; same size as <paramref name="ids"/>.</param>
    /// <param name="found">Number of hits found.</param>
    public static bool TryDictionary(
        QueryContext context, TopKPlan plan, int wanted, Span<long> ids, Span<float> scores, out int found)
    {
        found = 0;
        if (plan.TermCount != 1 || plan.Filters.Count > 0 || plan.IsEmpty)
            return plan.IsEmpty;
        TopKTerm term = plan.Terms[0];
        if (term.IsShort)
        {
            var best = new BestHits(ids[..wanted], scores[..wanted]);
            ReadOnlySpan<Posting> postings = term.Read(context);
            float[] parts = context.RentNumbers(postings.Length);
            context.Meter.Count.CandidatesScored += postings.Length;
            term.Scorer!.Score(postings, parts, term.Boost); // without filters, the list is a term
            for (int i = 0; i < postings.Length; i++)
                best.Offer(postings[i].EntryId, parts[i]);
            found = best.Count;
            return true;
        }

        ReadOnlySpan<byte> head = term.Head;
        if (head.IsEmpty)
            return false;
        context.Meter.Count.BlocksDecoded++;
        context.Meter.Count.BytesDecoded += head.Length;
        found = wanted;
        TermScorer scorer = term.Scorer!; // see above
        context.Meter.Count.CandidatesScored += HeadRanking.Score(
            head, context.View.State.NextEntryId, wanted, ids, scores, scorer, term.Boost, default(PartAlone), out bool isFinal);
        return isFinal;
    }

    private ReadOnlySpan<TopKTerm> Terms => _plan.Terms;

    /// <summary>
    /// Reads the champion list of each list. If only one list is scored and its champions contain the best hits, offers them
    /// and returns true. Otherwise the champions raise the score to beat, and in a disjunction show which lists need not be
    /// searched for entries that have no other term.
    /// </summary>
    private bool TryHeads()
    {
        int only = -1, scored = 0;
        for (int i = 0; i < Terms.Length; i++)
        {
            scored += Terms[i].Scorer is null ? 0 : 1;
            only = Terms[i].Scorer is null ? only : i;
        }

        if (!_sorter.IsByScore || _sorter.Limit > ListHead.MaxEntries || (_plan.IsAll && scored != 1))
            return false;
        if (_plan.IsAll)
            return TryHead(only, isOnly: true);
        for (int i = 0; i < Terms.Length; i++)
            TryHead(i, isOnly: false);
        return false;
    }

    private bool TryHead(int list, bool isOnly)
    {
        Debug.Assert((uint)list < (uint)_plan.TermCount, "the list is of the plan");
        TopKTerm term = Terms[list];
        ReadOnlySpan<byte> head = term.Head;
        if (head.IsEmpty)
            return false;
        Span<long> ids = stackalloc long[ListHead.MaxEntries];
        Span<float> scores = stackalloc float[ListHead.MaxEntries];
        _context.Meter.Count.BlocksDecoded++;
        _context.Meter.Count.BytesDecoded += head.Length;
        int wanted = (int)_sorter.Limit, passing = 0, place = 0;
        TermScorer scorer = term.Scorer!; // only terms have champion lists
        long end = _context.View.State.NextEntryId;
        var sum = new SumAlone(this, list);
        int count = HeadRanking.Score(head, end, wanted, ids, scores, scorer, term.Boost, sum, out bool isFinal);
        Debug.Assert(count <= ListHead.MaxEntries, "a head is bounded");
        _context.Meter.Count.CandidatesScored += count;
        bool isFiltered = _plan.Filters.Count > 0 || (_plan.IsAll && _plan.TermCount > 1);
        for (; place < count && passing < wanted; place++)
        {
            if (isFiltered && !(_hits.Passes(ids[place]) && (!_plan.IsAll || AllHave(ids[place], list))))
                continue;
            (ids[passing], scores[passing]) = (ids[place], scores[place]);
            passing++;
        }

        if (passing < wanted)
            return false;
        if (isFiltered && place > wanted)
        {
            Span<long> others = stackalloc long[ListHead.MaxEntries];
            Span<float> theirs = stackalloc float[ListHead.MaxEntries];
            HeadRanking.Score(head, end, place, others, theirs, scorer, term.Boost, sum, out isFinal);
        }

        if (scores[wanted - 1] - _plan.Constant >= LeastFloor)
            _hits.Floor = Math.Max(_hits.Floor, scores[wanted - 1]);
        _countsAlone[list] = !isFinal;
        if (!isFinal)
            return false;
        for (int i = 0; i < wanted; i++)
        {
            if (isOnly)
                _hits.Offer(ids[i], scores[i]);
            else
                (_alone ??= []).Add((list, ids[i], scores[i]));
        }

        return isOnly;
    }

    /// <summary>
    /// The score of a hit that has only one of the scored terms. Lists used as filters add their constants.
    /// </summary>
    private float ScoreAlone(int list, float score)
    {
        Span<float> parts = _hits.Parts;
        for (int i = 0; i < parts.Length; i++)
            parts[i] = i == list ? score : Terms[i].Scorer is null ? Terms[i].Boost : 0;
        return _plan.Sum(parts);
    }

    /// <summary>Maps a term's contribution to the score of a hit that has only this term.</summary>
    private readonly struct SumAlone(BlockMaxSearch search, int list) : IScoreSum
    {
        public float Of(float part) => search.ScoreAlone(list, part);
    }

    /// <summary>Whether all lists except one contain an entry. The others must be filters.</summary>
    private bool AllHave(long id, int but)
    {
        for (int i = 0; i < Terms.Length; i++)
        {
            if (i == but)
                continue;
            _context.Meter.Count.EntriesScanned++;
            if (!Terms[i].Source!.Contains(id)) // the only scored list is the excepted one; all others are filters
                return false;
        }

        return true;
    }

    /// <summary>Ranks the entries that all of the given lists have. Returns the number of hits, or of hits seen.</summary>
    private long RankAll(ReadOnlySpan<int> lists, bool counts, out bool isExact)
    {
        Debug.Assert(lists.Length > 0, "a plan that is not empty has lists");
        long windows = _context.View.WindowCount, least = Terms[lists[0]].Entries;
        if (!HasFew(least, windows) || least > ListIntersection.MostEntries)
        {
            _way = (
                "best blocks first",
                "every list has many entries a window: the bounds of blocks are added up before a hit is looked at");
            Open(lists, int.MaxValue);
            isExact = counts;
            return new BlockSearch(_hits, [.. lists], isAll: true, needsTwo: false).Run(counts);
        }

        _way = ("candidates of the rarest list", "it has few entries a window: they are looked up in the other lists");
        isExact = true;
        int leading = 1;
        while (leading < lists.Length && ListIntersection.Takes(Terms[lists[leading]].Entries, least, windows))
            leading++;

        Open(lists, leading);
        CandidateSearch search = _context.Rent<CandidateSearch>();
        return search.Run(_hits, lists, leading, isAll: true, _countsAlone);
    }

    /// <summary>Ranks the entries that any list has. Returns the number of hits, or of hits seen.</summary>
    private long RankAny(bool counts, out bool isExact)
    {
        bool isPair = _plan.TermCount == 2 && !_countsAlone[0] && !_countsAlone[1];
        long found = isPair ? RankAll(_order, counts && _plan.Filters.Count == 0, out _) : RankSeveral();
        OfferAlone();
        isExact = counts;
        if (!counts)
            return found;
        return isPair && _plan.Filters.Count == 0 ? Terms[0].Entries + Terms[1].Entries - found : CountAll();
    }

    /// <summary>
    /// Ranks entries that several lists have, or only one list whose other entries may be among the best: first entries of
    /// lists with few entries, then those that only the other lists have.
    /// </summary>
    private long RankSeveral()
    {
        _way =
            ("candidates of several lists", "an entry that has one word alone is among the best only if it is so for that word");
        long windows = _context.View.WindowCount, together = 0;
        int leading = 0;
        while (leading < _order.Length && Terms[_order[leading]].Entries is var entries && HasFew(entries, windows)
            && together + entries <= ListIntersection.MostEntries)
        {
            together += entries;
            leading++;
        }

        Open(_order, int.MaxValue); // entries are excluded and counted by window
        _context.Meter.Count.EntriesScanned += together;
        if (leading > 1 && _sorter.IsByScore && _plan.Filters.Count == 0)
            RaiseFloor(_order.AsSpan(0, Math.Min(leading, MostPaired)));
        if (leading > 0)
            _context.Rent<CandidateSearch>().Run(_hits, _order, leading, isAll: false, _countsAlone);
        int[] others = _order[leading..];
        bool needsTwo = !Array.Exists(others, list => _countsAlone[list]);
        foreach (int list in needsTwo ? [] : others)
            _countsAlone[list] = true; // block search must consider the entries of all of these
        if (others.Length > 1 || !needsTwo)
        {
            TopKTerm[] excluded = [.. _order[..leading].Select(list => _plan.Terms[list])];
            new BlockSearch(_hits, others, isAll: others.Length == 2 && needsTwo, needsTwo) { Excluded = excluded }.Run(
                counts: false);
        }

        return _sorter.Count;
    }

    /// <summary>
    /// Searches for entries that have two rare terms. Their scores from these two terms alone raise the score to beat for
    /// the rest of the search.
    /// </summary>
    private void RaiseFloor(ReadOnlySpan<int> lists)
    {
        Debug.Assert(lists.Length is > 1 and <= MostPaired, "pairs are of few lists");
        for (int i = 0; i < lists.Length; i++)
        {
            for (int other = i + 1; other < lists.Length; other++)
            {
                SortRoom room = _context.Rent<SortRoom>();
                var best = new HitSorter(SortPlan.Open(_context, _byScore), _sorter.Limit, room);
                _plan.Parts.Clear();
                var pair = new TopKHits(_context, _plan, best) { Floor = _hits.Floor };
                _context.Rent<CandidateSearch>().Run(pair, [lists[i], lists[other]], leading: 2, isAll: true, _countsAlone);
                _hits.Floor = Math.Max(_hits.Floor, best.WorstScore);
                Terms[lists[i]].List.Rewind();
                Terms[lists[other]].List.Rewind();
            }
        }

        _plan.Parts.Clear();
    }

    /// <summary>
    /// Offers the best champions that no other list contains; the others were already found as candidates.
    /// </summary>
    private void OfferAlone()
    {
        foreach ((int list, long id, float score) in _alone ?? [])
        {
            bool isAlone = !_countsAlone[list]; // otherwise it was already a candidate
            for (int i = 0; i < Terms.Length && isAlone; i++)
                isAlone = i == list || !Has(Terms[i], id);
            if (isAlone)
                _hits.Offer(id, score);
        }
    }

    private bool Has(TopKTerm term, long id)
    {
        _context.Meter.Count.EntriesScanned++;
        if (term.List.IsUnrolled)
            return term.List.Contains(id);
        if (!term.IsShort && !IsOpen(term))
        {
            return term.TryHold(_context, id >> PostingWindow.SizeBits, out HeldWindow held)
                && held.Contains((ushort)(id & (PostingWindow.Size - 1)));
        }

        term.List.Unroll();
        return term.List.Contains(id);
    }

    /// <summary>Whether a list has few entries per window.</summary>
    private static bool HasFew(long entries, long windows) =>
        entries <= FlatPostings.MaxEntries || entries <= ListIntersection.MostPerWindow * windows;

    private static bool IsOpen(TopKTerm term) => term.List.Windows > 0;

    /// <summary>
    /// Opens lists. The leading ones are walked. Of the others, or of all lists if <paramref name="leading"/> exceeds their
    /// number, the directory is read if enough of their windows are needed.
    /// </summary>
    private void Open(ReadOnlySpan<int> lists, int leading)
    {
        Debug.Assert(lists.Length > 0 && leading > 0, "a list leads");
        long windows = _context.View.WindowCount, asked = Math.Min(Terms[lists[0]].Entries, windows);
        for (int i = 0; i < lists.Length; i++)
        {
            TopKTerm term = Terms[lists[i]];
            if (leading <= lists.Length && i < leading)
            {
                Open(term);
                _context.Meter.Count.EntriesScanned += term.IsShort ? 0 : term.Entries;
            }
            else if (leading > lists.Length || UnrolledRatio * asked >= Math.Min(windows, term.Entries))
            {
                Open(term);
                term.List.Unroll();
            }
        }
    }

    private void Open(TopKTerm term)
    {
        if (!IsOpen(term))
            term.Open(_context);
    }

    private long CountAll()
    {
        foreach (TopKTerm term in Terms)
        {
            Open(term);
            term.List.Unroll();
        }

        return new HitCount(_hits, Array.ConvertAll(_order, list => _plan.Terms[list])).Run();
    }

    /// <summary>Orders lists, given by index, by their number of entries, fewest first.</summary>
    private readonly struct RarestFirst(TopKPlan plan) : IItemOrder<int>
    {
        public bool IsAfter(in int left, in int right) => plan.Terms[left].Entries > plan.Terms[right].Entries;
    }
}
