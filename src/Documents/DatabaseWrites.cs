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
    Func<bool> keepsUnused,
    Action expiringValueStored,
    string name,
    TimeProvider timeProvider)
{
    /// <summary>Executes a command; completes when it is durable.</summary>
    public async Task<TResult> RunAsync<TResult>(
        Func<DocumentWriter, DateTime, TResult> command, CancellationToken cancellationToken, bool wantsResults = true)
    {
        long began = DatabaseTelemetry.CountsWrites ? timeProvider.GetTimestamp() : 0;
        Written<TResult> written = DatabaseTelemetry.IsTraced
            ? await DatabaseTelemetry.TraceWriteAsync(
                environment, name, transaction => Run(transaction, command, wantsResults), cancellationToken)
                .ConfigureAwait(false)
            : await environment.WriteAsync(transaction => Run(transaction, command, wantsResults), cancellationToken)
                .ConfigureAwait(false);
        // A cancelled write has changed nothing: one that has begun completes here, whatever its token says.
        if (began != 0)
            DatabaseTelemetry.Written(name, timeProvider.GetElapsedTime(began));
        return Publish(written);
    }

    /// <summary>Executes a command synchronously.</summary>
    public TResult Run<TResult>(Func<DocumentWriter, DateTime, TResult> command)
    {
        return Publish(environment.Write(transaction => Run(transaction, command, wantsResults: true)));
    }

    private TResult Publish<TResult>(Written<TResult> written)
    {
        changes.Publish(written.LastEtag);
        if (written.HasExpiringValues)
            expiringValueStored();
        return written.Result;
    }

    private Written<TResult> Run<TResult>(
        WriteTransaction transaction, Func<DocumentWriter, DateTime, TResult> command, bool wantsResults)
    {
        DateTime now = timeProvider.GetUtcNow().UtcDateTime;
        var writer = new DocumentWriter(transaction, changeVectors, dictionaries, now, wantsResults, keepsUnused());
        TResult result = command(writer, now);
        return new Written<TResult>(result, writer.LastEtag, writer.Kinds.HasExpiringValues);
    }

    private readonly record struct Written<TResult>(TResult Result, long LastEtag, bool HasExpiringValues);
}
