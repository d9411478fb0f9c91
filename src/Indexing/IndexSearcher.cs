using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Facets;
using Treepie.Indexing.Highlighting;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Searching;
using Treepie.Indexing.Suggestions;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing;

/// <summary>
/// The reading door of an index: one unchanging view of it. Opening costs a read transaction and nothing else: no load, no
/// warm-up. One thread at a time; open as many as wanted.
/// </summary>
/// <remarks>
/// Promises: the same answer for the same query on the same view, on every run; exact counts; no effect on writers.
/// Costs: a term is one descent of its dictionary; hits are combined 4,096 entries at a time where they lie in the pages; a
/// range or prefix gathers its terms first (an eighth of a byte per entry of the index at most); an order keeps skip + take hits.
/// </remarks>
public sealed class IndexSearcher : IDisposable
{
    private readonly ReadTransaction _transaction;
    private readonly IndexView _view;
    private readonly Guid _storeId;
    private int _disposed;

    /// <summary>
    /// Opens the index in <paramref name="environment"/> as it is now; an environment without one is an empty index.
    /// </summary>
    /// <param name="environment">The index's own store.</param>
    /// <param name="analyzers">The analyzers it was written with; null: the built-in ones.</param>
    /// <param name="known">The fields it is thought to have: where it has just these they are not read anew. Null: nothing is
    /// known.</param>
    /// <exception cref="IndexSchemaException">The index has another format than this version reads. Where fields are known, who
    /// asks first is told.</exception>
    public IndexSearcher(StorageEnvironment environment, AnalyzerSet? analyzers = null, IndexSchema? known = null)
    {
        ArgumentNullException.ThrowIfNull(environment);
        _storeId = environment.StoreId;
        _transaction = environment.BeginRead();
        try
        {
            _view = IndexView.Open(_transaction, analyzers ?? AnalyzerSet.BuiltIn, known);
        }
        catch
        {
            _transaction.Dispose();
            throw;
        }
    }

    /// <summary>The trees.</summary>
    internal IndexView View => _view;

    /// <summary>The fields of this index.</summary>
    public IndexSchema Schema => _view.Schema;

    /// <summary>Entries in the index.</summary>
    public long EntryCount => _view.State.EntryCount;

    /// <summary>The etag up to which this view is complete.</summary>
    public long LastEtag => _view.State.Etag;

    /// <summary>
    /// A tree that somebody keeps beside the index in its store, in the state of this view; null where there is none. Ends with
    /// the view.
    /// </summary>
    public Tree? FindTree(string name) => _view.Tree(name);

    /// <summary>Why entries were left out: the latest, oldest first.</summary>
    public IReadOnlyList<EntryError> Errors()
    {
        var errors = new List<EntryError>();
        if (_view.Tree(TreeNames.Errors) is not { } tree)
            return errors;

        using Cursor cursor = tree.OpenCursor();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
            errors.Add(ErrorRecord.Read(cursor.Value));
        errors.Sort(static (left, right) => left.Time.CompareTo(right.Time));
        return errors;
    }

    /// <summary>How many <see cref="Errors"/> there are.</summary>
    public long ErrorCount => _view.Tree(TreeNames.Errors)?.Count ?? 0;

    /// <summary>
    /// Whether every entry has the field that has it at all; false for one that the index has not, or is being given.
    /// </summary>
    public bool IsComplete(string field)
    {
        int position = Schema.IndexOf(field);
        return position >= 0 && position < _view.CompleteFields;
    }

    /// <summary>Whether any entry has the field, be it as an explicit null; false for one that the index has not.</summary>
    public bool HasEntries(string field) => Schema.IndexOf(field) is >= 0 and var position && _view.HasEntries(position);

    /// <summary>Runs a query. The results read from this view: they end with it.</summary>
    /// <exception cref="UnknownFieldException">A field of the query or of the sort is not in the schema.</exception>
    /// <exception cref="IndexQueryException">The query asks for what this index cannot give.</exception>
    public SearchResults Search(SearchRequest request, CancellationToken cancellationToken = default) =>
        Search(request, options: null, cancellationToken);

