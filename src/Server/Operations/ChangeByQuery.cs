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

    private readonly RequestServices _server;
    private readonly Operation _operation;
    private readonly DatabaseLease _lease;
    private readonly QueryCommand _command;
    private readonly QueryResults _results;
    private readonly Settings _settings;
    private long _changed;
    private long _batches;

    private ChangeByQuery(
        RequestServices server, Operation operation, DatabaseLease lease, QueryCommand command, QueryResults results,
        Settings settings)
    {
        _server = server;
        _operation = operation;
        _lease = lease;
        _command = command;
        _results = results;
        _settings = settings;
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
        using DatabaseLease inside = _lease;
        using QueryCommand parameters = _command;
        using QueryResults cursor = _results;
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(_operation.Killed, _lease.Closing);
        try
        {
            while (await ChangeBatchAsync(stop.Token).ConfigureAwait(false))
                _operation.Report(new OperationProgress(_changed, _results.TotalResults, _batches, null));

            _operation.Report(new OperationProgress(_changed, _changed, _batches, null));
            _operation.Complete();
        }
        catch (OperationCanceledException)
        {
            _operation.Cancel();
        }
        catch (Exception exception)
        {
            _operation.Fail(ErrorAnswer.ForOperation(exception));
            _server.Logger.LogWarning(
                exception, "Change by query, operation {OperationId}, failed after {Changed} documents", _operation.Id, _changed);
        }
    }

    private async Task<bool> ChangeBatchAsync(CancellationToken stop)
    {
        int size = (int)Math.Min(_settings.MaxPerSecond ?? BatchSize, BatchSize);
        var batch = new WriteBatch(_lease.Database.Options);
        while (batch.Count < size && _results.MoveNext())
        {
            if (_results.IsProjection)
                throw WireException.BadRequest(
                    "The query selects fields; what is to be changed are whole documents. Leave 'select' out.");

            _settings.Add(batch, System.Text.Encoding.UTF8.GetString(_results.Current.Id));
        }

        stop.ThrowIfCancellationRequested();
        if (batch.Count == 0)
            return false;

        int count = batch.Count;
        await _lease.Database.WriteAsync(batch, stop).ConfigureAwait(false); // which uses the batch up
        _changed += count;
        _batches++;
        if (_settings.MaxPerSecond is { } perSecond)
            await Task.Delay(TimeSpan.FromSeconds((double)count / perSecond), _server.Clock, stop).ConfigureAwait(false);

        return true;
    }
}
