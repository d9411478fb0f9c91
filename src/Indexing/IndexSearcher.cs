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
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Suggestions;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing;

/// <summary>
/// Searches an index: one immutable view of it. Opening costs only a read transaction, without loading or warm-up. Not
/// thread-safe; open as many as needed.
/// </summary>
/// <remarks>
/// Guarantees: the same results for the same query on the same view; exact counts; no effect on writers. Costs: a term is one
/// descent of its dictionary; hits are combined 4,096 entries at a time, in place in the pages; a range or prefix first collects
/// its terms (at most an eighth of a byte per entry of the index); an order keeps skip + take hits.
/// </remarks>
public sealed class IndexSearcher : IDisposable
{
    private readonly ReadTransaction _transaction;
    private readonly IndexView _view;
    private readonly Guid _storeId;
    private int _disposed;

    /// <summary>
    /// Opens the current state of the index in <paramref name="environment"/>; an environment without an index is an empty index.
    /// </summary>
    /// <param name="environment">The store of the index.</param>
    /// <param name="analyzers">The analyzers with which it was written. Null: the built-in ones.</param>
    /// <param name="known">The expected fields: if the index has exactly these, they are not read again. Null: unknown.</param>
    /// <exception cref="IndexSchemaException">The format of the index is not supported by this version. If fields are known,
    /// thrown by the first query instead.</exception>
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

    /// <summary>View of the index's trees.</summary>
    /// <exception cref="ObjectDisposedException">The searcher was disposed: its view may be in use by another one.</exception>
    internal IndexView View
    {
        get
        {
            ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
            return _view;
        }
    }

    /// <summary>The fields of this index.</summary>
    public IndexSchema Schema => _view.Schema;

    /// <summary>The number of entries in the index.</summary>
    public long EntryCount => _view.State.EntryCount;

    /// <summary>The etag up to which this view is complete.</summary>
    public long LastEtag => _view.State.Etag;

    /// <summary>
    /// Returns a tree that the caller keeps beside the index in its store, in the state of this view; null if it does not exist.
    /// Valid as long as the view.
    /// </summary>
    public Tree? FindTree(string name) => View.Tree(name);

    /// <summary>Returns the latest errors of entries that were left out, oldest first.</summary>
    public IReadOnlyList<EntryError> Errors()
    {
        var errors = new List<EntryError>();
        if (View.Tree(TreeNames.Errors) is not { } tree)
            return errors;

        using Cursor cursor = tree.OpenCursor();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
            errors.Add(ErrorRecord.Read(cursor.Value));
        errors.Sort(static (left, right) => left.Time.CompareTo(right.Time));
        return errors;
    }

    /// <summary>The number of <see cref="Errors"/>.</summary>
    public long ErrorCount => View.Tree(TreeNames.Errors)?.Count ?? 0;

    /// <summary>
    /// Returns whether a field is complete in all entries; false if the index does not have it, or if it is still being added.
    /// </summary>
    public bool IsComplete(string field)
    {
        int position = Schema.IndexOf(field);
        return position >= 0 && position < CompleteFields;
    }

    /// <summary>How many fields, from the first, are complete in all entries. Fields being added are behind them.</summary>
    public int CompleteFields => View.CompleteFields;

    /// <summary>
    /// Returns whether any entry has the field, even as an explicit null; false if the index does not have the field.
    /// </summary>
    public bool HasEntries(string field) => Schema.IndexOf(field) is >= 0 and var position && View.HasEntries(position);

    /// <summary>Executes a query. The results read from this view and are valid as long as it.</summary>
    /// <exception cref="UnknownFieldException">A field of the query or of the order is not in the schema.</exception>
    /// <exception cref="IndexQueryException">The index does not support the query.</exception>
    public SearchResults Search(SearchRequest request, CancellationToken cancellationToken = default) =>
        Search(request, options: null, cancellationToken);

    /// <summary>
    /// Same as <see cref="Search(SearchRequest, CancellationToken)"/>, with a plan, or within a budget.
    /// </summary>
    /// <exception cref="QueryBudgetExceededException">The budget is exceeded.</exception>
    /// <inheritdoc cref="Search(SearchRequest, CancellationToken)"/>
    public SearchResults Search(SearchRequest request, QueryOptions? options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        Check(request, options);
        cancellationToken.ThrowIfCancellationRequested();
        QueryAhead.Announce(View, request);
        ReadOnlyMemory<byte> after = SearchPosition.Decode(_storeId, Schema, request);
        using var context = new QueryContext(View, cancellationToken, options);
        var run = new SearchRun(context, request, after);
        run.Execute();
        if (run.Plan is { } plan)
            plan.ColdPages = context.ColdPages(context.Measure().PagesRead);
        byte[]? position = run.LastKey is { } key ? SearchPosition.Encode(_storeId, Schema, request, key) : null;
        return new SearchResults(View, run, request.Sort, context.Measure(), position);
    }

