using System.CommandLine;
using System.Diagnostics;
using Treepie.CommandLine;
using Treepie.CommandLine.Commands;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary><c>treepie completion</c>: every command and option is in each script, and bash completes with its own.</summary>
public sealed class CompletionTests
{
    [Theory]
    [InlineData("bash")]
    [InlineData("zsh")]
    [InlineData("fish")]
    [InlineData("pwsh")]
    public async Task Every_command_and_option_is_in_the_script(string shell)
    {
        string script = (await CommandLineProcess.SucceedAsync("completion", shell)).Output;
        HashSet<string> words = [.. script.Split([' ', '\n', '\'', '"'])];
        var open = new Stack<Command>([TreepieCommand.Create([], Shell.OfProcess())]);
        int commands = 0;
        while (open.TryPop(out Command? command))
        {
            commands++;
            foreach (Option option in command.Options)
                Assert.Contains(option.Name, words);
            foreach (Command below in command.Subcommands)
            {
                Assert.Contains(below.Name, words);
                open.Push(below);
            }
        }

        Assert.True(commands > 20, $"Only {commands} commands were seen.");
    }

    [Theory]
    [InlineData("treepie qu", "query")]
    [InlineData("treepie backups list --da", "--database")]
    [InlineData("treepie query -d shop --dir", "--directory")]
    [InlineData("treepie --auth", "--authority")]
    [InlineData("treepie nothing-begins-so", "")]
    public async Task Bash_accepts_the_script_and_completes(string line, string expected)
    {
        Assert.SkipUnless(File.Exists("/bin/bash"), "There is no bash.");
        using var files = new TemporaryDirectory();
        string file = Path.Combine(files.Path, "treepie.bash");
        CancellationToken token = TestContext.Current.CancellationToken;
        await File.WriteAllTextAsync(file, (await CommandLineProcess.SucceedAsync("completion", "bash")).Output, token);
        const string Complete = """
            bash -n "$0" && source "$0" && COMP_WORDS=($1) && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _treepie
            echo "${COMPREPLY[*]}"
            """;
        var start = new ProcessStartInfo("/bin/bash", ["-c", Complete, file, line])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using Process bash = Process.Start(start) ?? throw new InvalidOperationException("No bash.");
        string output = await bash.StandardOutput.ReadToEndAsync(token);
        Assert.Equal("", await bash.StandardError.ReadToEndAsync(token));
        Assert.Equal(expected, output.Trim());
    }

    [Fact]
    public async Task An_unknown_shell_is_refused() =>
        Assert.Equal(2, (await CommandLineProcess.RunAsync("completion", "tcsh")).ExitCode);
}
