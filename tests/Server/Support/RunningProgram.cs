using Treepie.Server.Hosting;

namespace Treepie.Server.Tests.Support;

/// <summary>The server's program, run inside the test with a command line, on a free port.</summary>
internal static class RunningProgram
{
    /// <summary>Starts it and waits until it is available; it ends when the input says so.</summary>
    public static async Task<(Task<int> Run, string Url, StringWriter Error)> StartAsync(
        LineInput input, params string[] arguments)
    {
        var output = new AddressWriter();
        var error = new StringWriter();
        Task<int> run = new ServerProgram(input, output, error).RunAsync(
            [.. arguments, "--urls", "http://127.0.0.1:0"], TestContext.Current.CancellationToken);
        Task first = await Task.WhenAny(run, output.Address);
        Assert.True(first == output.Address, $"The server ended: {error}");
        return (run, await output.Address, error);
    }
}
