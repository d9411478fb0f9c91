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
/// State shared by the operators of one running query: the view, the pool of window sets, counters, cancellation and budget.
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

    /// <param name="view">The index view to query.</param>
    /// <param name="cancellationToken">Cancels the query.</param>
    /// <param name="options">Plan, budget and hints; null for none.</param>
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

    /// <summary>
    /// Counters of the query, except page reads, which the transaction counts and <see cref="Measure"/> includes.
    /// </summary>
    public QueryMeter Meter => _scratch.Meter;

    /// <summary>Records what each step does; null if no plan or budget is requested.</summary>
    public PlanTracer? Tracer { get; }

    /// <summary>Plans forced by a test.</summary>
    public PlanHints Hints { get; }

    /// <summary>
    /// How many of the pages visited were not in memory, estimated from the bytes this thread has read from disk since the
    /// query began. Null if times are not requested or the system does not report it.
    /// </summary>
    public long? ColdPages(long entered)
    {
        long now = _diskBefore < 0 ? -1 : DiskReads.OfThread();
        return now < _diskBefore || now < 0 ? null : Math.Min(entered, (now - _diskBefore + PageBytes - 1) / PageBytes);
    }

    /// <summary>Counters of the query so far.</summary>
    public QueryCounters Measure() => Meter.Count with { PagesRead = View.PageVisits - _pagesBefore };

    /// <summary>
    /// Throws if the query was cancelled or has exceeded its budget. Called for every window and every thousand terms.
    /// </summary>
    /// <exception cref="OperationCanceledException">The query was cancelled.</exception>
    /// <exception cref="QueryBudgetExceededException">The query has exceeded its budget.</exception>
    public void Check()
    {
        CancellationToken.ThrowIfCancellationRequested();
        _limits?.Check(Combined?.Measure() ?? Measure());
    }

    /// <summary>Maximum number of terms one pattern of the query may read.</summary>
    public long MaxTermsRead { get; init; } = TermScan.MaxTerms;

    /// <summary>
    /// Both sides, if the view is one side of an index combined with changes not yet indexed; null if the view stands alone.
    /// </summary>
    public CombinedIndex? Combined
    {
        get;
        init
        {
            field = value;
            _scratch.Factors.Clear(); // the kept factors are of this view alone
        }
    }

    /// <summary>Takes an empty set from the pool. Return it with <see cref="Return"/>.</summary>
    public WindowSet Rent() => _scratch.RentSet();

    public void Return(WindowSet set) => _scratch.Return(set);

    /// <summary>Rents offsets for one window until the query ends. The contents are undefined.</summary>
    public ushort[] RentOffsets() => _scratch.RentOffsets(PostingWindow.Size);

    /// <summary>Rents at least the given number of offsets until the query ends. The contents are undefined.</summary>
    public ushort[] RentOffsets(int count) => _scratch.RentOffsets(count);

    /// <summary>Rents at least the given number of numbers until the query ends. The contents are undefined.</summary>
    public float[] RentNumbers(int count) => _scratch.RentNumbers(count);

    /// <summary>Rents at least the given number of bitmap words until the query ends. The contents are undefined.</summary>
    public ulong[] RentWords(int count) => _scratch.RentWords(count);

    /// <summary>Rents at least the given number of bytes until the query ends. The contents are undefined.</summary>
    public byte[] RentBytes(int count) => _scratch.RentBytes(count);

    /// <summary>
    /// Rents room for at least the given number of postings until the query ends. The contents are undefined.
    /// </summary>
    public Posting[] RentPostings(int count) => _scratch.RentPostings(count);

    /// <summary>Rents an empty reusable object until the query ends.</summary>
    public T Rent<T>()
        where T : class, IReusable, new() => _scratch.Rent<T>();

    /// <summary>
    /// Rents at least the given number of list positions until the query ends. The contents are undefined.
    /// </summary>
    public int[] RentPlaces(int count) => _scratch.RentPlaces(count);

    /// <summary>Opens a cursor over a long list; it is closed when the query ends.</summary>
    public PostingCursor OpenPostings(Tree postings, long listId)
    {
        var cursor = new PostingCursor(postings, listId, Meter);
        _scratch.Own(cursor);
        return cursor;
    }

    /// <summary>
    /// Takes ownership: disposed when the query ends, and included in <see cref="QueryScratch.ForgetPages"/>.
    /// </summary>
    public void Own(IHoldsPages held) => _scratch.Own(held);

    /// <summary>Opens a cursor over the chunks of a column; it is closed when the query ends.</summary>
    public ChunkCursor OpenColumn(Tree? column)
    {
        var cursor = new ChunkCursor(column, Meter);
        _scratch.Own(cursor);
        return cursor;
    }

    /// <summary>Counts a range on first use and keeps the last result; see <see cref="RangeCount.Of"/>.</summary>
    public RangeCount? CountOf(RangeQuery range, KeyRange keys, int field)
    {
        if (!ReferenceEquals(_counted.Range, range))
            _counted = (range, RangeCount.Of(this, keys, field));
        return _counted.Count;
    }

    /// <summary>The result of <see cref="CountOf"/> if this range was the last one counted; otherwise null.</summary>
    public RangeCount? Counted(RangeQuery range) => ReferenceEquals(_counted.Range, range) ? _counted.Count : null;

    /// <summary>Opens the sort values of a field; they are closed when the query ends.</summary>
    public SortColumn OpenSortColumn(int field) =>
        new(
            OpenColumn(View.Tree(TreeNames.Sort(field))),
            View.Tree(TreeNames.SortTexts(field)) is { } blocks ? OpenColumn(blocks) : null,
            View.Tree(TreeNames.SortNumbers(field)) is { } numbers ? OpenColumn(numbers) : null);

    /// <summary>Length factors of a full-text field, shared by its terms.</summary>
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

    /// <summary>Number of entries, of both sides if combined.</summary>
    public long EntryCount => Combined?.Statistics.EntryCount ?? View.State.EntryCount;

    /// <summary>
    /// Number of entries with a term of a text field, given the view's own number; of both sides if combined.
    /// </summary>
    public long EntriesWith(int field, ReadOnlySpan<byte> form, long own) => Combined?.Statistics.EntriesWith(field, form) ?? own;

    private FieldStatistics StatisticsOf(int field)
    {
        FieldStatistics own = View.Statistics(field);
        return Combined?.Statistics.Of(field, own) ?? own;
    }

    /// <summary>Ends the query. Later calls do nothing.</summary>
    public void Dispose()
    {
        if (_isEnded)
            return;
        _isEnded = true;
        _scratch.End(keepsFactors: Combined is null);
        View.Return(_scratch);
    }
}
