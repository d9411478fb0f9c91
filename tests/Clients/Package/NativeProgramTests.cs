using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Package;

/// <summary>
/// A program of the whole API, published as native code and trimmed: the analyses of both give no warning, and it does what it
/// does where nothing is left out and code is compiled at run time.
/// </summary>
[Collection(Builds.Collection)]
public sealed class NativeProgramTests
{
    private const string ProgramName = "Treepie.NativeProgram";

    [Fact]
    public async Task A_program_of_the_whole_API_is_published_as_native_code_and_runs()
    {
        Requirement.Needs(
            OperatingSystem.IsLinux() && Compiler() is not null, "A linker for native code",
            "Install clang or gcc, and zlib1g-dev.");
        using var output = new TemporaryDirectory();
        await PublishAsync(output.Path, $"-p:CppCompilerAndLinker={Compiler()}");
        Assert.False(File.Exists(Path.Combine(output.Path, ProgramName + ".dll")), "it is no native program");
        await RunAsync(output.Path);
    }

    [Fact]
    public async Task A_program_of_the_whole_API_is_published_trimmed_and_runs()
    {
        Requirement.Needs(OperatingSystem.IsLinux(), "Linux", "Nothing else is published for here.");
        using var output = new TemporaryDirectory();
        await PublishAsync(output.Path, "-p:PublishAot=false", "-p:PublishTrimmed=true", "--self-contained");
        long whole = new FileInfo(Untrimmed("Treepie.dll")).Length;
        Assert.InRange(new FileInfo(Path.Combine(output.Path, "Treepie.dll")).Length, 1, whole - 1);
        await RunAsync(output.Path);
    }

    /// <summary>Publishes it for this system; a warning is an error there.</summary>
    private static Task<string> PublishAsync(string output, params string[] options)
    {
        string project = Path.Combine(DataSets.RepositoryRoot, "tests", "Native", "Native.csproj");
        string architecture = RuntimeInformation.OSArchitecture == Architecture.Arm64 ? "linux-arm64" : "linux-x64";
        return DotnetCommand.SucceedAsync(
            DataSets.RepositoryRoot, null,
            ["publish", project, "-c", "Release", "-r", architecture, "-o", output, "-v", "quiet",
                DotnetCommand.WithoutAnalyzers, .. options]);
    }

    private static async Task RunAsync(string output)
    {
        string program = Path.Combine(output, ProgramName);
        using Process process = Process.Start(
            new ProcessStartInfo(program) { RedirectStandardOutput = true, RedirectStandardError = true })
            ?? throw new InvalidOperationException("The program could not be started.");
        string written = await process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken)
            + await process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        await process.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(process.ExitCode == 0, written);
    }

    private static string Untrimmed(string name) =>
        Path.Combine(DataSets.RepositoryRoot, "src", "Documents", "bin", "Release", "net10.0", name);

    private static string? Compiler() => Array.Find(["clang", "gcc"], name => File.Exists($"/usr/bin/{name}"));
}
