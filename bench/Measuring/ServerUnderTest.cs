using System.Diagnostics;
using System.Globalization;

namespace Treepie.Bench.Measuring;

/// <summary>A server in a process of its own, on a free port of loopback and a directory of its own.</summary>
internal sealed class ServerUnderTest : IAsyncDisposable
{
    private const string Announcement = "Server available on: ";
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

    /// <summary>Starts Treepie's server on a directory, with further options of its command line.</summary>
    public static Task<ServerUnderTest> StartAsync(string data, params string[] options) => LaunchAsync(
        Path.Combine(Corpus.RepositoryRoot, "src", "Server", "bin", Configuration, "net10.0", "Treepie.Server.dll"),
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
