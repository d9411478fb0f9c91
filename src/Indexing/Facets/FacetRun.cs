using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Searching;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Facets;

/// <summary>
/// The entry point of facets: counts the hits of a query in groups. The hits are found once and kept as bitmaps. Terms are
/// counted from the sort value of every hit or from the entries of every term, whichever is cheaper; ranges from the bitmaps of
/// their conditions.
/// </summary>
/// <remarks>
/// Costs: counting terms by entries takes a scan of the field's dictionary, with a window of each long list for each window of
/// hits; an aggregate reads the number of each hit that belongs to a group.
/// </remarks>
internal sealed class FacetRun
{
    /// <summary>
    /// Maximum number of terms in all facets of a query: each takes about a hundred bytes until the page is chosen, and
    /// those on the page until the result is written.
    /// </summary>
    public const int MaxTerms = 1_000_000;

    /// <summary>If at least one in this many windows has hits, lists are scanned instead of read window by window.</summary>
    private const int FewWindows = 4;

    private readonly QueryContext _context;
    private readonly QueryCompiler _compiler;
    private readonly FacetRequest _request;
    private readonly ushort[] _offsets;
    private HitSet _hits = null!; // set by Begin
    private PlanNode? _plan;
    private int _keptTerms;
    private readonly ulong[] _words = new ulong[BitmapKernels.Words];

    public FacetRun(QueryContext context, FacetRequest request)
    {
        _context = context;
        _request = request;
        _offsets = context.RentOffsets();
        _compiler = new QueryCompiler(context, isScored: false);
    }

    public FacetResults Execute()
    {
        Begin();
        var results = new List<FacetResult>();
        foreach (FacetQuery facet in _request.Facets)
        {
            FacetResult result = Count(facet, MaxTerms - _keptTerms);
            _keptTerms += result.Values.Count + result.RemainingTerms.Count;
            results.Add(result);
        }

        return End(results);
    }

    /// <summary>Finds the hits; required before the first facet is counted.</summary>
    public void Begin()
    {
        Operator root = _compiler.CompileWhole(ClauseMerger.Merge(_context, _request.Query, isScored: false), needsAll: true);
        _plan = _context.Tracer is null
            ? null
            : new PlanNode("facets") { Estimate = root.Estimate, IsExact = root.IsExact }.Over(root.Describe());
        if (_plan is not null)
            _context.Tracer?.Enter(_plan);
        _hits = HitSet.Find(_context, root);
    }

    /// <summary>Returns the results of all facets, after the last one.</summary>
    public FacetResults End(IReadOnlyList<FacetResult> results)
    {
        _context.Check(); // like every search at its end
        if (_plan is not null)
        {
            _context.Tracer?.Leave(_plan);
            (_plan.RowsIn, _plan.RowsOut, _plan.Windows) =
                (_hits.Total, results.Sum(result => (long)result.Values.Count), _hits.Windows.Count);
        }

        return new FacetResults(_hits.Total, results, _context.Measure(), _plan);
    }

    /// <summary>Counts a facet.</summary>
    /// <param name="facet">The facet.</param>
    /// <param name="maxTerms">The maximum number of terms.</param>
    public FacetResult Count(FacetQuery facet, int maxTerms)
    {
        (HitSet hits, PlanNode? plan) = (_hits, _plan);
        if (facet.Start < 0 || facet.PageSize < 0)
            throw new IndexQueryException(
                $"A facet's page begins at 0 or above and has 0 values or more; {facet.Start} and {facet.PageSize} are given.");

        NumberReader[] numbers = [.. facet.Aggregates.Select(field => new NumberReader(_context, field))];
        var groups = new FacetGroups(numbers, maxTerms);
        var node = plan is null ? null : new PlanNode(facet.Field is null ? "facet of ranges" : "facet of terms", facet.Field);
        if (node is not null)
            _context.Tracer?.Enter(node);
        FacetResult result;
        if (facet.Field is null)
        {
            result = new FacetResult([.. facet.Ranges.Select(range => CountRange(range, hits, numbers, node))], [], 0, 0);
        }
        else
        {
            CountTerms(facet, hits, groups, node);
            result = groups.Page(facet, _context.View);
        }

        if (node is not null)
        {
            _context.Tracer?.Leave(node);
            plan?.Over(node);
            (node.RowsIn, node.RowsOut) = (hits.Total, result.Values.Count);
        }

        return result;
    }

