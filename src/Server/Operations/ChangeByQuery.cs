using Treepie.Queries;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Writes;

namespace Treepie.Server.Operations;

/// <summary>
/// Deletes or patches the results of a query, in batches, over the snapshot that the query saw: documents added meanwhile are
/// not affected. Each batch is durable when it is reported as progress. If the operation is killed, completed batches remain.
/// </summary>
/// <remarks>
/// Other writers wait for the end of a batch, and so does a kill if the batch runs no script that can be cancelled. Therefore
/// batches are as large as can be executed in a short time, starting with one document, and a batch that takes much longer is
/// rolled back and executed in halves.
/// </remarks>
internal sealed class ChangeByQuery
{
    /// <summary>The maximum number of documents in a batch.</summary>
    private const int MaxBatch = 1_024;

    /// <summary>If the rate is limited, the number of batches for the documents of one second.</summary>
    private const int BatchesPerSecond = 4;

    /// <summary>The target duration of a batch, and the maximum duration of one with several documents.</summary>
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

    /// <summary>The settings of the change.</summary>
    /// <param name="Add">Adds the change of a document to a batch; the token cancels its execution.</param>
    /// <param name="Verb">What is done, for messages: <c>deleted</c>.</param>
    /// <param name="AllowStale">Whether to continue if the index is stale.</param>
    /// <param name="StaleTimeout">The maximum time to wait for the index otherwise.</param>
    /// <param name="MaxPerSecond">The maximum number of documents per second; null: no limit.</param>
    /// <param name="WithDetails">Whether the result lists each document.</param>
    public sealed record Settings(
        Action<WriteBatch, string, CancellationToken> Add, string Verb, bool AllowStale, TimeSpan? StaleTimeout,
        long? MaxPerSecond, bool WithDetails);

    /// <summary>
    /// Executes the query and starts the change in the background; takes ownership of <paramref name="command"/> when it
    /// returns.
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
            ExaminesDocuments = false, // a text without quotes is a field, and would find other documents than were meant
            SkipDuplicateChecking = false, // each document is changed once, however many entries the index has of it
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

            _operation.Report(Progress with { Total = _changed });
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

    private OperationProgress Progress => new(_changed, Math.Max(_changed, _results.TotalResults), _batches, null)
    {
        Kind = OperationKind.Change,
    };

    /// <summary>Returns the error of the operation, including what was done before it.</summary>
    private ErrorAnswer Answer(ErrorAnswer failure) => _changed == 0
        ? failure
        : new ErrorAnswer(
            failure.StatusCode, failure.WireType,
            $"{failure.Message} {_changed:N0} of {Progress.Total:N0} documents were {_settings.Verb} before, and stay so.");

    /// <summary>Changes the next documents; returns false if there are none left.</summary>
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
    /// Changes the first of the documents found in one transaction, or fewer if this takes too long; returns their number.
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
                // The token only cancels scripts and batches that have not started: a batch that was cancelled has changed
                // nothing.
                IReadOnlyList<WriteResult> results = await _lease.Database.WriteAsync(batch, end.Token).ConfigureAwait(false);
                _details?.Add(results);
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
