using System.Collections.Concurrent;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Grouping;
using Treepie.Queries.Binding;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>Chooses the index that answers a query: the one it names, or an auto-index. Thread-safe.</summary>
internal sealed class IndexChooser(IndexCatalogue indexes, Func<DatabaseSnapshot> beginRead)
{
    /// <summary>The maximum number of cached spellings of collection names.</summary>
    private const int MostNames = 1_024;

    private readonly ConcurrentDictionary<string, string> _collections = new(StringComparer.Ordinal);

    /// <summary>
    /// Returns the index, which is created or widened if necessary; null if the query is on a collection that does not exist.
    /// </summary>
    /// <param name="context">The query.</param>
    /// <param name="created">Whether the index was created by this call, whose caller waits for it.</param>
    public ChosenIndex? Choose(QueryContext context, out bool created)
    {
        BoundQuery query = context.Query;
        created = false;
        if (query.IndexName is { } name)
        {
            DocumentIndex index = NamedIndexes.Require(indexes, name);
            return new ChosenIndex(index, Positions(index, context));
        }

        if (query.Groups is { } groups)
            return ChooseGroups(query, groups, out created) is { } grouped
                ? new ChosenIndex(grouped, PositionsIn(grouped, query))
                : null;
        return ChooseAuto(query, out created);
    }

    /// <summary>Returns the index that would answer a query, first, and why the others would not. Creates no index.</summary>
    public IReadOnlyList<IndexChoice> Explain(BoundQuery query)
    {
        using DatabaseSnapshot snapshot = beginRead();
        if (query.IndexName is { } name)
            return [new IndexChoice(name, "The query names it.")];
        if (query.Source != SourceKind.AutoIndex)
            return [new IndexChoice(
                QueryExecutor.StoreName(query, snapshot),
                "The documents themselves answer it: it has no condition and no order that an index is needed for.")];
        if (query.Collection is { } collection && snapshot.Collection(collection) is null)
            return [new IndexChoice(
                QueryExecutor.StoreName(query, snapshot), "The collection has no documents, so no index is made.")];

        // not null: the collection was looked up above
        if (query.Groups is { } groups)
            return GroupIndexChoice.Explain(
                indexes.Indexes(), query.Collection is { } grouped ? groups.Of(snapshot.Collection(grouped)!.Name) : groups);
        return AutoIndexChoice.Explain(
            indexes.Indexes(), query.Collection is { } of ? snapshot.Collection(of)!.Name : AutoIndexDefinition.AllDocuments,
            [.. query.Fields.Select(use => use.Field)]);
    }

    private ChosenIndex? ChooseAuto(BoundQuery query, out bool created)
    {
        created = false;
        long version = indexes.Version; // before the choice: what changes later makes it void
        if (query.KeptChoice?.Find(query.Fields, version) is { } kept)
        {
            indexes.NoteUse(kept.Index, kept.Positions);
            return kept;
        }

        var fields = new AutoIndexField[query.Fields.Count];
        for (int i = 0; i < fields.Length; i++)
            fields[i] = query.Fields[i].Field;

        // A query on a collection that does not exist must not create an index.
        string? collection = query.Collection is null ? AutoIndexDefinition.AllDocuments : NameOf(query.Collection);
        if (collection is null)
            return null;
        DocumentIndex index = indexes.FindOrCreate(collection, fields, out created);
        var chosen = new ChosenIndex(index, PositionsIn(index, query));
        if (index.Progress.IsCaughtUp) // else another one may be preferred when it has caught up
            query.KeptChoice?.Keep(chosen, query.Fields, version);
        return chosen;
    }

    private DocumentIndex? ChooseGroups(BoundQuery query, GroupDefinition groups, out bool created)
    {
        created = false;
        if (query.Collection is null)
            return indexes.FindOrCreate(groups, out created);
        return NameOf(query.Collection) is { } collection ? indexes.FindOrCreate(groups.Of(collection), out created) : null;
    }

    /// <summary>Returns the name of a collection as it was first written, or null if it does not exist.</summary>
    private string? NameOf(string collection)
    {
        // can be cached: a collection never disappears
        if (_collections.TryGetValue(collection, out string? name))
            return name;
        using DatabaseSnapshot snapshot = beginRead();
        name = snapshot.Collection(collection)?.Name;
        if (name is not null && _collections.Count < MostNames)
            _collections[collection] = name;
        return name;
    }

    /// <summary>Checks the fields again: the index may have been redefined since the query was bound.</summary>
    private static int[] Positions(DocumentIndex index, QueryContext context)
    {
        int[] positions = PositionsIn(index, context.Query);
        if (Array.FindIndex(positions, static position => position < 0) is >= 0 and var missing
            && context.Query.Fields[missing] is var use)
            throw FieldBinder.NoSuchField(context.Request.Text, use.Position, index.Definition, use.Field);
        return positions;
    }

    private static int[] PositionsIn(DocumentIndex index, BoundQuery query)
    {
        var positions = new int[query.Fields.Count];
        for (int i = 0; i < positions.Length; i++)
            positions[i] = index.Definition.Schema.IndexOf(query.Fields[i].Field.SchemaName);
        return positions;
    }
}
