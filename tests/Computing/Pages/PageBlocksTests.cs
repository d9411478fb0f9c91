using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Kinds;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests.Pages;

/// <summary>
/// Every fenced block of the pages about queries, indexes and scripts is run over a database of samples: queries give results,
/// definitions give entries, patches change their document, and programs compile; of command lines only the command is looked at.
/// A block in another language fails.
/// </summary>
public sealed class PageBlocksTests : IDisposable
{
    /// <summary>What each query of the pages may be given.</summary>
    private const string Parameters = """{"low":1,"high":100,"least":1,"vector":[1,0,0.1]}""";

    private readonly IndexRunner _run = new();

    public static TheoryData<string> Pages => ["rql.md", "indexes.md", "computed-indexes.md", "scripts.md", "group-by.md"];

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _run.Dispose();

    [Theory]
    [MemberData(nameof(Pages))]
    public async Task Every_block_of_the_page_does_what_it_is_for(string page)
    {
        await FillAsync();
        IReadOnlyList<PageBlock> blocks = PageBlock.Read("docs/reference/" + page);
        Assert.NotEmpty(blocks);
        var wrong = new List<string>();
        foreach (PageBlock block in blocks)
            try
            {
                await RunAsync(block);
            }
            catch (Exception error)
                when (error is TreepieException or Xunit.Sdk.XunitException or ArgumentException or JsonException)
            {
                wrong.Add($"{block}: {error.Message}");
            }

        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
    }

    private async Task RunAsync(PageBlock block)
    {
        bool isMap = block.Text.StartsWith("map(", StringComparison.Ordinal)
            || block.Text.StartsWith("docs.", StringComparison.Ordinal)
            || block.Text.StartsWith("from ", StringComparison.Ordinal);
        switch (block.Language)
        {
            case "rql":
                await AskAsync(block);
                break;
            case "json":
                await DefineAsync(block);
                break;
            case "js" or "csharp" when isMap:
                foreach (string line in block.Text.Split('\n', StringSplitOptions.RemoveEmptyEntries))
                    await MapAsync(block, line);
                break;
            case "js":
                await PatchAsync(block);
                break;
            case "csharp":
                CSharpProgram.Compile(block.Text, typeof(ReferencePage));
                break;
            case "sh":
                Assert.All(
                    block.Text.Split("treepie ", StringSplitOptions.RemoveEmptyEntries),
                    static command => Assert.StartsWith("index ", command, StringComparison.Ordinal));
                break;
            default:
                Assert.Fail($"a block is in '{block.Language}': say rql, js, json, csharp or sh behind the fence.");
                break;
        }
    }

    private async Task AskAsync(PageBlock block)
    {
        using JsonDocument parameters = JsonDocument.Parse(Parameters);
        using QueryResults results = await _run.Database.QueryAsync(
            new QueryRequest
            {
                Text = block.Text,
                Parameters = parameters.RootElement,
                WaitForNonStaleResults = true,
                WaitTimeout = Eventually.Patience,
            },
            Cancel);
        Assert.True(results.MoveNext(), "the query gives nothing.");
        var row = new ArrayBufferWriter<byte>();
        results.WriteCurrent(row);
        string text = Encoding.UTF8.GetString(row.WrittenSpan);
        Assert.True(text.Length > 2 && !text.Contains("null", StringComparison.Ordinal), $"the query gives {text}.");
    }

    /// <summary>Puts an index, or an analyzer from parts.</summary>
    private async Task DefineAsync(PageBlock block)
    {
        using JsonDocument json = JsonDocument.Parse(block.Text);
        if (!json.RootElement.TryGetProperty("Name", out JsonElement name))
        {
            _run.Database.Indexes.Analyzers.Put(new AnalyzerDefinition("Parts", block.Text));
            return;
        }

        await EntriesAsync(IndexDefinition.FromJson(json.RootElement), name.GetString() ?? "");
        if (!json.RootElement.TryGetProperty("OutputReduceToCollection", out JsonElement outputs))
            return;
        Assert.NotEmpty(await _run.AskAsync($"from {outputs}"));
        Assert.NotEmpty(await _run.AskAsync($"from {json.RootElement.GetProperty("PatternReferencesCollectionName")}"));
    }

