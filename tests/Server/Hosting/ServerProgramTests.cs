using System.Net;
using Treepie.Server.Hosting;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Hosting;

public sealed class ServerProgramTests
{
    [Theory]
    [InlineData("q")]
    [InlineData("shutdown no-confirmation")]
    public async Task A_line_on_standard_input_stops_the_server_cleanly(string line)
    {
        using var directory = new TemporaryDirectory();
        using var input = new LineInput();
        (Task<int> run, string url, StringWriter _) = await RunningProgram.StartAsync(input, "--data", directory.Path);
        using var http = new HttpClient();
        Assert.Contains(
            "7.1", await http.GetStringAsync(new Uri(url + "/build/version"), TestContext.Current.CancellationToken),
            StringComparison.Ordinal);
        input.Send("something else");
        input.Send(line);
        Assert.Equal(ExitCodes.Success, await run);
        await Assert.ThrowsAsync<HttpRequestException>(
            () => http.GetStringAsync(new Uri(url + "/build/version"), TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task A_closed_standard_input_does_not_stop_it()
    {
        using var directory = new TemporaryDirectory();
        using var stop = new CancellationTokenSource();
        var output = new AddressWriter();
        Task<int> run = new ServerProgram(TextReader.Null, output, TextWriter.Null).RunAsync(
            ["--data", directory.Path, "--urls", "http://127.0.0.1:0"], stop.Token);
        string url = await output.Address.WaitAsync(TestContext.Current.CancellationToken);
        using var http = new HttpClient();
        await http.GetStringAsync(new Uri(url + "/databases"), TestContext.Current.CancellationToken);
        Assert.False(run.IsCompleted);
        await stop.CancelAsync();
        Assert.Equal(ExitCodes.Success, await run);
    }

    [Fact]
    public async Task Unknown_paths_are_400_and_foreign_pages_403()
    {
        using var directory = new TemporaryDirectory();
        using var input = new LineInput();
        (Task<int> run, string url, StringWriter _) = await RunningProgram.StartAsync(input, "--data", directory.Path);
        using var http = new HttpClient();
        foreach ((string name, string value, HttpStatusCode expected) in ((string, string, HttpStatusCode)[])
                 [
                     ("Accept", "*/*", HttpStatusCode.BadRequest),
                     ("Host", "evil.example:80", HttpStatusCode.Forbidden),
                     ("Host", "127.0.0.1.evil.example", HttpStatusCode.Forbidden),
                     ("Origin", "http://evil.example", HttpStatusCode.Forbidden),
                     ("Origin", "null", HttpStatusCode.Forbidden),
                     ("Origin", url, HttpStatusCode.BadRequest),
                     ("Sec-Fetch-Site", "cross-site", HttpStatusCode.Forbidden),
                     ("Host", "localhost", HttpStatusCode.BadRequest),
                 ])
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, url + "/nothing/here");
            request.Headers.TryAddWithoutValidation(name, value);
            using HttpResponseMessage response = await http.SendAsync(request, TestContext.Current.CancellationToken);
            Assert.Equal(expected, response.StatusCode);
            Assert.Contains(
                "\"Type\":\"Raven.Client.Exceptions.",
                await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken), StringComparison.Ordinal);
        }

        input.Send("q");
        await run;
    }

    [Fact]
    public async Task A_public_address_is_refused_before_anything_is_created()
    {
        using var directory = new TemporaryDirectory();
        string data = Path.Combine(directory.Path, "data");
        var error = new StringWriter();
        int exitCode = await new ServerProgram(TextReader.Null, TextWriter.Null, error).RunAsync(
            ["--data", data, "--urls", "http://0.0.0.0:0"], TestContext.Current.CancellationToken);
        Assert.Equal(ExitCodes.BadCommandLine, exitCode);
        Assert.Contains("Refused", error.ToString(), StringComparison.Ordinal);
        Assert.False(Directory.Exists(data));
    }

    [Fact]
    public async Task A_data_directory_that_is_open_elsewhere_a_file_or_a_taken_port_is_told()
    {
        using var directory = new TemporaryDirectory();
        string file = Path.Combine(directory.Path, "file");
        await File.WriteAllTextAsync(file, "not a directory", TestContext.Current.CancellationToken);
        using var input = new LineInput();
        (Task<int> run, string url, StringWriter _) = await RunningProgram.StartAsync(
            input, "--data", Path.Combine(directory.Path, "data"));
        foreach ((string data, string address) in ((string, string)[])
                 [(Path.Combine(directory.Path, "data"), "http://127.0.0.1:0"), (file, "http://127.0.0.1:0"), (
                     Path.Combine(directory.Path, "other"), url)])
        {
            var error = new StringWriter();
            int exitCode = await new ServerProgram(TextReader.Null, TextWriter.Null, error).RunAsync(
                ["--data", data, "--urls", address], TestContext.Current.CancellationToken);
            Assert.Equal(ExitCodes.CannotStart, exitCode);
            Assert.StartsWith("Cannot start: ", error.ToString(), StringComparison.Ordinal);
        }

        input.Send("q");
        Assert.Equal(ExitCodes.Success, await run);
    }

    [Fact]
    public async Task In_memory_means_a_temporary_directory_that_is_gone_at_the_end()
    {
        using var input = new LineInput();
        string own = $"treepie-memory-{Environment.ProcessId}-*"; // other servers of the machine have theirs beside it
        (Task<int> run, string _, StringWriter _) = await RunningProgram.StartAsync(input, "--RunInMemory=true");
        Assert.Single(Directory.GetDirectories(Path.GetTempPath(), own));
        input.Send("q");
        Assert.Equal(ExitCodes.Success, await run);
        Assert.Empty(Directory.GetDirectories(Path.GetTempPath(), own));
    }
}
