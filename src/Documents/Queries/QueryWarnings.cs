using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
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
        IndexSearcher searcher, IndexTail? tail, IndexAnswer state, DatabaseSnapshot snapshot, QueryContext context)
    {
        IReadOnlyList<string> ofIndex = state.Index.Warnings;
        IReadOnlyList<string> ofFields = state.IsStale
            ? OfProgress(state, searcher, snapshot)
            : state.MayMissHits || tail is not null ? [] : OfFields(context.Query, state.Index, searcher, snapshot);
        return ofIndex.Count == 0 ? ofFields : ofFields.Count == 0 ? ofIndex : [.. ofIndex, .. ofFields];
    }

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
                + $"'{field.Path}'.{RqlAdvice.DidYouMean(field.Path, index.Definition.FieldNames)}";
        if (index.Definition is not AutoIndexDefinition definition)
            return $"No document of the index '{index.Name}' has a value for its field '{field.SchemaName}'.";

        string whose = definition.OnlyCollection is { } collection ? $"No document of '{collection}'" : "No document";
        IEnumerable<string> known = definition.Fields.Where(other => searcher.HasEntries(other.SchemaName))
            .Select(other => other.Path)
            .Concat(Members(definition, snapshot))
            .Distinct();
        string advice = known.Contains(field.Path) ? "" : RqlAdvice.DidYouMean(field.Path, known);
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
    private static List<string> Members(AutoIndexDefinition definition, DatabaseSnapshot snapshot)
    {
        var names = new List<string>();
        using DocumentCursor cursor = definition.OnlyCollection is { } collection
            ? snapshot.ByCollection(collection)
            : snapshot.ByEtag();
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