    private FacetValue CountRange(FacetRange range, HitSet hits, NumberReader[] numbers, PlanNode? node)
    {
        bool isCountEnough = numbers.Length == 0 && hits.Total == _context.View.State.EntryCount;
        Operator condition = _compiler.CompileWhole(
            ClauseMerger.Merge(_context, range.Query, isScored: false), countsOnly: isCountEnough, needsAll: !isCountEnough);
        node?.Over(condition.Describe());
        if (isCountEnough && condition.IsExact)
            return new FacetValue(range.Name, condition.Estimate, []);
        WindowSet set = _context.Rent();
        var figures = new FacetFigures[numbers.Length];
        long count = 0;
        for (int place = 0; place < hits.Windows.Count; place++)
        {
            _context.Check();
            hits.Read(place, _words);
            set.SetBits(MemoryMarshal.AsBytes<ulong>(_words));
            condition.And(hits.Windows[place], set);
            count += set.Count;
            AddNumbers(hits.Windows[place], set, numbers, figures);
        }

        _context.Return(set);
        return new FacetValue(range.Name, count, figures);
    }

    private void AddNumbers(long window, WindowSet set, NumberReader[] numbers, FacetFigures[] figures)
    {
        Debug.Assert(figures.Length == numbers.Length, "each number has figures");
        if (numbers.Length == 0)
            return;

        int count = set.CopyTo(_offsets);
        _context.Meter.Count.EntriesScanned += count;
        long start = window << PostingWindow.SizeBits;
        for (int i = 0; i < numbers.Length; i++)
        {
            for (int j = 0; j < count; j++)
            {
                if (numbers[i].TryRead(start + _offsets[j], out double number))
                    figures[i] = figures[i].With(number);
            }
        }
    }

    private void CountTerms(FacetQuery facet, HitSet hits, FacetGroups groups, PlanNode? node)
    {
        int field = _context.View.Field(facet.Field!); // a facet of terms has its field
        bool isFullText = _context.View.Schema.Fields[field].Analysis == FieldAnalysis.FullText;
        bool canUseValues = !isFullText && !_context.View.Statistics(field).EverHadSeveralValues;
        double byValue = ValueCost(field, hits, groups);
        double byTerm = TermCost(field, hits, groups);
        bool usesValues = canUseValues
            && facet.Hint switch { FacetHint.Values => true, FacetHint.Terms => false, _ => byValue < byTerm };
        node?.With(usesValues
            ? new PlanDecision(
                "how to count terms", "by the value of every hit", byValue, "few hits, or many terms",
                [new PlanAlternative("by the entries of every term", byTerm, "costs more")])
            : new PlanDecision("how to count terms", "by the entries of every term", byTerm, "few terms, or many hits",
                [new PlanAlternative(
                    "by the value of every hit", canUseValues ? byValue : null,
                    canUseValues ? "costs more" : "an entry had several values, of which one is its sort value")]));
        if (usesValues)
            new ValueFacet(_context, field, hits, groups).Count();
        else
            CountByTerm(field, hits, groups);
    }

    /// <summary>
    /// Estimates reading the value of every hit. In blocks of texts, all hits of a block are counted at once, per text, if they
    /// outnumber the texts.
    /// </summary>
    private double ValueCost(int field, HitSet hits, FacetGroups groups)
    {
        double inBlocks = 0, ofEach = CostModel.FacetValue;
        if (_context.View.Tree(TreeNames.SortTexts(field)) is { } blocks)
        {
            long terms = Math.Min(TextBlock.MaxTexts, _context.View.TextCount(field));
            double perBlock = (double)hits.Total / Math.Max(1, hits.Windows.Count * TextBlock.OfWindow);
            inBlocks = Math.Min(1, (double)blocks.Count / Math.Max(1, _context.View.WindowCount * TextBlock.OfWindow));
            ofEach = groups.HasNumbers
                ? CostModel.FacetPlace
                : Math.Min(CostModel.FacetPlace, (CostModel.FacetBlock + (terms * CostModel.FacetText)) / Math.Max(1, perBlock));
        }

        return hits.Total * ((inBlocks * ofEach) + ((1 - inBlocks) * CostModel.FacetValue));
    }

