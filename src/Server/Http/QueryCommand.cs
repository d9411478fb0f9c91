using System.Runtime.InteropServices;
using System.Text;
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
    /// <param name="isWithin">The member of the body that contains the query; null: the body is the query.</param>
    /// <param name="indexEntries">Whether the index entries are returned instead of documents.</param>
    /// <param name="withTimings">Whether the results contain the query plan and timings.</param>
    public static async ValueTask<QueryCommand> ReadAsync(
        ServerRequest request, string? isWithin = null, bool indexEntries = false, bool withTimings = false)
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
            return new QueryCommand(Read(request, command, indexEntries, withTimings), document, body);
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

    /// <summary>Reads the members in one pass; of a name that occurs twice, the last one counts.</summary>
    private static QueryRequest Read(ServerRequest request, JsonElement command, bool indexEntries, bool withTimings)
    {
        string? text = null, continuation = null;
        JsonElement parameters = default;
        var behavior = ProjectionBehavior.Default;
        (long? Pages, long? Entries, TimeSpan? Time) budget = default;
        TimeSpan? waitTimeout = null;
        bool waits = false, neverStale = false, skipsDuplicateChecking = false, skipsStatistics = false, continues = false;
        long start = 0, pageSize = long.MaxValue;
        foreach (JsonProperty member in command.EnumerateObject())
        {
            JsonElement value = member.Value;
            ReadOnlySpan<byte> name = JsonMarshal.GetRawUtf8PropertyName(member);
            if (name.Contains((byte)'\\'))
                name = Encoding.UTF8.GetBytes(member.Name);
            if (name.SequenceEqual("Query"u8))
                text = WireJson.Text(value, "Query");
            else if (name.SequenceEqual("QueryParameters"u8))
                parameters = ParametersIn(value);
            else if (name.SequenceEqual("Start"u8))
                start = WireJson.CountIn(value, "Start", otherwise: 0);
            else if (name.SequenceEqual("PageSize"u8))
                pageSize = WireJson.CountIn(value, "PageSize", otherwise: long.MaxValue);
            else if (name.SequenceEqual("WaitForNonStaleResults"u8))
                waits = WireJson.FlagIn(value, "WaitForNonStaleResults");
            else if (name.SequenceEqual("WaitForNonStaleResultsTimeout"u8))
                waitTimeout = WireJson.TimeIn(value, "WaitForNonStaleResultsTimeout");
            else if (name.SequenceEqual("NeverStale"u8))
                neverStale = WireJson.FlagIn(value, "NeverStale");
            else if (name.SequenceEqual("ProjectionBehavior"u8))
                behavior = BehaviorIn(value);
            else if (name.SequenceEqual("SkipDuplicateChecking"u8))
                skipsDuplicateChecking = WireJson.FlagIn(value, "SkipDuplicateChecking");
            else if (name.SequenceEqual("SkipStatistics"u8))
                skipsStatistics = WireJson.FlagIn(value, "SkipStatistics");
            else if (name.SequenceEqual("Continuation"u8))
                continuation = WireJson.Text(value, "Continuation");
            else if (name.SequenceEqual("WithContinuation"u8))
                continues = WireJson.FlagIn(value, "WithContinuation");
            else if (name.SequenceEqual("Budget"u8))
                budget = BudgetIn(value);
        }

        return new QueryRequest
        {
            Text = text ?? throw WireException.BadRequest("The request body lacks 'Query'."),
            Parameters = parameters,
            WaitForNonStaleResults = waits,
            NeverStale = neverStale,
            WaitTimeout = waitTimeout,
            ProjectionBehavior = behavior,
            SkipDuplicateChecking = skipsDuplicateChecking,
            MetadataOnly = request.Flag("metadataOnly"),
            IndexEntries = indexEntries,
            CountsResults = !skipsStatistics,
            Continuation = continuation,
            WithContinuation = continues,
            MaxPages = budget.Pages,
            MaxEntries = budget.Entries,
            MaxTime = budget.Time,
            Start = start,
            PageSize = pageSize,
            Admission = request.Turn,
            WithPlan = request.Services.SlowLog is not null,
            WithTimings = withTimings,
        };
    }

    private static JsonElement ParametersIn(JsonElement given) => given.ValueKind switch
    {
        JsonValueKind.Object => given,
        JsonValueKind.Null => default,
        _ => throw WireException.BadRequest(
            $"'QueryParameters' holds a JSON {given.ValueKind}; expected is an object of parameters by name."),
    };

    private static ProjectionBehavior BehaviorIn(JsonElement given) =>
        WireJson.Text(given, "ProjectionBehavior") switch
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
    private static (long? Pages, long? Entries, TimeSpan? Time) BudgetIn(JsonElement given)
    {
        (long? Pages, long? Entries, TimeSpan? Time) budget = default;
        if (given.ValueKind == JsonValueKind.Null)
            return budget;
        if (given.ValueKind != JsonValueKind.Object)
            throw WireException.BadRequest(
                $"'Budget' holds a JSON {given.ValueKind}; expected is an object such as {{\"Pages\":1000}}.");

        foreach (JsonProperty limit in given.EnumerateObject())
        {
            if (limit.Value.ValueKind == JsonValueKind.Null)
                continue;
            long most = WireJson.CountIn(limit.Value, limit.Name, otherwise: 0);
            budget = limit.Name switch
            {
                "Pages" => budget with { Pages = most },
                "Entries" => budget with { Entries = most },
                "Milliseconds" => budget with { Time = TimeSpan.FromMilliseconds(Math.Min(most, int.MaxValue)) },
                _ => throw WireException.BadRequest(
                    $"'Budget' has no limit '{limit.Name}'. There are: Pages, Entries, Milliseconds."),
            };
        }

        return budget;
    }
}
