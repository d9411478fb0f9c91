using System.Diagnostics;

namespace Treepie.Tests.Support;

/// <summary>The programs of this repository as the build left them, in the same configuration as the running test.</summary>
public static class BuiltProgram
{
    /// <summary>The server: <c>src/Server/bin/…/Treepie.Server.dll</c>.</summary>
    public static string Server => Find("src/Server", "Treepie.Server.dll");

    /// <summary>The command line: <c>src/CommandLine/bin/…/Treepie.CommandLine.dll</c>.</summary>
    public static string CommandLine => Find("src/CommandLine", "Treepie.CommandLine.dll");

    /// <summary>The benchmarks: <c>bench/bin/…/Treepie.Bench.dll</c>.</summary>
    public static string Bench => Find("bench", "Treepie.Bench.dll");

    /// <summary>The <c>dotnet</c> host to use: the one that runs the test if known, otherwise the one on the path.</summary>
    public static string DotnetHost =>
        Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") is { Length: > 0 } host ? host : "dotnet";

    /// <summary>Start information for one of the programs, with all three streams redirected.</summary>
    public static ProcessStartInfo StartInfo(string assembly, params ReadOnlySpan<string> arguments)
    {
        var start = new ProcessStartInfo(DotnetHost)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        start.ArgumentList.Add("exec");
        start.ArgumentList.Add(assembly);
        foreach (string argument in arguments)
            start.ArgumentList.Add(argument);

        // Settings of a developer's shell or the test runner must not affect the test.
        foreach (string variable in (string[])["ASPNETCORE_URLS", "ASPNETCORE_ENVIRONMENT", "DOTNET_ENVIRONMENT", "URLS"])
            start.Environment.Remove(variable);

        start.Environment["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1";
        return start;
    }

    private static string Find(string project, string assembly)
    {
        // …/tests/<project>/bin/<configuration>/net10.0/: the last two folders are the same everywhere.
        var framework = new DirectoryInfo(AppContext.BaseDirectory.TrimEnd(Path.DirectorySeparatorChar));
        string configuration = framework.Parent?.Name ?? "Debug";
        string path = Path.Combine(DataSets.RepositoryRoot, project, "bin", configuration, framework.Name, assembly);
        Assert.True(
            File.Exists(path),
            $"There is no {path}: build the solution in {configuration} first (dotnet build Engine.sln -c {configuration}).");
        return path;
    }
}
