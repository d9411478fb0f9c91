using System.Text.Json;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Linq;

/// <summary>The part of a session that LINQ uses.</summary>
internal interface IQuerySession
{
    /// <summary>The serializer options for documents and parameters.</summary>
    JsonSerializerOptions Json { get; }

    /// <summary>The lazy operations of the session.</summary>
    ILazyOperations Lazy { get; }

    /// <summary>Returns the collection of a type.</summary>
    string CollectionOf(Type type);

    /// <summary>Returns the JSON name of a type's id member; null if it has none.</summary>
    string? IdMemberOf(Type type);

    /// <summary>Returns the document id for a value of the id member; null if the value is not an id.</summary>
    string? IdOf(Type type, object? value);

    /// <summary>Returns the value of the id member for a document id.</summary>
    object? IdValue(Type type, string id);

    /// <summary>Executes a query with the options of the session.</summary>
    Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken);

    /// <summary>
    /// Returns the current result: a tracked entity for a whole document, otherwise a new object; null if the document was
    /// deleted in the session.
    /// </summary>
    T? ReadResult<T>(QueryResults results)
        where T : class;

    /// <summary>
    /// Reads an untracked entity from a snapshot; null if the document does not exist.
    /// </summary>
    object? Read(Type type, string id, DatabaseSnapshot snapshot);

    /// <summary>Keeps the documents that results include, so that loading them needs no request.</summary>
    void KeepIncludes(QueryResults results);
}
