using System.CommandLine;
using Treepie.CommandLine.Completion;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie completion</c>: a script that completes commands and options, for a shell to load.</summary>
internal static class CompletionCommand
{
    /// <summary>The command.</summary>
    public static Command Create(Shell shell)
    {
        var name = new Argument<string>("shell") { Description = "The shell that reads the script" };
        name.AcceptOnlyFromAmong([.. CompletionScript.Shells]);
        var command = new Command(
            "completion", "Writes a script that completes commands and options: source <(treepie completion bash)")
        {
            name,
        };
        command.SetAction(async (parsed, _) =>
        {
            var words = new CompletionWords(parsed.RootCommandResult.Command);
            await shell.OutputText.WriteAsync(CompletionScript.For(parsed.GetRequiredValue(name), words));
            return ExitCode.Ok;
        });
        return command;
    }
}
