using System.Text.Json;
using Treepie.Queries;

namespace Treepie.Server.Http;

/// <summary>
/// A query read from a request body. Its parameters refer to the buffer of the body: dispose it when the query has ended.
/// </summary>
internal sealed class QueryCommand : IDisposable
{
    private readonly JsonDocument _document;
    private readonly RequestBody _body;

    private QueryCommand(QueryRequest request, JsonDocument document, RequestBody body)
    {
        Request = request;
        _document = document;
        _body = body;
    }

    public QueryRequest Request { get; }

    /// <summary>Reads a query from the body.</summary>
    /// <param name="request">The request.</param>
    /// <param name="change">Changes the query as the endpoint requires; null: unchanged.</param>
    /// <param name="isWithin">The member of the body that contains the query; null: the body is the query.</param>
    public static async Task<QueryCommand> ReadAsync(
        ServerRequest request, Func<QueryRequest, QueryRequest>? change = null, string? isWithin = null)
    {
        RequestBody body = await request.ReadBodyAsync(
            Math.Min(request.Services.Limits.MaxQueryBytes, request.Services.Limits.MaxRequestBytes)).ConfigureAwait(false);
        JsonDocument? document = null;
        try
        {
            document = WireJson.ParseObject(body, "a query such as {\"Query\":\"from Users\"}");
            JsonElement command = document.RootElement;
            if (isWithin is not null
                && !(command.TryGetProperty(isWithin, out command) && command.ValueKind == JsonValueKind.Object))
                throw WireException.BadRequest(
                    $"The request body lacks '{isWithin}', a query such as {{\"Query\":\"from Users\"}}.");
            QueryRequest query = WithBudget(Read(request, command), command);
            query = query with { Admission = request.Turn, WithPlan = request.Services.SlowLog is not null };
            return new QueryCommand(change is null ? query : change(query), document, body);
        }
        catch
        {
            document?.Dispose();
            body.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        _document.Dispose();
        _body.Dispose();
    }

    private static QueryRequest Read(ServerRequest request, JsonElement command)
    {
        JsonElement parameters = default;
        if (command.TryGetProperty("QueryParameters", out JsonElement given) && given.ValueKind != JsonValueKind.Null)
            parameters = given.ValueKind == JsonValueKind.Object
                ? given
                : throw WireException.BadRequest(
                    $"'QueryParameters' holds a JSON {given.ValueKind}; expected is an object of parameters by name.");

        return new QueryRequest
        {
            Text = WireJson.Text(command, "Query", required: true)!, // Text throws if it is missing
            Parameters = parameters,
            WaitForNonStaleResults = WireJson.Flag(command, "WaitForNonStaleResults"),
            NeverStale = WireJson.Flag(command, "NeverStale"),
            WaitTimeout = WireJson.Time(command, "WaitForNonStaleResultsTimeout"),
            ProjectionBehavior = Behavior(command),
            SkipDuplicateChecking = WireJson.Flag(command, "SkipDuplicateChecking"),
            MetadataOnly = request.Flag("metadataOnly"),
            CountsResults = !WireJson.Flag(command, "SkipStatistics"),
            Continuation = WireJson.Text(command, "Continuation", required: false),
            WithContinuation = WireJson.Flag(command, "WithContinuation"),
            Start = WireJson.Count(command, "Start", otherwise: 0),
            PageSize = WireJson.Count(command, "PageSize", otherwise: long.MaxValue),
        };
    }

    private static ProjectionBehavior Behavior(JsonElement command) =>
        WireJson.Text(command, "ProjectionBehavior", required: false) switch
        {
            null => ProjectionBehavior.Default,
            { } text when Enum.TryParse(text, out ProjectionBehavior behavior) && Enum.IsDefined(behavior) => behavior,
            { } text => throw WireException.BadRequest(
                $"'ProjectionBehavior' is one of {string.Join(", ", Enum.GetNames<ProjectionBehavior>())}; '{text}' is given."),
        };

    /// <summary>
    /// Reads the budget of the query: <c>"Budget":{"Pages":1000,"Entries":100000,"Milliseconds":50}</c>; all members are
    /// optional.
    /// </summary>
    private static QueryRequest WithBudget(QueryRequest query, JsonElement command)
    {
        if (!command.TryGetProperty("Budget", out JsonElement budget) || budget.ValueKind == JsonValueKind.Null)
            return query;
        if (budget.ValueKind != JsonValueKind.Object)
            throw WireException.BadRequest(
                $"'Budget' holds a JSON {budget.ValueKind}; expected is an object such as {{\"Pages\":1000}}.");

        foreach (JsonProperty limit in budget.EnumerateObject())
        {
            if (limit.Value.ValueKind == JsonValueKind.Null)
                continue;
            long most = WireJson.Count(budget, limit.Name, otherwise: 0);
            query = limit.Name switch
            {
                "Pages" => query with { MaxPages = most },
                "Entries" => query with { MaxEntries = most },
                "Milliseconds" => query with { MaxTime = TimeSpan.FromMilliseconds(Math.Min(most, int.MaxValue)) },
                _ => throw WireException.BadRequest(
                    $"'Budget' has no limit '{limit.Name}'. There are: Pages, Entries, Milliseconds."),
            };
        }

        return query;
    }
}
