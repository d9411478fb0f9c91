using Treepie.Indexes.Definitions;
using Treepie.Indexes.Grouping;
using Treepie.Indexing;
using Treepie.Storage;

namespace Treepie.Indexes;

/// <summary>Chooses the index for a query that names none.</summary>
internal static class AutoIndexChoice
{
    /// <summary>
    /// The number of fields without values in any document that are kept, most recently used first: documents may get them
    /// later.
    /// </summary>
    private const int KeptEmptyFields = 32;

    /// <summary>
    /// The number of unneeded fields from which an index is rebuilt without them instead of being widened. Large enough that
    /// a rebuild is rare compared with widening.
    /// </summary>
    private const int ManyUnneeded = 32;

    /// <summary>
    /// When the maximum number of indexes is reached, an index that has been unused for this long may be removed.
    /// </summary>
    private static readonly TimeSpan _idle = TimeSpan.FromHours(1);

    /// <summary>Decides which index answers a query, and what must be created, widened or removed.</summary>
    /// <param name="indexers">All indexes that answer queries.</param>
    /// <param name="collection">The collection, or <see cref="AutoIndexDefinition.AllDocuments"/>.</param>
    /// <param name="fields">The fields of the query.</param>
    /// <param name="options">The limits.</param>
    /// <param name="now">The current time.</param>
    /// <exception cref="InvalidQueryException">The maximum number of indexes or fields would be exceeded.</exception>
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
            // The existing index is removed when the new one has caught up.
            return new AutoIndexStep(null, new AutoIndexDefinition(collection, needed).Merge(fields), retired);
        }

        if (roomy is not null)
            return new AutoIndexStep(roomy, ((AutoIndexDefinition)roomy.Index.Definition).Merge(fields), retired);

        if (Auto(indexers).Count() - retired.Count >= options.MaxAutoIndexes)
            retired.Add(LeastUsed(Auto(indexers).Except(retired), options, now));
        return new AutoIndexStep(null, new AutoIndexDefinition(collection, fields).Merge([]), retired);
    }

    /// <summary>Records that a query uses fields of an index. Requires the lock of the catalogue.</summary>
    public static void NoteUse(DocumentIndex index, IReadOnlyList<AutoIndexField> fields, DateTimeOffset now)
    {
        index.NoteUse(-1, now); // the query may use no fields
        for (int i = 0; i < fields.Count; i++)
            index.NoteUse(((AutoIndexDefinition)index.Definition).PositionOf(fields[i]), now);
    }

    /// <summary>
    /// Returns the fields of an auto-index that are needed: those still being added, those that have values and were used
    /// within the retention, and the most recently used ones without values. Requires the lock of the catalogue.
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
            return fields; // the next query reports the corruption and has the index rebuilt
        }
        finally
        {
            index.Release();
        }
    }

    /// <summary>
    /// Returns the best complete match (has all fields; caught up and widest preferred), the best index of the collection
    /// that has room for its missing fields (one still being built, or the widest), and the widest index of the collection.
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

    /// <summary>Returns the least recently used index, which is removed to make room for another.</summary>
    internal static DocumentIndexer LeastUsed(IEnumerable<DocumentIndexer> indexers, IndexingOptions options, DateTimeOffset now)
    {
        // The maximum is reached, so there is at least one.
        DocumentIndexer least = indexers.MinBy(indexer => indexer.Index.LastUse)!;
        return least.Index.LastUse < (now - _idle).UtcTicks ? least : throw new InvalidQueryException(
            $"No index answers the query, and the database has the {options.MaxAutoIndexes:N0} indexes that queries may make "
            + $"(IndexingOptions.MaxAutoIndexes), all of them used within the last hour. "
            + $"Delete one that is not needed, ask about the fields of one that is there, or define an index by hand. "
            + $"'{least.Index.Name}' was used least recently.");
    }

    /// <summary>
    /// Returns the auto-indexes that are no longer needed because an auto-index that has caught up covers them. Requires the
    /// lock of the catalogue.
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
    /// Returns the index that <see cref="Decide"/> would choose, first, and every other index of the collection with the
    /// reason why it is not chosen.
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
