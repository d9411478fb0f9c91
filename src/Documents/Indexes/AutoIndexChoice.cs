using Treepie.Indexes.Definitions;
using Treepie.Indexes.Grouping;
using Treepie.Indexing;
using Treepie.Storage;

namespace Treepie.Indexes;

/// <summary>Which index answers a query that names none.</summary>
internal static class AutoIndexChoice
{
    /// <summary>
    /// Fields that no document has, of which so many are kept, those used last: somebody may ask for what will be there.
    /// </summary>
    private const int KeptEmptyFields = 32;

    /// <summary>
    /// Fields that nobody needs, with which an index is not widened but built anew without them: so many that few widenings cost
    /// a building.
    /// </summary>
    private const int ManyUnneeded = 32;

    /// <summary>With as many indexes as there may be, one that was not used for so long goes.</summary>
    private static readonly TimeSpan _idle = TimeSpan.FromHours(1);

    /// <summary>Which index answers, and what is done for it.</summary>
    /// <param name="indexers">All that answer.</param>
    /// <param name="collection">Collection, or <see cref="AutoIndexDefinition.AllDocuments"/>.</param>
    /// <param name="fields">Fields of the query.</param>
    /// <param name="options">Limits.</param>
    /// <param name="now">The time.</param>
    /// <exception cref="InvalidQueryException">There would be more indexes, or fields, than there may be.</exception>
    public static AutoIndexStep Decide(
        IReadOnlyCollection<DocumentIndexer> indexers, string collection, IReadOnlyList<AutoIndexField> fields,
        IndexingOptions options, DateTimeOffset now)
    {
        (DocumentIndexer? best, DocumentIndexer? roomy, DocumentIndexer? widest) = Of(indexers, collection, fields);
        if (best is not null)
            return new AutoIndexStep(best, null, []);
        if (fields.Count > AutoIndexDefinition.MaxFields)
            throw new InvalidQueryException(
                $"The query asks about {fields.Count} fields; an index takes {AutoIndexDefinition.MaxFields}.");

        List<DocumentIndexer> retired = [
            .. Auto(indexers)
                .Where(indexer => indexer != roomy && indexer.Index.LastUse < (now - options.AutoIndexRetention).UtcTicks)];
        if ((roomy ?? widest) is { } given && Needed(given.Index, options, now) is var needed
            && (given.Index.Definition.Fields.Count - needed.Count >= ManyUnneeded
                || (roomy is null && needed.Count + fields.Count <= AutoIndexDefinition.MaxFields)))
        {
            // The index it is built beside goes when it has caught up.
            return new AutoIndexStep(null, new AutoIndexDefinition(collection, needed).Merge(fields), retired);
        }

        if (roomy is not null)
            return new AutoIndexStep(roomy, ((AutoIndexDefinition)roomy.Index.Definition).Merge(fields), retired);

        if (Auto(indexers).Count() - retired.Count >= options.MaxAutoIndexes)
            retired.Add(LeastUsed(Auto(indexers).Except(retired), options, now));
        return new AutoIndexStep(null, new AutoIndexDefinition(collection, fields).Merge([]), retired);
    }

    /// <summary>Notes that a query uses fields of an index. In the lock of the catalogue.</summary>
    public static void NoteUse(DocumentIndex index, IReadOnlyList<AutoIndexField> fields, DateTimeOffset now)
    {
        index.NoteUse(-1, now); // a query may be about no field
        for (int i = 0; i < fields.Count; i++)
            index.NoteUse(((AutoIndexDefinition)index.Definition).PositionOf(fields[i]), now);
    }

    /// <summary>
    /// The fields of an auto-index that are needed: those it is being given, those that a document has and a query has used
    /// within the retention, and of those that no document has the last used. In the lock of the catalogue.
    /// </summary>
    public static IReadOnlyList<AutoIndexField> Needed(DocumentIndex index, IndexingOptions options, DateTimeOffset now)
    {
        IReadOnlyList<AutoIndexField> fields = index.Definition.Fields;
        if (!index.TryHold())
            return fields;
        try
        {
            using IndexSearcher searcher = index.OpenSearcher();
            long used = (now - options.AutoIndexRetention).UtcTicks;
            bool[] isEmpty =
                [.. fields.Select(field => searcher.IsComplete(field.SchemaName) && !searcher.HasEntries(field.SchemaName))];
            HashSet<int> kept = [
                .. Enumerable.Range(0, fields.Count)
                    .Where(field => isEmpty[field])
                    .OrderByDescending(index.LastUseTicks)
                    .Take(KeptEmptyFields)];
            return [.. fields.Where((_, field) => isEmpty[field] ? kept.Contains(field) : index.LastUseTicks(field) >= used)];
        }
        catch (CorruptionException)
        {
            return fields; // the next query of it says so, and has it built again
        }
        finally
        {
            index.Release();
        }
    }

