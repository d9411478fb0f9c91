using System.Diagnostics;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Package;

/// <summary>
/// A program of the whole API, published as native code: trimming and AOT analysis give no warning, and it does what it does
/// where code is compiled at run time.
/// </summary>
public sealed class NativeProgramTests
{
    [Fact]
    public async Task A_program_of_the_whole_API_is_published_as_native_code_and_runs()
    {
        Requirement.Needs(
            OperatingSystem.IsLinux() && Compiler() is not null, "A linker for native code",
            "Install clang or gcc, and zlib1g-dev.");
        using var output = new TemporaryDirectory();
        string project = Path.Combine(DataSets.RepositoryRoot, "tests", "Native", "Native.csproj");
        string architecture = System.Runtime.InteropServices.RuntimeInformation.OSArchitecture
            == System.Runtime.InteropServices.Architecture.Arm64 ? "linux-arm64" : "linux-x64";
        await DotnetCommand.SucceedAsync(
            DataSets.RepositoryRoot, null, "publish", project, "-c", "Release", "-r", architecture, "-o", output.Path, "-v",
            "quiet", $"-p:CppCompilerAndLinker={Compiler()}");

        string program = Path.Combine(output.Path, "Treepie.NativeProgram");
        Assert.False(File.Exists(program + ".dll"), "it is no native program");
        using Process process = Process.Start(
            new ProcessStartInfo(program) { RedirectStandardOutput = true, RedirectStandardError = true })
            ?? throw new InvalidOperationException("The program could not be started.");
        string written = await process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken)
            + await process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        await process.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(process.ExitCode == 0, written);
    }

    private static string? Compiler() => Array.Find(["clang", "gcc"], name => File.Exists($"/usr/bin/{name}"));
}
