using System.Collections.Concurrent;
using System.Diagnostics;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Grouping;
using Treepie.Indexing;
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
/// The front door of this room: runs queries. A query is parsed, bound to a way of finding its documents, and answered from one
/// snapshot of the documents and one view of the index that is never newer than it. Finding is limited in time; reading the
/// results takes as long as the reader does. Thread-safe.
/// </summary>
internal sealed class QueryExecutor(
    IndexCatalogue indexes, Func<DatabaseSnapshot> beginRead, ChangeSignal changes, DatabaseOptions options,
    Func<IReadOnlyDictionary<string, ICustomOrder>> orders, string database = "")
{
    /// <summary>Spellings of collections that are remembered.</summary>
    private const int MostNames = 1_024;

    private readonly QueryCache _cache = new();
    private readonly QueryDeadlines _deadlines = new(options.MaxQueryTime, options.TimeProvider);
    private readonly ConcurrentDictionary<string, string> _collections = new(StringComparer.Ordinal);
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
        finally
        {
            admission.Release();
        }
    }

    private async Task<QueryResults> RunAsync(QueryRequest request, CancellationToken cancellationToken)
    {
        // From here on the time counts: also for what it takes to understand the query, which may hold shapes.
        long started = options.TimeProvider.GetTimestamp();
        using QueryDeadlines.Deadline deadline = _deadlines.Begin(cancellationToken);
        CancellationToken end = deadline.Token;
        using Activity? span = DatabaseTelemetry.Start("treepie.query", database);
        try
        {
            var phases = new QueryPhases(options.TimeProvider, started, span);
            BoundQuery query = RequestedPage.Of(Bind(request, phases, end), request);
            phases.End("Bind");
            var context = new QueryContext(request, query, options.TimeProvider, started, cancellationToken)
            {
                Phases = phases,
                MaxDistinctResults = options.MaxDistinctResults,
                MaxScriptTime = options.MaxQueryTime
            };
            QueryResults results = query.Source is SourceKind.AutoIndex or SourceKind.NamedIndex
                ? await ExecuteOnIndexAsync(context, end).ConfigureAwait(false)
                : ExecuteOnStore(context, end);
            if (DatabaseTelemetry.CountsQueries)
                DatabaseTelemetry.Queried(database, options.TimeProvider.GetElapsedTime(started));
            return results;
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            throw new TimeoutException(
                $"The query did not finish within {options.MaxQueryTime.TotalSeconds:0.#} seconds (MaxQueryTime). Narrow its "
                    + $"condition, or raise the limit. Query: {Shorten(request.Text)}");
        }
    }

    /// <summary>
    /// Which index would answer a query, first, and why others would not. Nothing is run, and no index is made.
    /// </summary>
    public IReadOnlyList<IndexChoice> Choices(QueryRequest request, CancellationToken cancellationToken)
    {
        BoundQuery query = Bind(
            request, new QueryPhases(options.TimeProvider, options.TimeProvider.GetTimestamp()), cancellationToken);
        using DatabaseSnapshot snapshot = beginRead();
        if (query.IndexName is { } name)
            return [new IndexChoice(name, "The query names it.")];
        if (query.Source != SourceKind.AutoIndex)
            return [new IndexChoice(
                StoreName(query, snapshot),
                "The documents themselves answer it: it has no condition and no order that an index is needed for.")];
        if (query.Collection is { } collection && snapshot.Collection(collection) is null)
            return [new IndexChoice(StoreName(query, snapshot), "The collection has no documents, so no index is made.")];

        // the collection was just looked up
        if (query.Groups is { } groups)
            return GroupIndexChoice.Explain(
                indexes.Indexes(), query.Collection is { } grouped ? groups.Of(snapshot.Collection(grouped)!.Name) : groups);
        return AutoIndexChoice.Explain(
            indexes.Indexes(), query.Collection is { } of ? snapshot.Collection(of)!.Name : AutoIndexDefinition.AllDocuments,
            [.. query.Fields.Select(use => use.Field)]);
    }

    private BoundQuery Bind(QueryRequest request, QueryPhases phases, CancellationToken cancellationToken)
    {
        RqlQuery parsed = _cache.Parsed(request.Text, out PreparedQuery? prepared) ?? RqlParser.Parse(request.Text);
        if (request.IgnoresUpdate)
            parsed = parsed.WithoutUpdate();
        phases.End("Parse");
        IndexMapping? named = parsed.From.IsIndex
            ? (indexes.Find(parsed.From.Name) ?? throw new IndexNotFoundException(parsed.From.Name)).Definition
            : null;
        _names ??= new BindingContext
        {
            LoadDocument = Load,
            BeginRead = beginRead,
            Orders = orders,
            Computing = options.Computing,
            MaxShapeCorners = options.MaxShapeCorners,
        };
        bool isKept = !request.IgnoresUpdate && request.ProjectionBehavior == ProjectionBehavior.Default;
        if (isKept
            && prepared?.Bind(request.Parameters, named, options.TimeProvider, _names, cancellationToken) is { } known)
            return known;
        BindingContext names = isKept ? _names : _names with { Projection = request.ProjectionBehavior };
        BoundQuery bound = QueryBinder.Bind(
            parsed, request.Parameters, options.TimeProvider, named, names, out prepared, cancellationToken);
        if (!request.IgnoresUpdate)
            _cache.Keep(parsed, isKept ? prepared : null);
        return bound;
    }

    /// <summary>The body of a document, for what a query refers to; null where it is not there.</summary>
    private byte[]? Load(string id)
    {
        using DatabaseSnapshot snapshot = beginRead();
        return snapshot.TryGet(id, out Document document) ? document.Body.ToArray() : null;
    }

    private QueryResults ExecuteOnStore(QueryContext context, CancellationToken cancellationToken)
    {
        BoundQuery query = context.Query;
        DatabaseSnapshot snapshot = beginRead();
        long pages = snapshot.PageVisits;
        ResultSource? source = null;
        try
        {
            ScanBudget? budget = RequestedPage.BudgetOf(context.Request) is { } limits
                ? new ScanBudget(limits, snapshot, options.TimeProvider)
                : null;
            source = query.Source switch
            {
                SourceKind.Ids => new IdSource(snapshot, query.Collection, query.Ids, budget),
                SourceKind.IdPrefix =>
                    CursorSource.OfPrefix(
                        snapshot, query.Collection, query.IdPrefix, context.Request.CountsResults, budget, cancellationToken),
                _ => CursorSource.OfCollection(snapshot, query.Collection, budget),
            };
            context.Phases.End("Query");
            var found = new FoundResults(snapshot, source, StoreName(query, snapshot))
            {
                Scan = query.WantsTimings || context.Request.WithPlan ? new ScanPlan(query, snapshot, source, pages) : null,
                Warnings = QueryWarnings.OfCollection(query.Collection, snapshot),
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

    private static string StoreName(BoundQuery query, DatabaseSnapshot snapshot) =>
        query.Collection is { } collection ? $"collection/{snapshot.Collection(collection)?.Name ?? collection}" : "AllDocs";

    private async ValueTask<QueryResults> ExecuteOnIndexAsync(QueryContext context, CancellationToken cancellationToken)
    {
        long cutoff = changes.LastEtag;
        bool wasReset = false;
        while (true)
        {
            if (context.Request.Admission is { } admission)
                await admission.TakeAsync(cancellationToken).ConfigureAwait(false); // a wait that failed gave it back
            BoundQuery query = context.Query;
            DocumentIndex? index = ChooseIndex(context, out bool created);
            if (index is null)
                return ExecuteOnNothing(context);

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
                if (FieldsNeeded(index, query) is var fields && fields > index.Progress.CompleteFields)
                    await WaitForFieldsAsync(index, context, fields, longest, cancellationToken).ConfigureAwait(false);

                if (!index.TryHold())
                    continue;
                long reached = index.Progress.Etag; // before it is looked at: what comes after that is waited for
                if (ExecuteOn(
                    index, context, waits ? cutoff : long.MaxValue, out string? refusal, cancellationToken) is { } results)
                    return results;

                // It is too far behind to be caught up with in passing, or has more fields than the query knows.
                if (IsOutOfDate(query, index))
                    context = context with
                    {
                        Query = RequestedPage.Of(Bind(context.Request, context.Phases, cancellationToken), context.Request)
                    };
                else
                    await CatchUpAsync(index, context, reached, refusal, cancellationToken).ConfigureAwait(false);
            }
            catch (CorruptionException) when (!wasReset)
            {
                // An index is made of documents and can be made of them again.
                wasReset = true;
                indexes.Reset(index);
            }
            catch (ObjectDisposedException)
            {
                // The index was replaced or deleted meanwhile: choose again. A database that is closing says so there.
            }
        }
    }

    /// <summary>Waits for an index to begin with so many fields, and, but not for ever, to be done with them.</summary>
    /// <exception cref="TimeoutException">It does not begin.</exception>
    private async Task WaitForFieldsAsync(
        DocumentIndex index, QueryContext context, int fields, TimeSpan longest, CancellationToken cancellationToken)
    {
        bool isOff = indexes.Control.Switch(index.Name) is { IsPaused: true } or { Settings.IsDisabled: true };
        TimeSpan patience = isOff ? longest : options.MaxQueryTime; // a batch, at the most, where it works
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

    /// <summary>
    /// Waits for the index to go on from an etag; for all of the query no longer than it may wait.
    /// </summary>
    /// <exception cref="TimeoutException">It is still too far behind.</exception>
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
                $"The index '{index.Name}' {refusal ?? "is being given a field of the query"}, which is too much to be looked at "
                + $"in passing (neverStale), "
                + $"and it has not committed another batch within the {patience.TotalSeconds:0.###} seconds that the query may "
                + $"wait. Ask again, wait longer, or ask without it.");
        }
    }

    private DocumentIndex? ChooseIndex(QueryContext context, out bool created)
    {
        BoundQuery query = context.Query;
        created = false;
        if (query.IndexName is { } name)
        {
            DocumentIndex index = indexes.Find(name) ?? throw new IndexNotFoundException(name);
            RequireFields(index, context);
            return index;
        }

        if (query.Groups is { } groups)
            return ChooseGroups(query, groups, out created);
        var fields = new AutoIndexField[query.Fields.Count];
        for (int i = 0; i < fields.Length; i++)
            fields[i] = query.Fields[i].Field;

        // Whoever asks for collections that do not exist leaves no index behind.
        string? collection = query.Collection is null ? AutoIndexDefinition.AllDocuments : NameOf(query.Collection);
        return collection is null ? null : indexes.FindOrCreate(collection, fields, out created);
    }

    /// <summary>A collection as it was first written; null where there is none.</summary>
    private string? NameOf(string collection)
    {
        // once it is there, it stays there
        if (_collections.TryGetValue(collection, out string? name))
            return name;
        using DatabaseSnapshot snapshot = beginRead();
        name = snapshot.Collection(collection)?.Name;
        if (name is not null && _collections.Count < MostNames)
            _collections[collection] = name;
        return name;
    }

    private DocumentIndex? ChooseGroups(BoundQuery query, GroupDefinition groups, out bool created)
    {
        created = false;
        if (query.Collection is null)
            return indexes.FindOrCreate(groups, out created);
        return NameOf(query.Collection) is { } collection ? indexes.FindOrCreate(groups.Of(collection), out created) : null;
    }

    /// <summary>
    /// Whether documents have given the index fields since the query was bound: what it took for a field without values may be
    /// one of these.
    /// </summary>
    private static bool IsOutOfDate(BoundQuery query, DocumentIndex index) =>
        query.Learning is { } known && known != index.Definition;

    /// <summary>Between binding and now the index may have been defined anew.</summary>
    private static void RequireFields(DocumentIndex index, QueryContext context)
    {
        foreach (FieldUse use in context.Query.Fields)
            if (index.Definition.Schema.IndexOf(use.Field.SchemaName) < 0)
                throw FieldBinder.NoSuchField(context.Request.Text, use.Position, index.Definition, use.Field);
    }

    /// <summary>How many fields of the index must be complete for the query: all up to the last that it uses.</summary>
    private static int FieldsNeeded(DocumentIndex index, BoundQuery query)
    {
        int last = -1;
        for (int i = 0; i < query.Fields.Count; i++)
            last = Math.Max(last, index.Definition.Schema.IndexOf(query.Fields[i].Field.SchemaName));
        return last + 1;
    }

    /// <summary>Whether every entry of a view has all fields of the query; an index that is being widened may not.</summary>
    private static bool IsWhole(IndexSearcher searcher, BoundQuery query)
    {
        for (int i = 0; i < query.Fields.Count; i++)
            if (!searcher.IsComplete(query.Fields[i].Field.SchemaName))
                return false;
        return true;
    }

    /// <summary>Waits, but not for ever: an answer that is stale says so.</summary>
    private async Task WaitAsync(
        QueryContext context, Func<long, CancellationToken, Task> waitFor, long wanted, TimeSpan longest,
        CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(longest, options.TimeProvider);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        Task waiting = waitFor(wanted, either.Token);
        if (waiting.IsCompletedSuccessfully)
            return;

        context.Request.Admission?.Release(); // others work meanwhile
        try
        {
            await waiting.ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (limit.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            // The caller sees IsStale.
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
    /// The index is held by the caller; from here on by the results. Null, and held no more: it is too far behind for an answer
    /// that is never stale, or has fields that the query does not know of.
    /// </summary>
    private QueryResults? ExecuteOn(
        DocumentIndex index, QueryContext context, long cutoff, out string? refusal, CancellationToken cancellationToken)
    {
        refusal = null;
        IndexSearcher? searcher = null;
        SearchResults? hits = null;
        DatabaseSnapshot? snapshot = null;
        IndexTail? tail = null;
        try
        {
            // In this order: then the index knows nothing that the snapshot does not.
            searcher = index.OpenSearcher();
            bool isWhole = IsWhole(searcher, context.Query);
            bool isOutOfDate = IsOutOfDate(context.Query, index); // of a view taken before, as fields are there before entries
            snapshot = beginRead();
            Debug.Assert(searcher.LastEtag <= snapshot.LastEtag, "an index is built from durable documents");

            // How much waits beyond what the caller wanted to see is not said to be stale; that hits may be gone counts from all.
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

            context.Phases.End("Index");
            var state = new IndexAnswer(index, isStale, mayMissHits, searcher.LastEtag, index.Progress.LastBatch);
            FoundResults found = context.Query.IsComputed
                ? Compute(searcher, tail, state, snapshot, context, cancellationToken)
                : FindDocuments(searcher, tail, state, snapshot, context, ref hits, cancellationToken);
            context.Phases.End("Query");
            return new QueryResults(context, found);
        }
        catch (Exception error)
        {
            hits?.Dispose();
            tail?.Dispose();
            searcher?.Dispose();
            snapshot?.Dispose();
            index.Release();
            if (error is IndexQueryException or UnknownFieldException)
                throw RqlErrors.At(context.Request.Text, context.Query.ConditionPosition, error.Message);
            if (error is QueryBudgetExceededException)
                throw new InvalidQueryException(error.Message);
            throw;
        }
    }

    /// <summary>What is said beside an answer of an index.</summary>
    private static IReadOnlyList<string> WarningsOf(
        IndexSearcher searcher, IndexTail? tail, IndexAnswer state, DatabaseSnapshot snapshot, QueryContext context)
    {
        IReadOnlyList<string> ofIndex = state.Index.Warnings;
        IReadOnlyList<string> ofFields = state.IsStale || state.MayMissHits || tail is not null
            ? []
            : QueryWarnings.OfFields(context.Query, state.Index, searcher, snapshot);
        return ofIndex.Count == 0 ? ofFields : ofFields.Count == 0 ? ofIndex : [.. ofIndex, .. ofFields];
    }

    private FoundResults FindDocuments(
        IndexSearcher searcher, IndexTail? tail, IndexAnswer state, DatabaseSnapshot snapshot, QueryContext context,
        ref SearchResults? hits, CancellationToken cancellationToken)
    {
        DocumentIndex index = state.Index;
        BoundQuery query = context.Query;
        var request = new SearchRequest
        {
            Query = query.Condition,
            Sort = query.Sort,
            Skip = query.Filters ? 0 : query.Skip,
            Take = query.Filters ? query.FilterLimit : query.Distinct ? long.MaxValue : query.Take,
            After = RequestedPage.Position(context.Request),
            WithPosition = context.Request.WithContinuation || context.Request.Continuation is not null,
            CountsHits = context.Request.CountsResults,
        };
        hits = tail is null
            ? searcher.Search(request, Options(context), cancellationToken)
            : searcher.Search(request, tail, Options(context), cancellationToken);
        if (hits.MissingCompound is { } missing)
            index.WantCompound(missing);
        ResultSource source = index.Definition.KeepsObjects
            ? new GroupSource(index, searcher, hits, snapshot, query.IsScored, tail)
            : new IndexSource(index, searcher, hits, snapshot, query.IsScored, state.MayMissHits, query.Sort.Count == 0, tail);
        return new FoundResults(snapshot, source, index.Name)
        {
            Answer = state,
            Warnings = WarningsOf(searcher, tail, state, snapshot, context),
            Notes = ResultNotes.Open(searcher, tail, query, context.CancellationToken),
            Plan = hits.Plan,
            Counters = hits.Counters,
            Position = hits.Position,
        };
    }

    /// <summary>Facets and suggestions are computed at once.</summary>
    private FoundResults Compute(
        IndexSearcher searcher, IndexTail? tail, IndexAnswer state, DatabaseSnapshot snapshot, QueryContext context,
        CancellationToken cancellationToken)
    {
        BoundQuery query = context.Query;
        DocumentIndex index = state.Index;
        IReadOnlyList<string> warnings = WarningsOf(searcher, tail, state, snapshot, context);
        if (query.Suggestions.Count > 0)
        {
            IReadOnlyList<SuggestionResult> suggestions = SuggestionRows.Find(
                query.Suggestions, searcher, tail, cancellationToken);
            tail?.Dispose();
            return new FoundResults(snapshot, new ComputedSource(index, searcher), index.Name)
            {
                ComputedRows = SuggestionRows.Of(suggestions),
                Suggestions = suggestions,
                Answer = state,
                Warnings = warnings,
            };
        }

        var request = new FacetRequest(query.Condition, [.. query.Facets.Select(facet => facet.Query)]);
        FacetResults facets = tail is null
            ? searcher.Facets(request, Options(context), cancellationToken)
            : searcher.Facets(request, tail, Options(context), cancellationToken);
        tail?.Dispose(); // all is counted
        IReadOnlyList<byte[]> rows = FacetRows.Of(query.Facets, facets);
        return new FoundResults(snapshot, new ComputedSource(index, searcher), index.Name)
        {
            ComputedRows = rows,
            Plan = facets.Plan,
            Counters = facets.Counters,
            Answer = state,
            Warnings = warnings,
        };
    }

    private QueryOptions? Options(QueryContext context) =>
        context.Query.WantsTimings || context.Request.WithPlan || RequestedPage.BudgetOf(context.Request) is not null
            ? new QueryOptions
            {
                Plan = context.Query.WantsTimings
                    ? PlanDetail.Times
                    : context.Request.WithPlan ? PlanDetail.Counts : PlanDetail.None,
                Budget = RequestedPage.BudgetOf(context.Request),
                TimeProvider = options.TimeProvider,
            }
            : null;

    private static string Shorten(string text) => text.Length <= 200 ? text : text[..200] + "…";
}
