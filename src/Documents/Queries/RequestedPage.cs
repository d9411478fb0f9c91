using System.Buffers;
using System.Buffers.Text;
using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Queries.Binding;
using Treepie.Queries.Sources;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>Applies the options of a request to a query: page, continuation and budget.</summary>
internal static class RequestedPage
{
    /// <summary>Returns the query as it runs for a request.</summary>
    /// <exception cref="InvalidQueryException">An option cannot be combined with the query.</exception>
    public static BoundQuery Of(BoundQuery query, QueryRequest request)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(request.Start);
        ArgumentOutOfRangeException.ThrowIfNegative(request.PageSize);
        long skip = query.Skip > long.MaxValue - request.Start ? long.MaxValue : query.Skip + request.Start;
        RefuseContinuation(query, request);
        RefuseBudget(request);
        if (request.IndexEntries)
            query = AsEntries(query);
        long take = Math.Min(query.Take, request.PageSize);
        if (skip == query.Skip && take == query.Take && request is { WithTimings: false, NeverStale: false })
            return query;
        return query with
        {
            Skip = skip,
            Take = take,
            WantsTimings = query.WantsTimings || request.WithTimings,
            NeverStale = query.NeverStale | request.NeverStale
        };
    }

    /// <summary>Returns the budget of a request, or null if it is unlimited.</summary>
    public static QueryBudget? BudgetOf(QueryRequest request) => request is { MaxPages: null, MaxEntries: null, MaxTime: null }
        ? null
        : new QueryBudget(request.MaxPages, request.MaxEntries, request.MaxTime);

    /// <summary>Returns the plan and budget that a query is to have; null if none.</summary>
    public static QueryOptions? OptionsOf(QueryContext context) =>
        context.Query.WantsTimings || context.Request.WithPlan || BudgetOf(context.Request) is not null
            ? new QueryOptions
            {
                Plan = context.Query.WantsTimings
                    ? PlanDetail.Times
                    : context.Request.WithPlan ? PlanDetail.Counts : PlanDetail.None,
                Budget = BudgetOf(context.Request),
                TimeProvider = context.TimeProvider,
            }
            : null;

    /// <summary>Returns what an index is asked for.</summary>
    public static SearchRequest SearchOf(QueryContext context, SearchedPage page)
    {
        BoundQuery query = context.Query;
        return new SearchRequest
        {
            Query = query.Condition,
            Sort = query.Sort,
            Skip = page.Skip,
            Take = page.Take,
            After = Position(context.Request),
            WithPosition = context.Request.WithContinuation || context.Request.Continuation is not null,
            CountsHits = context.Request.CountsResults,
        };
    }

    /// <summary>Returns where a scan of documents begins; null if the request neither has a continuation nor wants one.</summary>
    public static ScanPosition? ScanOf(BoundQuery query, QueryRequest request, DatabaseSnapshot snapshot)
    {
        if (request is { Continuation: null, WithContinuation: false })
            return null;
        byte[] scanned = Encoding.UTF8.GetBytes(
            $"{snapshot.ChangeVectors.DatabaseId:N}\0{query.Source}\0{Fold(query.Collection)}\0{Fold(query.IdPrefix)}\0"
                + string.Join('\0', query.Ids.Select(Fold)));
        return ScanPosition.Of(scanned, isNumber: query.Source != SourceKind.IdPrefix, Position(request));

        static string Fold(string? text) => Encoding.UTF8.GetString(CollectionName.Fold(text ?? ""));
    }

    /// <summary>Decodes the continuation of a request; empty if it has none.</summary>
    private static ReadOnlyMemory<byte> Position(QueryRequest request)
    {
        if (request.Continuation is not { Length: > 0 } text)
            return default;

        byte[] position = new byte[Base64Url.GetMaxDecodedLength(text.Length)];
        return Base64Url.DecodeFromChars(text, position, out _, out int written) == OperationStatus.Done
            ? position.AsMemory(0, written)
            : throw new InvalidQueryException("The continuation is not the end of a page of an answer.");
    }

    /// <summary>Returns the query reduced to its hits, without projection, includes and annotations.</summary>
    private static BoundQuery AsEntries(BoundQuery query)
    {
        if (query.Source is not (SourceKind.AutoIndex or SourceKind.NamedIndex))
            throw new InvalidQueryException(
                "No index answers this query, so there are no entries to see: give it a condition or an order, or name an index "
                    + "('from index …').");
        if (query.IsComputed)
            throw new InvalidQueryException(
                "Facets and suggestions are counted over all hits and are no entries: ask for the entries without 'select'.");
        return query with
        {
            Projection = null,
            Distinct = false,
            IncludePaths = [],
            IncludeIds = [],
            BesideIncludes = [],
            Highlights = [],
            WantsExplanations = false
        };
    }

    private static void RefuseContinuation(BoundQuery query, QueryRequest request)
    {
        if (request is { Continuation: null, WithContinuation: false })
            return;
        if (query.IsComputed)
            throw new InvalidQueryException(
                "Facets and suggestions have no continuation, as they are counted over all hits: page with 'Start' and "
                    + "'PageSize' of their options.");
        if (query.Documents is not null)
            throw new InvalidQueryException(
                "Groups of some documents only have no continuation, as they are made for each answer: page with limit and "
                    + "offset.");
        if (query.Filters)
            throw new InvalidQueryException(
                $"A query with 'filter'{(query.Warning is null ? "" : ", or with conditions of 'where' that no index answers,")} "
                    + "has no continuation, as hits are left out after they are found: page with limit and offset.");
        if (query.ExaminedKeys.Count > 0)
            throw new InvalidQueryException(
                "A query whose order no index has ('order by' of counters, or of functions of a field of a named index) has no "
                    + "continuation, since its results are sorted for each page: page with limit and offset.");
        if (query.Distinct)
            throw new InvalidQueryException(
                "A query with 'distinct' has no continuation, as equal rows are left out after they are found: page with limit "
                    + "and offset.");
    }

    private static void RefuseBudget(QueryRequest request)
    {
        try
        {
            BudgetOf(request)?.Check();
        }
        catch (ArgumentOutOfRangeException error)
        {
            throw new InvalidQueryException(error.Message);
        }
    }
}