    /// <summary>As <see cref="Search(SearchRequest, CancellationToken)"/>, with its plan, or within a budget.</summary>
    /// <exception cref="QueryBudgetExceededException">The budget is spent.</exception>
    /// <inheritdoc cref="Search(SearchRequest, CancellationToken)"/>
    public SearchResults Search(SearchRequest request, QueryOptions? options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        ArgumentOutOfRangeException.ThrowIfNegative(request.Skip);
        ArgumentOutOfRangeException.ThrowIfNegative(request.Take);
        options?.Budget?.Check();
        cancellationToken.ThrowIfCancellationRequested();
        QueryAhead.Announce(_view, request);
        ReadOnlyMemory<byte> after = SearchPosition.Decode(_storeId, request);
        using var context = new QueryContext(_view, cancellationToken, options);
        var run = new SearchRun(context, request, after);
        run.Execute();
        if (run.Plan is { } plan)
            plan.ColdPages = context.ColdPages(context.Measure().PagesRead);
        byte[]? position = run.LastKey is { } key ? SearchPosition.Encode(_storeId, request, key) : null;
        return new SearchResults(_view, run, request.Sort, context.Measure(), position);
    }

    /// <summary>
    /// Runs a query over this view and the changes it has not seen, as over one index that has seen them. The results read from
    /// both: they end with either.
    /// </summary>
    /// <exception cref="UnknownFieldException">A field of the query or of the sort is not in the schema.</exception>
    /// <exception cref="IndexQueryException">The query asks for what this index cannot give.</exception>
    /// <exception cref="QueryBudgetExceededException">The budget is spent, by both together.</exception>
    public SearchResults Search(
        SearchRequest request, IndexTail tail, QueryOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        ArgumentNullException.ThrowIfNull(tail);
        ArgumentOutOfRangeException.ThrowIfNegative(request.Skip);
        ArgumentOutOfRangeException.ThrowIfNegative(request.Take);
        options?.Budget?.Check();
        var search = TailedSearch.Run(
            _view, tail.View, request, SearchPosition.Decode(_storeId, request), options, cancellationToken);
        return new SearchResults(
            _view, tail.View, search, request.Sort,
            search.LastKey is { } key ? SearchPosition.Encode(_storeId, request, key) : null);
    }

    /// <summary>Terms of a field that may have been meant by a text. The text itself is not among them.</summary>
    /// <exception cref="UnknownFieldException">The field is not in the schema.</exception>
    /// <exception cref="IndexQueryException">The accuracy or the number is not possible.</exception>
    public IReadOnlyList<Suggestion> Suggest(SuggestionRequest request, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        using var context = new QueryContext(_view, cancellationToken);
        return Suggester.Run(context, request);
    }

    /// <summary>
    /// As <see cref="Suggest(SuggestionRequest, CancellationToken)"/>, over this view and the changes it has not seen.
    /// </summary>
    /// <inheritdoc cref="Suggest(SuggestionRequest, CancellationToken)"/>
    public IReadOnlyList<Suggestion> Suggest(
        SuggestionRequest request, IndexTail tail, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        ArgumentNullException.ThrowIfNull(tail);
        using CombinedIndex combined = Combine(tail, cancellationToken);
        return Suggester.Run(combined, request);
    }

    /// <summary>Prepares to say why entries have their score in a query. It reads from this view and ends with it.</summary>
    public ScoreExplainer OpenExplainer(IndexQuery query, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(query);
        return new ScoreExplainer(new QueryContext(_view, cancellationToken), query);
    }

    /// <summary>
    /// As <see cref="OpenExplainer(IndexQuery, CancellationToken)"/>, for hits of this view and the changes it has not seen. It
    /// ends with either.
    /// </summary>
    public ScoreExplainer OpenExplainer(IndexQuery query, IndexTail tail, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(query);
        ArgumentNullException.ThrowIfNull(tail);
        return new ScoreExplainer(Combine(tail, cancellationToken), query);
    }