    /// <summary>
    /// Executes a query over this view and changes that it does not contain, as if the index contained them. The results read
    /// from both and are valid as long as both.
    /// </summary>
    /// <exception cref="UnknownFieldException">A field of the query or of the order is not in the schema.</exception>
    /// <exception cref="IndexQueryException">The index does not support the query.</exception>
    /// <exception cref="QueryBudgetExceededException">The budget is exceeded by both together.</exception>
    public SearchResults Search(
        SearchRequest request, IndexTail tail, QueryOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        ArgumentNullException.ThrowIfNull(tail);
        Check(request, options);
        var search = TailedSearch.Run(
            View, tail.ViewOver(View), request, SearchPosition.Decode(_storeId, Schema, request), options, cancellationToken);
        return new SearchResults(
            View, tail.ViewOver(View), search, request.Sort,
            search.LastKey is { } key ? SearchPosition.Encode(_storeId, Schema, request, key) : null);
    }

    /// <summary>
    /// Finds one entry for each value of a field, of nulls and missing ones together one: the rows of <c>select distinct</c>.
    /// Null if there are more, or if the index cannot tell values apart: it can if all have been numbers, one for an entry, of
    /// which none was reported as inexact (<see cref="IndexBatch.NoteInexact"/>).
    /// </summary>
    /// <param name="field">The field.</param>
    /// <param name="most">The maximum number of entries.</param>
    /// <param name="options">Plan; null for none.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <exception cref="UnknownFieldException">The field does not exist.</exception>
    public SearchResults? SearchDistinct(
        string field, int most, QueryOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(field);
        int position = View.Field(field);
        if (DistinctEntries.Find(View, position, most, cancellationToken) is not { } entries)
            return null;
        if (!View.HasValueAlways(position))
        {
            using SearchResults without = Search(
                new SearchRequest { Query = new TermQuery(field, FieldValue.Null), Take = 1, CountsHits = false },
                cancellationToken);
            if (without.MoveNext())
                entries.Add(without.EntryId);
        }

        if (entries.Count > most)
            return null;
        entries.Sort();
        return Search(
            new SearchRequest { Query = new EntriesQuery([.. entries]), Take = entries.Count }, options, cancellationToken);
    }

    /// <summary>Suggests terms of a field that are similar to a text, without the text itself.</summary>
    /// <exception cref="UnknownFieldException">The field is not in the schema.</exception>
    /// <exception cref="IndexQueryException">The accuracy or the number of suggestions is out of range.</exception>
    public IReadOnlyList<Suggestion> Suggest(SuggestionRequest request, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        using var context = new QueryContext(View, cancellationToken);
        return Suggester.Run(context, request);
    }

    /// <summary>
    /// Same as <see cref="Suggest(SuggestionRequest, CancellationToken)"/>, over this view and changes that it does not contain.
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

    /// <summary>
    /// Creates an explainer of the scores of entries in a query. Reads from this view and is valid as long as it.
    /// </summary>
    public ScoreExplainer OpenExplainer(IndexQuery query, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(query);
        return new ScoreExplainer(new QueryContext(View, cancellationToken), query);
    }

    /// <summary>
    /// Same as <see cref="OpenExplainer(IndexQuery, CancellationToken)"/>, for hits of this view and changes that it does not
    /// contain. Valid as long as both.
    /// </summary>
    public ScoreExplainer OpenExplainer(IndexQuery query, IndexTail tail, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(query);
        ArgumentNullException.ThrowIfNull(tail);
        return new ScoreExplainer(Combine(tail, cancellationToken), query);
    }

    /// <summary>Creates a highlighter of a query's matches in a field. Reads from this view and is valid as long as it.</summary>
    public FieldHighlighter OpenHighlighter(IndexQuery query, string field, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(query);
        ArgumentNullException.ThrowIfNull(field);
        return new FieldHighlighter(new QueryContext(View, cancellationToken), query, field);
    }

