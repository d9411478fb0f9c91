using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexing;
using Treepie.Queries.Binding;
using Treepie.Rql;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// Warnings about collections and fields in which no document has anything, usually because of a misspelled name.
/// </summary>
internal static class QueryWarnings
{
    /// <summary>
    /// The maximum number of members of a document that are considered as suggestions for a misspelled name.
    /// </summary>
    private const int MostMembers = 256;

    /// <summary>Returns the warnings of an answer from an index.</summary>
    public static IReadOnlyList<string> Of(
        IndexSearcher searcher, IndexTail? tail, IndexAnswer state, DatabaseSnapshot snapshot, QueryContext context,
        FieldSightings sightings)
    {
        IReadOnlyList<string> ofPaths = context.Query.IndexName is null
            ? OfPaths(context.Query, context.Query.Collection, snapshot, sightings)
            : OfPaths(context.Query, state.Index.Collection, snapshot, sightings, state.Index.Definition);
        IReadOnlyList<string> ofFields = state.IsStale
            ? OfProgress(state, searcher, snapshot)
            : state.MayMissHits || tail is not null ? [] : OfFields(context.Query, state.Index, searcher, snapshot);
        return Both(state.Index.Warnings, Both(ofFields, ofPaths));
    }

    private static IReadOnlyList<string> Both(IReadOnlyList<string> first, IReadOnlyList<string> second) =>
        first.Count == 0 ? second : second.Count == 0 ? first : [.. first.Concat(second).Distinct()];

    /// <summary>Returns the warnings of an answer from the documents themselves.</summary>
    public static IReadOnlyList<string> OfStore(BoundQuery query, DatabaseSnapshot snapshot, FieldSightings sightings) =>
        OfCollection(query.Collection, snapshot) is { Count: > 0 } ofCollection
            ? ofCollection
            : OfPaths(query, query.Collection, snapshot, sightings);

    /// <summary>
    /// Returns warnings about paths that the query names beside the fields of its index, and that no document has that was looked
    /// at.
    /// </summary>
    private static IReadOnlyList<string> OfPaths(
        BoundQuery query, string? named, DatabaseSnapshot snapshot, FieldSightings sightings, IndexMapping? index = null)
    {
        if (query.Mentioned.Count == 0)
            return [];
        string? collection = named is null ? null : snapshot.Collection(named)?.Name;
        if (named is not null && collection is null)
            return [];
        IReadOnlyList<(FieldPath Path, long Etag)> unseen = sightings.Unseen(collection, query.Mentioned, snapshot);
        if (unseen.Count == 0)
            return [];
        List<string> known = Members(collection, snapshot);
        string whose = WhoseOf(collection);
        return [
            .. unseen.Select(
                one => (one.Etag >= snapshot.LastEtag
                        ? $"{whose} has a field '{one.Path.Text}'."
                        : $"{whose} that was looked at (the changes up to {one.Etag:N0} of {snapshot.LastEtag:N0}) has a field "
                            + $"'{one.Path.Text}'.")
                    + (index?.FieldNames.Contains(one.Path.Text) == true
                        ? $" The index '{index.Name}' does not keep its field of this name (\"Storage\": \"Yes\")."
                        : known.Contains(one.Path.Text) ? "" : RqlAdvice.ForField(one.Path.Text, known)))];
    }

    private static string WhoseOf(string? collection) =>
        collection is null ? "No document" : $"No document of '{collection}'";

    /// <summary>Returns warnings about the collection of a query.</summary>
    public static IReadOnlyList<string> OfCollection(string? collection, DatabaseSnapshot snapshot)
    {
        if (collection is null)
            return [];
        return snapshot.Collection(collection) switch
        {
            null => [
                $"There is no collection "
                    + $"'{collection}'.{RqlAdvice.DidYouMean(collection, snapshot.Collections().Select(known => known.Name))}"],
            { DocumentCount: 0 } => [$"The collection '{collection}' has no documents."],
            _ => [],
        };
    }

