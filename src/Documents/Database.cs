using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Sessions;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie;

/// <summary>
/// The front door: one document database in one directory, inside this process. Thread-safe. Nothing is acknowledged before it is
/// durable; readers see an unchanging snapshot and never wait.
/// </summary>
public sealed class Database : IDisposable, IAsyncDisposable
{
    private Database()
    {
    }

    /// <summary>The name; the directory's unless the options give one.</summary>
    public string Name => throw new NotImplementedException();

    /// <summary>Drawn when the database was created; part of its change vectors.</summary>
    public Guid Id => throw new NotImplementedException();

    /// <summary>The limits and settings it was opened with.</summary>
    public DatabaseOptions Options => throw new NotImplementedException();

    /// <summary>Indexes of this database and their state.</summary>
    public IndexCatalogue Indexes => throw new NotImplementedException();

    /// <summary>Opens or creates the database in a directory.</summary>
    public static Database Open(string path, DatabaseOptions? options = null) => throw new NotImplementedException();

    /// <summary>An unchanging view of all documents, to be disposed. One thread at a time.</summary>
    public DatabaseSnapshot BeginRead() => throw new NotImplementedException();

    /// <summary>Applies all commands of the batch or none; completes when they are durable.</summary>
    /// <exception cref="ConcurrencyException">A document's change vector is not the expected one.</exception>
    /// <exception cref="InvalidDocumentException">An id, body or metadata is not valid, or over a limit.</exception>
    public Task<IReadOnlyList<WriteResult>> WriteAsync(WriteBatch batch, CancellationToken cancellationToken = default) =>
        throw new NotImplementedException();

    /// <summary>Runs a query. See <see cref="QueryResults"/> for how results are read.</summary>
    /// <exception cref="InvalidQueryException">The text is not valid; names line and column.</exception>
    /// <exception cref="IndexNotFoundException">A named index does not exist.</exception>
    public Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken = default) => throw new NotImplementedException();

    /// <summary>A unit of work over C# objects.</summary>
    public DocumentSession OpenSession() => throw new NotImplementedException();

    /// <summary>The next range of ids for a tag, as HiLo clients ask for it.</summary>
    public Task<HiLoRange> NextHiLoRangeAsync(HiLoRequest request, CancellationToken cancellationToken = default) => throw new NotImplementedException();

    /// <summary>Gives back the unused end of a range, if no later one was handed out.</summary>
    public Task ReturnHiLoRangeAsync(string tag, long end, long last, CancellationToken cancellationToken = default) => throw new NotImplementedException();

    /// <summary>Counts, sizes, etags and index states.</summary>
    public DatabaseStatistics GetStatistics() => throw new NotImplementedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => throw new NotImplementedException();
}
