using Treepie.Storage.Transactions;

namespace Treepie.Storage;

/// <summary>
/// The front door of the store: named B+trees of bytes in one directory, with snapshot reads that never block
/// and durable, atomic writes. Thread-safe; one process at a time may have a directory open.
/// </summary>
public sealed class StorageEnvironment : IDisposable, IAsyncDisposable
{
    private StorageEnvironment()
    {
    }

    /// <summary>A number drawn when the directory was first created; it never changes.</summary>
    public Guid StoreId => throw new NotImplementedException();

    /// <summary>Opens the directory, creating it if absent, and recovers what was acknowledged.</summary>
    public static StorageEnvironment Open(string directory, StorageOptions? options = null) => throw new NotImplementedException();

    /// <summary>Begins a read of the last durable commit. Never waits; must be disposed by the caller, on any thread.</summary>
    public ReadTransaction BeginRead() => throw new NotImplementedException();

    /// <summary>
    /// Runs <paramref name="command"/> in the current merged batch and returns when that batch is durable.
    /// A command that throws is undone alone and its exception rethrown here. Commands of one batch run one after the other;
    /// the command must not block, must not touch the transaction after it returns, and may be run again from its start.
    /// </summary>
    public TResult Write<TResult>(Func<WriteTransaction, TResult> command, CancellationToken cancellationToken = default) =>
        throw new NotImplementedException();

    /// <summary>As <see cref="Write{TResult}"/>, without blocking the caller while others' batches are being synced.</summary>
    public ValueTask<TResult> WriteAsync<TResult>(Func<WriteTransaction, TResult> command, CancellationToken cancellationToken = default) =>
        throw new NotImplementedException();

    /// <summary>Writes all scratch pages to the data file and releases the journal before them.</summary>
    public void Checkpoint(CancellationToken cancellationToken = default) => throw new NotImplementedException();

    /// <summary>Figures of now: sizes, transactions, oldest reader.</summary>
    public StorageStatistics GetStatistics() => throw new NotImplementedException();

    /// <summary>Walks everything: each page reachable or free and not both, checksums, key order, counts.</summary>
    public CheckReport Check(CancellationToken cancellationToken = default) => throw new NotImplementedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => throw new NotImplementedException();
}
