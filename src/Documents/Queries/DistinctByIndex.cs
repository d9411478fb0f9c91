using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexing;
using Treepie.Queries.Binding;
using Treepie.Queries.Sources;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// Answers <c>select distinct</c> of one field of a collection from an index: one document for each value in its dictionary. Only
/// where the index has all documents of the snapshot and knows that equal terms are equal values, and only a result that is no
/// page: the next page may be read by a scan, in another order.
/// </summary>
internal static class DistinctByIndex
{
    /// <summary>
    /// Looking a document up by its entry costs less than scanning this many documents; with more values, the scan may be faster.
    /// </summary>
    private const int ScannedByLookup = 50;

    /// <summary>This many are looked up in any case.</summary>
    private const int FewRows = 16;

    /// <summary>Returns the documents, or null if no index can answer.</summary>
    public static FoundResults? Find(
        QueryContext context, IndexCatalogue indexes, Func<DatabaseSnapshot> beginRead, FieldSightings sightings,
        CancellationToken cancellationToken)
    {
        if (context.Query is not
            {
                Source: SourceKind.Collection, Distinct: true, Filters: false, Script: null, Skip: 0,
                Collection: { } collection, Projection.OnlyPath: { } path
            }
            || RequestedPage.BudgetOf(context.Request) is not null)
            return null;

        foreach (DocumentIndex index in indexes.Indexes())
        {
            if (FieldOf(index.Definition, collection, path) is { } field
                && index.TryHold()
                && Find(context, index, field, collection, beginRead, sightings, cancellationToken) is { } found)
                return found;
        }

        return null;
    }

    /// <summary>Returns the name of the field that has the values of a path in an index of the collection, or null.</summary>
    private static string? FieldOf(IndexMapping definition, string collection, FieldPath path) =>
        definition is { IsMadeByQueries: true, Reduction: null }
            && string.Equals(definition.OnlyCollection, collection, StringComparison.OrdinalIgnoreCase)
            ? definition.Fields.FirstOrDefault(
                field => field.Kind is AutoIndexFieldKind.Value or AutoIndexFieldKind.Exact && path.Equals(field.FieldPath))
                ?.SchemaName
            : null;

    /// <summary>Takes over the hold on the index.</summary>
    private static FoundResults? Find(
        QueryContext context, DocumentIndex index, string field, string collection, Func<DatabaseSnapshot> beginRead,
        FieldSightings sightings, CancellationToken cancellationToken)
    {
        IndexSearcher? searcher = null;
        DatabaseSnapshot? snapshot = null;
        FoundResults? found = null;
        try
        {
            searcher = index.OpenSearcher(); // before the snapshot, so that it is not newer
            snapshot = beginRead();
            long count = snapshot.Collection(collection)?.DocumentCount ?? 0;
            long worthwhile = Math.Max(FewRows, count / ScannedByLookup);
            int most = (int)Math.Min(Math.Min(context.Query.Take, worthwhile), context.MaxDistinctResults);
            bool hasAll = searcher.IsComplete(field)
                && searcher.EntryCount == count
                && !index.IsStale(searcher.LastEtag, snapshot, long.MaxValue);
            if (!hasAll
                || searcher.SearchDistinct(field, most, RequestedPage.OptionsOf(context), cancellationToken) is not { } hits)
                return null;
            context.Phases?.End("Query");
            var source = new IndexSource(
                index, searcher, hits, snapshot, isScored: false, isStale: false, isInOrder: true)
            {
                Represented = count,
            };
            return found = new FoundResults(snapshot, source, index.Name)
            {
                Plan = hits.Plan,
                Counters = hits.Counters,
                LeftOut = count - hits.Count,
                Warnings = QueryWarnings.OfStore(context.Query, snapshot, sightings),
            };
        }
        catch (CorruptionException)
        {
            return null; // the documents can answer; the next query that needs the index resets it
        }
        finally
        {
            if (found is null)
            {
                snapshot?.Dispose();
                searcher?.Dispose();
                index.Release();
            }
        }
    }
}