    private async Task MapAsync(PageBlock block, string line)
    {
        // What stands behind a comment is for readers.
        string map = block.Language == "csharp" ? line.Split("   //")[0].Split("  //")[0].TrimEnd() : line;
        string name = $"{Path.GetFileName(block.Page)}/{line.GetHashCode(StringComparison.Ordinal)}";
        using JsonDocument json = JsonDocument.Parse(
            JsonSerializer.Serialize(new { Name = name, Maps = new[] { map } }, JsonSerializerOptions.Default));
        await EntriesAsync(IndexDefinition.FromJson(json.RootElement), name);
    }

    private async Task EntriesAsync(IndexDefinition definition, string name)
    {
        _run.Database.Indexes.Put(definition);
        await _run.WaitAsync();
        string errors = string.Join('\n', _run.Database.Indexes.Errors(name).Select(static error => error.Message));
        Assert.True(errors.Length == 0, $"index '{name}': {errors}");
        using QueryResults results = await _run.QueryAsync($"from index '{name}'");
        Assert.True(results.TotalResults > 0, $"index '{name}' has no entries.");
    }

    private async Task PatchAsync(PageBlock block)
    {
        using JsonDocument arguments = JsonDocument.Parse("""{"By":2}""");
        var options = new DatabaseOptions { Computing = new TextComputingEngine() };
        string before = Body();
        await _run.Database.WriteAsync(
            new WriteBatch().Patch(
                "products/1", Patch.Compile(block.Text, options), new PatchOptions { Arguments = arguments.RootElement.Clone() }),
            Cancel);
        Assert.NotEqual(before, Body());
        Assert.DoesNotContain("null", Body(), StringComparison.Ordinal);

        string Body()
        {
            using DatabaseSnapshot snapshot = _run.Database.BeginRead();
            Assert.True(snapshot.TryGet("products/1", out Document document));
            return Encoding.UTF8.GetString(document.Body);
        }
    }

    private async Task FillAsync()
    {
        for (int i = 0; i < 32; i++)
            await _run.PutAsync(
                $"orders/{i}",
                $$"""
                {"Company":"companies/1","Freight":{{i + 2}}.5,"Notes":"fragile glass","City":"Reims","Country":"France",
                "Total":30,"Code":"A","OrderedAt":"2026-01-{{10 + (i % 20)}}T00:00:00","ShipTo":{"City":"Reims"},
                "Lines":[{"Product":"products/1","ProductName":"Chai","Price":3,"Quantity":2},
                {"Product":"products/2","ProductName":"Chang","Price":4,"Quantity":1}]}
                """,
                "Orders");
        await _run.PutAsync("companies/1", """{"Name":"Alfred","Country":"Germany"}""", "Companies");
        await _run.PutAsync(
            "products/1", """{"Name":"Chai","Price":18,"Tags":["tea"],"Attributes":{"Colour":"red"}}""", "Products");
        await _run.PutAsync("products/2", """{"Name":"Chang","Price":19,"Tags":[],"Attributes":{"Litres":2}}""", "Products");
        await _run.PutAsync(
            "shops/1",
            """{"Name":"Corner","Open":true,"Weight":2,"Lat":49.25,"Lng":4.15,"At":{"Lat":49.25,"Lng":4.15}}""", "Shops");
        await _run.PutAsync("books/1", """{"Title":"Foxes","Language":"en","Embedding":[1,0,0]}""", "Books");
        await _run.PutAsync("articles/1", """{"Text":"a red fox","Language":"en","Embedding":[1,0,0]}""", "Articles");
        await _run.PutAsync("users/1", """{"Name":"Ada"}""", "Users");
        await _run.Database.WriteAsync(
            new WriteBatch().IncrementCounter("users/1", "Likes", 5).TimeSeries(
                "users/1", "Heart", [new TimeSeriesPoint(new DateTime(2024, 1, 1, 0, 0, 0, DateTimeKind.Utc), [60])]),
            Cancel);
    }
}
