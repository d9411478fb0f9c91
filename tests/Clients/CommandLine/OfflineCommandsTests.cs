using System.Buffers.Binary;
using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json;
using Treepie.CommandLine;
using Treepie.CommandLine.Offline;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary><c>check</c> and <c>salvage</c> on what a server process has written, whole and damaged.</summary>
public sealed class OfflineCommandsTests : IDisposable
{
    private const int PageBytes = 8192, Leaf = 3;
    private const int Orders = 830, Regions = 4;
    private const string Documents = "databases/shop/documents";

    private readonly TemporaryDirectory _files = new();

    private string Data => Path.Combine(_files.Path, "data");

    private string Target => Path.Combine(_files.Path, "salvaged");

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task A_damaged_database_is_found_salvaged_and_served_again()
    {
        await using (ServerProcess server = await ServerProcess.StartAsync(Data))
        {
            await FillAsync(server);
            foreach (string[] command in (string[][])[["check", Data], ["salvage", Data, Target]])
            {
                CommandLineProcess refused = await CommandLineProcess.RunAsync(command);
                Assert.Equal((2, ""), (refused.ExitCode, refused.Output));
                Assert.Contains(
                    string.Create(CultureInfo.InvariantCulture, $"process {server.ProcessId}"), refused.Error,
                    StringComparison.Ordinal);
                Assert.Contains("Stop the server", refused.Error, StringComparison.Ordinal);
            }

            Assert.False(Directory.Exists(Target));
            Assert.Equal(0, await server.StopAsync());
        }

        CommandLineProcess clean = await CommandLineProcess.SucceedAsync("check", Data);
        Assert.Contains($"{Documents}: clean; ", clean.Output, StringComparison.Ordinal);
        Assert.Equal("", clean.Error);

        (long page, int lost) = DamageLeafOfDocuments();
        CommandLineProcess check = await CommandLineProcess.RunAsync("check", Data);
        Assert.Equal(1, check.ExitCode);
        Assert.Contains(
            string.Create(CultureInfo.InvariantCulture, $"data.treepie, page {page}, tree 'documents': "), check.Output,
            StringComparison.Ordinal);
        Assert.Contains("treepie salvage", check.Error, StringComparison.Ordinal);

        CommandLineProcess salvage = await CommandLineProcess.RunAsync("salvage", Data, Target, "--json");
        Assert.Equal(1, salvage.ExitCode);
        using JsonDocument report = JsonDocument.Parse(salvage.Output);
        JsonElement tree = Assert.Single(
            Environment(report, Documents).GetProperty("trees").EnumerateArray(),
            tree => tree.GetProperty("name").GetString() == "documents");
        Assert.Equal(
            (Orders + Regions, Orders + Regions - lost, 0, 1),
            (Number(tree, "expectedKeys"), Number(tree, "keys"), Number(tree, "doubtfulKeys"), Number(tree, "damagedPages")));
        Assert.NotEmpty(tree.GetProperty("missing").EnumerateArray());
        await CommandLineProcess.SucceedAsync("check", Target);

        await using ServerProcess again = await ServerProcess.StartAsync(Target);
        int there = 0;
        for (int order = 1; order <= Orders; order++)
            there += await IsThereAsync(again, string.Create(CultureInfo.InvariantCulture, $"orders/{order}-A")) ? 1 : 0;
        Assert.Equal(Orders - lost, there);
        CommandLineProcess export = await CommandLineProcess.SucceedAsync("export", "-d", "shop", "--url", again.Url);
        Assert.Equal(Orders + Regions - lost, export.Output.Split('\n', StringSplitOptions.RemoveEmptyEntries).Length);
        CommandLineProcess query = await CommandLineProcess.SucceedAsync(
            "query", "from Orders where Freight >= 0", "-d", "shop", "--wait", "-f", "json", "--url", again.Url);
        using JsonDocument answer = JsonDocument.Parse(query.Output);
        Assert.Equal(there, Number(answer.RootElement, "TotalResults"));
        using JsonDocument statistics = JsonDocument.Parse(
            await again.Http.GetStringAsync("/databases/shop/collections/stats", TestContext.Current.CancellationToken));
        Assert.Equal(there, Number(statistics.RootElement.GetProperty("Collections"), "Orders"));
    }

    [Fact]
    public async Task Reports_as_json_and_exit_codes_tell_whole_from_damaged()
    {
        string tree = BuildEnvironment();
        CommandLineProcess check = await CommandLineProcess.SucceedAsync("check", Data, "--json");
        using (JsonDocument report = JsonDocument.Parse(check.Output))
        {
            JsonElement environment = Environment(report, "data");
            // Beside the tree and its key: catalogue and system tree, and the name in the catalogue.
            Assert.True(report.RootElement.GetProperty("clean").GetBoolean() && environment.GetProperty("clean").GetBoolean());
            Assert.Equal(
                (3, 2, 0), (Number(environment, "trees"), Number(environment, "keys"), Number(environment, "problemCount")));
        }

        CommandLineProcess salvage = await CommandLineProcess.SucceedAsync("salvage", Data, Target, "--json");
        using (JsonDocument report = JsonDocument.Parse(salvage.Output))
        {
            Assert.True(report.RootElement.GetProperty("complete").GetBoolean());
            Assert.Equal(tree, Environment(report, "data").GetProperty("trees")[0].GetProperty("name").GetString());
        }

        await File.WriteAllBytesAsync(
            Path.Combine(Data, "data.treepie"), new byte[4 * PageBytes], TestContext.Current.CancellationToken);
        CommandLineProcess damaged = await CommandLineProcess.RunAsync("check", Data, "--json");
        Assert.Equal((1, ""), (damaged.ExitCode, damaged.Error));
        using (JsonDocument report = JsonDocument.Parse(damaged.Output))
            Assert.False(report.RootElement.GetProperty("clean").GetBoolean());
    }

