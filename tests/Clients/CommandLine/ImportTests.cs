using System.Diagnostics;
using System.Globalization;
using System.IO.Compression;
using System.Text;
using Treepie.CommandLine.Http;
using Treepie.CommandLine.Import;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

[Collection(RunningServer.Collection)]
public sealed class ImportTests(RunningServer server) : IDisposable
{
    private readonly TemporaryDirectory _files = new();

    public void Dispose() => _files.Dispose();

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(49)]
    public async Task Interrupted_import_goes_on_with_what_is_missing_and_repeats_nothing(int batchesBefore)
    {
        string database = await server.NewDatabaseAsync();
        string file = WritePeople(1000);
        var options = new ImportOptions { Collection = "People", BatchDocuments = 20 };

        ImportCounts first = await RunAsync(database, file, options, stopAfterBatches: batchesBefore);
        ImportCounts second = await RunAsync(database, file, options);

        Assert.Equal(batchesBefore * 20, first.Written);
        Assert.Equal((1000 - first.Written, first.Written), (second.Written, second.AlreadyThere));
        Assert.Equal(1000, (await server.CountsAsync(database))["People"]);
        Assert.Equal("name 1000", (await server.LoadAsync(database, "people/1000"))?.GetProperty("name").GetString());
    }

    [Fact]
    public async Task What_exists_is_left_as_it_is_and_gaps_are_filled()
    {
        string database = await server.NewDatabaseAsync();
        string file = WritePeople(300);
        var options = new ImportOptions { Collection = "People", BatchDocuments = 50 };
        await RunAsync(database, file, options);
        await server.PutAsync(database, "people/170", "People", "changed");
        foreach (int gone in (int[])[1, 60, 61, 299])
            await server.DeleteAsync(database, $"people/{gone}");

        ImportCounts again = await RunAsync(database, file, options);

        Assert.Equal((4, 296), (again.Written, again.AlreadyThere));
        Assert.Equal("changed", (await server.LoadAsync(database, "people/170"))?.GetProperty("name").GetString());
        Assert.Equal("name 61", (await server.LoadAsync(database, "people/61"))?.GetProperty("name").GetString());
    }

    [Fact]
    public async Task Overwrite_replaces_what_exists()
    {
        string database = await server.NewDatabaseAsync();
        await server.PutAsync(database, "people/5", "People", "old");

        ImportCounts counts = await RunAsync(
            database, WritePeople(10), new ImportOptions { Collection = "People", Overwrite = true });

        Assert.Equal((10, 0), (counts.Written, counts.AlreadyThere));
        Assert.Equal("name 5", (await server.LoadAsync(database, "people/5"))?.GetProperty("name").GetString());
    }

    [Fact]
    public async Task Id_that_comes_twice_is_imported_once()
    {
        string database = await server.NewDatabaseAsync();
        string file = Write("""{"k":"a","n":1}""", """{"k":"b","n":2}""", """{"k":"A","n":3}""", """{"k":"c","n":4}""");

        CommandLineProcess import = await server.TreepieAsync("import", file, "-d", database, "-c", "Twice", "--id-field", "k");

        Assert.Equal(0, import.ExitCode);
        Assert.Contains("3 documents imported", import.Error, StringComparison.Ordinal);
        Assert.Contains("1 were there already", import.Error, StringComparison.Ordinal);
        Assert.Equal(1, (await server.LoadAsync(database, "a"))?.GetProperty("n").GetInt32());
    }

    [Fact]
    public async Task Malformed_line_stops_after_everything_before_it()
    {
        string database = await server.NewDatabaseAsync();
        string file = Write("""{"n":1}""", """{"n":2}""", "{\"n\":", """{"n":4}""");

        CommandLineProcess import = await server.TreepieAsync("import", file, "-d", database, "-c", "Lines");

        Assert.Equal(1, import.ExitCode);
        Assert.Contains("Stopped at line 3: not valid JSON", import.Error, StringComparison.Ordinal);
        Assert.Equal(2, (await server.CountsAsync(database))["Lines"]);
    }

    [Fact]
    public async Task Malformed_and_refused_lines_are_skipped_and_named_if_asked()
    {
        string database = await server.NewDatabaseAsync();
        string deep = $$"""{"n":{{new string('[', 5000)}}{{new string(']', 5000)}}}""";
        string file = Write("""{"n":1}""", "[]", """{"n":3}""", deep, "", """{"n":6}""", "{\"n\":\"\u0001\"}");

        CommandLineProcess import = await server.TreepieAsync(
            "import", file, "-d", database, "-c", "Lines", "--on-error", "skip");

        Assert.Equal(1, import.ExitCode);
        Assert.Contains("line 2: not a JSON object but an array", import.Error, StringComparison.Ordinal);
        Assert.Contains("line 4: the server refuses 'lines/4'", import.Error, StringComparison.Ordinal);
        Assert.Contains("line 7: not valid JSON", import.Error, StringComparison.Ordinal);
        Assert.Contains("3 documents imported", import.Error, StringComparison.Ordinal);
        Assert.Contains("3 lines skipped", import.Error, StringComparison.Ordinal);
        Assert.NotNull(await server.LoadAsync(database, "lines/6"));
    }

    [Fact]
    public async Task Refused_document_stops_with_its_line_after_everything_before_it()
    {
        string database = await server.NewDatabaseAsync();
        string deep = $$"""{"n":{{new string('[', 5000)}}{{new string(']', 5000)}}}""";
        string file = Write([.. Enumerable.Range(1, 41).Select(n => $$"""{"n":{{n}}}"""), deep, """{"n":43}"""]);

        CommandLineProcess import = await server.TreepieAsync("import", file, "-d", database, "-c", "Lines");

        Assert.Equal(1, import.ExitCode);
        Assert.Contains("Stopped at line 42: the server refuses 'lines/42'", import.Error, StringComparison.Ordinal);
        Assert.Equal(41, (await server.CountsAsync(database))["Lines"]);
    }

    [Fact]
    public async Task Damaged_gzip_names_the_last_line_that_was_read()
    {
        string database = await server.NewDatabaseAsync();
        string whole = WritePeople(20_000, "people.ndjson.gz");
        string cut = Path.Combine(_files.Path, "cut.ndjson.gz");
        await File.WriteAllBytesAsync(cut, File.ReadAllBytes(whole)[..^2000], TestContext.Current.CancellationToken);

        CommandLineProcess import = await server.TreepieAsync("import", cut, "-d", database, "-c", "People");
        Assert.Equal(1, import.ExitCode);
        Assert.Contains("is damaged after line ", import.Error, StringComparison.Ordinal);

        CommandLineProcess repaired = await server.TreepieAsync("import", whole, "-d", database, "-c", "People");
        Assert.Equal(0, repaired.ExitCode);
        Assert.Equal(20_000, (await server.CountsAsync(database))["People"]);
    }

    [Fact]
    public async Task Ctrl_c_ends_with_130_and_the_next_run_completes()
    {
        Requirement.Needs(!OperatingSystem.IsWindows(), "kill -INT", "Windows has no signals to send to another process.");
        Requirement.Needs(
            !IsInterruptIgnored(), "An interrupt that is not ignored",
            "A shell without job control has what it runs in the background ignore SIGINT, and so do all processes below: run "
                + "the tests in the foreground.");
        string database = await server.NewDatabaseAsync();
        string file = WritePeople(30_000);
        // small, so that it takes longer than to interrupt it
        using Process import = CommandLineProcess.Start(
            "import", file, "-d", database, "-c", "People", "--batch-size", "5", "--url", server.Url);
        Task<string> error = import.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        while ((await server.CountsAsync(database)).GetValueOrDefault("People") == 0)
            Assert.False(import.HasExited, "The import ended before it was interrupted.");

        using (Process kill = Process.Start("kill", ["-INT", import.Id.ToString(CultureInfo.InvariantCulture)]))
            await kill.WaitForExitAsync(TestContext.Current.CancellationToken);

        await import.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.Equal(130, import.ExitCode);
        Assert.Contains("Cancelled.", await error, StringComparison.Ordinal);
        long before = (await server.CountsAsync(database))["People"];
        Assert.InRange(before, 5, 29_995);

        CommandLineProcess rest = await server.TreepieAsync("import", file, "-d", database, "-c", "People");
        Assert.Equal(0, rest.ExitCode);
        Assert.Equal(30_000, (await server.CountsAsync(database))["People"]);
    }

    /// <summary>
    /// Whether this process, and with it each that it starts, was told to ignore SIGINT; the runtime leaves that as it is. Known
    /// on Linux only.
    /// </summary>
    private static bool IsInterruptIgnored()
    {
        const string Ignored = "SigIgn:";
        const ulong Interrupt = 1UL << (2 - 1);
        string? line = File.Exists("/proc/self/status")
            ? File.ReadLines("/proc/self/status").FirstOrDefault(each => each.StartsWith(Ignored, StringComparison.Ordinal))
            : null;
        return line is not null
            && (ulong.Parse(line.AsSpan(Ignored.Length).Trim(), NumberStyles.HexNumber, CultureInfo.InvariantCulture) & Interrupt)
                != 0;
    }

    private async Task<ImportCounts> RunAsync(
        string database, string file, ImportOptions options, int stopAfterBatches = int.MaxValue)
    {
        using var client = new ServerClient(new Uri(server.Url));
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        var progress = new StopAfter(stopAfterBatches, stop);
        var run = new ImportRun(client.Database(database), options, progress);
        try
        {
            Assert.Null(await run.RunAsync(new ImportSource(file, options), stop.Token));
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // As asked.
        }

        return run.Counts;
    }

    private string WritePeople(int count, string name = "people.ndjson")
    {
        string path = Path.Combine(_files.Path, name);
        using Stream file = File.Create(path);
        using Stream content = name.EndsWith(".gz", StringComparison.Ordinal)
            ? new GZipStream(file, CompressionLevel.Fastest)
            : file;
        using var writer = new StreamWriter(content);
        for (int i = 1; i <= count; i++)
            writer.Write($$"""{"name":"name {{i}}","age":{{i % 90}}}""" + "\n");

        return path;
    }

    private string Write(params string[] lines)
    {
        string path = Path.Combine(_files.Path, "lines.ndjson");
        File.WriteAllText(path, string.Join('\n', lines), new UTF8Encoding(false));
        return path;
    }

    private sealed class StopAfter(int batches, CancellationTokenSource stop) : IImportProgress
    {
        private int _left = batches;

        public void Report(ImportCounts counts)
        {
            if (--_left == 0)
                stop.Cancel();
        }

        public void Report(LineProblem problem)
        {
        }
    }
}