    /// <summary>
    /// Returns how far an index is that is being built, or given a field of the query: a stale answer may lack most documents
    /// then. Returns nothing if the index lacks the latest changes only.
    /// </summary>
    public static IReadOnlyList<string> OfProgress(IndexAnswer state, IndexSearcher searcher, DatabaseSnapshot snapshot)
    {
        DocumentIndex index = state.Index;
        if (!state.IsWhole)
            return [
                $"The index '{index.Name}' is being given fields of this query, and what it finds by them is not complete yet. "
                    + (state.IsOff ? "It is paused or disabled: resume or enable it." : "Ask again, or wait longer.")];
        if (!index.IsBeingBuilt(state.Etag, snapshot))
            return [];
        string does = state.IsOff ? "is paused or disabled before it was built" : "is being built";
        if (index.Definition is not AutoIndexDefinition)
            return [
                $"The index '{index.Name}' {does}: it has seen the changes up to {state.Etag:N0} of "
                    + $"{snapshot.LastEtag:N0}."];
        long documents = index.Collection is { } collection
            ? snapshot.Collection(collection)?.DocumentCount ?? 0
            : snapshot.DocumentCount;
        return [
            $"The index '{index.Name}' {does}: it has seen {Math.Min(searcher.EntryCount, documents):N0} of "
                + $"{documents:N0} documents."];
    }

    /// <summary>Returns warnings about the fields of a query. The index must have processed the whole snapshot.</summary>
    public static IReadOnlyList<string> OfFields(
        BoundQuery query, DocumentIndex index, IndexSearcher searcher, DatabaseSnapshot snapshot)
    {
        List<string>? warnings = null;
        for (int i = 0; i < query.Fields.Count; i++)
        {
            AutoIndexField field = query.Fields[i].Field;
            if (!searcher.HasEntries(field.SchemaName))
                (warnings ??= []).Add(OfField(field, index, searcher, snapshot));
        }

        return (IReadOnlyList<string>?)warnings ?? [];
    }

    private static string OfField(AutoIndexField field, DocumentIndex index, IndexSearcher searcher, DatabaseSnapshot snapshot)
    {
        if (field.IsDynamic)
            return $"No document of the index '{index.Name}' has named a field "
                + $"'{field.Path}'.{RqlAdvice.ForField(field.Path, index.Definition.FieldNames)}";
        if (index.Definition is not AutoIndexDefinition definition)
            return $"No document of the index '{index.Name}' has a value for its field '{field.SchemaName}'.";

        string whose = WhoseOf(definition.OnlyCollection);
        IEnumerable<string> known = definition.Fields.Where(other => searcher.HasEntries(other.SchemaName))
            .Select(other => other.Path)
            .Concat(Members(definition.OnlyCollection, snapshot))
            .Distinct();
        string advice = known.Contains(field.Path) ? "" : RqlAdvice.ForField(field.Path, known);
        return UseOf(field.Kind) is { } use
            ? $"{whose} has anything at '{field.Path}' that {use} could find.{advice}"
            : $"{whose} has a field '{field.Path}'.{advice}";
    }

    /// <summary>
    /// Returns what asks for a field that not every value belongs to, so that documents may have others there; null for fields of
    /// all values.
    /// </summary>
    private static string? UseOf(AutoIndexFieldKind kind) => kind switch
    {
        AutoIndexFieldKind.Search => "'search()'",
        AutoIndexFieldKind.Point => "'spatial.point()'",
        AutoIndexFieldKind.Wkt => "'spatial.wkt()'",
        _ when AutoIndexField.IsVector(kind) => "'vector.search()'",
        _ => null,
    };

    /// <summary>Returns member names of the least recently changed document.</summary>
    private static List<string> Members(string? collection, DatabaseSnapshot snapshot)
    {
        var names = new List<string>();
        using DocumentCursor cursor = collection is null ? snapshot.ByEtag() : snapshot.ByCollection(collection);
        if (!cursor.MoveNext())
            return names;

        var reader = new Utf8JsonReader(
            cursor.Current.Body, new JsonReaderOptions { MaxDepth = DatabaseOptions.MostDocumentDepth });
        reader.Read(); // the start of the object
        while (names.Count < MostMembers && reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            names.Add(reader.GetString()!); // not null: a property name
            reader.Skip();
        }

        return names;
    }
}
