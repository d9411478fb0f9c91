using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Storage.Memory;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching;

/// <summary>
/// What the operators of one running query share: the view, the pool of window sets, what is counted, cancellation and budget.
/// Owns every storage cursor of the query and closes them together.
/// </summary>
internal sealed class QueryContext : IDisposable, IStoppable
{
    private const int PageBytes = Storage.Format.PageLayout.SizeBytes;

    private readonly QueryScratch _scratch;
    private readonly long _pagesBefore;
    private readonly long _diskBefore = -1;
    private readonly QueryLimits? _limits;
    private (RangeQuery? Range, RangeCount? Count) _counted;
    private bool _isEnded;

    /// <param name="view">What is asked.</param>
    /// <param name="cancellationToken">Ends the query.</param>
    /// <param name="options">Plan, budget and hints; null: none.</param>
    public QueryContext(IndexView view, CancellationToken cancellationToken, QueryOptions? options = null)
    {
        View = view;
        _scratch = view.RentScratch();
        CancellationToken = cancellationToken;
        Hints = options?.Hints ?? PlanHints.None;
        Meter.Count = default;
        _pagesBefore = view.PageVisits;
        if (options is { Plan: not PlanDetail.None } or { Budget: not null })
            Tracer = new PlanTracer(Measure, options.Plan == PlanDetail.Times ? options.TimeProvider : null);
        if (options is { Plan: PlanDetail.Times })
            _diskBefore = DiskReads.OfThread();
        if (options?.Budget is { } budget && Tracer is not null)
            _limits = new QueryLimits(budget, Tracer, options.TimeProvider);
    }

    public IndexView View { get; }

    public CancellationToken CancellationToken { get; }

    /// <summary>What is counted. Pages are counted by the transaction: <see cref="Measure"/> has them too.</summary>
    public QueryMeter Meter => _scratch.Meter;

    /// <summary>Notes what each step does; null where nobody wants a plan.</summary>
    public PlanTracer? Tracer { get; }

    /// <summary>Ways a test forces.</summary>
    public PlanHints Hints { get; }

    /// <summary>
    /// Of the pages it has entered, those that were not in memory, as far as what was read from disks meanwhile says; null where
    /// times are not wanted, or the system does not tell. On one thread.
    /// </summary>
    public long? ColdPages(long entered)
    {
        long now = _diskBefore < 0 ? -1 : DiskReads.OfThread();
        return now < _diskBefore || now < 0 ? null : Math.Min(entered, (now - _diskBefore + PageBytes - 1) / PageBytes);
    }

    /// <summary>What the query has done so far.</summary>
    public QueryCounters Measure() => Meter.Count with { PagesRead = View.PageVisits - _pagesBefore };

    /// <summary>
    /// Ends the query if it was cancelled or has spent its budget. Called at every window and every thousand terms.
    /// </summary>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    /// <exception cref="QueryBudgetExceededException">It has spent its budget.</exception>
    public void Check()
    {
        CancellationToken.ThrowIfCancellationRequested();
        _limits?.Check(Combined?.Measure() ?? Measure());
    }

    /// <summary>Terms that one pattern of the query may read.</summary>
    public long MaxTermsRead { get; init; } = TermScan.MaxTerms;

    /// <summary>
    /// Both sides, where the view is an index, or the changes it has not seen, and they answer as one; null: the view is all
    /// there is.
    /// </summary>
    public CombinedIndex? Combined
    {
        get;
        init
        {
            field = value;
            _scratch.Factors.Clear(); // those that are kept are of the view alone
        }
    }

    /// <summary>Takes an empty set out of the pool; give it back with <see cref="Return"/>.</summary>
    public WindowSet Rent() => _scratch.RentSet();

    public void Return(WindowSet set) => _scratch.Return(set);

    /// <summary>Offsets of a window to work with until the query ends; what is in them is not said.</summary>
    public ushort[] RentOffsets() => _scratch.RentOffsets(PostingWindow.Size);

    /// <summary>So many offsets, or more, to work with until the query ends; what is in them is not said.</summary>
    public ushort[] RentOffsets(int count) => _scratch.RentOffsets(count);

