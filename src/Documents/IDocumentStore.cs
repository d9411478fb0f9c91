using System.Diagnostics.CodeAnalysis;
using System.Linq.Expressions;
using System.Text.Json;
using Treepie.IndexClasses;
using Treepie.Indexes;
using Treepie.Sessions;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie;

/// <summary>
/// Where sessions come from: <see cref="Database"/>, in this process. Thread-safe; a program has one for each database.
/// </summary>
public interface IDocumentStore : IDisposable, IAsyncDisposable
{
    /// <summary>The name of the database.</summary>
    string Name { get; }

    /// <summary>Indexes and their state.</summary>
    IndexCatalogue Indexes { get; }

    /// <summary>Defines indexes by their classes; see <see cref="DatabaseIndexClasses"/>.</summary>
    /// <exception cref="NotSupportedException">An expression has no text of the same meaning; nothing was changed.</exception>
    /// <exception cref="InvalidIndexDefinitionException">A definition is not valid; nothing was changed.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    void Deploy(params IEnumerable<IndexClass> indexes);

    /// <summary>A unit of work over C# objects, read and written by reflection, or as the store's options say.</summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    IDocumentSession OpenSession();

    /// <summary>
    /// As <see cref="OpenSession()"/>, with other options: <c>OpenSession(o => o with { UseOptimisticConcurrency = true })</c>.
    /// </summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    IDocumentSession OpenSession(Func<SessionOptions, SessionOptions> change);

    /// <summary>A unit of work over C# objects.</summary>
    IDocumentSession OpenSession(SessionOptions options);

    /// <summary>As <see cref="OpenSession()"/>, whose calls are awaited.</summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    IAsyncDocumentSession OpenAsyncSession();

    /// <summary>As <see cref="OpenSession(Func{SessionOptions, SessionOptions})"/>, whose calls are awaited.</summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    IAsyncDocumentSession OpenAsyncSession(Func<SessionOptions, SessionOptions> change);

    /// <summary>As <see cref="OpenSession(SessionOptions)"/>, whose calls are awaited.</summary>
    IAsyncDocumentSession OpenAsyncSession(SessionOptions options);

    /// <summary>
    /// Runs work in a session and saves it; where somebody changed what it loaded, or looked for in vain, it runs again: it takes
    /// effect as if nobody else were there. The work does nothing that cannot be done twice, and its queries are not checked.
    /// </summary>
    /// <exception cref="ConcurrencyException">Somebody was faster 256 times.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task RunAsync(Func<IAsyncDocumentSession, Task> work, CancellationToken cancellationToken = default);

    /// <summary>As above, in sessions with these options.</summary>
    /// <exception cref="ConcurrencyException">Somebody was faster 256 times.</exception>
    Task RunAsync(Func<IAsyncDocumentSession, Task> work, SessionOptions options, CancellationToken cancellationToken = default);

    /// <summary>
    /// Changes of documents as they become durable, in their order; a document that was changed often before it is read comes
    /// once, at its last change. Ends when the database is closed. With <see cref="ChangesOptions.AfterEtag"/> it goes on where
    /// another feed ended; deletions whose tombstones were purged are missed.
    /// </summary>
    IAsyncEnumerable<DocumentChange> ChangesAsync(
        ChangesOptions? options = null, CancellationToken cancellationToken = default);

    /// <summary>Deletes the documents of a type for which a condition holds; see <see cref="DatabaseObjects"/>.</summary>
    /// <exception cref="NotSupportedException">The condition has no RQL of the same meaning; nothing was deleted.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> DeleteByQueryAsync<T>(Expression<Func<T, bool>> where, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Deletes the documents that a query finds; see <see cref="DatabaseObjects"/>.</summary>
    /// <exception cref="InvalidQueryException">The text is not valid; nothing was deleted.</exception>
    Task<long> DeleteByQueryAsync(string rql, CancellationToken cancellationToken = default);

    /// <summary>As above, with parameters: a JSON object of values by name, without <c>$</c>.</summary>
    /// <exception cref="InvalidQueryException">The text is not valid; nothing was deleted.</exception>
    Task<long> DeleteByQueryAsync(string rql, JsonElement parameters, CancellationToken cancellationToken = default);

    /// <summary>As above, with parameters by name, of types that need no reflection; see <see cref="DatabaseObjects"/>.</summary>
    /// <exception cref="InvalidQueryException">The text is not valid; nothing was deleted.</exception>
    /// <exception cref="NotSupportedException">A parameter is of another type; nothing was deleted.</exception>
    Task<long> DeleteByQueryAsync(
        string rql, IReadOnlyDictionary<string, object?>? parameters, CancellationToken cancellationToken = default);

    /// <summary>As above, with an object of parameters: <c>new { least = 10 }</c>.</summary>
    /// <exception cref="InvalidQueryException">The text is not valid; nothing was deleted.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> DeleteByQueryAsync(string rql, object? parameters, CancellationToken cancellationToken = default);

    /// <summary>
    /// Changes members of the documents of a type for which a condition holds; see <see cref="DatabaseObjects"/>.
    /// </summary>
    /// <exception cref="NotSupportedException">The condition has no RQL of the same meaning; nothing was changed.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> PatchByQueryAsync<T>(
        Expression<Func<T, bool>> where, Action<DocumentPatch<T>> change, CancellationToken cancellationToken = default)
        where T : class;

    /// <summary>Runs a script over the documents that a query finds; see <see cref="DatabaseObjects"/>.</summary>
    /// <exception cref="InvalidQueryException">The text is not valid, or has no <c>update</c>; nothing was changed.</exception>
    Task<long> PatchByQueryAsync(string rql, CancellationToken cancellationToken = default);

    /// <summary>As above, with parameters: a JSON object of values by name, without <c>$</c>.</summary>
    /// <exception cref="InvalidQueryException">The text is not valid, or has no <c>update</c>; nothing was changed.</exception>
    Task<long> PatchByQueryAsync(string rql, JsonElement parameters, CancellationToken cancellationToken = default);

    /// <summary>As above, with parameters by name, of types that need no reflection; see <see cref="DatabaseObjects"/>.</summary>
    /// <exception cref="InvalidQueryException">The text is not valid, or has no <c>update</c>; nothing was changed.</exception>
    /// <exception cref="NotSupportedException">A parameter is of another type; nothing was changed.</exception>
    Task<long> PatchByQueryAsync(
        string rql, IReadOnlyDictionary<string, object?>? parameters, CancellationToken cancellationToken = default);

    /// <summary>As above, with an object of parameters: <c>new { least = 10 }</c>.</summary>
    /// <exception cref="InvalidQueryException">The text is not valid, or has no <c>update</c>; nothing was changed.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> PatchByQueryAsync(string rql, object? parameters, CancellationToken cancellationToken = default);

    /// <summary>Begins to store many objects in durable batches; to be disposed.</summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    ObjectInsert BulkInsertObjects(BulkInsertOptions? options = null);

    /// <summary>Begins to store many documents in durable batches; to be disposed.</summary>
    BulkInsert BulkInsert(BulkInsertOptions? options = null);
}
