using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary><c>treepie top</c> beside a server at work.</summary>
[Collection(RunningServer.Collection)]
public sealed class TopCommandTests(RunningServer server)
{
    [Fact]
    public async Task It_shows_the_writes_of_the_database_that_is_busy()
    {
        string database = await server.NewDatabaseAsync();
        using var done = new CancellationTokenSource();
        Task writing = WriteAsync();

        // Within these seconds a write ends, though another program may keep the disk busy.
        CommandLineProcess pictures = await CommandLineProcess.SucceedAsync(
            "top", "--url", server.Url, "--count", "2", "--seconds", "3");
        CommandLineProcess lines = await CommandLineProcess.SucceedAsync(
            "top", "--url", server.Url, "--count", "1", "--seconds", "5", "--json");
        await done.CancelAsync();
        await writing;

        Assert.Equal(2, pictures.Output.Split($"at {server.Url}").Length - 1);
        Assert.Contains("resident", pictures.Output, StringComparison.Ordinal);
        Assert.Contains(
            pictures.Output.Split('\n'),
            line => line.Contains(database, StringComparison.Ordinal) && line.Any(char.IsAsciiDigit));
        using JsonDocument answer = JsonDocument.Parse(lines.Output);
        JsonElement busy = Assert.Single(
            answer.RootElement.GetProperty("Databases").EnumerateArray(), one => one.GetProperty("Name").GetString() == database);
        JsonElement writes = busy.GetProperty("Writes");
        Assert.InRange(writes.GetProperty("Count").GetInt64(), 1, long.MaxValue);
        Assert.InRange(
            writes.GetProperty("MedianMilliseconds").GetDouble(), 0.001, writes.GetProperty("P99Milliseconds").GetDouble());
        // Not compared with the writes: a write that ends within the interval may have begun before it.
        Assert.InRange(answer.RootElement.GetProperty("Requests").GetProperty("Begun").GetInt64(), 1, long.MaxValue);

        async Task WriteAsync()
        {
            while (!done.IsCancellationRequested)
                await server.PutAsync(database, "users/1", "Users", "Ada");
        }
    }

    [Fact]
    public async Task What_cannot_be_shown_is_refused()
    {
        Assert.Equal(2, (await CommandLineProcess.RunAsync("top", "--seconds", "11")).ExitCode);
        Assert.Equal(2, (await CommandLineProcess.RunAsync("top", "--count", "-1")).ExitCode);
        CommandLineProcess nobody = await CommandLineProcess.RunAsync("top", "--url", "http://127.0.0.1:1");
        Assert.Equal(1, nobody.ExitCode);
        Assert.Contains("No server answers", nobody.Error, StringComparison.Ordinal);
    }
}