    /// <summary>So many numbers, or more, to work with until the query ends; what is in them is not said.</summary>
    public float[] RentNumbers(int count) => _scratch.RentNumbers(count);

    /// <summary>So many words of bitmaps, or more, to work with until the query ends; what is in them is not said.</summary>
    public ulong[] RentWords(int count) => _scratch.RentWords(count);

    /// <summary>So many bytes, or more, to work with until the query ends; what is in them is not said.</summary>
    public byte[] RentBytes(int count) => _scratch.RentBytes(count);

    /// <summary>Room for so many postings, or more, until the query ends; what is in it is not said.</summary>
    public Posting[] RentPostings(int count) => _scratch.RentPostings(count);

    /// <summary>One of a kind, empty, to work with until the query ends.</summary>
    public T Rent<T>()
        where T : class, IReusable, new() => _scratch.Rent<T>();

    /// <summary>So many places in lists, or more, to work with until the query ends; what is in them is not said.</summary>
    public int[] RentPlaces(int count) => _scratch.RentPlaces(count);

    /// <summary>A cursor over a long list, open until the query ends.</summary>
    public PostingCursor OpenPostings(Tree postings, long listId)
    {
        var cursor = new PostingCursor(postings, listId, Meter);
        _scratch.Own(cursor);
        return cursor;
    }

    /// <summary>Closes it when the query ends, and has it forget pages when others do.</summary>
    public void Own(IHoldsPages held) => _scratch.Own(held);

    /// <summary>A cursor over the chunks of a column, open until the query ends.</summary>
    public ChunkCursor OpenColumn(Tree? column)
    {
        var cursor = new ChunkCursor(column, Meter);
        _scratch.Own(cursor);
        return cursor;
    }

    /// <summary>What is in a range, counted when it is first asked for: see <see cref="RangeCount.Of"/>.</summary>
    public RangeCount? CountOf(RangeQuery range, KeyRange keys, int field)
    {
        if (!ReferenceEquals(_counted.Range, range))
            _counted = (range, RangeCount.Of(this, keys, field));
        return _counted.Count;
    }

    /// <summary>As <see cref="CountOf"/>, where it was counted last; null where it was not.</summary>
    public RangeCount? Counted(RangeQuery range) => ReferenceEquals(_counted.Range, range) ? _counted.Count : null;

    /// <summary>The sort values of a field, open until the query ends.</summary>
    public SortColumn OpenSortColumn(int field) =>
        new(
            OpenColumn(View.Tree(TreeNames.Sort(field))),
            View.Tree(TreeNames.SortTexts(field)) is { } blocks ? OpenColumn(blocks) : null,
            View.Tree(TreeNames.SortNumbers(field)) is { } numbers ? OpenColumn(numbers) : null);

    /// <summary>Lengths of a full-text field, shared by its terms.</summary>
    public LengthFactors Factors(int field)
    {
        foreach ((int known, LengthFactors factors) in _scratch.Factors)
        {
            if (known == field)
                return factors;
        }

        var found = new LengthFactors(new ChunkReader(View.Norms(field), Meter), StatisticsOf(field));
        _scratch.Factors.Add((field, found));
        return found;
    }

    /// <summary>All entries that answer.</summary>
    public long EntryCount => Combined?.Statistics.EntryCount ?? View.State.EntryCount;

    /// <summary>Entries that have a term of a text field, of which the view has so many.</summary>
    public long EntriesWith(int field, ReadOnlySpan<byte> form, long own) => Combined?.Statistics.EntriesWith(field, form) ?? own;

    private FieldStatistics StatisticsOf(int field)
    {
        FieldStatistics own = View.Statistics(field);
        return Combined?.Statistics.Of(field, own) ?? own;
    }

    /// <summary>Ends the query; once.</summary>
    public void Dispose()
    {
        if (_isEnded)
            return;
        _isEnded = true;
        _scratch.End(keepsFactors: Combined is null);
        View.Return(_scratch);
    }
}
