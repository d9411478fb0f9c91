using System.Buffers;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Short words for what tests of queries do all the time.</summary>
internal static class QueryRunner
{
    public static async Task PutAsync(this Database database, string id, string json, string? collection = null)
    {
        JsonObject document = JsonNode.Parse(json)!.AsObject(); // tests write objects
        if (collection is not null)
            document["@metadata"] = new JsonObject { ["@collection"] = collection };

        await database.WriteAsync(
            new WriteBatch().Put(id, Encoding.UTF8.GetBytes(document.ToJsonString())), TestContext.Current.CancellationToken);
    }

    public static Task DeleteAsync(this Database database, string id) =>
        database.WriteAsync(new WriteBatch().Delete(id), TestContext.Current.CancellationToken);

    /// <summary>Completes when an index is gone.</summary>
    public static Task WaitForRemovalAsync(this IndexCatalogue indexes, string name) =>
        indexes.Find(name)?.Released ?? Task.CompletedTask;

    /// <summary>Runs a query that waits for its index.</summary>
    public static async Task<Answer> AskAsync(
        this Database database, string text, string? parameters = null, Func<QueryRequest, QueryRequest>? change = null)
    {
        using JsonDocument json = JsonDocument.Parse(parameters ?? "{}");
        var request = new QueryRequest
        {
            Text = text,
            Parameters = json.RootElement,
            WaitForNonStaleResults = true,
            WaitTimeout = Eventually.Patience
        };
        using QueryResults results = await database.QueryAsync(
            change?.Invoke(request) ?? request, TestContext.Current.CancellationToken);
        var rows = new List<JsonObject>();
        var output = new ArrayBufferWriter<byte>();
        while (results.MoveNext())
        {
            output.ResetWrittenCount();
            results.WriteCurrent(output);
            rows.Add(JsonNode.Parse(output.WrittenSpan)!.AsObject()); // results are objects
        }

        output.ResetWrittenCount();
        results.WriteIncludes(output);
        return new Answer(
            rows, JsonNode.Parse(output.WrittenSpan)!.AsObject(), results.TotalResults, results.SkippedResults, results.IndexName,
            results.IsStale, results.ResultEtag)
        {
            IsTotalExact = results.IsTotalExact,
        };
    }
}

/// <summary>Everything an answer says.</summary>
internal sealed record Answer(
    List<JsonObject> Rows, JsonObject Includes, long Total, long Skipped, string Index, bool IsStale, long Etag)
{
    /// <summary>Whether <see cref="Total"/> is the number of matches.</summary>
    public bool IsTotalExact { get; init; } = true;

    public IEnumerable<string> Ids => Rows.Select(r => r["@metadata"]?["@id"]?.GetValue<string>() ?? "?");

    /// <summary>Rows without their metadata.</summary>
    public IEnumerable<string> Bodies => Rows.Select(r =>
    {
        JsonObject copy = r.DeepClone().AsObject();
        copy.Remove("@metadata");
        return copy.ToJsonString(
            new JsonSerializerOptions { Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping });
    });
}
