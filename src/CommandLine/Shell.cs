using System.Text;
using Spectre.Console;

namespace Treepie.CommandLine;

/// <summary>
/// Where a command writes. Results go to standard output and nothing else does, so that scripts can read it; everything meant for the
/// person in front of it (progress, summaries, errors) goes to standard error.
/// </summary>
internal sealed class Shell
{
    /// <summary>Width of a table that is written to a file or a pipe, where there is no window to ask.</summary>
    private const int WidthOfFile = 160;

    /// <summary>Standard output as bytes.</summary>
    public required Stream Output { get; init; }

    /// <summary>Standard output as text; the same stream, so one of the two is used, not both.</summary>
    public required TextWriter OutputText { get; init; }

    /// <summary>Standard error.</summary>
    public required TextWriter Error { get; init; }

    /// <summary>Whether someone watches standard error, so that a bar can move there.</summary>
    public required bool ErrorIsTerminal { get; init; }

    /// <summary>Whether standard output is a terminal, whose width tables take.</summary>
    public required bool OutputIsTerminal { get; init; }

    /// <summary>Whether a question can be asked.</summary>
    public required bool CanAsk { get; init; }

    /// <summary>Reads the answer to a question.</summary>
    public required Func<string?> ReadLine { get; init; }

    /// <summary>The clock, for rates.</summary>
    public required TimeProvider Time { get; init; }

    /// <summary>The streams of this process.</summary>
    public static Shell OfProcess()
    {
        Console.OutputEncoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false);
        return new Shell
        {
            Output = Console.OpenStandardOutput(),
            OutputText = Console.Out,
            Error = Console.Error,
            ErrorIsTerminal = !Console.IsErrorRedirected,
            OutputIsTerminal = !Console.IsOutputRedirected,
            CanAsk = !Console.IsInputRedirected && !Console.IsErrorRedirected,
            ReadLine = Console.ReadLine,
            Time = TimeProvider.System,
        };
    }

    /// <summary>A console for tables, on standard output.</summary>
    public IAnsiConsole OutputConsole()
    {
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Out = new AnsiConsoleOutput(OutputText),
            Ansi = OutputIsTerminal ? AnsiSupport.Detect : AnsiSupport.No,
        });
        if (!OutputIsTerminal)
            console.Profile.Width = WidthOfFile;

        return console;
    }

    /// <summary>A console for a moving bar, on standard error.</summary>
    public IAnsiConsole ErrorConsole() => AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(Error) });
}