    /// <summary>
    /// The index that has all fields, is complete, and has the most in it; and of those of the collection that have room for the
    /// fields they lack the one that is being built, or the widest; and the widest of all.
    /// </summary>
    private static (DocumentIndexer? Best, DocumentIndexer? Roomy, DocumentIndexer? Widest) Of(
        IEnumerable<DocumentIndexer> indexers, string collection, IReadOnlyList<AutoIndexField> fields)
    {
        DocumentIndexer? best = null, roomy = null, widest = null;
        foreach (DocumentIndexer indexer in indexers)
        {
            if (indexer.Index.Definition is not AutoIndexDefinition definition || !definition.IsFor(collection))
                continue;
            if (definition.Covers(fields) && (best is null || IsBetter(indexer.Index, best.Index)))
                best = indexer;
            if (widest is null || definition.Fields.Count > widest.Index.Definition.Fields.Count)
                widest = indexer;
            if (HasRoom(definition, fields) && (roomy is null || IsBetterToWiden(indexer.Index, roomy.Index)))
                roomy = indexer;
        }

        return (best, roomy, widest);
    }

    private static bool HasRoom(AutoIndexDefinition definition, IReadOnlyList<AutoIndexField> fields)
    {
        int lacking = 0;
        for (int i = 0; i < fields.Count; i++)
            lacking += definition.PositionOf(fields[i]) < 0 ? 1 : 0;
        return definition.Fields.Count + lacking <= AutoIndexDefinition.MaxFields;
    }

    private static bool IsBetterToWiden(DocumentIndex index, DocumentIndex other) =>
        index.Progress.IsCaughtUp != other.Progress.IsCaughtUp
            ? !index.Progress.IsCaughtUp
            : index.Definition.Fields.Count > other.Definition.Fields.Count;

    internal static IEnumerable<DocumentIndexer> Auto(IEnumerable<DocumentIndexer> indexers) =>
        indexers.Where(indexer => indexer.Index.Definition.IsMadeByQueries);

    /// <summary>The index that gives way to another.</summary>
    internal static DocumentIndexer LeastUsed(IEnumerable<DocumentIndexer> indexers, IndexingOptions options, DateTimeOffset now)
    {
        DocumentIndexer least = indexers.MinBy(indexer => indexer.Index.LastUse)!; // there are as many as there may be
        return least.Index.LastUse < (now - _idle).UtcTicks ? least : throw new InvalidQueryException(
            $"No index answers the query, and the database has the {options.MaxAutoIndexes:N0} indexes that queries may make "
            + $"(IndexingOptions.MaxAutoIndexes), all of them used within the last hour. "
            + $"Delete one that is not needed, ask about the fields of one that is there, or define an index by hand. "
            + $"'{least.Index.Name}' was used least recently.");
    }

    /// <summary>
    /// Indexes that are needed no more, as one that queries made has caught up which has all they are needed for. In the lock of
    /// the catalogue.
    /// </summary>
    public static IEnumerable<DocumentIndex> Superseded(
        DocumentIndex index, IReadOnlyList<DocumentIndex> indexes, IndexingOptions options,
        DateTimeOffset now) => index.Definition switch
        {
            AutoIndexDefinition definition => indexes.Where(other =>
                other != index
                    && other.Definition is AutoIndexDefinition narrower
                    && narrower.IsFor(definition.Collection)
                    && definition.Covers(Needed(other, options, now))),
            GroupDefinition groups =>
                indexes.Where(other => other != index && other.Definition is GroupDefinition fewer && groups.Covers(fewer)),
            _ => [],
        };

    /// <summary>
    /// What <see cref="Decide"/> would choose, first, and every other index of the collection with why it is not chosen.
    /// </summary>
    public static IReadOnlyList<IndexChoice> Explain(
        IEnumerable<DocumentIndex> indexes, string collection, IReadOnlyList<AutoIndexField> fields)
    {
        DocumentIndex[] own =
            [.. indexes.Where(index => index.Definition is AutoIndexDefinition definition && definition.IsFor(collection))];
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
            choices.Add(
                new IndexChoice(new AutoIndexDefinition(collection, fields).Name, "It does not exist: the query makes it."));

        foreach (DocumentIndex index in own.Where(index => index != best).OrderByDescending(index => index == widest))
        {
            string[] lacking =
                [.. fields.Where(field => !index.Definition.Fields.Contains(field)).Select(field => $"'{field.SchemaName}'")];
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
