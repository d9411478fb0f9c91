using Treepie.Backups;
using Treepie.Server.Http;
using Treepie.Server.Limits;
using Treepie.Server.Operations;
using Treepie.Server.Security;
using Treepie.Server.Smuggler;

namespace Treepie.Server.Endpoints;

/// <summary>
/// <c>smuggler/export</c> and <c>smuggler/import</c> stream a database to a client, or from a client into a database, without
/// storing the dump on the server's disk; <c>restore/upload</c> restores a backup sent by a client to a new database. All are
/// operations, whose state shows their progress and result, which the connection cannot do if it breaks.
/// </summary>
internal static class SmugglerEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("POST", "/smuggler/export", AccessLevel.DatabaseRead, Export);
        routes.Database("POST", "/smuggler/import", AccessLevel.DatabaseReadWrite, Import);
        routes.Server("POST", "/admin/restore/upload", AccessLevel.Operator, Restore);
    }

    private static async Task Export(HttpServerRequest request, Database database)
    {
        using RequestBody body = await request.ReadBodyAsync(DumpForm.MaxOptionsBytes).ConfigureAwait(false);
        using SmugglerOptions options = SmugglerOptions.Read(body, database.Options);
        if (options.Key is not null)
            SecretTransport.Require(request.Http);

        await RunAsync(
            request, request.Server.Operations.Of(database.Name), "export", request.Server.Streams, async (operation, stop) =>
            {
                HttpResponse response = request.Http.Response;
                response.ContentType = "application/octet-stream";
                // The content itself is compressed, not the transfer, so clients write it to a file as it is.
                response.Headers.ContentDisposition = $"attachment; filename=\"{database.Name}.ravendbdump\"";
                BackupOptions wanted = options.ForBackup();
                response.Headers[BackupPartEndpoints.SealedHeader] = BackupPartEndpoints.IsSealed(wanted, database)
                    ? "true"
                    : "false";
                BackupReport report = await request.Server.Databases.Source
                    .BackupAsync(
                        database, new AnswerStream(request.Output), wanted,
                        new OperationReporter(operation, OperationKind.Smuggler), stop)
                    .ConfigureAwait(false);
                operation.Complete(json => ReportJson.WriteExport(json, report));
            }).ConfigureAwait(false);
    }

    private static Task Import(HttpServerRequest request, Database database)
    {
        bool maySet = Caller.Of(request).Rights.Suffice(AccessLevel.DatabaseAdmin, database.Name);
        return RunAsync(
            request, request.Server.Operations.Of(database.Name), "import", request.Server.BulkInserts, async (operation, stop) =>
            {
                await DumpForm.ReadAsync(
                    request, database.Options,
                    async (options, dump) =>
                    {
                        BackupReport report = await request.Server.Databases.Source
                            .ImportAsync(
                                database, dump, options.ForImport(maySet),
                                new OperationReporter(operation, OperationKind.Smuggler), stop)
                            .ConfigureAwait(false);
                        operation.Complete(json => ReportJson.WriteImport(json, report));
                    },
                    stop).ConfigureAwait(false);
                await request.NoContentAsync().ConfigureAwait(false);
            });
    }

    private static Task Restore(HttpServerRequest request)
    {
        string name = request.RequiredParameter("name");
        bool encrypted = request.Flag("encrypted");
        return RunAsync(
            request, request.Server.Operations.OfServer, "restore", request.Server.BulkInserts,
            (operation, stop) => DumpForm.ReadAsync(
                request, request.Server.Options.Database,
                async (options, dump) =>
                {
                    BackupReport report = await request.Server.Databases.MakeAsync(
                        name,
                        () => request.Server.Databases.Source.RestoreAsync(
                            name, dump, encrypted, options.ForRestore(), new OperationReporter(operation), stop))
                        .ConfigureAwait(false);
                    await WriteAsync(request, report).ConfigureAwait(false);
                },
                stop));
    }

    /// <summary>
    /// Runs an operation of <paramref name="owner"/> to its end, with the number that the client chose with
    /// <c>operationId=</c>, or a new one. It counts towards the limits of <paramref name="share"/>.
    /// </summary>
    public static async Task RunAsync(
        HttpServerRequest request, OperationRegistry owner, string what, WorkShare share,
        Func<Operation, CancellationToken, Task> work)
    {
        request.BecomeLong(share);
        long id = request.Number("operationId", 0);
        Operation operation = (id == 0 ? owner.Begin(request.Client.Identity) : owner.TryBegin(id, request.Client.Identity))
            ?? throw WireException.BadRequest(
                $"An operation with the number {id} has begun before, or somebody else has drawn it. Take a new one from "
                    + "operations/next-operation-id.");
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(request.Aborted, operation.Killed);
        try
        {
            await work(operation, stop.Token).ConfigureAwait(false);
            operation.Complete();
        }
        catch (OperationCanceledException) when (operation.Killed.IsCancellationRequested)
        {
            operation.Cancel();
            throw WireException.BadRequest($"The {what}, operation {operation.Id}, was killed.");
        }
        catch (ArgumentException exception)
        {
            WireException error = WireException.BadRequest(exception.Message, exception);
            operation.Fail(ErrorAnswer.For(error, request));
            throw error;
        }
        catch (Exception exception)
        {
            Exception error = BackupException.From(exception) ?? exception;
            operation.Fail(ErrorAnswer.For(error, request));
            if (error != exception)
                throw error;
            throw;
        }
    }

    private static Task WriteAsync(HttpServerRequest request, BackupReport report) =>
        request.JsonAsync(report, static (json, report) =>
        {
            json.WriteStartObject();
            json.WriteNumber("Documents", report.Counts.Documents);
            json.WriteNumber("Tombstones", report.Counts.Tombstones);
            json.WriteNumber("Indexes", report.Counts.Indexes);
            json.WriteNumber("Identities", report.Counts.Identities);
            json.WriteNumber("LastEtag", report.LastEtag);
            json.WriteString("ContentHash", report.ContentHash);
            ReportJson.WriteCounts(json, report);
            json.WriteEndObject();
        }, StatusCodes.Status201Created);
}
