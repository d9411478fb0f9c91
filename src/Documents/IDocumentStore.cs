using System.Diagnostics.CodeAnalysis;
using Treepie.Indexes;
using Treepie.Sessions;
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

    /// <summary>Begins to store many documents in durable batches; to be disposed.</summary>
    BulkInsert BulkInsert(BulkInsertOptions? options = null);
}
