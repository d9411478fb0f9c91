using System.Text;
using Spectre.Console;

namespace Treepie.CommandLine;

/// <summary>
/// Where a command writes. Results go to standard output and nothing else does, so that scripts can read it; everything meant for
/// the person in front of it (progress, summaries, errors) goes to standard error.
/// </summary>
internal sealed class Shell
{
    /// <summary>Width of a table that is written to a file or a pipe, where there is no window to ask.</summary>
    private const int WidthOfFile = 160;

    private const int LongestSecret = 4096;

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

    /// <summary>Reads the answer to a question that nobody may look at: it is not shown. To be zeroed by the caller.</summary>
    public required Func<char[]> ReadSecret { get; init; }

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
            ReadSecret = ReadHidden,
            Time = TimeProvider.System,
        };
    }

    /// <summary>Keys up to Enter; backspace takes one back. The buffer never grows, so no copy of it is left behind.</summary>
    private static char[] ReadHidden()
    {
        char[] typed = new char[LongestSecret];
        int length = 0;
        for (ConsoleKeyInfo key; (key = Console.ReadKey(intercept: true)).Key != ConsoleKey.Enter;)
        {
            if (key.Key == ConsoleKey.Backspace)
                length = Math.Max(0, length - 1);
            else if (length < typed.Length && !char.IsControl(key.KeyChar))
                typed[length++] = key.KeyChar;
        }

        char[] secret = typed[..length];
        Array.Clear(typed);
        return secret;
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
