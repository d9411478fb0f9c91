using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexing;
using Treepie.Queries.Binding;
using Treepie.Rql;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// What is said beside an answer: that it is about a collection or a field that no document has, which is mostly a misspelt name.
/// </summary>
internal static class QueryWarnings
{
    /// <summary>Members of a document that are looked at for a name that may have been meant.</summary>
    private const int MostMembers = 256;

    /// <summary>About the collection of a query.</summary>
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

    /// <summary>About the fields of a query that an index answers which has seen all of the snapshot.</summary>
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
            .Select(other => other.Path);
        return $"{whose} has a field "
            + $"'{field.Path}'.{RqlAdvice.DidYouMean(field.Path, known.Concat(Members(definition, snapshot)).Distinct())}";
    }

    /// <summary>Names of members of the document that was not changed for longest.</summary>
    private static List<string> Members(AutoIndexDefinition definition, DatabaseSnapshot snapshot)
    {
        var names = new List<string>();
        using DocumentCursor cursor = definition.OnlyCollection is { } collection
            ? snapshot.ByCollection(collection)
            : snapshot.ByEtag();
        if (!cursor.MoveNext())
            return names;

        var reader = new Utf8JsonReader(cursor.Current.Body);
        reader.Read(); // the object
        while (names.Count < MostMembers && reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            names.Add(reader.GetString()!); // a name is a text
            reader.Skip();
        }

        return names;
    }
}
