using System.Diagnostics;
using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary><c>query --directory</c>, CSV, <c>shell</c> and <c>tokens</c>, on a server process and on what it left.</summary>
public sealed class ShellCommandsTests : IDisposable
{
    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Data => Path.Combine(_files.Path, "data");

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task The_files_of_a_stopped_server_answer_as_it_did()
    {
        string[] query =
        [
            "query", "from Orders where Freight > $least order by Freight as double limit 5", "-p", """{"least": 700}""",
        ];
        string served;
        await using (ServerProcess server = await ServerProcess.StartAsync(Data))
        {
            await FillAsync(server);
            served =
                (await CommandLineProcess.SucceedAsync(
                    [.. query, "-d", "shop", "--url", server.Url, "-f", "ndjson", "-w"])).Output;
            CommandLineProcess locked = await CommandLineProcess.RunAsync([.. query, "--directory", Data]);
            Assert.NotEqual(0, locked.ExitCode);
            Assert.Equal("", locked.Output);
            Assert.Equal(0, await server.StopAsync());
        }

        Assert.Equal(5, Lines(served).Length);
        CommandLineProcess asked = await CommandLineProcess.SucceedAsync([.. query, "--directory", Data, "-f", "ndjson"]);
        Assert.Equal(served, asked.Output);
        Assert.Contains("5 of 8 results", asked.Error, StringComparison.Ordinal);
        CommandLineProcess named = await CommandLineProcess.SucceedAsync(
            [.. query, "--directory", Path.Combine(Data, "databases", "shop"), "-f", "json"]);
        using JsonDocument answer = JsonDocument.Parse(named.Output);
        Assert.Equal(5, answer.RootElement.GetProperty("Results").GetArrayLength());
        CommandLineProcess table = await CommandLineProcess.SucceedAsync([.. query, "--directory", Data, "-d", "shop"]);
        Assert.Contains("orders/", table.Output, StringComparison.Ordinal);

        CommandLineProcess wrong = await CommandLineProcess.RunAsync("query", "from Orders where", "--directory", Data);
        Assert.Equal(1, wrong.ExitCode);
        Assert.Contains("^", wrong.Error, StringComparison.Ordinal); // the place
        Assert.Equal(2, (await CommandLineProcess.RunAsync([.. query, "--directory", Data, "-d", "nowhere"])).ExitCode);
        Assert.Equal(2, (await CommandLineProcess.RunAsync(query)).ExitCode);
    }

    [Fact]
    public async Task Results_become_CSV_with_a_column_for_each_member()
    {
        await using (ServerProcess server = await ServerProcess.StartAsync(Data))
        {
            string file = Path.Combine(_files.Path, "people.ndjson");
            await File.WriteAllTextAsync(
                file, """
                {"Name":"Ada, \"the first\"","Address":{"City":"London","Zip":null},"Tags":["a","b"],"Age":36}
                {"Name":" Bo\nb","Born":"1815-12-10","Age":1e3}
                """, Token);
            await CommandLineProcess.SucceedAsync(
                "import", file, "-d", "shop", "-c", "People", "--create-database", "--url", server.Url);
            CommandLineProcess csv = await CommandLineProcess.SucceedAsync(
                "query", "from People order by id()", "-d", "shop", "--url", server.Url, "--format", "csv");
            Assert.Equal(
                "@id,Name,Address.City,Tags,Age,Born\r\n"
                    + "people/1,\"Ada, \"\"the first\"\"\",London,\"[\"\"a\"\",\"\"b\"\"]\",36,\r\n"
                    + "people/2,\" Bo\nb\",,,1e3,1815-12-10\r\n",
                csv.Output);
            Assert.Equal(0, await server.StopAsync());
        }
    }

    [Fact]
    public async Task A_shell_takes_queries_line_by_line_and_goes_on_behind_a_wrong_one()
    {
        await using ServerProcess server = await ServerProcess.StartAsync(Data);
        await FillAsync(server);
        (int exitCode, string output, string error) = await TypeAsync(
            """
            .help
            .format ndjson
            from Regions where Name = 'Eastern' \
                select Name
            from Regions where
            .nonsense
            from Regions order by id() select id() as Id limit 1
            .quit
            from Regions
            """, "shell", "-d", "shop", "--url", server.Url);
        string[] lines = Lines(output);
        Assert.Equal(2, lines.Length);
        Assert.Contains("\"Eastern\"", lines[0], StringComparison.Ordinal);
        Assert.Contains("regions/1-A", lines[1], StringComparison.Ordinal);
        Assert.Contains(".format table|json|ndjson|csv", error, StringComparison.Ordinal);
        Assert.Contains("There is no command '.nonsense'", error, StringComparison.Ordinal);
        Assert.Contains("^", error, StringComparison.Ordinal);
        Assert.Equal(0, exitCode);
        Assert.Equal(1, (await TypeAsync("from nonsense where\n", "shell", "-d", "shop", "--url", server.Url)).ExitCode);
        Assert.Equal(0, await server.StopAsync());

        (exitCode, output, _) = await TypeAsync(".format ndjson\nfrom Regions\n", "shell", "--directory", Data);
        Assert.Equal((0, 4), (exitCode, Lines(output).Length));
    }