    [Fact]
    public async Task What_can_be_no_directory_or_target_ends_with_2_and_writes_nothing()
    {
        BuildEnvironment();
        string empty = Directory.CreateDirectory(Path.Combine(_files.Path, "empty")).FullName;
        (string[] Arguments, string Why)[] wrong =
        [
            (["check", Path.Combine(_files.Path, "nowhere")], "There is no directory"),
            (["check", empty], "contains no environment"),
            (["salvage", Data], "target"),
            (["salvage", Data, _files.Path], "is not empty"),
            (["salvage", Data, Path.Combine(Data, "inside")], "lies inside"),
        ];
        string[] before = Directory.GetFileSystemEntries(_files.Path, "*", SearchOption.AllDirectories);
        foreach ((string[] arguments, string why) in wrong)
        {
            CommandLineProcess run = await CommandLineProcess.RunAsync(arguments);
            Assert.Equal((2, ""), (run.ExitCode, run.Output));
            Assert.Contains(why, run.Error, StringComparison.Ordinal);
        }

        Assert.Equal(before, Directory.GetFileSystemEntries(_files.Path, "*", SearchOption.AllDirectories));
    }

    [Fact]
    public async Task A_log_gets_a_line_of_progress_every_few_seconds()
    {
        using var output = new StringWriter();
        using var error = new StringWriter();
        var shell = new Shell
        {
            Output = Stream.Null,
            OutputText = output,
            Error = error,
            ErrorIsTerminal = false,
            OutputIsTerminal = false,
            CanAsk = false,
            ReadLine = () => null,
            ReadSecret = () => [],
            Time = new HastyClock(),
        };
        await OfflineProgress.RunAsync(shell, "shop", progress =>
        {
            for (int done = 0; done <= 4000; done += 500)
                progress.Report(new CheckProgress("pages", done, 4000));
            return 0;
        });
        string[] lines = error.ToString().Split(error.NewLine, StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(
            ["shop: 500 of 4,000 pages", "shop: 1,500 of 4,000 pages", "shop: 2,500 of 4,000 pages", "shop: 3,500 of 4,000 "
                + "pages"],
            lines);
        Assert.Equal("", output.ToString());
    }

    private static int Number(JsonElement element, string name) => element.GetProperty(name).GetInt32();

    private static JsonElement Environment(JsonDocument report, string name) =>
        Assert.Single(
            report.RootElement.GetProperty("environments").EnumerateArray(),
            environment => environment.GetProperty("name").GetString() == name);

    private static async Task FillAsync(ServerProcess server)
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        using HttpResponseMessage created = await server.Http.PutAsJsonAsync(
            "/admin/databases?name=shop", new { DatabaseName = "shop" }, cancellation);
        created.EnsureSuccessStatusCode();
        foreach (string sample in (string[])["regions", "orders"])
            await CommandLineProcess.SucceedAsync(
                "import", Path.Combine(DataSets.RepositoryRoot, "samples", "northwind", sample + ".ndjson.gz"), "-d", "shop",
                "--url", server.Url);
        await CommandLineProcess.SucceedAsync(
            "query", "from Orders where Freight >= 0", "-d", "shop", "--wait", "--url", server.Url);
    }

    private static async Task<bool> IsThereAsync(ServerProcess server, string id)
    {
        using HttpResponseMessage response = await server.Http.GetAsync(
            $"/databases/shop/docs?id={Uri.EscapeDataString(id)}", TestContext.Current.CancellationToken);
        return response.IsSuccessStatusCode;
    }

    /// <summary>An environment of one tree with one key, in the data directory itself; gives the tree's name.</summary>
    private string BuildEnvironment()
    {
        using StorageEnvironment environment = StorageEnvironment.Open(Data);
        environment.Write(transaction => transaction.GetOrCreateTree("words").Put("k"u8, "v"u8));
        return "words";
    }

    /// <summary>
    /// Changes a byte of the youngest leaf that holds orders, which is in use; gives its page and how many documents it has.
    /// </summary>
    private (long Page, int Keys) DamageLeafOfDocuments()
    {
        string file = Path.Combine(Data, "databases", "shop", "documents", "data.treepie");
        byte[] bytes = File.ReadAllBytes(file);
        (long page, _) = Enumerable.Range(2, (bytes.Length / PageBytes) - 2)
            .Where(
                page => bytes[(page * PageBytes) + 20] == Leaf
                    && bytes.AsSpan(page * PageBytes, PageBytes).IndexOf("\"ShipTo\""u8) > 0)
            .Select(page => ((long)page, BinaryPrimitives.ReadInt64LittleEndian(bytes.AsSpan((page * PageBytes) + 8))))
            .MaxBy(candidate => candidate.Item2);
        Span<byte> leaf = bytes.AsSpan((int)page * PageBytes, PageBytes);
        leaf[PageBytes - 100] ^= 1;
        File.WriteAllBytes(file, bytes);
        return (page, BinaryPrimitives.ReadUInt16LittleEndian(leaf[22..]));
    }

    /// <summary>A clock that is a second further each time it is asked.</summary>
    private sealed class HastyClock : TimeProvider
    {
        private long _seconds;

        public override long TimestampFrequency => 1;

        public override long GetTimestamp() => ++_seconds;
    }
}
