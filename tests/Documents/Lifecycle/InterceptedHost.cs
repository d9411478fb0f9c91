using Treepie.Storage;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Lifecycle;

/// <summary>A database of which one write fails, or behind one read of which something else happens.</summary>
internal sealed class InterceptedHost(Database database) : IWriteHost
{
    private Action? _behindRead;
    private int _writesUntilFailure;

    private IWriteHost Inner => database;

    public DatabaseOptions Options => Inner.Options;

    public StorageEnvironment Environment => Inner.Environment;

    /// <summary>Runs an action once, between the next snapshot and what it is opened for.</summary>
    public void BehindNextRead(Action action) => Volatile.Write(ref _behindRead, action);

    /// <summary>Lets a write fail: 1 is the next one.</summary>
    public void FailWrite(int number) => _writesUntilFailure = number;

    public DatabaseSnapshot BeginRead()
    {
        DatabaseSnapshot snapshot = Inner.BeginRead();
        Interlocked.Exchange(ref _behindRead, null)?.Invoke();
        return snapshot;
    }

    public Task WriteWithoutResultsAsync(WriteBatch batch, CancellationToken cancellationToken) =>
        Inner.WriteWithoutResultsAsync(batch, cancellationToken);

    public Task<T> WriteAsync<T>(Func<DocumentWriter, T> command, CancellationToken cancellationToken) =>
        --_writesUntilFailure == 0
            ? Task.FromException<T>(new DiskFullException("The disk of this test is full."))
            : Inner.WriteAsync(command, cancellationToken);
}