    /// <summary>Prepares to mark what a query found in the texts of a field. It reads from this view and ends with it.</summary>
    public FieldHighlighter OpenHighlighter(IndexQuery query, string field, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(query);
        ArgumentNullException.ThrowIfNull(field);
        return new FieldHighlighter(new QueryContext(_view, cancellationToken), query, field);
    }

    /// <summary>Counts the hits of a query in groups.</summary>
    /// <exception cref="UnknownFieldException">A field is not in the schema.</exception>
    /// <exception cref="IndexQueryException">The request asks for what this index cannot give.</exception>
    /// <exception cref="QueryBudgetExceededException">The budget is spent.</exception>
    public FacetResults Facets(FacetRequest request, QueryOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        options?.Budget?.Check();
        using var context = new QueryContext(_view, cancellationToken, options);
        FacetResults results = new FacetRun(context, request).Execute();
        if (results.Plan is { } plan)
            plan.ColdPages = context.ColdPages(results.Counters.PagesRead);
        return results;
    }

    /// <summary>Counts the hits of a query in groups, over this view and the changes it has not seen.</summary>
    /// <exception cref="UnknownFieldException">A field is not in the schema.</exception>
    /// <exception cref="IndexQueryException">The request asks for what this index cannot give.</exception>
    /// <exception cref="QueryBudgetExceededException">The budget is spent, by both together.</exception>
    public FacetResults Facets(
        FacetRequest request, IndexTail tail, QueryOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        ArgumentNullException.ThrowIfNull(tail);
        options?.Budget?.Check();
        return TailedFacets.Run(_view, tail.View, request, options, cancellationToken);
    }

    /// <summary>Terms of a field as they are indexed, in byte order, with the number of entries that have each.</summary>
    /// <param name="field">The field.</param>
    /// <param name="after">The term behind which to begin; null: at the first.</param>
    /// <param name="count">Most terms.</param>
    /// <exception cref="UnknownFieldException">There is no such field.</exception>
    public IReadOnlyList<IndexTerm> Terms(string field, string? after, int count)
    {
        ArgumentNullException.ThrowIfNull(field);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        return TermView.Terms(_view, _view.Field(field), after, count);
    }

    /// <summary>As <see cref="Terms(string, string, int)"/>, of this view and the changes it has not seen.</summary>
    /// <inheritdoc cref="Terms(string, string, int)"/>
    public IReadOnlyList<IndexTerm> Terms(string field, string? after, int count, IndexTail tail)
    {
        ArgumentNullException.ThrowIfNull(field);
        ArgumentNullException.ThrowIfNull(tail);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        using CombinedIndex combined = Combine(tail, default);
        return TermView.Terms(combined, _view.Field(field), after, count);
    }

    /// <summary>What the index holds of an entry; null where it has no entry of that key.</summary>
    public IReadOnlyList<IndexEntryField>? Entry(ReadOnlySpan<byte> key) => TermView.Entry(_view, key);

    /// <summary>As <see cref="Entry(ReadOnlySpan{byte})"/>, of this view and the changes it has not seen.</summary>
    public IReadOnlyList<IndexEntryField>? Entry(ReadOnlySpan<byte> key, IndexTail tail)
    {
        ArgumentNullException.ThrowIfNull(tail);
        using CombinedIndex combined = Combine(tail, default);
        return combined.TryFind(key, out QueryContext where, out _) ? TermView.Entry(where.View, key) : null;
    }

    /// <summary>
    /// Where the bytes of the index are, the greatest first. Reads every page of it once: for people who wonder, not for every
    /// second.
    /// </summary>
    public IReadOnlyList<IndexStructureSize> MeasureStructures(CancellationToken cancellationToken = default) =>
        StructureSizes.Of(_transaction, _view, cancellationToken);

    /// <summary>
    /// Ends the life of every span read so far; results and view may be used on. See <see cref="ReadTransaction.ReleasePages"/>.
    /// </summary>
    public void ReleasePages()
    {
        _transaction.ReleasePages();
        if (!_transaction.PagesStay)
            _view.ForgetPages();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
            return;
        _view.Close();
        _transaction.Dispose();
    }

    private CombinedIndex Combine(IndexTail tail, CancellationToken cancellationToken) =>
        new(_view, tail.View, cancellationToken);
}
