using System.CommandLine;
using System.Diagnostics;
using Treepie.CommandLine;
using Treepie.CommandLine.Commands;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary><c>treepie completion</c>: every command and option is in each script, and the shells complete with their own.</summary>
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
        const string Complete = """
            bash -n "$0" && source "$0" && COMP_WORDS=($1) && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _treepie
            echo "${COMPREPLY[*]}"
            """;
        Assert.Equal(expected, await CompleteAsync("bash", Complete, line));
    }

    [Theory]
    [InlineData("treepie qu", "treepie query")]
    [InlineData("treepie backups list --da", "treepie backups list --database")]
    [InlineData("treepie query -d shop --dir", "treepie query -d shop --directory")]
    [InlineData("treepie nothing-begins-so", "treepie nothing-begins-so")]
    public async Task Zsh_accepts_the_script_and_completes(string line, string expected)
    {
        // Zsh completes in its line editor alone: a second one runs on a terminal of its own, where a key completes and shows.
        const string Complete = """
            zsh -n "$0" || exit 1
            zmodload zsh/zpty
            zpty shell "zsh -f -i"
            zpty -w shell "PS1= RPS1=; autoload -Uz compinit; compinit -D -u; source ${(qq)0}"
            zpty -w shell 'show() { zle complete-word; print -r -- "<<$BUFFER>>"; exit }; zle -N show; bindkey "^X" show'
            zpty -w -n shell "$1"$'\C-x'
            zpty -r shell shown $'*\n<<*>>*' && print -r -- ${${shown##*<<}%%>>*}
            """;
        Assert.Equal(expected, await CompleteAsync("zsh", Complete, line, "-f"));
    }

    [Theory]
    [InlineData("treepie qu", "query")]
    [InlineData("treepie backups list --da", "--database")]
    [InlineData("treepie query -d shop --dir", "--directory")]
    public async Task Fish_accepts_the_script_and_completes(string line, string expected)
    {
        const string Complete = "fish --no-execute $argv[1]; and source $argv[1]; and complete -C $argv[2]";
        Assert.Equal(expected, await CompleteAsync("fish", Complete, line, "--no-config"));
    }

    /// <summary>No shell of Microsoft's is in the packages of Debian: it is not required where everything else is.</summary>
    [Theory]
    [InlineData("treepie qu", "query")]
    [InlineData("treepie backups list --da", "--database")]
    public async Task PowerShell_accepts_the_script_and_completes(string line, string expected)
    {
        Assert.SkipUnless(Requirement.Finds("pwsh"), "The program 'pwsh' is not on this machine. Install PowerShell.");
        const string Complete = """
            & { param($file, $line)
              . ([scriptblock]::Create([System.IO.File]::ReadAllText($file)))
              [System.Management.Automation.CommandCompletion]::CompleteInput($line, $line.Length, $null).CompletionMatches |
                ForEach-Object { $_.CompletionText } }
            """;
        Assert.Equal(expected, await CompleteAsync("pwsh", Complete, line, "-NoProfile", "-NonInteractive"));
    }

    [Fact]
    public async Task An_unknown_shell_is_refused() =>
        Assert.Equal(2, (await CommandLineProcess.RunAsync("completion", "tcsh")).ExitCode);

    /// <summary>Has a shell run a text with the script's file and a line as its arguments; gives what it printed.</summary>
    private static async Task<string> CompleteAsync(string shell, string text, string line, params string[] options)
    {
        string program = Requirement.Program(shell, $"Install {shell}.");
        using var files = new TemporaryDirectory();
        string file = Path.Combine(files.Path, "treepie." + shell);
        CancellationToken token = TestContext.Current.CancellationToken;
        await File.WriteAllTextAsync(file, (await CommandLineProcess.SucceedAsync("completion", shell)).Output, token);
        var start = new ProcessStartInfo(program, [.. options, "-c", text, file, line])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = files.Path,
            Environment = { ["HOME"] = files.Path, ["XDG_CONFIG_HOME"] = files.Path, ["XDG_DATA_HOME"] = files.Path },
        };
        using Process process = Process.Start(start) ?? throw new InvalidOperationException($"No {shell}.");
        Task<string> errors = process.StandardError.ReadToEndAsync(token);
        string output = await process.StandardOutput.ReadToEndAsync(token);
        Assert.Equal("", await errors);
        return output.Trim();
    }
}
