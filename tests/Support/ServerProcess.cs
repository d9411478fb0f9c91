using System.Diagnostics;
using System.Text;

namespace Treepie.Tests.Support;

/// <summary>
/// The real server in its own process, on a free loopback port. Disposing kills it if it is still running. <see
/// cref="StopAsync"/> shuts it down as a person would; <see cref="KillAsync"/> gives it no chance to clean up.
/// </summary>
public sealed class ServerProcess : IAsyncDisposable
{
    private const string AddressLine = "Server available on:";

    /// <summary>A server that has not started or stopped by then never will.</summary>
    private static readonly TimeSpan _patience = Eventually.Patience;

    private readonly Process _process;
    private readonly TemporaryDirectory? _ownData;
    private readonly StringBuilder _output = new();
    private readonly TaskCompletionSource<string> _address = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly List<(string Text, TaskCompletionSource Seen)> _awaited = [];
    private HttpClient? _http;
    private string? _url;

    private ServerProcess(Process process, string dataDirectory, TemporaryDirectory? ownData)
    {
        _process = process;
        _ownData = ownData;
        DataDirectory = dataDirectory;
    }

    /// <summary>Its address, for instance <c>http://127.0.0.1:40123</c>, without a trailing slash.</summary>
    public string Url => _url ?? throw new InvalidOperationException("The server has not said its address yet.");

    /// <summary>Its <c>--data</c>.</summary>
    public string DataDirectory { get; }

    /// <summary>Its process id.</summary>
    public int ProcessId => _process.Id;

    /// <summary>A client with the server as base address, disposed with this object.</summary>
    public HttpClient Http => _http ??= new HttpClient { BaseAddress = new Uri(Url), Timeout = TimeSpan.FromMinutes(5) };

    /// <summary>Everything written so far to both streams.</summary>
    public string Output
    {
        get
        {
            lock (_output)
                return _output.ToString();
        }
    }

    /// <summary>
    /// Starts the server and waits until it is available. Without <paramref name="dataDirectory"/> it gets an empty
    /// directory that is deleted with it.
    /// </summary>
    public static Task<ServerProcess> StartAsync(string? dataDirectory = null, params string[] moreArguments) =>
        StartAsync([], dataDirectory, moreArguments);

    /// <summary>
    /// Starts the server with an empty directory as a child of another program, which gets the server's command line after
    /// its own.
    /// </summary>
    public static Task<ServerProcess> StartUnderAsync(string[] program, params string[] moreArguments) =>
        StartAsync(program, null, moreArguments);

    private static async Task<ServerProcess> StartAsync(string[] program, string? dataDirectory, string[] moreArguments)
    {
        TemporaryDirectory? own = dataDirectory is null ? new TemporaryDirectory() : null;
        string data = dataDirectory ?? own?.Path ?? "";
        ProcessStartInfo start = BuiltProgram.StartInfo(
            BuiltProgram.Server, ["--data", data, "--urls", "http://127.0.0.1:0", .. moreArguments]);
        if (program is [{ } file, .. { } arguments])
        {
            string[] behind = [.. arguments, start.FileName, .. start.ArgumentList];
            start.FileName = file;
            start.ArgumentList.Clear();
            foreach (string argument in behind)
                start.ArgumentList.Add(argument);
        }

        var server = new ServerProcess(new Process { StartInfo = start, EnableRaisingEvents = true }, data, own);
        try
        {
            await server.BeginAsync();
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    /// <summary>Waits until the output contains this text.</summary>
    public async Task WrittenAsync(string text)
    {
        var seen = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_output)
        {
            if (_output.ToString().Contains(text, StringComparison.Ordinal))
                return;

            _awaited.Add((text, seen));
        }

        try
        {
            await seen.Task.WaitAsync(_patience, TestContext.Current.CancellationToken);
        }
        catch (TimeoutException)
        {
            Assert.Fail($"The server did not write '{text}', but:\n{Output}");
        }
    }

    /// <summary>Kills the server at once (SIGKILL).</summary>
    public async Task KillAsync()
    {
        if (!_process.HasExited)
            _process.Kill();

        await _process.WaitForExitAsync(TestContext.Current.CancellationToken);
    }

    /// <summary>Requests a shutdown on standard input, waits for it, and returns the exit code.</summary>
    public async Task<int> StopAsync()
    {
        if (!_process.HasExited)
        {
            await _process.StandardInput.WriteLineAsync("shutdown no-confirmation");
            await _process.StandardInput.FlushAsync();
        }

        try
        {
            await _process.WaitForExitAsync(TestContext.Current.CancellationToken).WaitAsync(_patience);
        }
        catch (TimeoutException)
        {
            Assert.Fail($"The server does not stop when asked to. It wrote:\n{Output}");
        }

        return _process.ExitCode;
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        _http?.Dispose();
        try
        {
            if (!_process.HasExited)
            {
                _process.Kill();
                await _process.WaitForExitAsync(CancellationToken.None);
            }
        }
        catch (InvalidOperationException)
        {
            // The process was never started.
        }

        _process.Dispose();
        _ownData?.Dispose();
    }

    private async Task BeginAsync()
    {
        _process.OutputDataReceived += (_, line) => Receive(line.Data);
        _process.ErrorDataReceived += (_, line) => Receive(line.Data);
        _process.Exited += (_, _) => _address.TrySetException(
            new InvalidOperationException("The server ended before it was available."));
        _process.Start();
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
        try
        {
            _url = await _address.Task.WaitAsync(_patience, TestContext.Current.CancellationToken);
        }
        catch (Exception exception) when (exception is TimeoutException or InvalidOperationException)
        {
            Assert.Fail($"The server did not become available: {exception.Message} It wrote:\n{Output}");
        }
    }

    private void Receive(string? line)
    {
        if (line is null)
            return;

        lock (_output)
        {
            _output.AppendLine(line);
            foreach ((string text, TaskCompletionSource seen) in _awaited)
                if (line.Contains(text, StringComparison.Ordinal))
                    seen.TrySetResult();
        }

        int at = line.IndexOf(AddressLine, StringComparison.Ordinal);
        if (at >= 0)
            _address.TrySetResult(line[(at + AddressLine.Length)..].Trim().TrimEnd('/'));
    }
}
