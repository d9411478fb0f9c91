using Treepie.Queries;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Writes;

namespace Treepie.Server.Operations;

/// <summary>
/// Deletes or patches what a query finds, batch by batch, over the snapshot the query saw: what is added meanwhile stays. Each
/// batch is durable when it counts as progress; killed half way, what is done stays done.
/// </summary>
/// <remarks>
/// Others who write wait for the end of a batch, and so does a kill where no script can be ended. So batches are as large as can
/// be done in a short time, beginning with one document, and one that takes much longer is undone and done in halves.
/// </remarks>
internal sealed class ChangeByQuery
{
    /// <summary>Most documents of a batch.</summary>
    private const int MaxBatch = 1_024;

    /// <summary>In how many batches the documents of one second are done, where there is a limit to them.</summary>
    private const int BatchesPerSecond = 4;

    /// <summary>How long a batch should take, and how long one of several documents may.</summary>
    private static readonly TimeSpan _wantedTime = TimeSpan.FromMilliseconds(100), _longestTime = TimeSpan.FromSeconds(1);

    private readonly RequestServices _server;
    private readonly Operation _operation;
    private readonly DatabaseLease _lease;
    private readonly QueryCommand _command;
    private readonly QueryResults _results;
    private readonly Settings _settings;
    private readonly List<string> _found = [];
    private readonly ChangeDetails? _details;
    private long _changed;
    private long _batches;
    private int _size = 1;

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
        _details = settings.WithDetails ? new ChangeDetails() : null;
    }

    /// <summary>How to change.</summary>
    /// <param name="Add">Adds the change of a document to a batch; the token ends it while it is made.</param>
    /// <param name="Verb">What is done, for messages: <c>deleted</c>.</param>
    /// <param name="AllowStale">Go on although the index has not seen every document.</param>
    /// <param name="StaleTimeout">Longest wait for the index otherwise.</param>
    /// <param name="MaxPerSecond">Documents a second at most; null: as fast as it goes.</param>
    /// <param name="WithDetails">Whether the result names each document.</param>
    public sealed record Settings(
        Action<WriteBatch, string, CancellationToken> Add, string Verb, bool AllowStale, TimeSpan? StaleTimeout,
        long? MaxPerSecond, bool WithDetails);

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
            operation.Report(run.Progress);
            if (run._details is not null)
                operations.Of(database.Name).Keep(operation, run._details);
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
                _operation.Report(Progress);

            _operation.Report(new OperationProgress(_changed, _changed, _batches, null));
            var result = new ChangeResult(_changed, _command.Request.Text, _details);
            _operation.Complete(result.Write);
        }
        catch (Exception exception)
        {
            if (_operation.EndsAsFailure(exception, _server, _lease, error => Answer(ErrorAnswer.ForOperation(error))))
                _server.Logger.LogWarning(
                    exception, "Change by query, operation {OperationId}, failed after {Changed} documents", _operation.Id,
                    _changed);
        }
    }

    private OperationProgress Progress => new(_changed, Math.Max(_changed, _results.TotalResults), _batches, null);

    /// <summary>What is told of a failure: what was done before it, which stays.</summary>
    private ErrorAnswer Answer(ErrorAnswer failure) => _changed == 0
        ? failure
        : new ErrorAnswer(
            failure.StatusCode, failure.WireType,
            $"{failure.Message} {_changed:N0} of {Progress.Total:N0} documents were {_settings.Verb} before, and stay so.");

    /// <summary>Changes some documents; false if there are none left.</summary>
    private async Task<bool> ChangeBatchAsync(CancellationToken stop)
    {
        int wanted = _settings.MaxPerSecond is { } most
            ? (int)Math.Clamp(most / BatchesPerSecond, 1, _size)
            : _size;
        while (_found.Count < wanted && _results.MoveNext())
        {
            stop.ThrowIfCancellationRequested();
            if (_results.IsProjection)
                throw WireException.BadRequest(
                    "The query selects fields; what is to be changed are whole documents. Leave 'select' out.");

            _found.Add(System.Text.Encoding.UTF8.GetString(_results.Current.Id));
        }

        stop.ThrowIfCancellationRequested();
        if (_found.Count == 0)
            return false;

        long began = _server.Clock.GetTimestamp();
        int count = await WriteAsync(Math.Min(wanted, _found.Count), stop).ConfigureAwait(false);
        TimeSpan took = _server.Clock.GetElapsedTime(began);
        if (took < _wantedTime / 2 && count == _size)
            _size = Math.Min(_size * 2, MaxBatch);
        else if (took > _wantedTime)
            _size = Math.Max(1, count / 2);
        _changed += count;
        _batches++;
        if (_settings.MaxPerSecond is { } perSecond && TimeSpan.FromSeconds((double)count / perSecond) - took is var rest
            && rest > TimeSpan.Zero)
        {
            _operation.Report(Progress);
            await Task.Delay(rest, _server.Clock, stop).ConfigureAwait(false);
        }

        return true;
    }

    /// <summary>
    /// Changes the first of those that were found, in one durable step; fewer where so many take too long. Gives how many.
    /// </summary>
    private async Task<int> WriteAsync(int count, CancellationToken stop)
    {
        while (true)
        {
            using var end = CancellationTokenSource.CreateLinkedTokenSource(stop);
            if (count > 1)
                end.CancelAfter(_longestTime);
            var batch = new WriteBatch(_lease.Database.Options);
            for (int i = 0; i < count; i++)
                _settings.Add(batch, _found[i], end.Token);
            try
            {
                // It ends only what has not begun, and scripts: what is answered as ended has changed nothing.
                IReadOnlyList<WriteResult> results = await _lease.Database.WriteAsync(batch, end.Token).ConfigureAwait(false);
                _details?.Add(results); // which the batch, used up by now, has not
                _found.RemoveRange(0, count);
                return count;
            }
            catch (OperationCanceledException) when (!stop.IsCancellationRequested && count > 1)
            {
                count /= 2;
                _size = count;
            }
        }
    }
}
