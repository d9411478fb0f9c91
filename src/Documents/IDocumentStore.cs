using System.Diagnostics.CodeAnalysis;
using System.Linq.Expressions;
using System.Runtime.CompilerServices;
using System.Text.Json;
using Treepie.IndexClasses;
using Treepie.Indexes;
using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie;

/// <summary>
/// Opens sessions on a database; implemented by <see cref="Database"/>, in this process. Thread-safe; a program has one instance
/// per database.
/// </summary>
public interface IDocumentStore : IDisposable, IAsyncDisposable
{
    /// <summary>The name of the database.</summary>
    string Name { get; }

    /// <summary>The indexes of the database.</summary>
    IndexCatalogue Indexes { get; }

    /// <summary>Deploys indexes defined as classes; see <see cref="DatabaseIndexClasses"/>.</summary>
    /// <exception cref="NotSupportedException">An expression cannot be converted to text; nothing was changed.</exception>
    /// <exception cref="InvalidIndexDefinitionException">A definition is not valid; nothing was changed.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    void Deploy(params IEnumerable<IndexClass> indexes);

    /// <summary>Deploys indexes defined as classes, with the session options of their documents; needs no reflection.</summary>
    /// <exception cref="NotSupportedException">An expression cannot be converted to text; nothing was changed.</exception>
    /// <exception cref="InvalidIndexDefinitionException">A definition is not valid; nothing was changed.</exception>
    void Deploy(SessionOptions session, params IEnumerable<IndexClass> indexes);

    /// <summary>Opens a session with the store's default serialization, or by reflection if it has none.</summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    IDocumentSession OpenSession();

    /// <summary>
    /// Opens a session with changed options: <c>OpenSession(o => o with { UseOptimisticConcurrency = true })</c>.
    /// </summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    IDocumentSession OpenSession(Func<SessionOptions, SessionOptions> change);

    /// <summary>Opens a session with the specified options.</summary>
    IDocumentSession OpenSession(SessionOptions options);

    /// <summary>Same as <see cref="OpenSession()"/>, with the asynchronous interface.</summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    IAsyncDocumentSession OpenAsyncSession();

    /// <summary>
    /// Same as <see cref="OpenSession(Func{SessionOptions, SessionOptions})"/>, with the asynchronous interface.
    /// </summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    IAsyncDocumentSession OpenAsyncSession(Func<SessionOptions, SessionOptions> change);

    /// <summary>Same as <see cref="OpenSession(SessionOptions)"/>, with the asynchronous interface.</summary>
    IAsyncDocumentSession OpenAsyncSession(SessionOptions options);

    /// <summary>
    /// Executes a function in a session and saves the changes. All its reads are of one point in time. If someone has changed
    /// what it read, it is executed again, so that it takes effect as if nobody else were writing. Documents read by id are
    /// verified individually, queries of one collection by the last change in it, prefixes of ids by changes under them, and all
    /// other reads by the last change of the database. Since the function can run several times, anything else it does must be
    /// repeatable.
    /// </summary>
    /// <exception cref="ConcurrencyException">There were conflicts in 256 attempts, or one after the function itself had
    /// saved.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task RunAsync(Func<IAsyncDocumentSession, Task> work, CancellationToken cancellationToken = default);

    /// <summary>Executes a function in a session with the specified options and saves the changes, with retries.</summary>
    /// <exception cref="ConcurrencyException">There were conflicts in 256 attempts.</exception>
    Task RunAsync(Func<IAsyncDocumentSession, Task> work, SessionOptions options, CancellationToken cancellationToken = default);

    /// <summary>
    /// Streams changes of documents as they become durable, in order. A document that has changed several times before it is read
    /// is reported once, at its latest change. Ends when the database is closed. <see cref="ChangesOptions.AfterEtag"/> resumes
    /// where another feed ended; deletions whose tombstones have been purged are not reported.
    /// </summary>
    IAsyncEnumerable<DocumentChange> ChangesAsync(
        ChangesOptions? options = null, CancellationToken cancellationToken = default);