    /// <summary>
    /// Estimates reading every term once, and the cheaper of its entries and a bitmap per window of hits; only the terms if every
    /// entry is a hit.
    /// </summary>
    private double TermCost(int field, HitSet hits, FacetGroups groups)
    {
        long terms = _context.View.TextCount(field);
        double walking = terms * CostModel.WalkStep;
        return hits.Total == _context.View.State.EntryCount && !groups.HasNumbers
            ? walking
            : walking
                + Math.Min(
                    _context.View.State.EntryCount * CostModel.FacetPosting,
                    (double)terms * hits.Windows.Count * CostModel.FacetWindow);
    }

    private void CountByTerm(int field, HitSet hits, FacetGroups groups)
    {
        bool inNumbers = _context.View.HasNumbersAlone(field);
        string dictionary = _context.View.TextDictionary(field);
        if (_context.View.Dictionary(dictionary) is not { } tree || hits.Total == 0)
            return;

        groups.IsInOrder = !inNumbers; // texts of numbers sort differently from the numbers
        bool isEverything = hits.Total == _context.View.State.EntryCount;
        using TermCursor cursor = tree.OpenCursor();
        Span<byte> text = stackalloc byte[NumberKey.MaxTextBytes];
        for (bool valid = cursor.MoveFirst(); valid; valid = cursor.MoveNext())
        {
            if ((++_context.Meter.Count.TermsScanned & 1023) == 0)
                _context.Check();
            ReadOnlySpan<byte> term = inNumbers ? text[..NumberKey.Format(cursor.Key, text)] : cursor.Key;
            if (TermForm.IsNoText(term))
                break; // such terms are last
            var payload = new TermPayload(cursor.Value);
            if (isEverything && !groups.HasNumbers)
                groups.AddCount(groups.PlaceOf(term), payload.EntryCount);
            else if (payload.Kind == PostingKind.Flat)
                AddShort(term, payload.Flat, hits, groups);
            else
                AddLong(term, _context.View.Postings(dictionary)!, payload.ListId, hits, groups); // long lists are in this tree
        }
    }

    private void AddShort(ReadOnlySpan<byte> term, FlatPostings flat, HitSet hits, FacetGroups groups)
    {
        _context.Meter.Count.EntriesScanned += flat.Count;
        while (flat.MoveNext(out Posting posting))
        {
            if (hits.Contains(posting.EntryId))
                groups.Add(groups.PlaceOf(term), posting.EntryId);
        }
    }

    private void AddLong(ReadOnlySpan<byte> term, Storage.Trees.Tree postings, long listId, HitSet hits, FacetGroups groups)
    {
        using var list = new PostingCursor(postings, listId, _context.Meter);
        if (!groups.HasNumbers && hits.Windows.Count >= _context.View.WindowCount / FewWindows)
        {
            CountAlong(term, list, hits, groups);
            return;
        }

        WindowSet set = _context.Rent();
        long count = 0;
        for (int place = 0; place < hits.Windows.Count; place++)
        {
            long window = hits.Windows[place];
            if (!list.TryGet(window, out PostingWindow mine))
                continue;

            if (!groups.HasNumbers)
            {
                count += hits.CountBoth(place, mine, _words);
                continue;
            }

            hits.Read(place, _words);
            set.SetBits(MemoryMarshal.AsBytes<ulong>(_words));
            set.Combine(SetOperation.And, mine);
            int members = set.CopyTo(_offsets);
            _context.Meter.Count.EntriesScanned += members;
            for (int i = 0; i < members; i++)
                groups.Add(groups.PlaceOf(term), (window << PostingWindow.SizeBits) + _offsets[i]);
        }

        _context.Return(set);
        if (count > 0)
            groups.AddCount(groups.PlaceOf(term), count);
    }

    /// <summary>Counts a term by a scan of its whole list, for when most windows have hits.</summary>
    private void CountAlong(ReadOnlySpan<byte> term, PostingCursor list, HitSet hits, FacetGroups groups)
    {
        Debug.Assert(!groups.HasNumbers, "only counts are taken without reading entries");
        long count = 0;
        PostingSegments segments = list.Segments();
        for (bool more = segments.MoveNext(); more;)
        {
            // Prefetch the next segment while counting this one.
            PostingSegment segment = segments.Current;
            more = segments.MoveNext();
            if (more)
                segments.Current.Prefetch();
            for (int i = 0; i < segment.Count; i++)
            {
                int place = hits.PlaceOf(segment.WindowAt(i));
                if (place >= 0)
                    count += hits.CountBoth(place, segment.PostingsAt(i), _words);
            }
        }

        if (count > 0)
            groups.AddCount(groups.PlaceOf(term), count);
    }
}
