using System.Linq.Expressions;
using Treepie.Linq;
using Treepie.Sessions;

namespace Treepie;

/// <summary>
/// A unit of work over C# objects whose calls block: see <see cref="DocumentSession"/>. Not thread-safe; used by two threads at
/// once it says so.
/// </summary>
public interface IDocumentSession : IDisposable
{
    /// <summary>What is needed less often: changes, metadata, streams, attachments, counters.</summary>
    SessionAdvanced Advanced { get; }

    /// <summary>The object of a document; the same one however often it is loaded; null if there is none.</summary>
    T? Load<T>(string id)
        where T : class;

    /// <summary>The object of a document whose id is a number behind its collection's tag.</summary>
    T? Load<T>(long id)
        where T : class;

    /// <summary>The object of a document whose id is a Guid behind its collection's tag.</summary>
    T? Load<T>(Guid id)
        where T : class;

    /// <summary>The objects of several documents, by the ids as given, from one snapshot.</summary>
    IReadOnlyDictionary<string, T?> Load<T>(IEnumerable<string> ids)
        where T : class;

    /// <summary>
    /// The object of a document, with what is asked for beside it, so that reading it takes no further request.
    /// </summary>
    T? Load<T>(string id, Action<IncludeBuilder<T>> includes)
        where T : class;

    /// <summary>The objects of several documents, with what is asked for beside them.</summary>
    IReadOnlyDictionary<string, T?> Load<T>(IEnumerable<string> ids, Action<IncludeBuilder<T>> includes)
        where T : class;

    /// <summary>The objects of documents whose id starts with a prefix, in id order.</summary>
    IReadOnlyList<T> LoadStartingWith<T>(string prefix, int start = 0, int pageSize = 25)
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
    void Store(object entity, string? id = null, string? changeVector = null);

    /// <summary>Deletes the document of an object with the next save.</summary>
    void Delete(object entity);

    /// <summary>Deletes a document with the next save.</summary>
    void Delete(string id, string? changeVector = null);

    /// <summary>Saves all changes in one durable batch: all or none.</summary>
    void SaveChanges();

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
