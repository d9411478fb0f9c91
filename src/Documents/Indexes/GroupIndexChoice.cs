using Treepie.Indexes.Grouping;

namespace Treepie.Indexes;

/// <summary>
/// Chooses the index for a query over groups. An index without all of the fields is not widened, as its groups do not know
/// their documents: one with the fields of both is built and replaces it.
/// </summary>
internal static class GroupIndexChoice
{
    /// <summary>Decides which index answers a query, and what must be created or removed.</summary>
    /// <exception cref="InvalidQueryException">The maximum number of indexes would be exceeded.</exception>
    public static AutoIndexStep Decide(
        IReadOnlyCollection<DocumentIndexer> indexers, GroupDefinition wanted, IndexingOptions options, DateTimeOffset now)
    {
        DocumentIndexer? best = null;
        foreach (DocumentIndexer indexer in indexers)
            if (indexer.Index.Definition is GroupDefinition definition
                && definition.Covers(wanted)
                && (best is null || IsBetter(indexer.Index, best.Index)))
                best = indexer;
        if (best is not null)
            return new AutoIndexStep(best, null, []);

        List<DocumentIndexer> retired = [
            .. AutoIndexChoice.Auto(indexers)
                .Where(indexer => indexer.Index.LastUse < (now - options.AutoIndexRetention).UtcTicks)];
        GroupDefinition? widest = indexers.Except(retired)
            .Select(indexer => indexer.Index.Definition)
            .OfType<GroupDefinition>()
            .Where(wanted.GroupsAs)
            .MaxBy(definition => definition.Fields.Count);
        GroupDefinition merged = widest?.Merge(wanted) ?? wanted;
        if (AutoIndexChoice.Auto(indexers).Count() - retired.Count >= options.MaxAutoIndexes)
            retired.Add(AutoIndexChoice.LeastUsed(AutoIndexChoice.Auto(indexers).Except(retired), options, now));
        return new AutoIndexStep(null, merged.Aggregates.Count <= GroupDefinition.MaxAggregates ? merged : wanted, retired);
    }

    /// <summary>
    /// Returns the index that would answer, first, and every other index of the same groups with the reason why it would
    /// not.
    /// </summary>
    public static IReadOnlyList<IndexChoice> Explain(IEnumerable<DocumentIndex> indexes, GroupDefinition wanted)
    {
        DocumentIndex[] own =
            [.. indexes.Where(index => index.Definition is GroupDefinition definition && definition.GroupsAs(wanted))];
        DocumentIndex? best = null;
        foreach (DocumentIndex index in own)
            if (((GroupDefinition)index.Definition).Covers(wanted) && (best is null || IsBetter(index, best)))
                best = index;

        var choices = new List<IndexChoice>
        {
            best is null
                ? new IndexChoice(wanted.Name, "It does not exist: the query makes it.")
                : new IndexChoice(best.Name, "It has the groups of the query, and all that is asked of them."),
        };
        foreach (DocumentIndex index in own.Where(index => index != best))
        {
            IEnumerable<string> lacking = wanted.Fields.Except(index.Definition.Fields).Select(field => $"'{field.SchemaName}'");
            choices.Add(new IndexChoice(index.Name, ((GroupDefinition)index.Definition).Covers(wanted)
                ? "It has the groups of the query, but another one has more of them, or has seen more of the documents."
                : $"It lacks {string.Join(", ", lacking)}."));
        }

        return choices;
    }

    private static bool IsBetter(DocumentIndex index, DocumentIndex other) =>
        index.Progress.IsCaughtUp != other.Progress.IsCaughtUp
            ? index.Progress.IsCaughtUp
            : index.Definition.Fields.Count > other.Definition.Fields.Count;
}
