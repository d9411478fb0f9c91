using Treepie.Storage;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Lifecycle;

/// <summary>A database whose steps are counted, and behind one of which a run is stopped.</summary>
internal sealed class SteppingHost(Database database) : IWriteHost
{
    private CancellationTokenSource? _stop;
    private int _left;

    private IWriteHost Inner => database;

    public DatabaseOptions Options => Inner.Options;

    public StorageEnvironment Environment => Inner.Environment;

    /// <summary>The most changes that one step made.</summary>
    public long MostChangesInStep { get; private set; }

    /// <summary>Cancels behind so many steps from now on.</summary>
    public void StopAfter(int steps, CancellationTokenSource stop) => (_left, _stop) = (steps, stop);

    public DatabaseSnapshot BeginRead() => Inner.BeginRead();

    public async Task WriteWithoutResultsAsync(WriteBatch batch, CancellationToken cancellationToken)
    {
        await Inner.WriteWithoutResultsAsync(batch, cancellationToken);
        await CountAsync();
    }

    public async Task<T> WriteAsync<T>(Func<DocumentWriter, T> command, CancellationToken cancellationToken)
    {
        long before = database.LastEtag;
        T result = await Inner.WriteAsync(command, cancellationToken);
        MostChangesInStep = Math.Max(MostChangesInStep, database.LastEtag - before);
        await CountAsync();
        return result;
    }

    private async Task CountAsync()
    {
        if (--_left == 0 && _stop is { } stop)
            await stop.CancelAsync();
    }
}
