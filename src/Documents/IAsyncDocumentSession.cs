using System.Linq.Expressions;
using Treepie.Linq;
using Treepie.Sessions;

namespace Treepie;

/// <summary>
/// The asynchronous interface of a session; see <see cref="DocumentSession"/>. In process, reads complete synchronously. Not
/// thread-safe; concurrent use is detected and throws.
/// </summary>
public interface IAsyncDocumentSession : IDisposable, IAsyncDisposable
{
    /// <summary>Less common operations: pending changes, metadata, streaming, attachments, counters.</summary>
    SessionAdvanced Advanced { get; }

    /// <summary>
    /// Loads an entity by id. Every load of an id returns the same instance. Returns null if the document does not exist.
    /// </summary>
    ValueTask<T?> LoadAsync<T>(string id, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Loads several entities from one snapshot. The result maps each id as given to its entity, or to null.</summary>
    ValueTask<IReadOnlyDictionary<string, T?>> LoadAsync<T>(
        IEnumerable<string> ids, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>
    /// Loads an entity together with related data; reading that data in the session then needs no further request.
    /// </summary>
    ValueTask<T?> LoadAsync<T>(
        string id, Action<IncludeBuilder<T>> includes, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Loads several entities together with related data.</summary>
    ValueTask<IReadOnlyDictionary<string, T?>> LoadAsync<T>(
        IEnumerable<string> ids, Action<IncludeBuilder<T>> includes, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Loads an entity whose id is a number after its collection's tag.</summary>
    ValueTask<T?> LoadAsync<T>(long id, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Loads an entity whose id is a Guid after its collection's tag.</summary>
    ValueTask<T?> LoadAsync<T>(Guid id, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Loads the entities whose ids start with a prefix, in id order.</summary>
    ValueTask<IReadOnlyList<T>> LoadStartingWithAsync<T>(
        string prefix, int start = 0, int pageSize = 25, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Returns the counters of a document.</summary>
    SessionCounters CountersFor(string documentId);

    /// <summary>Returns the counters of an entity's document.</summary>
    SessionCounters CountersFor(object entity);

    /// <summary>Returns a time series of a document.</summary>
    SessionTimeSeries TimeSeriesFor(string documentId, string name);

    /// <summary>Returns a time series of an entity's document.</summary>
    SessionTimeSeries TimeSeriesFor(object entity, string name);

    /// <summary>Returns a time series of a document whose values are mapped to properties of a class.</summary>
    TypedTimeSeries<T> TimeSeriesFor<T>(string documentId, string? name = null)
        where T : class, new();

    /// <summary>Returns a time series of an entity's document whose values are mapped to properties of a class.</summary>
    TypedTimeSeries<T> TimeSeriesFor<T>(object entity, string? name = null)
        where T : class, new();

    /// <summary>Includes the documents that a member refers to in the next load.</summary>
    IncludeLoader<T> Include<T>(Expression<Func<T, object?>> member)
        where T : class;

    /// <summary>Adds an entity to the session; the next save stores it.</summary>
    ValueTask StoreAsync(
        object entity, string? id = null, string? changeVector = null, CancellationToken cancellationToken = default);

    /// <summary>Marks an entity's document for deletion by the next save.</summary>
    void Delete(object entity);

    /// <summary>Marks a document for deletion by the next save.</summary>
    void Delete(string id, string? changeVector = null);

    /// <summary>Saves all changes in one durable, atomic batch.</summary>
    Task SaveChangesAsync(CancellationToken cancellationToken = default);

    /// <summary>Starts a LINQ query over the documents of a type's collection or over an index.</summary>
    IDocumentQueryable<T> Query<T>(string? indexName = null)
        where T : class;

    /// <summary>Starts an RQL query.</summary>
    RawDocumentQuery<T> RawQuery<T>(string rql)
        where T : class;

    /// <summary>Starts an RQL query from an interpolated string whose interpolated values become parameters.</summary>
    RawDocumentQuery<T> RawQuery<T>(RqlInterpolatedStringHandler rql)
        where T : class;
}
