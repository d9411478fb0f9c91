using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;

namespace Treepie.Bench.Measuring;

/// <summary>A server in a process of its own, on a free port of loopback and a directory of its own.</summary>
internal sealed class ServerUnderTest : IAsyncDisposable
{
    private const string Server = "Treepie.Server.dll";
    private const string Announcement = "Server available on: ";
    private static readonly Lazy<Task<string>> _published = new(PublishAsync);
    private readonly Process _process;

    private ServerUnderTest(Process process, Uri url, TimeSpan startTime)
    {
        _process = process;
        StartTime = startTime;
        Client = new HttpClient(new SocketsHttpHandler { MaxConnectionsPerServer = 256 }) { BaseAddress = url };
    }

    /// <summary>A client with kept-alive connections to it.</summary>
    public HttpClient Client { get; }

    /// <summary>From the start of the process to its announcement.</summary>
    public TimeSpan StartTime { get; }

    /// <summary>Its resident memory now, in MiB.</summary>
    public double ResidentMiB => ReadStatus("VmRSS:");

    /// <summary>Its greatest resident memory so far, in MiB.</summary>
    public double PeakResidentMiB => ReadStatus("VmHWM:");

    /// <summary>
    /// Starts Treepie's server on a directory, with further options of its command line. A release build measures the server
    /// that users run, which is compiled beforehand for this system.
    /// </summary>
    public static async Task<ServerUnderTest> StartAsync(string data, params string[] options) => await LaunchAsync(
        Configuration == "Release"
            ? await _published.Value
            : Path.Combine(Corpus.RepositoryRoot, "src", "Server", "bin", Configuration, "net10.0", Server),
        ["--data", data, "--urls", "http://127.0.0.1:0", .. options]);

    /// <summary>
    /// Starts a Kestrel that answers every request with the same bytes from memory: what the transport alone can do.
    /// </summary>
    public static Task<ServerUnderTest> StartLimitAsync(int answerBytes) => LaunchAsync(
        typeof(ServerUnderTest).Assembly.Location, LimitServer.Verb, answerBytes.ToString(CultureInfo.InvariantCulture));

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _process.StandardInput.WriteLineAsync("q");
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        await _process.WaitForExitAsync(patience.Token);
        _process.Dispose();
    }

    private static string Configuration => new DirectoryInfo(AppContext.BaseDirectory).Parent?.Name ?? "Release";

    /// <summary>Publishes the server for this system; returns the path of its assembly.</summary>
    private static async Task<string> PublishAsync()
    {
        string output = Path.Combine(Corpus.RepositoryRoot, "bench", "obj", "server");
        var start = new ProcessStartInfo(
            "dotnet",
            ["publish", Path.Combine(Corpus.RepositoryRoot, "src", "Server"), "-c", "Release", "-r",
             RuntimeInformation.RuntimeIdentifier, "--self-contained", "false", "-o", output, "-v", "quiet", "--nologo"])
        {
            RedirectStandardOutput = true,
        };
        using Process process = Process.Start(start) ?? throw new InvalidOperationException("Could not start 'dotnet publish'.");
        string said = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        return process.ExitCode == 0
            ? Path.Combine(output, Server)
            : throw new InvalidOperationException($"The server could not be published: {said}");
    }

    private static async Task<ServerUnderTest> LaunchAsync(string assembly, params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet", [assembly, .. arguments])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true
        };
        long began = Stopwatch.GetTimestamp();
        Process process = Process.Start(start) ?? throw new InvalidOperationException($"Could not start {assembly}.");
        while (await process.StandardOutput.ReadLineAsync() is { } line)
        {
            if (!line.StartsWith(Announcement, StringComparison.Ordinal))
                continue;
            TimeSpan startTime = Stopwatch.GetElapsedTime(began);
            _ = process.StandardOutput.BaseStream.CopyToAsync(Stream.Null); // so that it never waits for its reader
            return new ServerUnderTest(process, new Uri(line[Announcement.Length..].Trim()), startTime);
        }

        throw new InvalidOperationException($"{assembly} ended with code {process.ExitCode} before it was available.");
    }

    private double ReadStatus(string key)
    {
        string line = File.ReadLines($"/proc/{_process.Id}/status").First(text => text.StartsWith(key, StringComparison.Ordinal));
        return double.Parse(line.Split([' ', '\t'], StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture)
            / 1024;
    }
}
