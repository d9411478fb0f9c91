using System.Net.Http.Json;
using System.Text.Json;

namespace Treepie.Clients.Tests.Datasets;

/// <summary>What the server answers to a query, over HTTP, once its index has seen everything.</summary>
internal sealed class QueryAnswer
{
    private QueryAnswer(string query, JsonElement answer)
    {
        Query = query;
        Results = [.. answer.GetProperty(nameof(Results)).EnumerateArray()];
        Total = answer.GetProperty("TotalResults").GetInt64();
        Includes = answer.GetProperty(nameof(Includes));
        IsStale = answer.GetProperty(nameof(IsStale)).GetBoolean();
    }

    public string Query { get; }

    public IReadOnlyList<JsonElement> Results { get; }

    public long Total { get; }

    public JsonElement Includes { get; }

    public bool IsStale { get; }

    public IReadOnlyList<string> Ids => [.. Results.Select(IdOf)];

    public static string IdOf(JsonElement result) => result.GetProperty("@metadata").GetProperty("@id").GetString() ?? "";

    /// <summary>Asks, with parameters as the properties of an object.</summary>
    public static async Task<QueryAnswer> AskAsync(HttpClient server, string database, string query, object? parameters = null)
    {
        using HttpResponseMessage response = await server.PostAsync(
            $"/databases/{database}/queries", Body(query, parameters), TestContext.Current.CancellationToken);
        string text = await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
        Assert.True(response.IsSuccessStatusCode, $"{query}\nis answered {(int)response.StatusCode}: {text}");
        using JsonDocument answer = JsonDocument.Parse(text);
        var result = new QueryAnswer(query, answer.RootElement.Clone());
        Assert.False(result.IsStale, $"{query}\nis answered stale although it waits for its index.");
        return result;
    }

    /// <summary>The body of a query that waits for its index.</summary>
    public static HttpContent Body(string query, object? parameters) => JsonContent.Create(new
    {
        Query = query,
        QueryParameters = parameters,
        WaitForNonStaleResults = true,
        WaitForNonStaleResultsTimeout = 300_000,
    }, options: JsonSerializerOptions.Default);
}
