using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary>The commands as a shell sees them: what goes to which stream, and the exit code.</summary>
[Collection(RunningServer.Collection)]
public sealed class CommandsTests(RunningServer server) : IDisposable
{
    private readonly TemporaryDirectory _files = new();

    public void Dispose() => _files.Dispose();

    [Theory]
    [InlineData("all.ndjson", null)]
    [InlineData("all.ndjson.gz", null)]
    [InlineData("orders.ndjson.gz", "Orders")]
    public async Task Export_and_import_make_the_same_documents(string name, string? collection)
    {
        string from = await server.NewDatabaseAsync();
        string to = await server.NewDatabaseAsync();
        foreach (string sample in (string[])["orders", "regions"])
            Assert.Equal(0, (await server.TreepieAsync("import", Sample(sample), "-d", from)).ExitCode);

        string file = Path.Combine(_files.Path, name);
        string[] only = collection is null ? [] : ["--collection", collection];
        CommandLineProcess export = await server.TreepieAsync(["export", "-d", from, "-o", file, .. only]);
        CommandLineProcess import = await server.TreepieAsync("import", file, "-d", to);

        Assert.Equal((0, 0), (export.ExitCode, import.ExitCode));
        Assert.Equal([file], Directory.GetFiles(_files.Path));
        Assert.Equal(collection is null ? 834 : 830, (await server.CountsAsync(to)).Values.Sum());
        foreach (string id in (string[])
        [
            "orders/1-A", "orders/830-A", .. collection is null ? ["regions/4-A"] : Array.Empty<string>()
        ])
        {
            JsonElement before = Assert.NotNull(await server.LoadAsync(from, id));
            JsonElement after = Assert.NotNull(await server.LoadAsync(to, id));
            Assert.Equal(WithoutMetadata(before), WithoutMetadata(after));
            Assert.Equal(
                before.GetProperty("@metadata").GetProperty("@collection").GetString(),
                after.GetProperty("@metadata").GetProperty("@collection").GetString());
        }
    }

