using System.Diagnostics;
using System.Text;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Node;

/// <summary>
/// The npm package <c>ravendb</c>, as published, against the real server over loopback. The tests themselves are the
/// <c>*.test.mjs</c> files beside this one; each runs in a node process of its own against one server, and what fails there is
/// named here.
/// </summary>
public sealed class NodeClientTests
{
    /// <summary>No file takes a tenth of it; what takes longer hangs.</summary>
    private static readonly TimeSpan _patience = TimeSpan.FromMinutes(5);

    private static readonly Lazy<Task> _installed = new(InstallOnceAsync);

    private static readonly string _folder = Path.Combine(DataSets.RepositoryRoot, "tests", "Clients", "Node");

    public static TheoryData<string> Files()
    {
        var files = new TheoryData<string>();
        foreach (string path in Directory.GetFiles(_folder, "*.test.mjs").Order(StringComparer.Ordinal))
            files.Add(Path.GetFileName(path));

        return files;
    }

    [Theory]
    [MemberData(nameof(Files))]
    public async Task The_npm_client_passes(string file)
    {
        string node = Requirement.Program("node", "Install Node.js 20 or later.");
        await InstallClientAsync();
        await using ServerProcess server = await ServerProcess.StartAsync(
            null, "--backup-folder", $"backups={Path.GetTempPath()}");
        await PassAsync(node, file, server);
    }

    [Fact]
    public async Task The_npm_client_is_let_in_by_its_certificate()
    {
        string node = Requirement.Program("node", "Install Node.js 20 or later.");
        await InstallClientAsync();
        using var directory = new TemporaryDirectory();
        string data = Path.Combine(directory.Path, "data"), certificates = Path.Combine(data, "security");
        await CommandLineProcess.SucceedAsync("secure", data, "--name", "localhost");
        NodeCertificates.Write(certificates);
        await using ServerProcess server = await ServerProcess.StartAsync(
            data, "--urls", "https://127.0.0.1:0", "--certificate", Path.Combine(certificates, "server.pem"),
            "--admin-certificate", Path.Combine(certificates, "admin.crt"));
        await PassAsync(node, Path.Combine("Secured", "certificates.test.mjs"), server, ("TREEPIE_CERTIFICATES", certificates));
    }

    private static async Task PassAsync(
        string node, string file, ServerProcess server, params (string Name, string Value)[] variables)
    {
        (int exitCode, string output) = await RunAsync(
            node, ["--test", "--test-reporter=tap", file], [("TREEPIE_URL", server.Url), .. variables]);
        string[] failed = [.. FailedIn(output)];
        Assert.True(exitCode == 0 && failed.Length == 0, $"""
            {file}: {failed.Length} failed: {string.Join(" | ", failed)}
            {output}
            The server wrote:
            {server.Output}
            """);
        Assert.True(output.Contains("\nok ", StringComparison.Ordinal), $"{file} ran no test:\n{output}");
        Assert.Equal(0, await server.StopAsync());
    }

    [Fact]
    public void The_lock_file_records_no_address_of_a_registry()
    {
        string text = File.ReadAllText(Path.Combine(_folder, "package-lock.json"));
        Assert.DoesNotContain("\"resolved\"", text, StringComparison.Ordinal);
        Assert.Contains("\"integrity\"", text, StringComparison.Ordinal);
    }

    /// <summary>Installs the packages of the lock file if they are missing. Tests of several classes may call it at once.</summary>
    internal static Task InstallClientAsync() => _installed.Value;

    private static async Task InstallOnceAsync()
    {
        if (File.Exists(Path.Combine(_folder, "node_modules", "ravendb", "package.json"))
            && File.Exists(Path.Combine(_folder, "node_modules", "s3rver", "package.json")))
            return;

        string npm = Requirement.Program("npm", "Install npm.");
        (int exitCode, string output) = await RunAsync(npm, ["ci", "--no-audit", "--no-fund"]);
        Assert.True(exitCode == 0, $"npm ci failed:\n{output}");
    }

    // TAP: "not ok 3 - the name", indented where tests are nested.
    private static IEnumerable<string> FailedIn(string output) =>
        from line in output.Split('\n')
        let text = line.TrimStart()
        where text.StartsWith("not ok ", StringComparison.Ordinal)
        select text[(text.IndexOf('-', StringComparison.Ordinal) + 1)..].Trim();

    internal static async Task<(int ExitCode, string Output)> RunAsync(
        string program, string[] arguments, params (string Name, string Value)[] variables)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            WorkingDirectory = _folder,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach ((string name, string value) in variables)
            start.Environment[name] = value;

        using Process process = Process.Start(start)!; // a new process, so never null
        var output = new StringBuilder();
        process.OutputDataReceived += (_, line) => Append(output, line.Data);
        process.ErrorDataReceived += (_, line) => Append(output, line.Data);
        process.StandardInput.Close();
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        try
        {
            await process.WaitForExitAsync(TestContext.Current.CancellationToken)
                .WaitAsync(_patience, TestContext.Current.CancellationToken);
        }
        catch (Exception exception) when (exception is TimeoutException or OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            Assert.Fail($"{program} {string.Join(' ', arguments)} does not end. It wrote:\n{output}");
        }

        lock (output)
            return (process.ExitCode, output.ToString());
    }

    private static void Append(StringBuilder output, string? line)
    {
        lock (output)
            output.AppendLine(line);
    }
}
