using Treepie.Encryption;
using Treepie.Server.Databases;
using Treepie.Server.Http;

namespace Treepie.Server.Operations;

/// <summary>
/// Re-encrypts a database with new data keys in the background. If it is killed, the database remains readable.
/// </summary>
internal sealed class KeyRotation(RequestServices server, Operation operation, DatabaseLease lease)
    : IProgress<EncryptionProgress>
{
    /// <summary>Starts the rotation.</summary>
    public static Operation Start(RequestServices server, ServerOperations operations, Database database)
    {
        // the operation outlives the request, so it keeps the database open itself
        DatabaseLease lease = server.Databases.Enter(database.Name);
        Operation operation = operations.Of(database.Name).Begin();
        var rotation = new KeyRotation(server, operation, lease);
        _ = Task.Run(rotation.Run, CancellationToken.None);
        return operation;
    }

    /// <inheritdoc/>
    public void Report(EncryptionProgress value) =>
        operation.Report(new OperationProgress(value.PagesDone, value.PagesTotal, 0, value.Store));

    private static WireException StillHeld(EncryptionReport report) => new(
        StatusCodes.Status409Conflict, WireTypes.Concurrency,
        $"Everything was encrypted anew, but an old data key is still needed. Run it again when it is not: "
            + $"{string.Join("; ", report.Holders)}");

    private void Run()
    {
        using DatabaseLease inside = lease;
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(operation.Killed, lease.Closing);
        try
        {
            EncryptionReport report = server.Databases.Source.RotateDataKey(lease.Database.Name, this, stop.Token);
            if (report.IsComplete)
                operation.Complete();
            else
                operation.Fail(ErrorAnswer.ForOperation(StillHeld(report)));
        }
        catch (Exception exception)
        {
            if (operation.EndsAsFailure(exception, server, lease, ErrorAnswer.ForOperation))
                server.Logger.LogWarning(
                    exception, "Rotation of the data keys of {Database}, operation {OperationId}, failed", lease.Database.Name,
                    operation.Id);
        }
    }
}
