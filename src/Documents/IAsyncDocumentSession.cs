using System.Linq.Expressions;
using Treepie.Linq;
using Treepie.Sessions;

namespace Treepie;

/// <summary>
/// A unit of work over C# objects whose calls are awaited: see <see cref="DocumentSession"/>. In process reads complete at once.
/// Not thread-safe; used by two threads at once it says so.
/// </summary>
public interface IAsyncDocumentSession : IDisposable, IAsyncDisposable
{
    /// <summary>What is needed less often: changes, metadata, streams, attachments, counters.</summary>
    SessionAdvanced Advanced { get; }

    /// <summary>The object of a document; the same one however often it is loaded; null if there is none.</summary>
    ValueTask<T?> LoadAsync<T>(string id, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>The objects of several documents, by the ids as given, from one snapshot.</summary>
    ValueTask<IReadOnlyDictionary<string, T?>> LoadAsync<T>(
        IEnumerable<string> ids, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>
    /// The object of a document, with what is asked for beside it, so that reading it takes no further request.
    /// </summary>
    ValueTask<T?> LoadAsync<T>(
        string id, Action<IncludeBuilder<T>> includes, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>The objects of several documents, with what is asked for beside them.</summary>
    ValueTask<IReadOnlyDictionary<string, T?>> LoadAsync<T>(
        IEnumerable<string> ids, Action<IncludeBuilder<T>> includes, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>The object of a document whose id is a number behind its collection's tag.</summary>
    ValueTask<T?> LoadAsync<T>(long id, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>The object of a document whose id is a Guid behind its collection's tag.</summary>
    ValueTask<T?> LoadAsync<T>(Guid id, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>The objects of documents whose id starts with a prefix, in id order.</summary>
    ValueTask<IReadOnlyList<T>> LoadStartingWithAsync<T>(
        string prefix, int start = 0, int pageSize = 25, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Counters of a document.</summary>
    SessionCounters CountersFor(string documentId);

    /// <summary>Counters of an object's document.</summary>
    SessionCounters CountersFor(object entity);

    /// <summary>A time series of a document.</summary>
    SessionTimeSeries TimeSeriesFor(string documentId, string name);

    /// <summary>A time series of an object's document.</summary>
    SessionTimeSeries TimeSeriesFor(object entity, string name);

    /// <summary>A time series of a document whose values are properties of a class.</summary>
    TypedTimeSeries<T> TimeSeriesFor<T>(string documentId, string? name = null)
        where T : class, new();

    /// <summary>A time series of an object's document whose values are properties of a class.</summary>
    TypedTimeSeries<T> TimeSeriesFor<T>(object entity, string? name = null)
        where T : class, new();

    /// <summary>Loads documents with those whose ids a member of them has.</summary>
    IncludeLoader<T> Include<T>(Expression<Func<T, object?>> member)
        where T : class;

    /// <summary>Stores an object with the next save.</summary>
    ValueTask StoreAsync(
        object entity, string? id = null, string? changeVector = null, CancellationToken cancellationToken = default);

    /// <summary>Deletes the document of an object with the next save.</summary>
    void Delete(object entity);

    /// <summary>Deletes a document with the next save.</summary>
    void Delete(string id, string? changeVector = null);

    /// <summary>Saves all changes in one durable batch: all or none.</summary>
    Task SaveChangesAsync(CancellationToken cancellationToken = default);

    /// <summary>A query in LINQ over the documents of a type's collection, or of an index.</summary>
    IDocumentQueryable<T> Query<T>(string? indexName = null)
        where T : class;

    /// <summary>A query in RQL.</summary>
    RawDocumentQuery<T> RawQuery<T>(string rql)
        where T : class;

    /// <summary>A query in RQL as an interpolated string, whose holes become parameters.</summary>
    RawDocumentQuery<T> RawQuery<T>(RqlInterpolatedStringHandler rql)
        where T : class;
}
