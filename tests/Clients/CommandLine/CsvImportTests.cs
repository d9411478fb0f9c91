using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.CommandLine.Import;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

[Collection(RunningServer.Collection)]
public sealed class CsvImportTests(RunningServer server) : IDisposable
{
    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task Rows_become_documents_of_the_collection()
    {
        string database = await server.NewDatabaseAsync();
        string file = Write(
            "films.csv", "Title,Year,Tags,Studio.Name,Studio.City,Seen,Code",
            "\"Hail, Caesar!\",2016,\"[\"\"comedy\"\",\"\"heist\"\"]\",Mike Zoss,,true,007",
            "\"Two\r\nlines\",1.50,,,,nearly,1e5x");
        CommandLineProcess import = await server.TreepieAsync("import", file, "-d", database, "-c", "Films");
        Assert.Equal((0, ""), (import.ExitCode, import.Output));
        Assert.Equal(
            """{"Title":"Hail, Caesar!","Year":2016,"Tags":["comedy","heist"],"Studio":{"Name":"Mike Zoss"},"Seen":true,"Code":"007"}""",
            await TextAsync(database, "films/2"));
        Assert.Equal(
            """{"Title":"Two\r\nlines","Year":1.50,"Seen":"nearly","Code":"1e5x"}""", await TextAsync(database, "films/3"));
    }

    [Fact]
    public async Task What_a_query_wrote_as_csv_is_the_same_documents_again()
    {
        string database = await server.NewDatabaseAsync(), copy = await server.NewDatabaseAsync();
        string lines = Write(
            "people.ndjson",
            """{"Name":"Ann; \"A\"","Age":41,"Home":{"City":"Bern","Flat":3},"Likes":["a",{"b":[1]}],"@metadata":{"@id":"people/x"}}""",
            """{"Name":" Bob ","Age":1.25e3,"Home":{"City":"Ulm"},"Likes":[]}""");
        Assert.Equal(0, (await server.TreepieAsync("import", lines, "-d", database, "-c", "People")).ExitCode);
        CommandLineProcess query = await server.TreepieAsync("query", "from People", "-d", database, "--format", "csv");
        string csv = Path.Combine(_files.Path, "people.csv");
        await File.WriteAllTextAsync(csv, query.Output, Cancel);
        CommandLineProcess import = await server.TreepieAsync("import", csv, "-d", copy, "-c", "People");
        Assert.Equal((0, ""), (import.ExitCode, import.Output));
        foreach (string id in (string[])["people/x", "people/2"])
            Assert.True(
                JsonElement.DeepEquals(
                    JsonElement.Parse(await TextAsync(database, id)), JsonElement.Parse(await TextAsync(copy, id))), id);
    }

    [Fact]
    public async Task Ids_separators_and_texts_are_taken_as_told()
    {
        string database = await server.NewDatabaseAsync();
        string file = Write("orders.txt", "No|Total", "A7|12", "B8|x");
        CommandLineProcess import = await server.TreepieAsync(
            "import", file, "-d", database, "-c", "Orders", "--format", "csv", "--separator", "|", "--text", "--id-field", "No",
            "--id-prefix", "orders/");
        Assert.Equal((0, ""), (import.ExitCode, import.Output));
        Assert.Equal("""{"No":"A7","Total":"12"}""", await TextAsync(database, "orders/A7"));
        string semicolons = Write("semicolons.csv", "a;b", "1;2");
        Assert.Equal(0, (await server.TreepieAsync("import", semicolons, "-d", database, "-c", "Pairs")).ExitCode);
        Assert.Equal("""{"a":1,"b":2}""", await TextAsync(database, "pairs/2"));
    }

