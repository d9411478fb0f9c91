using System.Diagnostics;
using System.Text.Json;
using Treepie.Tests.Support;
using Xunit.Sdk;
using Xunit.v3;

// Suites side by side would measure each other.
[assembly: Parallelization(Mode = ParallelMode.None)]

namespace Treepie.Bench.Tests;

/// <summary>
/// Every benchmark suite still runs, in its quick form, and writes rows that make sense. No figure is judged: what a suite itself
/// compares (results of peers, what was acknowledged) is what can fail here.
/// </summary>
public class QuickSuiteTests
{
    private static readonly TimeSpan _patience = TimeSpan.FromMinutes(10);

    public static TheoryData<string> Suites =>
        [.. RunAsync("--list").GetAwaiter().GetResult().Split('\n', StringSplitOptions.RemoveEmptyEntries)];

    [Theory]
    [MemberData(nameof(Suites))]
    public async Task A_suite_runs_in_its_quick_form_and_leaves_the_documentation_alone(string suite)
    {
        string page = Path.Combine(DataSets.RepositoryRoot, "docs", "benchmarks", suite + ".md");
        byte[] before = await File.ReadAllBytesAsync(page, TestContext.Current.CancellationToken);
        using var folder = new TemporaryDirectory();
        string json = Path.Combine(folder.Path, "rows.json");

        string printed = await RunAsync(suite, "--quick", "--json", json);

        Assert.Contains($"# {suite}\n", printed, StringComparison.Ordinal);
        using JsonDocument rows = JsonDocument.Parse(await File.ReadAllBytesAsync(json, TestContext.Current.CancellationToken));
        Assert.NotEmpty(rows.RootElement.EnumerateArray());
        foreach (JsonElement row in rows.RootElement.EnumerateArray())
        {
            Assert.Equal(suite, row.GetProperty("suite").GetString());
            Assert.True(double.IsFinite(row.GetProperty("ours").GetDouble()), row.ToString());
            string unit = row.GetProperty("unit").GetString() ?? "";
            Requirement.Needs(
                unit != "absent", row.GetProperty("row").GetString() ?? "",
                "Install liblmdb0, librocksdb7.8 and libsqlite3-0, or what your system calls them.");
        }

        Assert.Equal(before, await File.ReadAllBytesAsync(page, TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task An_unknown_suite_is_refused_with_the_names_of_those_there_are()
    {
        (int code, _, string error) = await StartAsync("nonesuch");

        Assert.Equal(2, code);
        Assert.Contains("ingest", error, StringComparison.Ordinal);
    }

    private static async Task<string> RunAsync(params string[] arguments)
    {
        (int code, string output, string error) = await StartAsync(arguments);
        Assert.True(code == 0, $"The benchmarks ended with code {code}:\n{error}\n{output}");
        return output;
    }

    private static async Task<(int Code, string Output, string Error)> StartAsync(params string[] arguments)
    {
        ProcessStartInfo start = BuiltProgram.StartInfo(BuiltProgram.Bench, arguments);
        using Process process = Process.Start(start)
            ?? throw new InvalidOperationException("The benchmarks could not be started.");
        using var timeout = new CancellationTokenSource(_patience);
        Task<string> output = process.StandardOutput.ReadToEndAsync(timeout.Token),
            error = process.StandardError.ReadToEndAsync(timeout.Token);
        try
        {
            await process.WaitForExitAsync(timeout.Token);
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            throw new TimeoutException($"'{string.Join(' ', arguments)}' did not end within {_patience}.");
        }

        return (process.ExitCode, await output, await error);
    }
}
