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
/// Runs the backup scheduler of this server's databases; its runs are operations, so they can be listed and killed. Also
/// starts other long work as operations, such as restores. Thread-safe.
/// </summary>
internal sealed class BackupService : IAsyncDisposable
{
    private readonly RequestServices _server;
    private readonly CancellationTokenSource _stop = new();
    private Task _catchUp = Task.CompletedTask;

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
                    ExceptionDispatchInfo.Throw(failure); // the scheduler records the error and logs a warning
            },
            KeySources = new NamedKeySources(options, server.Logger),
            Warn = message => server.Logger.LogWarning("{Message}", message),
        };
        ServerWide = new ServerWideBackups(server, Scheduler);
        server.Databases.Made = ServerWide.GiveToNewAsync;
    }

    public BackupScheduler Scheduler { get; }

    /// <summary>The tasks of all databases.</summary>
    public ServerWideBackups ServerWide { get; }

    /// <summary>Starts running tasks on schedule, and gives databases the tasks of all databases that they lack.</summary>
    public void Start()
    {
        _catchUp = Task.Run(CatchUpAsync);
        Scheduler.Start();
    }

    /// <summary>Starts work that outlives its request, as an operation of <paramref name="owner"/>.</summary>
    /// <param name="owner">The registry of the operation.</param>
    /// <param name="what">What the operation does, for the log, such as "compaction".</param>
    /// <param name="work">Does the work, and returns a function that writes its result.</param>
    /// <param name="lease">
    /// The database that <paramref name="work"/> uses and then releases; null if it enters databases itself.
    /// </param>
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

    /// <summary>Returns a function that writes the result of a backup.</summary>
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

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _catchUp.ConfigureAwait(false);
        await Scheduler.DisposeAsync().ConfigureAwait(false);
        _stop.Dispose();
    }

    private async Task CatchUpAsync()
    {
        try
        {
            await ServerWide.CatchUpAsync(_stop.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // the server stops; the next start continues
        }
        catch (Exception error)
        {
            _server.Logger.LogWarning(error, "The backup tasks of all databases cannot be read");
        }
    }

    /// <summary>Runs the work; returns its exception, or null if it succeeded or was cancelled.</summary>
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
