using System.Diagnostics;
using System.Text.Json;
using System.Text.RegularExpressions;
using Treepie.Clients.Tests.Node;
using Treepie.Clients.Tests.Package;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Tutorial;

/// <summary>
/// The tutorial, followed line by line: every command of the page is run as it stands there, but for the address of the server
/// and the place of the files.
/// </summary>
[Collection(Builds.Collection)]
public sealed partial class TutorialTests : IDisposable
{
    private const string Page = "docs/tutorial/first-steps.md", WrittenAddress = "http://127.0.0.1:8080";
    private const string RunServer = "dotnet run -c Release --project src/Server -- ",
        RunCommandLine = "dotnet run -c Release --project src/CommandLine -- ";

    private readonly TemporaryDirectory _files = new();

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task Every_command_of_the_tutorial_does_what_the_page_says()
    {
        string bash = Requirement.Program("bash", "Install bash."),
            node = Requirement.Program("node", "Install Node.js 20 or later.");
        Requirement.Program("curl", "Install curl.");
        await NodeClientTests.InstallClientAsync();
        string text = await File.ReadAllTextAsync(
            Path.Combine(DataSets.RepositoryRoot, Page), TestContext.Current.CancellationToken);
        string[] shell =
            [.. Example().Matches(text).Where(match => match.Groups[1].Value == "").Select(match => match.Groups[2].Value)];
        string script = Assert.Single(Example().Matches(text), match => match.Groups[1].Value == "js").Groups[2].Value;
        string[] calls = [.. shell.Where(block => block.StartsWith("curl", StringComparison.Ordinal))];
        string[] commands = [
            .. shell.SelectMany(block => block.Split('\n'))
                .Where(line => line.StartsWith(RunCommandLine, StringComparison.Ordinal))];
        Assert.Contains(shell, block => block.Trim() == RunServer + "--demo");
        Assert.Equal((4, 2), (calls.Length, commands.Length));

        string data = Path.Combine(_files.Path, "data");
        await using (ServerProcess server = await ServerProcess.StartAsync(data, "--demo"))
        {
            await server.WrittenAsync("Sources and licences");
            JsonElement orders = await CallAsync(bash, calls[0], server);
            Assert.Equal(3, orders.GetProperty("Results").GetArrayLength());
            Assert.StartsWith("Auto/Orders/", orders.GetProperty("IndexName").GetString(), StringComparison.Ordinal);
            Assert.Equal(3, (await CallAsync(bash, calls[1], server)).GetProperty("Results").GetArrayLength());
            Assert.Equal("films/1", (await CallAsync(bash, calls[2], server)).GetProperty("Id").GetString());
            await server.KillAsync();
        }

        await using (ServerProcess server = await ServerProcess.StartAsync(data))
        {
            JsonElement film = Assert.Single((await CallAsync(bash, calls[3], server)).GetProperty("Results").EnumerateArray());
            Assert.Equal("Home movie", film.GetProperty("Title").GetString());
            (int exitCode, string output) = await NodeClientTests.RunAsync(
                node,
                ["--input-type=module", "-e", script.Replace(WrittenAddress, server.Url, StringComparison.Ordinal)
                    + "store.dispose();"]);
            Assert.True(exitCode == 0 && output.Contains("Home movie", StringComparison.Ordinal), output);
            foreach (string command in commands)
            {
                string[] arguments = command[RunCommandLine.Length..]
                    .Replace("./", _files.Path + "/", StringComparison.Ordinal)
                    .Split(' ', StringSplitOptions.RemoveEmptyEntries);
                await CommandLineProcess.SucceedAsync([.. arguments, "--url", server.Url]);
            }

            JsonElement copy = JsonElement.Parse(
                await server.Http.GetStringAsync("/databases/copy/docs?id=films/1", TestContext.Current.CancellationToken));
            Assert.Equal("Home movie", copy.GetProperty("Results")[0].GetProperty("Title").GetString());
            Assert.Equal(0, await server.StopAsync());
        }
    }

    private static async Task<JsonElement> CallAsync(string bash, string block, ServerProcess server)
    {
        var start = new ProcessStartInfo(bash, ["-c", block.Replace(WrittenAddress, server.Url, StringComparison.Ordinal)])
        {
            RedirectStandardOutput = true,
        };
        using Process process = Process.Start(start) ?? throw new InvalidOperationException("bash could not be started.");
        string output = await process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await process.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(process.ExitCode == 0, $"{block}\nended with {process.ExitCode}: {output}");
        return JsonElement.Parse(output);
    }

    [GeneratedRegex("^```(\\w*)\n(.*?)^```$", RegexOptions.Singleline | RegexOptions.Multiline)]
    private static partial Regex Example();
}
