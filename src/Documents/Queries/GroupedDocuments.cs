using Treepie.Indexes.Reducing;
using Treepie.Indexing;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Queries.Binding;
using Treepie.Queries.Faceting;
using Treepie.Queries.Sources;
using Treepie.Rql;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// Answers a <c>group by</c> of the documents that a condition leaves. An index of groups has all documents, so these groups are
/// made for the one answer, in memory, and then queried as those of an index are.
/// </summary>
internal static class GroupedDocuments
{
    /// <summary>Returns the context of the query for the documents.</summary>
    public static QueryContext ContextOf(QueryContext context) => context with
    {
        Query = context.Query.Documents! with // not null: the caller checked it
        {
            NeverStale = context.Query.NeverStale,
            WantsTimings = context.Query.WantsTimings
        },
        Request = context.Request with { CountsResults = false, MetadataOnly = false, IndexEntries = false },
    };

    /// <summary>Groups the documents, whose results it takes over, and finds the groups of the query.</summary>
    /// <exception cref="InvalidQueryException">There are too many groups, or a condition cannot be answered.</exception>
    public static QueryResults Answer(
        QueryContext context, QueryResults documents, bool isSecret, CancellationToken cancellationToken)
    {
        GroupsInMemory? groups = null;
        DatabaseSnapshot? snapshot = null;
        try
        {
            groups = new GroupsInMemory(
                context.Query.Groups!, isSecret, context.MaxDistinctResults, context.TimeProvider); // not null: they are grouped
            long count = 0;
            while (documents.MoveNext())
            {
                groups.Add(documents.Current);
                count++;
                cancellationToken.ThrowIfCancellationRequested();
            }

            PlanNode? plan = documents.Plan;
            snapshot = documents.TakeSnapshot();
            IndexSearcher searcher = groups.Finish(cancellationToken);
            DatabaseSnapshot read = snapshot;
            (QueryContext examined, PlanNode? examination) = ExaminedHits.Find(
                context, searcher, tail: null, read,
                hits => new GroupSource(documents.IndexName, searcher, hits, read, isScored: false, null, groups.Dispose)
                {
                    IsBorrowing = true
                },
                cancellationToken);
            FoundResults found = Find(examined, searcher, groups, snapshot, documents.IndexName, cancellationToken);
            if (examination is not null)
                found = found with { Plan = found.Plan?.Over(examination) };
            context.Phases?.End("Groups");
            return new QueryResults(examined, found with
            {
                Answer = documents.Answer,
                Warnings = WarningsOf(documents, groups),
                Plan = plan is null ? found.Plan : found.Plan?.Over(Step(plan, count, groups.Count)),
            });
        }
        catch (Exception error)
        {
            if (snapshot is null)
                documents.Dispose();
            else
                snapshot.Dispose();
            groups?.Dispose();
            if (error is IndexQueryException or UnknownFieldException or QueryBudgetExceededException)
                throw RqlErrors.At(context.Request.Text, context.Query.ConditionPosition, error.Message);
            throw;
        }
    }

    private static FoundResults Find(
        QueryContext context, IndexSearcher searcher, GroupsInMemory groups, DatabaseSnapshot snapshot, string index,
        CancellationToken cancellationToken)
    {
        BoundQuery query = context.Query;
        if (query.Suggestions.Count > 0)
        {
            IReadOnlyList<SuggestionResult> suggestions = SuggestionRows.Find(
                query.Suggestions, searcher, null, cancellationToken);
            return new FoundResults(snapshot, new ComputedSource(searcher, groups.Dispose), index)
            {
                ComputedRows = SuggestionRows.Of(suggestions),
                Suggestions = suggestions,
            };
        }

        if (query.Facets.Count > 0)
        {
            FacetResults facets = searcher.Facets(
                new FacetRequest(query.Condition, [.. query.Facets.Select(static facet => facet.Query)]),
                RequestedPage.OptionsOf(context), cancellationToken);
            return new FoundResults(snapshot, new ComputedSource(searcher, groups.Dispose), index)
            {
                ComputedRows = FacetRows.Of(query.Facets, facets),
                Plan = facets.Plan,
                Counters = facets.Counters,
            };
        }

        SearchResults hits = searcher.Search(
            RequestedPage.SearchOf(context, SearchedPage.Of(query, isOnce: false)), RequestedPage.OptionsOf(context),
            cancellationToken);
        return new FoundResults(
            snapshot, new GroupSource(index, searcher, hits, snapshot, query.IsScored, null, groups.Dispose), index)
        {
            Plan = hits.Plan,
            Counters = hits.Counters,
        };
    }

    /// <summary>The step that groups documents, above those that find them.</summary>
    private static PlanNode Step(PlanNode documents, long count, long groups)
    {
        documents.ColdPages = null; // of the whole query: the first step has it
        return new PlanNode("group", label: "in memory, of the documents that the condition leaves")
        {
            RowsIn = count,
            RowsOut = groups
        }.Over(documents);
    }

    private static IReadOnlyList<string> WarningsOf(QueryResults documents, GroupsInMemory groups) => groups.FirstError is null
        ? documents.Warnings
        : [
            .. documents.Warnings,
            $"{groups.Errors:N0} documents are in no group, as they cannot be grouped. {groups.FirstError}"];
}
