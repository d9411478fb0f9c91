using Treepie.Queries;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Writes;

namespace Treepie.Server.Operations;

/// <summary>
/// Deletes or patches what a query finds, batch by batch, over the snapshot the query saw: what is added meanwhile stays. Each
/// batch is durable when it counts as progress; killed half way, what is done stays done.
/// </summary>
internal sealed class ChangeByQuery
{
    private const int BatchSize = 1_024;

    private readonly RequestServices server;
    private readonly Operation operation;
    private readonly DatabaseLease lease;
    private readonly QueryCommand command;
    private readonly QueryResults results;
    private readonly Settings settings;
    private long changed;
    private long batches;

    private ChangeByQuery(
        RequestServices server, Operation operation, DatabaseLease lease, QueryCommand command, QueryResults results,
        Settings settings)
    {
        this.server = server;
        this.operation = operation;
        this.lease = lease;
        this.command = command;
        this.results = results;
        this.settings = settings;
    }

    /// <summary>How to change.</summary>
    /// <param name="Add">Adds the change of a document to a batch.</param>
    /// <param name="Verb">What is done, for messages: <c>deleted</c>.</param>
    /// <param name="AllowStale">Go on although the index has not seen every document.</param>
    /// <param name="StaleTimeout">Longest wait for the index otherwise.</param>
    /// <param name="MaxPerSecond">Documents a second at most; null: as fast as it goes.</param>
    public sealed record Settings(
        Action<WriteBatch, string> Add, string Verb, bool AllowStale, TimeSpan? StaleTimeout, long? MaxPerSecond);

    /// <summary>
    /// Runs the query and begins to change in the background; owns <paramref name="command"/> from its return on.
    /// </summary>
    public static async Task<Operation> StartAsync(
        RequestServices server, ServerOperations operations, Database database, QueryCommand command, QueryRequest request,
        Settings settings, string startedBy,
        CancellationToken cancellationToken)
    {
        QueryRequest query = request with
        {
            WaitForNonStaleResults = command.Request.WaitForNonStaleResults || !settings.AllowStale,
            WaitTimeout = settings.StaleTimeout ?? command.Request.WaitTimeout,
        };
        QueryResults results = await database.QueryAsync(query, cancellationToken).ConfigureAwait(false);
        DatabaseLease? lease = null;
        try
        {
            if (results.IsStale && !settings.AllowStale)
                throw WireException.BadRequest(
                    $"Index '{results.IndexName}' has not seen every document yet, so some could be missed. Allow stale results, "
                        + $"or wait longer (staleTimeout). Nothing was {settings.Verb}.");

            lease = server.Databases.Enter(database.Name);
            Operation operation = operations.Of(database.Name).Begin(startedBy);
            var run = new ChangeByQuery(server, operation, lease, command, results, settings);
            _ = Task.Run(run.RunAsync, CancellationToken.None);
            return operation;
        }
        catch
        {
            lease?.Dispose();
            results.Dispose();
            throw;
        }
    }

    private async Task RunAsync()
    {
        using DatabaseLease inside = lease;
        using QueryCommand parameters = command;
        using QueryResults cursor = results;
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(operation.Killed, lease.Closing);
        try
        {
            while (await ChangeBatchAsync(stop.Token).ConfigureAwait(false))
                operation.Report(new OperationProgress(changed, results.TotalResults, batches, null));

            operation.Report(new OperationProgress(changed, changed, batches, null));
            operation.Complete();
        }
        catch (OperationCanceledException)
        {
            operation.Cancel();
        }
        catch (Exception exception)
        {
            operation.Fail(ErrorAnswer.ForOperation(exception));
            server.Logger.LogWarning(
                exception, "Change by query, operation {OperationId}, failed after {Changed} documents", operation.Id, changed);
        }
    }

    private async Task<bool> ChangeBatchAsync(CancellationToken stop)
    {
        int size = (int)Math.Min(settings.MaxPerSecond ?? BatchSize, BatchSize);
        var batch = new WriteBatch(lease.Database.Options);
        while (batch.Count < size && results.MoveNext())
        {
            if (results.IsProjection)
                throw WireException.BadRequest(
                    "The query selects fields; what is to be changed are whole documents. Leave 'select' out.");

            settings.Add(batch, System.Text.Encoding.UTF8.GetString(results.Current.Id));
        }

        stop.ThrowIfCancellationRequested();
        if (batch.Count == 0)
            return false;

        int count = batch.Count;
        await lease.Database.WriteAsync(batch, stop).ConfigureAwait(false); // which uses the batch up
        changed += count;
        batches++;
        if (settings.MaxPerSecond is { } perSecond)
            await Task.Delay(TimeSpan.FromSeconds((double)count / perSecond), server.Clock, stop).ConfigureAwait(false);

        return true;
    }
}