    [Theory]
    [InlineData("line 3: has 1 cells, and the first row names 2 columns", "a,b", "1,2", "3", "5,6")]
    [InlineData("occurs twice", "a,a", "1,2")]
    [InlineData("'a.b' has an empty part, occurs twice, or names both", "a,a.b", "1,2")]
    [InlineData("quot", "a,b", "1,\"2\"x", "3,4")]
    public async Task Bad_rows_stop_with_a_message(string message, params string[] rows)
    {
        string database = await server.NewDatabaseAsync();
        CommandLineProcess import = await server.TreepieAsync(
            "import", Write("bad.csv", rows), "-d", database, "-c", "Rows", "--separator", ",");
        Assert.Equal(1, import.ExitCode);
        Assert.Contains(message, import.Error, StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public async Task A_row_with_too_few_cells_can_be_passed_over()
    {
        string database = await server.NewDatabaseAsync();
        CommandLineProcess import = await server.TreepieAsync(
            "import", Write("gap.csv", "a,b", "1,2", "3", "5,6"), "-d", database, "-c", "Rows", "--on-error", "skip");
        Assert.Contains("line 3: has 1 cells", import.Error, StringComparison.Ordinal);
        Assert.Equal(2, (await server.CountsAsync(database))["Rows"]);
    }

    [Fact]
    public async Task Random_cells_come_through_unchanged()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 200; round++)
        {
            int columns = random.Next(1, 6);
            string[][] rows = [.. Enumerable.Range(0, random.Next(1, 30)).Select(_ => Cells(random, columns))];
            var csv = new StringBuilder(
                string.Join(',', Enumerable.Range(0, columns).Select(static column => $"c{column}"))).Append('\n');
            foreach (string[] row in rows)
                csv.AppendJoin(',', row.Select(cell => Quoted(cell, random))).Append(random.Next(2) == 0 ? "\n" : "\r\n");
            using var lines = new CsvLines(new MemoryStream(Encoding.UTF8.GetBytes(csv.ToString())), ',', keepsText: true);
            foreach (string[] row in rows)
            {
                Assert.True(await lines.ReadAsync(Cancel));
                Assert.Null(lines.Problem);
                JsonElement line = JsonElement.Parse(lines.Line.Span);
                for (int column = 0; column < columns; column++)
                    Assert.Equal(
                        row[column],
                        line.TryGetProperty(string.Create(CultureInfo.InvariantCulture, $"c{column}"), out JsonElement cell)
                            ? cell.GetString()
                            : "");
            }

            Assert.False(await lines.ReadAsync(Cancel));
        }
    }

    private static string[] Cells(Random random, int count)
    {
        string[] cells = [.. Enumerable.Range(0, count).Select(_ => Cell(random))];
        return cells.Length == 1 && cells[0].Length == 0 ? ["x"] : cells; // a line that is empty is no row
    }

    private static string Cell(Random random)
    {
        const string Letters = "ab,;\"\r\n\t 1é漢😀";
        int[] runes = [.. Letters.EnumerateRunes().Select(static rune => rune.Value)];
        return string.Concat(
            Enumerable.Range(0, random.Next(6)).Select(_ => char.ConvertFromUtf32(runes[random.Next(runes.Length)])));
    }

    private static string Quoted(string cell, Random random) =>
        cell.AsSpan().IndexOfAny(",\"\r\n") >= 0 || random.Next(3) == 0
            ? $"\"{cell.Replace("\"", "\"\"", StringComparison.Ordinal)}\""
            : cell;

    private string Write(string name, params string[] lines)
    {
        string path = Path.Combine(_files.Path, name);
        File.WriteAllLines(path, lines);
        return path;
    }

    /// <summary>A document without its metadata.</summary>
    private async Task<string> TextAsync(string database, string id)
    {
        JsonElement document = await server.LoadAsync(database, id) ?? throw new InvalidOperationException($"no {id}");
        return "{"
            + string.Join(
                ',',
                document.EnumerateObject()
                    .Where(member => member.Name != "@metadata")
                    .Select(member => $"\"{member.Name}\":{member.Value.GetRawText()}"))
            + "}";
    }
}