    [Fact]
    public async Task Export_without_a_file_writes_documents_and_nothing_else_to_standard_output()
    {
        string database = await WithRegionsAsync();
        CommandLineProcess export = await server.TreepieAsync("export", "-d", database);
        Assert.Equal(4, export.Output.Split('\n', StringSplitOptions.RemoveEmptyEntries).Length);
        Assert.All(export.Output.Split('\n', StringSplitOptions.RemoveEmptyEntries), line => JsonDocument.Parse(line).Dispose());
        Assert.Contains("4 documents exported", export.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Indexes_are_defined_from_a_file_listed_rebuilt_and_deleted()
    {
        string database = await WithRegionsAsync();
        string file = Path.Combine(_files.Path, "indexes.json");
        await File.WriteAllTextAsync(
            file, """[{"Name":"Regions/ByName","Collections":["Regions"],"Fields":{"Name":{}}}]""",
            TestContext.Current.CancellationToken);
        CommandLineProcess put = await server.TreepieAsync("index", "put", file, "-d", database);
        Assert.Equal((0, "Index 'Regions/ByName' is defined."), (put.ExitCode, put.Error.Trim()));
        Assert.Equal(
            0,
            (await server.TreepieAsync(
                "query", "from index 'Regions/ByName' where Name != 'x'", "-d", database, "--wait")).ExitCode);
        CommandLineProcess list = await server.TreepieAsync("index", "list", "-d", database);
        Assert.Equal("Regions/ByName\t4 entries\tup to date", list.Output.Trim());
        Assert.Equal(0, (await server.TreepieAsync("index", "rebuild", "regions/byname", "-d", database)).ExitCode);
        CommandLineProcess errors = await server.TreepieAsync("index", "errors", "Regions/ByName", "-d", database);
        Assert.Equal((0, ""), (errors.ExitCode, errors.Output));
        Assert.Equal(0, (await server.TreepieAsync("index", "delete", "Regions/ByName", "-d", database)).ExitCode);
        Assert.Equal(1, (await server.TreepieAsync("index", "delete", "Regions/ByName", "-d", database)).ExitCode);

        await File.WriteAllTextAsync(
            file, """{"Name":"Regions/ByName","Fields":{"Name":{"Path":"a..b"}}}""", TestContext.Current.CancellationToken);
        CommandLineProcess refused = await server.TreepieAsync("index", "put", file, "-d", database);
        Assert.Equal(1, refused.ExitCode);
        Assert.Contains("'a..b', of the field 'Name', is not a path", refused.Error, StringComparison.Ordinal);
        await File.WriteAllTextAsync(file, "{", TestContext.Current.CancellationToken);
        Assert.Equal(2, (await server.TreepieAsync("index", "put", file, "-d", database)).ExitCode);
    }

    [Fact]
    public async Task Export_that_fails_leaves_what_was_there()
    {
        string file = Path.Combine(_files.Path, "kept.ndjson");
        await File.WriteAllTextAsync(file, "precious", TestContext.Current.CancellationToken);
        CommandLineProcess export = await server.TreepieAsync("export", "-d", "nowhere", "-o", file);
        Assert.Equal(1, export.ExitCode);
        Assert.Equal("precious", await File.ReadAllTextAsync(file, TestContext.Current.CancellationToken));
        Assert.Equal([file], Directory.GetFiles(_files.Path));
    }

    [Fact]
    public async Task Query_as_json_is_the_answer_of_the_server_and_nothing_else()
    {
        string database = await WithRegionsAsync();
        CommandLineProcess query = await server.TreepieAsync(
            "query", "from Regions where Name = $name select Name", "-d", database, "--parameters", """{"name":"Eastern"}""",
            "--format", "json", "--wait");
        using JsonDocument answer = JsonDocument.Parse(query.Output);
        Assert.Equal(1, answer.RootElement.GetProperty("TotalResults").GetInt32());
        Assert.Equal("Eastern", answer.RootElement.GetProperty("Results")[0].GetProperty("Name").GetString());
        Assert.Equal("", query.Error);
    }

    [Fact]
    public async Task Query_as_lines_streams_results_and_tells_the_rest_on_standard_error()
    {
        string database = await WithRegionsAsync();
        CommandLineProcess query = await server.TreepieAsync("query", "from Regions", "-d", database, "-f", "ndjson");
        string[] lines = query.Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(
            ["Eastern", "Northern", "Southern", "Western"],
            lines.Select(line => Parse(line).GetProperty("Name").GetString()).Order(StringComparer.Ordinal));
        Assert.StartsWith("4 results", query.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Query_as_table_has_a_row_for_each_result_and_a_footer()
    {
        string database = await WithRegionsAsync();
        CommandLineProcess query = await server.TreepieAsync(
            "query", "from Regions where Name >= 'N' order by Name", "-d", database, "--wait", "--rows", "2");
        Assert.Equal(0, query.ExitCode);
        Assert.Matches(@"id\(\).*Name.*Territories", query.Output);
        Assert.Matches("regions/3-A.*Northern", query.Output);
        Assert.Matches("regions/4-A.*Southern", query.Output);
        Assert.DoesNotContain("Western", query.Output, StringComparison.Ordinal);
        Assert.DoesNotContain('\u001b', query.Output);
        Assert.StartsWith("2 of 3 results, Auto/Regions/ByName, ", query.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Query_that_is_no_rql_shows_the_place()
    {
        string database = await WithRegionsAsync();
        CommandLineProcess query = await server.TreepieAsync("query", "from Regions where Name >< 3", "-d", database);
        Assert.Equal(1, query.ExitCode);
        Assert.Equal("", query.Output);
        Assert.Contains("from Regions where Name >< 3", query.Error, StringComparison.Ordinal);
        Assert.Matches(@"\n {25,28}\^", query.Error);
    }

    [Fact]
    public async Task Database_that_is_not_there_is_named_with_those_that_are()
    {
        string database = await server.NewDatabaseAsync();
        foreach (string[] command in (string[][])
        [
            ["query", "from X"], ["query", "from X", "-f", "ndjson"], ["export"], ["import", Sample("regions")]
        ])
        {
            CommandLineProcess run = await server.TreepieAsync([.. command, "-d", "nowhere"]);
            Assert.Equal(1, run.ExitCode);
            Assert.Equal("", run.Output);
            Assert.Contains("There is no such database", run.Error, StringComparison.Ordinal);
            Assert.Contains(database, run.Error, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Databases_are_created_listed_and_deleted()
    {
        Assert.Equal(0, (await server.TreepieAsync("databases", "create", "short-lived")).ExitCode);
        Assert.Equal(1, (await server.TreepieAsync("databases", "create", "short-lived")).ExitCode);
        Assert.Contains("short-lived", (await server.TreepieAsync("databases", "list")).Output.Split('\n'));

        CommandLineProcess unsure = await server.TreepieAsync("databases", "delete", "short-lived");
        Assert.Equal(2, unsure.ExitCode);
        Assert.Contains("--yes", unsure.Error, StringComparison.Ordinal);

        Assert.Equal(0, (await server.TreepieAsync("databases", "delete", "short-lived", "--yes")).ExitCode);
        Assert.DoesNotContain("short-lived", (await server.TreepieAsync("databases", "list")).Output.Split('\n'));
        Assert.Equal(1, (await server.TreepieAsync("databases", "delete", "short-lived", "--yes")).ExitCode);
    }

    [Theory]
    [InlineData("import", "no-such-file", "-d", "x")]
    [InlineData("query", "from X")]
    [InlineData("query", "from X", "-d", "x", "--parameters", "[]")]
    [InlineData("query", "from X", "-d", "x", "--format", "xml")]
    [InlineData("export", "-d", "x", "--url", "ftp://host")]
    [InlineData("databases")]
    [InlineData("fly")]
    public async Task Wrong_command_line_ends_with_2_and_says_why_on_standard_error(params string[] arguments)
    {
        CommandLineProcess run = await CommandLineProcess.RunAsync(arguments);
        Assert.Equal(2, run.ExitCode);
        Assert.NotEqual("", run.Error);
        Assert.Equal("", run.Output);
    }

    [Fact]
    public async Task No_server_is_a_failure_that_says_where_it_was_looked_for()
    {
        CommandLineProcess run = await CommandLineProcess.RunAsync("databases", "list", "--url", "http://127.0.0.1:9");
        Assert.Equal(1, run.ExitCode);
        Assert.Contains("No server answers at http://127.0.0.1:9", run.Error, StringComparison.Ordinal);
    }

    private static string Sample(string name) =>
        Path.Combine(DataSets.RepositoryRoot, "samples", "northwind", name + ".ndjson.gz");

    private static JsonElement Parse(string line)
    {
        using JsonDocument document = JsonDocument.Parse(line);
        return document.RootElement.Clone();
    }

    private static string WithoutMetadata(JsonElement document) =>
        string.Join(',', document.EnumerateObject().Where(p => p.Name != "@metadata").Select(p => p.ToString()));

    private async Task<string> WithRegionsAsync()
    {
        string database = await server.NewDatabaseAsync();
        Assert.Equal(0, (await server.TreepieAsync("import", Sample("regions"), "-d", database)).ExitCode);
        return database;
    }
}
