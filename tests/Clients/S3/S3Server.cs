using System.Diagnostics;
using System.Globalization;
using System.Text;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.S3;

/// <summary>
/// The npm package <c>s3rver</c>, a small server of the S3 protocol, in a process of its own with a bucket <c>backups</c>. It can
/// be killed and started again over the same files.
/// </summary>
internal sealed class S3Server : IAsyncDisposable
{
    public const string AccessKey = "S3RVER", SecretKey = "S3RVER";

    private static readonly TimeSpan _patience = Eventually.Patience;

    private readonly TemporaryDirectory _files = new();
    private Process? _process;

    /// <summary>A free one, from its first start on.</summary>
    public int Port { get; private set; }

    public static async Task<S3Server> StartAsync()
    {
        var server = new S3Server();
        try
        {
            await server.RestartAsync();
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    /// <summary>Starts it, over the files it had.</summary>
    public async Task RestartAsync()
    {
        string folder = Path.Combine(DataSets.RepositoryRoot, "tests", "Clients", "Node");
        string program = Path.Combine(folder, "node_modules", "s3rver", "bin", "s3rver.js");
        var start = new ProcessStartInfo(
            Requirement.Program("node", "Install Node.js 20 or later."),
            [program, "-d", _files.Path, "-a", "127.0.0.1", "-p", $"{Port}", "--configure-bucket", "backups", "--no-vhost-buckets"])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        _process = Process.Start(start)!; // a new process, so never null
        var output = new StringBuilder();
        var listens = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        void Take(string? line)
        {
            lock (output)
                output.AppendLine(line);
            if (line?.Contains("listening", StringComparison.OrdinalIgnoreCase) == true)
                listens.TrySetResult(int.Parse(line.AsSpan(line.LastIndexOf(':') + 1), CultureInfo.InvariantCulture));
        }

        _process.OutputDataReceived += (_, line) => Take(line.Data);
        _process.ErrorDataReceived += (_, line) => Take(line.Data);
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
        Task first = await Task.WhenAny(listens.Task, _process.WaitForExitAsync(), Task.Delay(_patience));
        Assert.True(first == listens.Task, $"s3rver did not come up. It wrote:\n{output}");
        Port = await listens.Task;
    }

    /// <summary>Kills it at once.</summary>
    public async Task KillAsync()
    {
        if (_process is null)
            return;
        _process.Kill(entireProcessTree: true);
        await _process.WaitForExitAsync(CancellationToken.None);
        _process.Dispose();
        _process = null;
    }

    public async ValueTask DisposeAsync()
    {
        await KillAsync();
        _files.Dispose();
    }
}
