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

    private static bool IsBetter(DocumentIndex index, DocumentIndex other) =>
        index.Progress.IsCaughtUp != other.Progress.IsCaughtUp
            ? index.Progress.IsCaughtUp
            : index.Definition.Fields.Count > other.Definition.Fields.Count;
}
