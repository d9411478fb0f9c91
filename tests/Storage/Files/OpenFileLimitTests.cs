using System.Diagnostics;
using System.Globalization;
using Treepie.Storage.Tests.Killing;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Files;

/// <summary>A process that has reached its limit of open files.</summary>
public sealed class OpenFileLimitTests
{
    [Fact]
    public async Task Who_needs_one_file_too_many_is_told_by_name_and_everyone_else_goes_on()
    {
        Requirement.Needs(
            OperatingSystem.IsLinux(), "A system on which a process can be started with few files (Linux)",
            "Elsewhere the limit is another.");
        using var directory = new TemporaryDirectory();
        string program = Environment.ProcessPath ?? throw new InvalidOperationException("A process has a path.");
        string argument = Path.GetFileNameWithoutExtension(program) == "dotnet"
            ? $" '{typeof(FewFilesChild).Assembly.Location}'"
            : "";
        var start = new ProcessStartInfo("/bin/sh", ["-c", $"ulimit -n 200 && exec '{program}'{argument}"])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true
        };
        start.Environment[FewFilesChild.DirectoryVariable] = directory.Path;
        using Process child = Process.Start(start) ?? throw new InvalidOperationException("The child did not start.");
        Task<string> errors = child.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        string output = await child.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await child.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(child.ExitCode == 0, output + await errors);
        string[] lines = output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal([nameof(OpenFileLimitException), lines[1], nameof(OpenFileLimitException), "none", "done"], lines);
        Assert.InRange(int.Parse(lines[1], CultureInfo.InvariantCulture), 30, 100); // two files each
    }
}