    /// <summary>Counts the hits of a query by facets.</summary>
    /// <exception cref="UnknownFieldException">A field is not in the schema.</exception>
    /// <exception cref="IndexQueryException">The index does not support the request.</exception>
    /// <exception cref="QueryBudgetExceededException">The budget is exceeded.</exception>
    public FacetResults Facets(FacetRequest request, QueryOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        options?.Budget?.Check();
        using var context = new QueryContext(View, cancellationToken, options);
        FacetResults results = new FacetRun(context, request).Execute();
        if (results.Plan is { } plan)
            plan.ColdPages = context.ColdPages(results.Counters.PagesRead);
        return results;
    }

    /// <summary>Counts the hits of a query by facets, over this view and changes that it does not contain.</summary>
    /// <exception cref="UnknownFieldException">A field is not in the schema.</exception>
    /// <exception cref="IndexQueryException">The index does not support the request.</exception>
    /// <exception cref="QueryBudgetExceededException">The budget is exceeded by both together.</exception>
    public FacetResults Facets(
        FacetRequest request, IndexTail tail, QueryOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        ArgumentNullException.ThrowIfNull(tail);
        options?.Budget?.Check();
        return Facets(request, tail, options, FacetRun.MaxTerms, cancellationToken);
    }

    /// <summary>As the other, with another maximum number of terms.</summary>
    internal FacetResults Facets(
        FacetRequest request, IndexTail tail, QueryOptions? options, int maxTerms, CancellationToken cancellationToken) =>
        TailedFacets.Run(View, tail.ViewOver(View), request, options, maxTerms, cancellationToken);

    /// <summary>Returns indexed terms of a field, in byte order, with the number of entries that contain each.</summary>
    /// <param name="field">The field.</param>
    /// <param name="after">The term after which to start. Null: at the first.</param>
    /// <param name="count">The maximum number of terms.</param>
    /// <exception cref="UnknownFieldException">The field does not exist.</exception>
    public IReadOnlyList<IndexTerm> Terms(string field, string? after, int count)
    {
        ArgumentNullException.ThrowIfNull(field);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        return TermView.Terms(View, View.Field(field), after, count);
    }

    /// <summary>
    /// Same as <see cref="Terms(string, string, int)"/>, over this view and changes that it does not contain.
    /// </summary>
    /// <inheritdoc cref="Terms(string, string, int)"/>
    public IReadOnlyList<IndexTerm> Terms(string field, string? after, int count, IndexTail tail)
    {
        ArgumentNullException.ThrowIfNull(field);
        ArgumentNullException.ThrowIfNull(tail);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        using CombinedIndex combined = Combine(tail, default);
        return TermView.Terms(combined, View.Field(field), after, count);
    }

    /// <summary>Returns what the index stores for an entry; null if it does not exist.</summary>
    public IReadOnlyList<IndexEntryField>? Entry(ReadOnlySpan<byte> key) => TermView.Entry(View, key);

    /// <summary>
    /// Same as <see cref="Entry(ReadOnlySpan{byte})"/>, over this view and changes that it does not contain.
    /// </summary>
    public IReadOnlyList<IndexEntryField>? Entry(ReadOnlySpan<byte> key, IndexTail tail)
    {
        ArgumentNullException.ThrowIfNull(tail);
        using CombinedIndex combined = Combine(tail, default);
        return combined.TryFind(key, out QueryContext where, out _) ? TermView.Entry(where.View, key) : null;
    }

    /// <summary>
    /// Returns the size of each structure of the index, largest first. Reads every page of the index once, so it should not be
    /// called frequently.
    /// </summary>
    public IReadOnlyList<IndexStructureSize> MeasureStructures(CancellationToken cancellationToken = default) =>
        StructureSizes.Of(_transaction, View, cancellationToken);

    /// <summary>
    /// Invalidates every span read so far; the results and the view remain usable. See
    /// <see cref="ReadTransaction.ReleasePages"/>.
    /// </summary>
    public void ReleasePages()
    {
        _transaction.ReleasePages();
        if (!_transaction.PagesStay)
            View.ForgetPages();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
            return;
        _view.Close();
        _transaction.Dispose();
    }

    private static void Check(SearchRequest request, QueryOptions? options)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(request.Skip);
        ArgumentOutOfRangeException.ThrowIfNegative(request.Take);
        SortPlan.Check(request.Sort);
        bool hasPosition = request.WithPosition || !request.After.IsEmpty;
        if (hasPosition && request.Sort.Any(static key => key.Kind == SortKind.Given))
            throw new IndexQueryException(
                "An order by given values has no position to go on from, as the values are those of one search: page with Skip.");
        options?.Budget?.Check();
    }

    private CombinedIndex Combine(IndexTail tail, CancellationToken cancellationToken) =>
        new(View, tail.ViewOver(View), cancellationToken);
}
