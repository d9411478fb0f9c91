using System.Diagnostics;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Queries.Binding;
using Treepie.Queries.Notes;
using Treepie.Queries.Sources;
using Treepie.Rql;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// The front door of this room: runs queries. A query is parsed, bound to a way of finding its documents, and answered from one
/// snapshot of the documents and one view of the index that is never newer than it. Finding is limited in time; reading the results
/// takes as long as the reader does. Thread-safe.
/// </summary>
internal sealed class QueryExecutor(IndexCatalogue indexes, Func<DatabaseSnapshot> beginRead, ChangeSignal changes, DatabaseOptions options)
{
    /// <summary>Runs a query.</summary>
    public async Task<QueryResults> ExecuteAsync(QueryRequest request, CancellationToken cancellationToken)
    {
        long started = options.TimeProvider.GetTimestamp();
        BoundQuery query = Page(QueryBinder.Bind(RqlParser.Parse(request.Text), request.Parameters, options.TimeProvider), request);
        var context = new QueryContext(request, query, options.TimeProvider, started, cancellationToken);

        using var limit = new CancellationTokenSource(options.MaxQueryTime, options.TimeProvider);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            return query.Source is SourceKind.AutoIndex or SourceKind.NamedIndex
                ? await ExecuteOnIndexAsync(context, either.Token).ConfigureAwait(false)
                : ExecuteOnStore(context, either.Token);
        }
        catch (OperationCanceledException) when (limit.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            throw new TimeoutException(
                $"The query did not finish within {options.MaxQueryTime.TotalSeconds:0.#} seconds (MaxQueryTime). Narrow its condition, or raise the limit. Query: {Shorten(request.Text)}");
        }
    }

    private static BoundQuery Page(BoundQuery query, QueryRequest request)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(request.Start);
        ArgumentOutOfRangeException.ThrowIfNegative(request.PageSize);
        long skip = query.Skip > long.MaxValue - request.Start ? long.MaxValue : query.Skip + request.Start;
        return query with { Skip = skip, Take = Math.Min(query.Take, request.PageSize) };
    }

    private QueryResults ExecuteOnStore(QueryContext context, CancellationToken cancellationToken)
    {
        BoundQuery query = context.Query;
        DatabaseSnapshot snapshot = beginRead();
        ResultSource? source = null;
        try
        {
            source = query.Source switch
            {
                SourceKind.Ids => new IdSource(snapshot, query.Collection, query.Ids),
                SourceKind.IdPrefix => CursorSource.OfPrefix(snapshot, query.Collection, query.IdPrefix, cancellationToken),
                _ => CursorSource.OfCollection(snapshot, query.Collection),
            };
            var found = new FoundResults(snapshot, source, StoreName(query, snapshot)) { ResultEtag = ResultEtags.Of(context, snapshot, null, false) };
            for (long skipped = 0; skipped < query.Skip && source.MoveNext(); skipped++)
            {
                cancellationToken.ThrowIfCancellationRequested();
                snapshot.ReleasePages();
            }

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

    private async Task<QueryResults> ExecuteOnIndexAsync(QueryContext context, CancellationToken cancellationToken)
    {
        long cutoff = changes.LastEtag;
        bool wasReset = false;
        while (true)
        {
            DocumentIndex? index = ChooseIndex(context, out bool created);
            if (index is null)
                return ExecuteOnNothing(context);

            bool waits = context.Request.WaitForNonStaleResults;
            created |= wasReset;
            TimeSpan longest = waits && context.Request.WaitTimeout is { } asked ? asked : options.DefaultStaleWait;
            try
            {
                if (waits || created)
                    await WaitAsync(index, cutoff, longest, cancellationToken).ConfigureAwait(false);
                if (index.TryHold())
                    return ExecuteOn(index, context, waits ? cutoff : long.MaxValue, cancellationToken);
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

        AutoIndexField[] fields = [.. query.Fields.Select(f => f.Field)];
        if (query.Collection is null)
            return indexes.FindOrCreate(AutoIndexDefinition.AllDocuments, fields, out created);

        // Whoever asks for collections that do not exist leaves no index behind.
        using DatabaseSnapshot snapshot = beginRead();
        return snapshot.Collection(query.Collection) is { } collection ? indexes.FindOrCreate(collection.Name, fields, out created) : null;
    }

    private static void RequireFields(DocumentIndex index, QueryContext context)
    {
        foreach (FieldUse use in context.Query.Fields)
        {
            if (!index.Definition.Fields.Contains(use.Field))
            {
                throw RqlErrors.At(
                    context.Request.Text,
                    use.Position,
                    $"The index '{index.Name}' has no field '{use.Field.SchemaName}'; it has {string.Join(", ", index.Definition.Fields.Select(f => $"'{f.SchemaName}'"))}.");
            }
        }
    }

    /// <summary>Waits, but not for ever: an answer that is stale says so.</summary>
    private async Task WaitAsync(DocumentIndex index, long etag, TimeSpan longest, CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(longest, options.TimeProvider);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            await index.Progress.WaitForAsync(etag, either.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (limit.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            // The caller sees IsStale.
        }
    }

    private QueryResults ExecuteOnNothing(QueryContext context)
    {
        DatabaseSnapshot snapshot = beginRead();
        var found = new FoundResults(snapshot, new EmptySource(), StoreName(context.Query, snapshot)) { ResultEtag = ResultEtags.Of(context, snapshot, null, false) };
        return new QueryResults(context, found);
    }

    /// <summary>The index is held by the caller; from here on by the results.</summary>
    private QueryResults ExecuteOn(DocumentIndex index, QueryContext context, long cutoff, CancellationToken cancellationToken)
    {
        IndexSearcher? searcher = null;
        SearchResults? hits = null;
        DatabaseSnapshot? snapshot = null;
        try
        {
            // In this order: then the index knows nothing that the snapshot does not.
            searcher = new IndexSearcher(index.Store);
            snapshot = beginRead();
            Debug.Assert(searcher.LastEtag <= snapshot.LastEtag, "an index is built from durable documents");

            // How much waits beyond what the caller wanted to see is not said to be stale; that hits may be gone counts from all.
            bool mayMissHits = IndexCatalogue.IsStale(index, searcher.LastEtag, snapshot, long.MaxValue);
            bool isStale = mayMissHits && (cutoff == long.MaxValue || IndexCatalogue.IsStale(index, searcher.LastEtag, snapshot, cutoff));
            BoundQuery query = context.Query;
            hits = searcher.Search(
                new SearchRequest
                {
                    Query = query.Condition,
                    Sort = query.Sort,
                    Skip = query.Skip,
                    Take = query.Distinct ? long.MaxValue : query.Take,
                },
                cancellationToken);
            var found = new FoundResults(snapshot, new IndexSource(index, searcher, hits, snapshot, query.IsScored, mayMissHits), index.Name)
            {
                IsStale = isStale,
                IndexTimestamp = index.Progress.LastBatch ?? DateTime.MinValue,
                ResultEtag = ResultEtags.Of(context, snapshot, index, mayMissHits, searcher.LastEtag),
                Notes = ResultNotes.Open(searcher, query, context.CancellationToken),
            };
            return new QueryResults(context, found);
        }
        catch (Exception error)
        {
            hits?.Dispose();
            searcher?.Dispose();
            snapshot?.Dispose();
            index.Release();
            if (error is IndexQueryException)
                throw new InvalidQueryException(error.Message);
            throw;
        }
    }

    private static string Shorten(string text) => text.Length <= 200 ? text : text[..200] + "…";
}
