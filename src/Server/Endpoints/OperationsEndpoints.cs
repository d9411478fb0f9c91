using Treepie.Server.Http;
using Treepie.Server.Operations;

namespace Treepie.Server.Endpoints;

/// <summary>Work that outlives its request: numbers for it, its state, and its end before time.</summary>
internal static class OperationsEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("GET", "/operations/next-operation-id", static (request, _) => NextId(request));
        routes.Database("GET", "/operations/state", static (request, _) => State(request));
        routes.Database("POST", "/operations/kill", static (request, _) => Kill(request));
        routes.Server("GET", "/operations/state", State);
        routes.Server("POST", "/admin/operations/kill", Kill);
        routes.Server("GET", "/admin/operations/next-operation-id", NextId);
    }

    /// <summary>Answers that an operation has begun.</summary>
    public static Task WriteStartedAsync(HttpServerRequest request, Operation operation) => request.JsonAsync(operation.Id, static (json, id) =>
    {
        json.WriteStartObject();
        json.WriteNumber("OperationId", id);
        json.WriteString("OperationNodeTag", TopologyEndpoints.NodeTag);
        json.WriteEndObject();
    });

    private static Task NextId(HttpServerRequest request) => request.JsonAsync(request.Server.Operations.NextId(), static (json, id) =>
    {
        json.WriteStartObject();
        json.WriteNumber("Id", id);
        json.WriteString("NodeTag", TopologyEndpoints.NodeTag);
        json.WriteEndObject();
    });

    private static Task State(HttpServerRequest request)
    {
        Operation? operation = request.Server.Operations.Find(request.Number("id", 0));
        return operation is null
            ? request.EmptyAsync(StatusCodes.Status404NotFound)
            : request.JsonAsync(operation, static (json, operation) => operation.WriteState(json));
    }

    private static Task Kill(HttpServerRequest request) => request.Server.Operations.Kill(request.Number("id", 0))
        ? request.NoContentAsync()
        : request.EmptyAsync(StatusCodes.Status404NotFound);
}
