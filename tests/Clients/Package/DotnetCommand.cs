using System.Diagnostics;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Package;

/// <summary>
/// Runs the SDK's command line as a person would: with nothing inherited from the test runner, leaving no process behind, and,
/// where a cache is given, with packages from there alone.
/// </summary>
internal static class DotnetCommand
{
    /// <summary>For builds of the solution, whose build before the tests has run the analyzers, which take most of its time.</summary>
    public const string WithoutAnalyzers = "-p:RunAnalyzers=false";

    /// <summary>
    /// The longest builds and packs all there is: two minutes where nothing else runs, and ten times that on a machine that
    /// others load too. Less than <see cref="EndsByItselfAttribute"/> gives a whole test.
    /// </summary>
    private static readonly TimeSpan _patience = TimeSpan.FromMinutes(20);

    /// <summary>Runs it to its end and gives what it wrote; fails the test if it fails.</summary>
    public static async Task<string> SucceedAsync(string directory, string? packageCache, params string[] arguments)
    {
        var start = new ProcessStartInfo(BuiltProgram.DotnetHost, arguments)
        {
            WorkingDirectory = directory,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };

        // The runner's own SDK must not find its way into the one that runs here, nor the repository's settings into a stranger's
        // project.
        foreach (string name in start.Environment.Keys.Where(
            name => name.StartsWith("MSBUILD", StringComparison.OrdinalIgnoreCase)).ToList())
            start.Environment.Remove(name);

        start.Environment.Remove("CI");
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
        start.Environment["DOTNET_CLI_USE_MSBUILD_SERVER"] = "0";
        start.Environment["UseSharedCompilation"] = "false";
        start.Environment["DOTNET_NOLOGO"] = "1";
        start.Environment["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1";
        start.Environment["DOTNET_CLI_UI_LANGUAGE"] = "en";
        if (packageCache is not null)
            start.Environment["NUGET_PACKAGES"] = packageCache;

        using Process process = Process.Start(start) ?? throw new InvalidOperationException("dotnet could not be started.");
        Task<string> output = process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        Task<string> error = process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        try
        {
            await process.WaitForExitAsync(TestContext.Current.CancellationToken).WaitAsync(_patience);
            string written = await output + await error;
            Assert.True(
                process.ExitCode == 0,
                $"dotnet {string.Join(' ', arguments)}\nended with {process.ExitCode} and wrote\n{written}");
            return written;
        }
        finally
        {
            if (!process.HasExited)
                process.Kill(entireProcessTree: true);
        }
    }
}
