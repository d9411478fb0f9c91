using System.IO.Compression;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Treepie.Server.BulkInsert;
using Treepie.Server.Http;
using Treepie.Server.Operations;
using Treepie.Server.Security;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>
/// <c>POST bulk_insert</c>: any number of documents in one request. The response is sent at the closing bracket, not at the
/// end of the request, which clients end only after receiving it.
/// </summary>
internal static class BulkInsertEndpoints
{
    public static void Map(Routes routes) => routes.Database("POST", "/bulk_insert", AccessLevel.DatabaseReadWrite, Post);

    private static async Task Post(HttpServerRequest request, Database database)
    {
        long id = request.Number("id", 0);
        if (id == 0)
            throw WireException.BadRequest("The query string lacks 'id=', a number from operations/next-operation-id.");

        request.BecomeLong(request.Server.BulkInserts);
        var options = new BulkInsertOptions { SkipUnchanged = request.Flag("skipOverwriteIfUnchanged") };
        Operation operation = request.Server.Operations.Of(database.Name).TryBegin(id, request.Client.Identity)
            ?? throw WireException.BadRequest(
                $"An operation with the number {id} has begun before, or somebody else has drawn it. Take a new one from "
                    + "operations/next-operation-id.");
        try
        {
            PipeReader input = Open(request);
            using var stop = CancellationTokenSource.CreateLinkedTokenSource(request.Aborted, operation.Killed);
            using var run = new BulkInsertRun(request, database, operation);
            await run.RunAsync(input, options, stop.Token).ConfigureAwait(false);
            operation.Complete();
        }
        catch (OperationCanceledException) when (operation.Killed.IsCancellationRequested)
        {
            operation.Cancel();
            throw WireException.BadRequest($"The bulk insert, operation {id}, was killed. What was stored before stays.");
        }
        catch (InvalidDataException exception)
        {
            WireException refused = WireException.BadRequest(
                $"The bulk insert is not gzip, or damaged: {exception.Message} What was stored before stays.", exception);
            operation.Fail(ErrorAnswer.For(refused, request));
            throw refused;
        }
        catch (Exception exception)
        {
            operation.Fail(ErrorAnswer.For(exception, request));
            throw;
        }

        await request.NoContentAsync().ConfigureAwait(false);
        await request.Http.Response.CompleteAsync().ConfigureAwait(false);
    }

    private static PipeReader Open(HttpServerRequest request)
    {
        HttpContext http = request.Http;
        http.Response.Headers.Connection = "close"; // the end of the request is not awaited
        if (http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } size)
            size.MaxRequestBodySize = null;

        // Clients may pause between documents; BulkInsertIdleTimeout limits how long.
        if (http.Features.Get<IHttpMinRequestBodyDataRateFeature>() is { } rate)
            rate.MinDataRate = null;

        return request.Header("Content-Encoding") switch
        {
            null or "" or "identity" => http.Request.BodyReader,
            "gzip" => PipeReader.Create(new GZipStream(new CancellableBody(http.Request.BodyReader), CompressionMode.Decompress)),
            var other => throw new WireException(
                StatusCodes.Status415UnsupportedMediaType, WireTypes.BadRequest,
                $"The bulk insert is encoded as '{other}'; there are gzip and plain."),
        };
    }
}
