using Treepie.Server.Http;
using Treepie.Server.Operations;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>Operations, which outlive their requests: assigning numbers, reading their state, and killing them.</summary>
internal static class OperationsEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database(
            "GET", "/operations/next-operation-id", AccessLevel.DatabaseRead,
            static (request, database) => NextId(request, Of(request, database)));
        routes.Database(
            "GET", "/operations/state", AccessLevel.DatabaseRead,
            static (request, database) => State(request, Of(request, database)));
        routes.Database(
            "POST", "/operations/kill", AccessLevel.DatabaseReadWrite,
            static (request, database) => Kill(
                request, Of(request, database),
                Caller.Of(request).Rights.Suffice(AccessLevel.DatabaseAdmin, database.Name) ? null : request.Client.Identity));
        routes.Server(
            "GET", "/operations/state", AccessLevel.Operator,
            static request => State(request, request.Server.Operations.OfServer));
        routes.Server(
            "POST", "/admin/operations/kill", AccessLevel.Operator,
            static request => Kill(request, request.Server.Operations.OfServer));
        routes.Server(
            "GET", "/admin/operations/next-operation-id", AccessLevel.Operator,
            static request => NextId(request, request.Server.Operations.OfServer));
    }

    /// <summary>Responds with the number of an operation that was started.</summary>
    public static Task WriteStartedAsync(HttpServerRequest request, Operation operation) =>
        request.JsonAsync(operation.Id, static (json, id) =>
        {
            json.WriteStartObject();
            json.WriteNumber("OperationId", id);
            json.WriteString("OperationNodeTag", TopologyEndpoints.NodeTag);
            json.WriteEndObject();
        });

    private static OperationRegistry Of(HttpServerRequest request, Database database) =>
        request.Server.Operations.Of(database.Name);

    private static Task NextId(HttpServerRequest request, OperationRegistry operations) =>
        request.JsonAsync(operations.NextId(request.Client.Identity), static (json, id) =>
        {
            json.WriteStartObject();
            json.WriteNumber("Id", id);
            json.WriteString("NodeTag", TopologyEndpoints.NodeTag);
            json.WriteEndObject();
        });

    private static Task State(HttpServerRequest request, OperationRegistry operations)
    {
        Operation? operation = operations.Find(request.Number("id", 0));
        return operation is null
            ? request.EmptyAsync(StatusCodes.Status404NotFound)
            : request.JsonAsync(operation, static (json, operation) => operation.WriteState(json));
    }

    private static Task Kill(HttpServerRequest request, OperationRegistry operations, string? by = null) =>
        operations.Kill(request.Number("id", 0), by)
            ? request.NoContentAsync()
            : request.EmptyAsync(StatusCodes.Status404NotFound);
}