    /// <summary>Deletes the documents of a type that match a condition; see <see cref="DatabaseObjects"/>.</summary>
    /// <exception cref="NotSupportedException">The condition has no equivalent in RQL; nothing was deleted.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> DeleteByQueryAsync<T>(Expression<Func<T, bool>> where, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>As above, with the session options of the type's documents; needs no reflection.</summary>
    /// <exception cref="NotSupportedException">The condition has no equivalent in RQL; nothing was deleted.</exception>
    Task<long> DeleteByQueryAsync<T>(
        Expression<Func<T, bool>> where, SessionOptions options, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Deletes the documents that a query finds; see <see cref="DatabaseObjects"/>.</summary>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    Task<long> DeleteByQueryAsync(string rql, CancellationToken cancellationToken = default);

    /// <summary>As above, with parameters: a JSON object of values by name, without <c>$</c>.</summary>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    Task<long> DeleteByQueryAsync(string rql, JsonElement parameters, CancellationToken cancellationToken = default);

    /// <summary>As above, with parameters by name, of types that need no reflection; see <see cref="DatabaseObjects"/>.</summary>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    /// <exception cref="NotSupportedException">A parameter has another type; nothing was deleted.</exception>
    Task<long> DeleteByQueryAsync(
        string rql, IReadOnlyDictionary<string, object?>? parameters, CancellationToken cancellationToken = default);

    /// <summary>As above, with an object of parameters: <c>new { least = 10 }</c>.</summary>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> DeleteByQueryAsync(string rql, object? parameters, CancellationToken cancellationToken = default);

    /// <summary>As above, with an interpolated string, whose holes are parameters and never part of the text.</summary>
    /// <exception cref="ArgumentException">A hole is inside quotes; nothing was deleted.</exception>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    /// <exception cref="NotSupportedException">A hole has a type that needs reflection; nothing was deleted.</exception>
    [OverloadResolutionPriority(2)]
    Task<long> DeleteByQueryAsync(RqlInterpolatedStringHandler rql, CancellationToken cancellationToken = default);

    /// <summary>As above, with an interpolated string and further parameters, as of the overload for text.</summary>
    /// <exception cref="ArgumentException">A hole is inside quotes; nothing was deleted.</exception>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    [OverloadResolutionPriority(1)]
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> DeleteByQueryAsync(
        RqlInterpolatedStringHandler rql, object? parameters, CancellationToken cancellationToken = default);

    /// <summary>
    /// Patches the documents of a type that match a condition; see <see cref="DatabaseObjects"/>.
    /// </summary>
    /// <exception cref="NotSupportedException">The condition has no equivalent in RQL; nothing was changed.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> PatchByQueryAsync<T>(
        Expression<Func<T, bool>> where, Action<DocumentPatch<T>> change, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>As above, with the session options of the type's documents; needs no reflection.</summary>
    /// <exception cref="NotSupportedException">The condition has no equivalent in RQL; nothing was changed.</exception>
    Task<long> PatchByQueryAsync<T>(
        Expression<Func<T, bool>> where, Action<DocumentPatch<T>> change, SessionOptions options,
        CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Runs a script over the documents that a query finds; see <see cref="DatabaseObjects"/>.</summary>
    /// <exception cref="InvalidQueryException">The query is not valid or has no <c>update</c> clause; nothing was
    /// changed.</exception>
    Task<long> PatchByQueryAsync(string rql, CancellationToken cancellationToken = default);

    /// <summary>As above, with parameters: a JSON object of values by name, without <c>$</c>.</summary>
    /// <exception cref="InvalidQueryException">The query is not valid or has no <c>update</c> clause; nothing was
    /// changed.</exception>
    Task<long> PatchByQueryAsync(string rql, JsonElement parameters, CancellationToken cancellationToken = default);

    /// <summary>As above, with parameters by name, of types that need no reflection; see <see cref="DatabaseObjects"/>.</summary>
    /// <exception cref="InvalidQueryException">The query is not valid or has no <c>update</c> clause; nothing was
    /// changed.</exception>
    /// <exception cref="NotSupportedException">A parameter has another type; nothing was changed.</exception>
    Task<long> PatchByQueryAsync(
        string rql, IReadOnlyDictionary<string, object?>? parameters, CancellationToken cancellationToken = default);

    /// <summary>As above, with an object of parameters: <c>new { least = 10 }</c>.</summary>
    /// <exception cref="InvalidQueryException">The query is not valid or has no <c>update</c> clause; nothing was
    /// changed.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> PatchByQueryAsync(string rql, object? parameters, CancellationToken cancellationToken = default);

    /// <summary>As above, with an interpolated string, whose holes are parameters and never part of the text.</summary>
    /// <exception cref="ArgumentException">A hole is inside quotes; nothing was changed.</exception>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was changed.</exception>
    /// <exception cref="NotSupportedException">A hole has a type that needs reflection; nothing was changed.</exception>
    [OverloadResolutionPriority(2)]
    Task<long> PatchByQueryAsync(RqlInterpolatedStringHandler rql, CancellationToken cancellationToken = default);

    /// <summary>As above, with an interpolated string and further parameters, as of the overload for text.</summary>
    /// <exception cref="ArgumentException">A hole is inside quotes; nothing was changed.</exception>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was changed.</exception>
    [OverloadResolutionPriority(1)]
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> PatchByQueryAsync(
        RqlInterpolatedStringHandler rql, object? parameters, CancellationToken cancellationToken = default);

    /// <summary>
    /// Deletes the documents that a query finds, such as <c>session.Query&lt;Order&gt;().Where(…).ToRql()</c>, and reports
    /// progress.
    /// </summary>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    Task<long> DeleteByQueryAsync(
        RqlStatement query, OperationOptions? options = null, CancellationToken cancellationToken = default);

    /// <summary>Runs a script over the documents that a query finds, and reports progress.</summary>
    /// <exception cref="InvalidQueryException">The query is not valid or has no <c>update</c> clause; nothing was
    /// changed.</exception>
    Task<long> PatchByQueryAsync(
        RqlStatement query, OperationOptions? options = null, CancellationToken cancellationToken = default);

    /// <summary>Patches the documents that a query finds, and reports progress.</summary>
    /// <exception cref="NotSupportedException">The query has no equivalent in RQL; nothing was changed.</exception>
    Task<long> PatchByQueryAsync<T>(
        IDocumentQueryable<T> query, Action<DocumentPatch<T>> change, OperationOptions? options = null,
        CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Starts a bulk insert of entities, which stores them in durable batches. Must be disposed.</summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    ObjectInsert BulkInsertObjects(BulkInsertOptions? options = null);

    /// <summary>As above, with the session options of the entities; needs no reflection.</summary>
    ObjectInsert BulkInsert(SessionOptions session, BulkInsertOptions? options = null);

    /// <summary>Starts a bulk insert, which stores many documents in durable batches. Must be disposed.</summary>
    BulkInsert BulkInsert(BulkInsertOptions? options = null);
}
