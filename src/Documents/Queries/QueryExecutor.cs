using System.Diagnostics;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexing;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Queries.Binding;
using Treepie.Queries.Faceting;
using Treepie.Queries.Notes;
using Treepie.Queries.Plans;
using Treepie.Queries.Sources;
using Treepie.Rql;
using Treepie.Rql.Syntax;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// The entry point of this folder: runs queries. A query is parsed, bound, and answered from one snapshot of the documents and
/// one view of the index that is never newer than the snapshot. Finding results has a time limit; reading them has none.
/// Thread-safe.
/// </summary>
internal sealed class QueryExecutor(
    IndexCatalogue indexes, Func<DatabaseSnapshot> beginRead, ChangeSignal changes, DatabaseOptions options,
    Func<IReadOnlyDictionary<string, ICustomOrder>> orders, string database = "")
{
    /// <summary>The maximum number of views opened for one query, see <see cref="ExecuteOn"/>.</summary>
    private const int MostViews = 3;

    private readonly QueryCache _cache = new();
    private readonly FieldSightings _sightings = new();
    private readonly QueryDeadlines _deadlines = new(options.MaxQueryTime, options.TimeProvider);
    private readonly IndexChooser _chooser = new(indexes, beginRead);
    private BindingContext? _names;

    /// <summary>Runs a query.</summary>
    public Task<QueryResults> ExecuteAsync(QueryRequest request, CancellationToken cancellationToken) =>
        request.Admission is { } admission
            ? AdmitAsync(request, admission, cancellationToken)
            : RunAsync(request, cancellationToken);

    private async Task<QueryResults> AdmitAsync(
        QueryRequest request, IQueryAdmission admission, CancellationToken cancellationToken)
    {
        await admission.TakeAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return await RunAsync(request, cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            admission.Release();
            throw;
        }
    }

    private async Task<QueryResults> RunAsync(QueryRequest request, CancellationToken cancellationToken)
    {
        // The time limit covers binding too, which may have to parse shapes.
        long started = options.TimeProvider.GetTimestamp();
        using QueryDeadlines.Deadline deadline = _deadlines.Begin(cancellationToken);
        CancellationToken end = deadline.Token;
        using Activity? span = DatabaseTelemetry.Start("treepie.query", database);
        try
        {
            BoundQuery query = RequestedPage.Of(Bind(request, out long parsed, end), request);
            QueryPhases? phases = query.WantsTimings || span is not null
                ? new QueryPhases(options.TimeProvider, started, span)
                : null;
            phases?.End("Parse", parsed);
            phases?.End("Bind");
            var context = new QueryContext(request, query, options.TimeProvider, started, cancellationToken)
            {
                Phases = phases,
                MaxDistinctResults = options.MaxDistinctResults,
                MaxScriptTime = options.MaxQueryTime,
                Executed = options.QueryExecuted is { } executed
                    ? (index, elapsed) => executed(new QueryExecution(database, request.Text, index, elapsed))
                    : null,
            };
            QueryResults results = query.Documents is null
                ? await FindAsync(context, end).ConfigureAwait(false)
                : GroupedDocuments.Answer(
                    context, await FindAsync(GroupedDocuments.ContextOf(context), end).ConfigureAwait(false),
                    options.IsEncrypted, end);
            if (DatabaseTelemetry.CountsQueries)
                DatabaseTelemetry.Queried(database, options.TimeProvider.GetElapsedTime(started));
            return results;
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            throw _deadlines.Exceeded(request);
        }
    }

    /// <summary>Searches for further hits while results are read, in the time of a query.</summary>
    private SearchResults SearchFurther(QueryContext context, Func<CancellationToken, SearchResults> search)
    {
        using QueryDeadlines.Deadline deadline = _deadlines.Begin(context.CancellationToken);
        CancellationToken end = deadline.Token;
        try
        {
            end.ThrowIfCancellationRequested();
            return search(end);
        }
        catch (OperationCanceledException) when (!context.CancellationToken.IsCancellationRequested)
        {
            throw _deadlines.Exceeded(context.Request);
        }
        catch (QueryBudgetExceededException error)
        {
            throw ErrorOf(context, error);
        }
    }

    private async ValueTask<QueryResults> FindAsync(QueryContext context, CancellationToken cancellationToken) =>
        context.Query.Source is SourceKind.AutoIndex or SourceKind.NamedIndex
            ? await ExecuteOnIndexAsync(context, cancellationToken).ConfigureAwait(false)
            : ExecuteOnStore(context, cancellationToken);

    /// <summary>
    /// Returns the index that would answer a query, first, and why the others would not. Runs nothing and creates no index.
    /// </summary>
    public IReadOnlyList<IndexChoice> Choices(QueryRequest request, CancellationToken cancellationToken)
    {
        BoundQuery query = Bind(request, out _, cancellationToken);
        return _chooser.Explain(query.Documents ?? query);
    }

    /// <summary>Parses and binds a query.</summary>
    /// <param name="request">The request.</param>
    /// <param name="parsedAt">When it was parsed, as a timestamp of the clock.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    private BoundQuery Bind(QueryRequest request, out long parsedAt, CancellationToken cancellationToken)
    {
        RqlQuery parsed = _cache.Parsed(request.Text, out PreparedQuery? prepared) ?? RqlParser.Parse(request.Text);
        if (request.IgnoresUpdate)
            parsed = parsed.WithoutUpdate();
        parsedAt = options.TimeProvider.GetTimestamp();
        IndexMapping? named = parsed.From.IsIndex
            ? NamedIndexes.Require(indexes, parsed.From.Name).Definition
            : null;
        _names ??= new BindingContext
        {
            LoadDocument = Load,
            BeginRead = beginRead,
            Orders = orders,
            Computing = options.Computing,
            MaxShapeCorners = options.MaxShapeCorners,
        };
        bool isKept = request is
        {
            IgnoresUpdate: false, ProjectionBehavior: ProjectionBehavior.Default, ExaminesDocuments: true
        };
        if (isKept
            && prepared?.Bind(request.Parameters, named, options.TimeProvider, _names, cancellationToken) is { } known)
            return known;
        BindingContext names = isKept ? _names : _names with
        {
            Projection = request.ProjectionBehavior,
            ExaminesDocuments = request.ExaminesDocuments
        };
        BoundQuery bound = QueryBinder.Bind(
            parsed, request.Parameters, options.TimeProvider, named, names, out prepared, cancellationToken);
        if (!request.IgnoresUpdate)
            _cache.Keep(parsed, isKept ? prepared : null);
        return bound;
    }

    /// <summary>Returns the body of a document that a query refers to, or null if it does not exist.</summary>
    private byte[]? Load(string id)
    {
        using DatabaseSnapshot snapshot = beginRead();
        return snapshot.TryGet(id, out Document document) ? document.Body.ToArray() : null;
    }

    private QueryResults ExecuteOnStore(QueryContext context, CancellationToken cancellationToken)
    {
        BoundQuery query = context.Query;
        if (DistinctByIndex.Find(context, indexes, beginRead, _sightings, cancellationToken) is { } distinct)
            return new QueryResults(context, distinct);
        DatabaseSnapshot snapshot = beginRead();
        ResultSource? source = null;
        try
        {
            IReadOnlyList<string> warnings = QueryWarnings.OfStore(query, snapshot, _sightings);
            long pages = snapshot.PageVisits;
            ScanBudget? budget = RequestedPage.BudgetOf(context.Request) is { } limits
                ? new ScanBudget(limits, snapshot, options.TimeProvider)
                : null;
            ScanPosition? position = RequestedPage.ScanOf(query, context.Request, snapshot);
            source = query.Source switch
            {
                SourceKind.Ids => new IdSource(snapshot, query.Collection, query.Ids, budget, position),
                SourceKind.IdPrefix =>
                    CursorSource.OfPrefix(
                        snapshot, query.Collection, query.IdPrefix, context.Request.CountsResults, budget, position,
                        cancellationToken),
                _ when query.Distinct && budget is null => CursorSource.InAnyOrder(snapshot, query.Collection),
                _ => CursorSource.OfCollection(snapshot, query.Collection, budget, position),
            };
            context.Phases?.End("Query");
            var found = new FoundResults(snapshot, source, StoreName(query, snapshot))
            {
                Scan = query.WantsTimings || context.Request.WithPlan ? new ScanPlan(query, snapshot, source, pages) : null,
                Warnings = warnings,
            };
            if (!query.Filters)
                source.Skip(query.Skip, cancellationToken);
            return new QueryResults(context, found);
        }
        catch
        {
            source?.Dispose();
            snapshot.Dispose();
            throw;
        }
    }

    /// <summary>Returns the index name of a result that the documents themselves answer.</summary>
    internal static string StoreName(BoundQuery query, DatabaseSnapshot snapshot) =>
        query.Collection is { } collection ? $"collection/{snapshot.Collection(collection)?.Name ?? collection}" : "AllDocs";

    private async ValueTask<QueryResults> ExecuteOnIndexAsync(QueryContext context, CancellationToken cancellationToken)
    {
        long cutoff = changes.LastEtag;
        bool wasReset = false;
        while (true)
        {
            if (context.Request.Admission is { } admission)
                await admission.TakeAsync(cancellationToken).ConfigureAwait(false); // a failed wait released it
            BoundQuery query = context.Query;
            if (_chooser.Choose(context, out bool created) is not { } chosen)
                return ExecuteOnNothing(context);

            DocumentIndex index = chosen.Index;
            bool waits = context.Request.WaitForNonStaleResults;
            created |= wasReset;
            TimeSpan longest = (waits || context.Query.NeverStale) && context.Request.WaitTimeout is { } asked
                ? asked
                : options.DefaultStaleWait;
            try
            {
                if ((waits || created) && index.Progress.Etag < cutoff)
                    await WaitAsync(context, index.Progress.WaitForAsync, cutoff, longest, cancellationToken)
                        .ConfigureAwait(false);
                if (chosen.FieldsNeeded > index.Progress.CompleteFields)
                    await WaitForFieldsAsync(index, context, chosen.FieldsNeeded, longest, cancellationToken)
                        .ConfigureAwait(false);

                if (!index.TryHold())
                {
                    query.KeptChoice?.Forget();
                    continue;
                }

                long reached = index.Progress.Etag; // before opening the view: CatchUpAsync waits for any later batch
                if (ExecuteOn(
                    chosen, context, waits ? cutoff : long.MaxValue, out string? refusal, cancellationToken) is { } results)
                    return results;

                // The unindexed changes are too many to search them in place, or documents added fields since the query was
                // bound.
                if (IsOutOfDate(query, index))
                    context = context with
                    {
                        Query = RequestedPage.Of(Bind(context.Request, out _, cancellationToken), context.Request)
                    };
                else
                    await CatchUpAsync(index, context, reached, refusal, cancellationToken).ConfigureAwait(false);
            }
            catch (CorruptionException) when (!wasReset)
            {
                // An index can be rebuilt from the documents.
                wasReset = true;
                indexes.Reset(index);
            }
            catch (ObjectDisposedException)
            {
                // The index was replaced or deleted meanwhile: choose again. If the database is closing, choosing fails.
            }
        }
    }

    /// <summary>
    /// Waits until an index begins to fill the first <paramref name="fields"/> fields, and then, up to a limit, until it has
    /// filled them.
    /// </summary>
    /// <exception cref="TimeoutException">The index did not begin.</exception>
    private async Task WaitForFieldsAsync(
        DocumentIndex index, QueryContext context, int fields, TimeSpan longest, CancellationToken cancellationToken)
    {
        bool isOff = !indexes.Control.Switch(index.Name).IsOn;
        TimeSpan patience = isOff ? longest : options.MaxQueryTime; // a running index begins within one batch
        await WaitAsync(
            context, (count, token) => index.Progress.WaitForBegunFieldsAsync((int)count, token), fields, patience,
            cancellationToken).ConfigureAwait(false);
        if (index.Progress.BegunFields < fields)
            throw new TimeoutException(
                $"The index '{index.Name}' has not begun with a field of the query: it is disabled or paused. Enable or resume "
                    + $"it, or ask again.");
        await WaitAsync(
            context, (count, token) => index.Progress.WaitForFieldsAsync((int)count, token), fields, longest,
            cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Waits until the index progresses beyond an etag, up to the query's total wait time.</summary>
    /// <exception cref="TimeoutException">The index did not progress.</exception>
    private async Task CatchUpAsync(
        DocumentIndex index, QueryContext context, long etag, string? refusal, CancellationToken cancellationToken)
    {
        TimeSpan patience = context.Request.WaitTimeout ?? options.DefaultStaleWait;
        TimeSpan left = patience - options.TimeProvider.GetElapsedTime(context.Started);
        if (left > TimeSpan.Zero)
            await WaitAsync(context, index.Progress.WaitForAsync, etag + 1, left, cancellationToken).ConfigureAwait(false);
        if (index.Progress.Etag <= etag)
        {
            throw new TimeoutException(
                $"The index '{index.Name}' {refusal ?? "is being given a field of the query"}, which is too much to index "
                + $"within a query (neverStale), "
                + $"and it has not committed another batch within the {patience.TotalSeconds:0.###} seconds that the query may "
                + $"wait. Ask again, wait longer, or ask without it.");
        }
    }

    /// <summary>
    /// Whether documents have added fields to the index since the query was bound. Then a field that was bound as having no
    /// values may have some.
    /// </summary>
    private static bool IsOutOfDate(BoundQuery query, DocumentIndex index) =>
        query.Learning is { } known && known != index.Definition;

    /// <summary>Waits up to a limit. If it expires, the result is marked as stale.</summary>
    private async Task WaitAsync(
        QueryContext context, Func<long, CancellationToken, Task> waitFor, long wanted, TimeSpan longest,
        CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(longest, options.TimeProvider);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        Task waiting = waitFor(wanted, either.Token);
        if (waiting.IsCompletedSuccessfully)
            return;

        context.Request.Admission?.Release(); // let other queries run meanwhile
        try
        {
            await waiting.ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (limit.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            // The limit expired: the result has IsStale set.
        }

        if (context.Request.Admission is { } admission)
            await admission.TakeAsync(cancellationToken).ConfigureAwait(false);
    }

    private QueryResults ExecuteOnNothing(QueryContext context)
    {
        DatabaseSnapshot snapshot = beginRead();
        BoundQuery query = context.Query;
        IReadOnlyList<SuggestionResult> suggestions = SuggestionRows.Find(
            query.Suggestions, null, null, context.CancellationToken);
        var found = new FoundResults(snapshot, new EmptySource(), StoreName(query, snapshot))
        {
            Warnings = QueryWarnings.OfCollection(query.Collection, snapshot),
            Suggestions = suggestions,
            ComputedRows = query.Facets.Count > 0
                ? FacetRows.Of(query.Facets, FacetRows.Nothing(query.Facets))
                : suggestions.Count > 0 ? SuggestionRows.Of(suggestions) : null,
        };
        return new QueryResults(context, found);
    }

    /// <summary>
    /// Takes over the caller's hold on the index and passes it to the results. Returns null, and releases the hold, if a result
    /// that is never stale cannot be given because the index is too far behind, or if it has fields that were unknown when the
    /// query was bound.
    /// </summary>
    private QueryResults? ExecuteOn(
        ChosenIndex chosen, QueryContext context, long cutoff, out string? refusal, CancellationToken cancellationToken)
    {
        refusal = null;
        DocumentIndex index = chosen.Index;
        IndexSearcher? searcher = null;
        SearchResults? hits = null;
        DatabaseSnapshot? snapshot = null;
        IndexTail? tail = null;
        try
        {
            // The order matters: the view of the index must not be newer than the snapshot. If tombstones that the view does not
            // know have been cleaned in between, the index knows them by now.
            int attempts = 0;
            do
            {
                searcher?.Dispose();
                snapshot?.Dispose();
                searcher = index.OpenSearcher();
                snapshot = beginRead();
            }
            while (index.KnownUpTo(searcher.LastEtag) < snapshot.PurgedUpTo && ++attempts < MostViews);

            bool isWhole = searcher.CompleteFields >= chosen.FieldsNeeded;
            bool isOutOfDate = IsOutOfDate(context.Query, index); // after the view: fields precede their entries
            Debug.Assert(searcher.LastEtag <= snapshot.LastEtag, "an index is built from durable documents");

            // A result is not stale for lack of changes after the cutoff, but any change of the snapshot can cause missing
            // hits.
            bool mayMissHits = index.IsStale(searcher.LastEtag, snapshot, long.MaxValue);
            bool isStale = !isWhole
                || (mayMissHits && (cutoff == long.MaxValue || index.IsStale(searcher.LastEtag, snapshot, cutoff)));
            if (isOutOfDate || (context.Query.NeverStale && (isStale || mayMissHits)))
            {
                tail = isWhole && !isOutOfDate
                    ? index.TryBuildTail(searcher, snapshot, options.TimeProvider, out refusal, cancellationToken)
                    : null;
                if (tail is null)
                {
                    searcher.Dispose();
                    snapshot.Dispose();
                    index.Release();
                    return null;
                }

                mayMissHits = isStale = false;
            }

            context.Phases?.End("Index");
            var state = new IndexAnswer(
                index, isStale, isWhole, mayMissHits, searcher.LastEtag, index.Progress.LastBatch,
                IsOff: isStale && !indexes.Control.Switch(index.Name).IsOn);
            (QueryContext examined, PlanNode? plan) = context.Query.ExaminesHits
                ? Examine(searcher, tail, state, snapshot, context, cancellationToken)
                : (context, null);
            FoundResults found = examined.Query.IsComputed
                ? Compute(searcher, tail, state, snapshot, examined, cancellationToken)
                : FindDocuments(searcher, tail, state, snapshot, examined, ref hits, cancellationToken);
            if (plan is not null)
                found = found with { Plan = found.Plan?.Over(plan) };
            context.Phases?.End("Query");
            return new QueryResults(examined, found);
        }
        catch (Exception error)
        {
            hits?.Dispose();
            tail?.Dispose();
            searcher?.Dispose();
            snapshot?.Dispose();
            index.Release();
            if (error is IndexQueryException or UnknownFieldException or QueryBudgetExceededException)
                throw ErrorOf(context, error);
            throw;
        }
    }

    /// <summary>The error for a condition that the index refuses, or whose search exceeds the budget.</summary>
    private static InvalidQueryException ErrorOf(QueryContext context, Exception error) =>
        RqlErrors.At(context.Request.Text, context.Query.ConditionPosition, error.Message);

    private FoundResults FindDocuments(
        IndexSearcher searcher, IndexTail? tail, IndexAnswer state, DatabaseSnapshot snapshot, QueryContext context,
        ref SearchResults? hits, CancellationToken cancellationToken)
    {
        DocumentIndex index = state.Index;
        BoundQuery query = context.Query;
        bool isOnce = context.ReturnsDocuments && index.HasSeveralOfDocument(searcher, tail);
        bool canGoOn = isOnce || (query is { Distinct: true, Filters: false } && !index.Definition.KeepsObjects);
        var page = SearchedPage.Of(query, isOnce, canGoOn);
        SearchRequest request = RequestedPage.SearchOf(context, page);
        QueryOptions? options = RequestedPage.OptionsOf(context);
        hits = Search(searcher, tail, request, options, cancellationToken);
        FurtherHits? further = canGoOn && !request.WithPosition
            ? Further(searcher, tail, request, options, page, context)
            : null;
        if (hits.MissingCompound is { } missing)
            index.WantCompound(missing);
        ResultSource source = SourceOf(hits, searcher, tail, state, snapshot, query, isBorrowing: false, further);
        return new FoundResults(snapshot, source, index.Name)
        {
            Answer = state,
            Warnings = QueryWarnings.Of(searcher, tail, state, snapshot, context, _sightings),
            Notes = ResultNotes.Open(searcher, tail, query, context.CancellationToken),
            Plan = hits.Plan,
            Counters = hits.Counters,
            Position = hits.Position,
            HasSeveralOfDocument = isOnce,
            LeftToSkip = page.LeftToSkip,
        };
    }

    private static (QueryContext Context, PlanNode? Plan) Examine(
        IndexSearcher searcher, IndexTail? tail, IndexAnswer state, DatabaseSnapshot snapshot, QueryContext context,
        CancellationToken cancellationToken) => ExaminedHits.Find(
            context, searcher, tail, snapshot,
            hits => SourceOf(hits, searcher, tail, state, snapshot, context.Query, isBorrowing: true), cancellationToken);

    private static ResultSource SourceOf(
        SearchResults hits, IndexSearcher searcher, IndexTail? tail, IndexAnswer state, DatabaseSnapshot snapshot,
        BoundQuery query, bool isBorrowing, FurtherHits? further = null) => state.Index.Definition.KeepsObjects
        ? new GroupSource(state.Index.Name, searcher, hits, snapshot, query.IsScored, tail, state.Index.Release)
        {
            IsBorrowing = isBorrowing
        }
        : new IndexSource(
            state.Index, searcher, hits, snapshot, query.IsScored, state.MayMissHits, query.Sort.Count == 0, tail, further)
        {
            IsBorrowing = isBorrowing
        };

    private static SearchResults Search(
        IndexSearcher searcher, IndexTail? tail, SearchRequest request, QueryOptions? options,
        CancellationToken cancellationToken) =>
        tail is null
            ? searcher.Search(request, options, cancellationToken)
            : searcher.Search(request, tail, options, cancellationToken);

    private FurtherHits Further(
        IndexSearcher searcher, IndexTail? tail, SearchRequest request, QueryOptions? options, SearchedPage page,
        QueryContext context) =>
        new(
            (skip, take) => SearchFurther(
                context,
                end => Search(searcher, tail, request with { Skip = skip, Take = take, CountsHits = false }, options, end)),
            page.Skip, page.Take);

    /// <summary>Computes facets or suggestions immediately.</summary>
    private FoundResults Compute(
        IndexSearcher searcher, IndexTail? tail, IndexAnswer state, DatabaseSnapshot snapshot, QueryContext context,
        CancellationToken cancellationToken)
    {
        BoundQuery query = context.Query;
        DocumentIndex index = state.Index;
        IReadOnlyList<string> warnings = QueryWarnings.Of(searcher, tail, state, snapshot, context, _sightings);
        if (query.Suggestions.Count > 0)
        {
            IReadOnlyList<SuggestionResult> suggestions = SuggestionRows.Find(
                query.Suggestions, searcher, tail, cancellationToken);
            tail?.Dispose();
            return new FoundResults(snapshot, new ComputedSource(searcher, index.Release), index.Name)
            {
                ComputedRows = SuggestionRows.Of(suggestions),
                Suggestions = suggestions,
                Answer = state,
                Warnings = warnings,
            };
        }

        var request = new FacetRequest(query.Condition, [.. query.Facets.Select(facet => facet.Query)]);
        FacetResults facets = tail is null
            ? searcher.Facets(request, RequestedPage.OptionsOf(context), cancellationToken)
            : searcher.Facets(request, tail, RequestedPage.OptionsOf(context), cancellationToken);
        tail?.Dispose(); // no longer needed: everything is counted
        IReadOnlyList<byte[]> rows = FacetRows.Of(query.Facets, facets);
        return new FoundResults(snapshot, new ComputedSource(searcher, index.Release), index.Name)
        {
            ComputedRows = rows,
            Plan = facets.Plan,
            Counters = facets.Counters,
            Answer = state,
            Warnings = warnings,
        };
    }
}
