using System.Text.Json;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Linq;

/// <summary>What LINQ needs of the session that a query belongs to.</summary>
internal interface IQuerySession
{
    /// <summary>How values are written in documents and parameters.</summary>
    JsonSerializerOptions Json { get; }

    /// <summary>Takes queries that wait.</summary>
    ILazyOperations Lazy { get; }

    /// <summary>The collection that objects of a type are in.</summary>
    string CollectionOf(Type type);

    /// <summary>The name in JSON of the member that is the id; null where the type has none.</summary>
    string? IdMemberOf(Type type);

    /// <summary>The document's id for a value of the id's member; null for a value that is no id.</summary>
    string? IdOf(Type type, object? value);

    /// <summary>The value of the id's member for a document's id.</summary>
    object? IdValue(Type type, string id);

    /// <summary>Runs a query with the options of the session.</summary>
    Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken);

    /// <summary>
    /// The current result of an answer: an object of the session where it is a whole document, a new one otherwise; null where it
    /// was deleted there.
    /// </summary>
    T? ReadResult<T>(QueryResults results)
        where T : class;

    /// <summary>
    /// The object of a document in a state of the database, not followed by the session; null where there is none.
    /// </summary>
    object? Read(Type type, string id, DatabaseSnapshot snapshot);

    /// <summary>Keeps the documents that an answer includes, so that loading them reads nothing.</summary>
    void KeepIncludes(QueryResults results);
}
