using Treepie.Indexes.Definitions;

namespace Treepie.Indexes;

/// <summary>Which index answers a query that names none.</summary>
internal static class AutoIndexChoice
{
    /// <summary>The index that has all fields, is complete, and has the most in it; and the one of the collection with the most fields, which can be given those it lacks.</summary>
    public static (DocumentIndexer? Best, DocumentIndexer? Widest) Of(IEnumerable<DocumentIndexer> indexers, string collection, IReadOnlyList<AutoIndexField> fields)
    {
        DocumentIndexer? best = null;
        DocumentIndexer? widest = null;
        foreach (DocumentIndexer indexer in indexers)
        {
            if (indexer.Index.Definition is not AutoIndexDefinition definition || !definition.IsFor(collection))
                continue;
            if (definition.Covers(fields) && (best is null || IsBetter(indexer.Index, best.Index)))
                best = indexer;
            if (widest is null || definition.Fields.Count > widest.Index.Definition.Fields.Count)
                widest = indexer;
        }

        return (best, widest);
    }

    /// <summary>What <see cref="Of"/> would choose, first, and every other index of the collection with why it is not chosen.</summary>
    public static IReadOnlyList<IndexChoice> Explain(IEnumerable<DocumentIndex> indexes, string collection, IReadOnlyList<AutoIndexField> fields)
    {
        DocumentIndex[] own = [.. indexes.Where(index => index.Definition is AutoIndexDefinition definition && definition.IsFor(collection))];
        DocumentIndex? best = null;
        foreach (DocumentIndex index in own)
        {
            if (((AutoIndexDefinition)index.Definition).Covers(fields) && (best is null || IsBetter(index, best)))
                best = index;
        }

        DocumentIndex? widest = own.MaxBy(index => index.Definition.Fields.Count);
        var choices = new List<IndexChoice>();
        if (best is not null)
            choices.Add(new IndexChoice(best.Name, "It has all fields of the query."));
        else if (widest is null)
            choices.Add(new IndexChoice(new AutoIndexDefinition(collection, fields).Name, "It does not exist: the query makes it."));

        foreach (DocumentIndex index in own.Where(index => index != best).OrderByDescending(index => index == widest))
        {
            string[] lacking = [.. fields.Where(field => !index.Definition.Fields.Contains(field)).Select(field => $"'{field.SchemaName}'")];
            choices.Add(new IndexChoice(index.Name, (lacking.Length, best is null && index == widest) switch
            {
                (0, _) => "It has all fields of the query, but another one has more, or has seen more of the documents.",
                (_, true) => $"It lacks {string.Join(", ", lacking)}: the query gives it these fields.",
                _ => $"It lacks {string.Join(", ", lacking)}.",
            }));
        }

        return choices;
    }

    private static bool IsBetter(DocumentIndex index, DocumentIndex other) =>
        index.Progress.IsCaughtUp != other.Progress.IsCaughtUp
            ? index.Progress.IsCaughtUp
            : index.Definition.Fields.Count > other.Definition.Fields.Count;
}