    [Fact]
    public async Task Tokens_are_made_listed_used_and_deleted()
    {
        await CommandLineProcess.SucceedAsync("secure", Data, "--name", "localhost");
        await using ServerProcess server = await ServerProcess.StartAsync(
            Data, "--urls", "https://127.0.0.1:0", "--certificate", Secret("server.pem"), "--admin-certificate",
            Secret("admin.crt"));
        string[] admin = ["--url", server.Url, "--certificate", Secret("admin.pem"), "--authority", Secret("authority.crt")];
        await CommandLineProcess.SucceedAsync(["databases", "create", "shop", .. admin]);

        CommandLineProcess made = await CommandLineProcess.SucceedAsync(
            ["tokens", "create", "nightly report", "--permission", "shop=Read", "--days", "3", .. admin]);
        Assert.StartsWith("treepie_", made.Output, StringComparison.Ordinal);
        Assert.DoesNotContain(made.Output.Trim(), made.Error, StringComparison.Ordinal);
        string[] listed = Lines((await CommandLineProcess.SucceedAsync(["tokens", "list", .. admin])).Output)
            .Single()
            .Split('\t');
        Assert.Equal(("shop=Read", "nightly report"), (listed[2], listed[3]));

        string[] query = ["query", "from Orders", "-d", "shop", "-f", "ndjson", .. admin[..2], .. admin[4..]];
        Assert.Equal(0, (await AsAsync(made.Output.Trim(), query)).ExitCode);
        Assert.Equal(
            1, (await AsAsync(made.Output.Trim(), ["databases", "create", "other", .. admin[..2], .. admin[4..]])).ExitCode);
        await CommandLineProcess.SucceedAsync(["tokens", "delete", listed[0], .. admin]);
        Assert.Equal("", (await CommandLineProcess.SucceedAsync(["tokens", "list", .. admin])).Output);
        Assert.Equal(1, (await AsAsync(made.Output.Trim(), query)).ExitCode);
        Assert.Equal(1, (await CommandLineProcess.RunAsync(["tokens", "delete", listed[0], .. admin])).ExitCode);
        Assert.Equal(2, (await CommandLineProcess.RunAsync(["tokens", "create", "x", "-p", "shop", .. admin])).ExitCode);
        Assert.Equal(2, (await CommandLineProcess.RunAsync(["tokens", "create", "x", "--days", "0", .. admin])).ExitCode);
        Assert.Equal(0, await server.StopAsync());
    }

    private static string[] Lines(string text) => text.Split('\n', StringSplitOptions.RemoveEmptyEntries);

    private static async Task FillAsync(ServerProcess server)
    {
        foreach (string sample in (string[])["orders", "regions"])
            await CommandLineProcess.SucceedAsync(
                "import", Path.Combine(DataSets.RepositoryRoot, "samples", "northwind", sample + ".ndjson.gz"), "-d", "shop",
                "--create-database", "--url",
                server.Url);
    }

    private static async Task<(int ExitCode, string Output)> AsAsync(string token, string[] arguments)
    {
        ProcessStartInfo start = BuiltProgram.StartInfo(BuiltProgram.CommandLine, arguments);
        start.Environment["TREEPIE_TOKEN"] = token;
        (int exitCode, string output, _) = await RunAsync(start, "");
        return (exitCode, output);
    }

    private static Task<(int ExitCode, string Output, string Error)> TypeAsync(string input, params string[] arguments) =>
        RunAsync(BuiltProgram.StartInfo(BuiltProgram.CommandLine, arguments), input);

    private static async Task<(int ExitCode, string Output, string Error)> RunAsync(ProcessStartInfo start, string input)
    {
        using Process process = Process.Start(start) ?? throw new InvalidOperationException("It could not be started.");
        Task<string> output = process.StandardOutput.ReadToEndAsync(Token), error = process.StandardError.ReadToEndAsync(Token);
        await process.StandardInput.WriteAsync(input);
        process.StandardInput.Close();
        await process.WaitForExitAsync(Token);
        return (process.ExitCode, await output, await error);
    }

    private string Secret(string name) => Path.Combine(Data, "security", name);
}
