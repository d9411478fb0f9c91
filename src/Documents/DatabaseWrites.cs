using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie;

/// <summary>
/// Executes the writes of a database: each in a transaction shared with concurrent writes, with telemetry and change
/// notifications.
/// </summary>
internal sealed class DatabaseWrites(
    StorageEnvironment environment,
    ChangeVectors changeVectors,
    BodyDictionaries dictionaries,
    ChangeSignal changes,
    Func<DatabaseSnapshot> beginRead,
    Func<bool> keepsUnused,
    string name,
    TimeProvider timeProvider)
{
    /// <summary>Executes a command; completes when it is durable.</summary>
    public async Task<TResult> RunAsync<TResult>(
        Func<DocumentWriter, DateTime, TResult> command, CancellationToken cancellationToken, bool wantsResults = true)
    {
        try
        {
            long began = DatabaseTelemetry.CountsWrites ? timeProvider.GetTimestamp() : 0;
            (TResult result, long etag) = DatabaseTelemetry.IsTraced
                ? await DatabaseTelemetry.TraceWriteAsync(
                    environment, name, transaction => Run(transaction, command, wantsResults),
                    cancellationToken).ConfigureAwait(false)
                : await environment.WriteAsync(transaction => Run(transaction, command, wantsResults), cancellationToken)
                    .ConfigureAwait(false);
            if (began != 0)
                DatabaseTelemetry.Written(name, timeProvider.GetElapsedTime(began));
            changes.Publish(etag);
            return result;
        }
        catch (OperationCanceledException)
        {
            PublishWhatIsDurable(); // the write may have completed nevertheless
            throw;
        }
    }

    /// <summary>Executes a command synchronously.</summary>
    public TResult Run<TResult>(Func<DocumentWriter, DateTime, TResult> command)
    {
        (TResult result, long etag) = environment.Write(transaction => Run(transaction, command, wantsResults: true));
        changes.Publish(etag);
        return result;
    }

    private (TResult Result, long Etag) Run<TResult>(
        WriteTransaction transaction, Func<DocumentWriter, DateTime, TResult> command, bool wantsResults)
    {
        DateTime now = timeProvider.GetUtcNow().UtcDateTime;
        var writer = new DocumentWriter(transaction, changeVectors, dictionaries, now, wantsResults, keepsUnused());
        TResult result = command(writer, now);
        return (result, writer.LastEtag);
    }

    private void PublishWhatIsDurable()
    {
        try
        {
            using DatabaseSnapshot snapshot = beginRead();
            changes.Publish(snapshot.LastEtag);
        }
        catch (ObjectDisposedException)
        {
            // Closed meanwhile: nobody waits for changes any more.
        }
    }
}
