using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using Treepie.Server.Http;

namespace Treepie.Server.Operations;

/// <summary>
/// Work that outlives its request: how far it is, how it ended, and the way to end it before time. Thread-safe.
/// </summary>
[SuppressMessage("Design", "CA1001", Justification = "The source has neither timer nor links, so there is nothing to dispose.")]
internal sealed class Operation
{
    private readonly Lock sync = new();
    private readonly CancellationTokenSource killed = new();
    private OperationStatus status;
    private OperationProgress progress;
    private ErrorAnswer? error;
    private Action<Utf8JsonWriter>? result;

    public Operation(long id) => Id = id;

    public long Id { get; }

    /// <summary>Who started it; null: who administers the database, or the server itself.</summary>
    public string? StartedBy { get; init; }

    /// <summary>Cancelled when somebody kills the operation.</summary>
    public CancellationToken Killed => killed.Token;

    public OperationStatus Status
    {
        get
        {
            lock (sync)
                return status;
        }
    }

    public bool IsOver => Status != OperationStatus.InProgress;

    public void Report(OperationProgress now)
    {
        lock (sync)
            progress = now;
    }

    /// <summary>Ends it well; <paramref name="writeResult"/> says what it did, where that is more than its progress.</summary>
    public void Complete(Action<Utf8JsonWriter>? writeResult = null) => End(OperationStatus.Completed, null, writeResult);

    public void Cancel() => End(OperationStatus.Canceled, null);

    public void Fail(ErrorAnswer answer) => End(OperationStatus.Faulted, answer);

    /// <summary>Whether somebody may end it: who started it, or who administers its database (null).</summary>
    public bool IsKilledBy(string? who) => who is null || who == StartedBy;

    /// <summary>Ends it as soon as it looks; what is durable stays.</summary>
    public void Kill() => killed.Cancel();

    public void WriteState(Utf8JsonWriter json)
    {
        lock (sync)
        {
            json.WriteStartObject();
            json.WriteString("Status", status switch
            {
                OperationStatus.InProgress => "InProgress",
                OperationStatus.Completed => "Completed",
                OperationStatus.Canceled => "Canceled",
                _ => "Faulted",
            });
            json.WritePropertyName("Progress");
            progress.Write(json);
            json.WritePropertyName("Result");
            if (error is not null)
                error.WriteResult(json);
            else if (status == OperationStatus.Completed && result is not null)
                result(json);
            else if (status == OperationStatus.Completed)
                progress.Write(json);
            else
                json.WriteNullValue();

            json.WriteEndObject();
        }
    }

    private void End(OperationStatus end, ErrorAnswer? answer, Action<Utf8JsonWriter>? writeResult = null)
    {
        lock (sync)
        {
            if (status != OperationStatus.InProgress)
                return;

            status = end;
            error = answer;
            result = writeResult;
        }
    }
}
