using System.Runtime.ExceptionServices;
using System.Text.Json;
using Treepie.BackupTasks;
using Treepie.Destinations;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Operations;
using Treepie.Server.Smuggler;

namespace Treepie.Server.Backups;

/// <summary>
/// Front door of the room: the scheduler of this server's databases, whose runs are operations like any other, so that they are
/// seen and can be killed; and restores, which are operations of the server. Thread-safe.
/// </summary>
internal sealed class BackupService : IAsyncDisposable
{
    private readonly RequestServices _server;

    public BackupService(RequestServices server, ServerOperations operations, TreepieServerOptions options)
    {
        _server = server;
        Scheduler = new BackupScheduler(
            new GatedBackups(server.Databases), new DestinationProviders(new AllowedPlaces(options)), server.Clock)
        {
            Around = async run =>
            {
                Exception? failure = await RunOperation(
                    operations.Of(run.Database).Begin(), "scheduled backup", async (operation, stop) =>
                        ResultOf(await run.RunAsync(operation.Id, new OperationReporter(operation), stop).ConfigureAwait(false)),
                    lease: null).ConfigureAwait(false);
                if (failure is not null)
                    ExceptionDispatchInfo.Throw(failure); // the scheduler keeps it and warns of it
            },
            KeySources = new NamedKeySources(options, server.Logger),
            Warn = message => server.Logger.LogWarning("{Message}", message),
        };
    }

    public BackupScheduler Scheduler { get; }

    /// <summary>Begins work that outlives its request, as an operation of <paramref name="owner"/>.</summary>
    /// <param name="owner">Whose operation it is.</param>
    /// <param name="what">What it does, for the log: "compaction".</param>
    /// <param name="work">Does it, and gives what writes its result.</param>
    /// <param name="lease">The database it works on, which <paramref name="work"/> leaves; null: it enters databases by
    /// itself.</param>
    public Operation Start(
        OperationRegistry owner, string what, Func<Operation, CancellationToken, Task<Action<Utf8JsonWriter>>> work,
        DatabaseLease? lease = null)
    {
        Operation operation = owner.Begin();
        _ = Task.Run(async () =>
        {
            if (await RunOperation(operation, what, work, lease).ConfigureAwait(false) is { } failure)
                _server.Logger.LogWarning(failure, "The {What}, operation {OperationId}, failed", what, operation.Id);
        });
        return operation;
    }

    /// <summary>What a backup did, as the result of its operation.</summary>
    public static Action<Utf8JsonWriter> ResultOf(BackupRunReport report) => json =>
    {
        json.WriteStartObject();
        long documents = report.Report?.Counts.Documents ?? 0;
        json.WriteNumber("Processed", documents);
        json.WriteNumber("Total", documents);
        json.WriteStartObject("Documents");
        json.WriteNumber("ReadCount", documents);
        json.WriteNumber("ErroredCount", 0);
        json.WriteEndObject();
        json.WriteBoolean("NothingChanged", report.Report is null);
        json.WriteString("Kind", report.Kind.ToString());
        json.WriteString("LogGap", report.LogGap);
        json.WriteString("Object", report.Object);
        json.WriteNumber("StoredBytes", report.Report?.StoredBytes ?? 0);
        json.WriteString("ContentHash", report.Report?.ContentHash);
        json.WriteBoolean("IsProven", report.Proven is not null);
        json.WriteNumber("DurationInMs", (long)report.Duration.TotalMilliseconds);
        json.WriteStartArray("Places");
        foreach (BackupPlaceResult place in report.Places)
            BackupTaskJson.Write(json, place);
        json.WriteEndArray();
        json.WriteTexts("Deleted", report.Deleted);
        json.WriteEndObject();
    };

    public ValueTask DisposeAsync() => Scheduler.DisposeAsync();

    /// <summary>Gives what the work failed with; null where it is done, or was ended before time.</summary>
    private async Task<Exception?> RunOperation(
        Operation operation, string what, Func<Operation, CancellationToken, Task<Action<Utf8JsonWriter>>> work,
        DatabaseLease? lease)
    {
        try
        {
            operation.Complete(await work(operation, operation.Killed).ConfigureAwait(false));
            return null;
        }
        catch (Exception exception)
        {
            return operation.EndsAsFailure(exception, _server, lease, error => Answer(what, error)) ? exception : null;
        }
    }

    private static ErrorAnswer Answer(string what, Exception error) => ErrorAnswer.ForOperation(
        BackupException.From(error)
            ?? (error is ArgumentException ? WireException.BadRequest($"The {what} failed: {error.Message}", error) : error));
}
