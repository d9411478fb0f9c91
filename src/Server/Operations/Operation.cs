using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using Treepie.Server.Http;

namespace Treepie.Server.Operations;

/// <summary>Work that outlives its request: its progress, its result, and a way to cancel it. Thread-safe.</summary>
[SuppressMessage("Design", "CA1001", Justification = "The source has neither timer nor links, so there is nothing to dispose.")]
internal sealed class Operation
{
    private readonly Lock _sync = new();
    private readonly CancellationTokenSource _killed = new();
    private OperationStatus _status;
    private OperationProgress _progress;
    private ErrorAnswer? _error;
    private Action<Utf8JsonWriter>? _result;

    public Operation(long id) => Id = id;

    public long Id { get; }

    /// <summary>The client that started it; null for administrators of the database, and the server itself.</summary>
    public string? StartedBy { get; init; }

    /// <summary>Cancelled when the operation is killed.</summary>
    public CancellationToken Killed => _killed.Token;

    public OperationStatus Status
    {
        get
        {
            lock (_sync)
                return _status;
        }
    }

    public bool IsOver => Status != OperationStatus.InProgress;

    public void Report(OperationProgress now)
    {
        lock (_sync)
            _progress = now;
    }

    /// <summary>
    /// Ends it successfully; <paramref name="writeResult"/> writes the result, if there is more than the progress.
    /// </summary>
    public void Complete(Action<Utf8JsonWriter>? writeResult = null) => End(OperationStatus.Completed, null, writeResult);

    public void Cancel() => End(OperationStatus.Canceled, null);

    public void Fail(ErrorAnswer answer) => End(OperationStatus.Faulted, answer);

    /// <summary>
    /// Returns whether a client may kill it: the one that started it, or an administrator of the database (null).
    /// </summary>
    public bool IsKilledBy(string? who) => who is null || who == StartedBy;

    /// <summary>Requests cancellation; durable changes are kept.</summary>
    public void Kill() => _killed.Cancel();

    public void WriteState(Utf8JsonWriter json)
    {
        lock (_sync)
        {
            json.WriteStartObject();
            json.WriteString("Status", _status switch
            {
                OperationStatus.InProgress => "InProgress",
                OperationStatus.Completed => "Completed",
                OperationStatus.Canceled => "Canceled",
                _ => "Faulted",
            });
            json.WritePropertyName("Progress");
            _progress.Write(json);
            json.WritePropertyName("Result");
            if (_error is not null)
                _error.WriteResult(json);
            else if (_status == OperationStatus.Completed && _result is not null)
                _result(json);
            else if (_status == OperationStatus.Completed)
                _progress.Write(json, isResult: true);
            else
                json.WriteNullValue();

            json.WriteEndObject();
        }
    }

    private void End(OperationStatus end, ErrorAnswer? answer, Action<Utf8JsonWriter>? writeResult = null)
    {
        lock (_sync)
        {
            if (_status != OperationStatus.InProgress)
                return;

            _status = end;
            if (end == OperationStatus.Completed && _progress.Processed < _progress.Total)
                _progress = _progress with { Processed = _progress.Total }; // progress is reported now and then
            _error = answer;
            _result = writeResult;
        }
    }
}
