using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>A database that computes, and short words for what tests of its indexes do all the time.</summary>
internal sealed class IndexRunner : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private readonly DatabaseOptions _options;

    public IndexRunner(DatabaseOptions? options = null)
    {
        _options = (options ?? new DatabaseOptions()) with { Computing = new TextComputingEngine() };
        Database = Database.Open(_folder.Path, _options);
    }

    public Database Database { get; private set; }

    public string Folder => _folder.Path;

    public async Task PutAsync(string id, string json, string collection)
    {
        string body = json == "{}" ? "{" : json[..^1] + ",";
        await Database.WriteAsync(
            new WriteBatch().Put(id, Encoding.UTF8.GetBytes($"{body}\"@metadata\":{{\"@collection\":\"{collection}\"}}}}")),
            TestContext.Current.CancellationToken);
    }

    /// <summary>Puts documents of the same content, numbered from 0, in one transaction.</summary>
    public async Task PutManyAsync(string prefix, int count, string json, string collection)
    {
        byte[] body = Encoding.UTF8.GetBytes($"{json[..^1]},\"@metadata\":{{\"@collection\":\"{collection}\"}}}}");
        using var batch = new WriteBatch();
        for (int i = 0; i < count; i++)
            batch.Put($"{prefix}/{i}", body);
        await Database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    public async Task DeleteManyAsync(string prefix, int count)
    {
        using var batch = new WriteBatch();
        for (int i = 0; i < count; i++)
            batch.Delete($"{prefix}/{i}");
        await Database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    public Task DeleteAsync(string id) => Database.WriteAsync(new WriteBatch().Delete(id), TestContext.Current.CancellationToken);

    /// <summary>Defines an index as a client sends it.</summary>
    public void Define(string name, string map, string fields = "{}") => Define(name, [map], fields);

    public void Define(string name, string[] maps, string fields = "{}")
    {
        using JsonDocument json = JsonDocument.Parse(
            $"{{\"Name\":{JsonSerializer.Serialize(name)},\"Maps\":{JsonSerializer.Serialize(maps)},\"Fields\":{fields}}}");
        Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
    }

    public void Reopen(DatabaseOptions? options = null)
    {
        Database.Dispose();
        Database = Database.Open(_folder.Path, options ?? _options);
    }

    /// <summary>Results as JSON without metadata, after all changes are indexed.</summary>
    public async Task<IReadOnlyList<string>> AskAsync(
        string text, bool neverStale = false, JsonElement parameters = default)
    {
        using QueryResults results = await QueryAsync(text, neverStale, parameters);
        var rows = new List<string>();
        while (results.MoveNext())
            rows.Add(WithoutMetadata(results));
        return rows;
    }

    /// <summary>Ids of the results.</summary>
    public async Task<IReadOnlyList<string>> IdsAsync(string text, bool neverStale = false)
    {
        using QueryResults results = await QueryAsync(text, neverStale);
        var rows = new List<string>();
        while (results.MoveNext())
        {
            using JsonDocument json = Row(results);
            rows.Add(json.RootElement.GetProperty("@metadata").GetProperty("@id").GetString() ?? "?");
        }

        return rows;
    }

    public Task WaitAsync() =>
        Database.Indexes.WaitForNonStaleAsync(Eventually.Patience, null, TestContext.Current.CancellationToken);

    public void Dispose()
    {
        Database.Dispose();
        _folder.Dispose();
    }

    public async Task<QueryResults> QueryAsync(
        string text, bool neverStale = false, JsonElement parameters = default) => await Database.QueryAsync(
        new QueryRequest
        {
            Text = text,
            Parameters = parameters,
            WaitForNonStaleResults = !neverStale,
            NeverStale = neverStale,
            WaitTimeout = Eventually.Patience
        }, TestContext.Current.CancellationToken);

    private static JsonDocument Row(QueryResults results)
    {
        var output = new ArrayBufferWriter<byte>();
        results.WriteCurrent(output);
        return JsonDocument.Parse(output.WrittenMemory);
    }

    private static string WithoutMetadata(QueryResults results)
    {
        using JsonDocument json = Row(results);
        return "{"
            + string.Join(
                ',',
                json.RootElement.EnumerateObject()
                    .Where(member => member.Name != "@metadata")
                    .Select(member => $"\"{member.Name}\":{member.Value.GetRawText()}"))
            + "}";
    }
}
