using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Treepie.Computations;
using Treepie.Indexes.Computed;
using Treepie.Kinds;
using Treepie.Queries.Filters;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>Every row of docs/reference/examples.md gives what stands there.</summary>
public sealed class ExamplesTests : IDisposable
{
    private static readonly string[] _page = File.ReadAllLines(
        Path.Combine(DataSets.RepositoryRoot, "docs", "reference", "examples.md"));

    private readonly IndexRunner _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public async Task Maps_compute_what_the_page_says()
    {
        await FillAsync();
        using DatabaseSnapshot snapshot = _run.Database.BeginRead();
        var wrong = new List<string>();
        int count = 0;
        foreach (string[] row in Rows("| C# | JavaScript | V |"))
        {
            if (row[0].Length > 0)
                Compare($"from o in docs.Orders select new {{ V = {row[0]} }}");
            if (row[1].Length > 0)
                Compare($"map('Orders', o => ({{ V: {row[1]} }}))");

            void Compare(string map)
            {
                count++;
                string found = Value(map, snapshot);
                if (found != row[2])
                    wrong.Add($"{map} gives {found}, and not {row[2]}");
            }
        }

        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
        Assert.True(count > 60, $"only {count} examples of maps are found");
    }

    [Fact]
    public async Task Queries_give_what_the_page_says()
    {
        await FillAsync();
        using JsonDocument parameters = Block(_page.SkipWhile(line => line != "## What a query can ask"));
        var wrong = new List<string>();
        int count = 0;
        foreach (string[] row in Rows("| Query | Results |"))
        {
            count++;
            string found = await AnswerAsync(row[0], parameters.RootElement);
            if (found != row[1])
                wrong.Add($"{row[0]} gives {found}, and not {row[1]}");
        }

        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
        Assert.True(count > 70, $"only {count} examples of queries are found");
    }

    [Fact]
    public void Every_method_and_function_of_queries_has_an_example()
    {
        string[] queries = [.. Rows("| Query | Results |").Select(static row => row[0])];
        string[] missing =
        [
            .. FunctionNames.Conditions.Concat(FilterFunctions.Names)
                .Where(name => !queries.Any(query => Regex.IsMatch(query, $@"(?<![\w.]){Regex.Escape(name)}\("))),
        ];
        Assert.True(missing.Length == 0, $"no query of the page calls {string.Join(", ", missing)}");
    }

    private async Task<string> AnswerAsync(string query, JsonElement parameters)
    {
        try
        {
            return string.Join("` `", await _run.AskAsync(query, parameters: parameters));
        }
        catch (TreepieException error)
        {
            return error.Message;
        }
    }

    private static string Value(string text, DatabaseSnapshot snapshot)
    {
        try
        {
            IndexMap map = new TextComputingEngine().CompileMap(new IndexTexts("Test", new Dictionary<string, string>()), text);
            Assert.True(snapshot.TryGet("orders/1", out Document document));
            var host = new MapHost();
            host.Begin(snapshot, document);
            var output = new MapOutput();
            map.Map(document, host, output);
            using JsonDocument json = JsonDocument.Parse(output[0]);
            return json.RootElement.TryGetProperty("V", out JsonElement value) ? value.GetRawText() : "missing";
        }
        catch (Exception error) when (error is InvalidIndexDefinitionException or ComputationException)
        {
            return error.Message;
        }
    }

    /// <summary>The cells of a table, without the signs of code around them.</summary>
    private static IEnumerable<string[]> Rows(string head) => _page.SkipWhile(line => line != head)
        .Skip(2)
        .TakeWhile(line => line.StartsWith('|'))
        .Select(line => Cells(line).Select(Cell).ToArray());

    /// <summary>What stands between bars; a bar within code is none.</summary>
    private static IEnumerable<string> Cells(string line)
    {
        bool isCode = false;
        int start = 1;
        for (int i = 1; i < line.Length; i++)
        {
            isCode ^= line[i] == '`';
            if (line[i] != '|' || isCode)
                continue;
            yield return line[start..i];
            start = i + 1;
        }
    }

    private static string Cell(string cell)
    {
        string text = cell.Trim();
        return text.StartsWith("`` ", StringComparison.Ordinal) ? text[3..^3]
            : text.StartsWith('`') ? text[1..^1]
            : text;
    }

    /// <summary>The first JSON of some lines.</summary>
    private static JsonDocument Block(IEnumerable<string> lines) => JsonDocument.Parse(
        string.Join('\n', lines.SkipWhile(line => line != "```json").Skip(1).TakeWhile(line => line != "```")));

    private async Task FillAsync()
    {
        using JsonDocument documents = Block(_page);
        foreach (JsonProperty document in documents.RootElement.EnumerateObject())
            await _run.PutAsync(
                document.Name, document.Value.GetRawText(),
                document.Name.StartsWith('o') ? "Orders" : "Companies");
        await using var notes = _run.Database.BeginUpload();
        await notes.WriteAsync("Ring twice"u8.ToArray(), TestContext.Current.CancellationToken);
        await notes.CompleteAsync(TestContext.Current.CancellationToken);
        await _run.Database.WriteAsync(
            new WriteBatch().PutAttachment("orders/1", "notes.txt", "text/plain", notes)
                .IncrementCounter("orders/1", "Likes", 5)
                .TimeSeries("orders/1", "Heart", [new TimeSeriesPoint(new DateTime(2024, 1, 1, 0, 0, 0, DateTimeKind.Utc), [60])])
                .PutCompareExchange("rate", Encoding.UTF8.GetBytes("""{"Object":{"R":2}}"""), 0),
            TestContext.Current.CancellationToken);
    }
}
