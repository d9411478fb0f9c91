using System.Diagnostics;
using System.Net.Http.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary><c>treepie serve</c> as a process: stores, answers, ends cleanly, refuses what the server refuses.</summary>
public sealed class ServeCommandTests
{
    private const string Available = "Server available on: ";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task It_says_where_it_listens_stores_answers_and_ends_cleanly_at_an_interrupt()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "Signals are sent with kill.");
        using var files = new TemporaryDirectory();
        using Process process = CommandLineProcess.Start(
            "serve", "--directory", files.Path, "--url=http://127.0.0.1:0", "--slow-request-seconds", "60");
        try
        {
            string first = await process.StandardOutput.ReadLineAsync(Token) ?? "";
            Assert.StartsWith(Available, first, StringComparison.Ordinal);
            string url = first[Available.Length..];
            Assert.StartsWith("Next", await process.StandardOutput.ReadLineAsync(Token), StringComparison.Ordinal);
            Assert.Contains(url, await process.StandardOutput.ReadLineAsync(Token), StringComparison.Ordinal);

            using var http = new HttpClient { BaseAddress = new Uri(url) };
            await SucceedAsync(http.PutAsJsonAsync("/admin/databases?name=shop", new { DatabaseName = "shop" }, Token));
            await SucceedAsync(http.PutAsync(
                "/databases/shop/docs?id=orders/1",
                JsonContent.Create(new Dictionary<string, object>
                {
                    ["Name"] = "tea",
                    ["@metadata"] = new Dictionary<string, string> { ["@collection"] = "Orders" },
                }), Token));
            CommandLineProcess asked = await CommandLineProcess.SucceedAsync(
                "query", "from Orders where Name = 'tea'", "-d", "shop", "-f", "ndjson", "-w", "--url", url);
            Assert.Contains("orders/1", asked.Output, StringComparison.Ordinal);

            using Process kill = Process.Start("kill", ["-INT", $"{process.Id}"]);
            await process.WaitForExitAsync(Token).WaitAsync(TimeSpan.FromMinutes(1), Token);
            Assert.Equal(0, process.ExitCode);
        }
        finally
        {
            if (!process.HasExited)
                process.Kill();
        }
    }

    [Theory]
    [InlineData("--url", "http://0.0.0.0:0")]
    [InlineData("--nonsense", "1")]
    public async Task What_the_server_refuses_is_refused_and_leaves_nothing(string option, string value)
    {
        using var files = new TemporaryDirectory();
        string data = Path.Combine(files.Path, "data");
        CommandLineProcess run = await CommandLineProcess.RunAsync("serve", "--directory", data, option, value);
        Assert.Equal(2, run.ExitCode);
        Assert.NotEqual("", run.Error);
        Assert.False(Directory.Exists(data));
    }

    private static async Task SucceedAsync(Task<HttpResponseMessage> request)
    {
        using HttpResponseMessage response = await request;
        response.EnsureSuccessStatusCode();
    }
}
