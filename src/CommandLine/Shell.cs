using System.Text;
using Spectre.Console;

namespace Treepie.CommandLine;

/// <summary>
/// The streams of a command. Only results go to standard output, so that scripts can read it; everything meant for the user
/// (progress, summaries, errors) goes to standard error.
/// </summary>
internal sealed class Shell
{
    /// <summary>Width of tables in a file or pipe, which has no window.</summary>
    private const int WidthOfFile = 160;

    private const int LongestSecret = 4096;

    /// <summary>Standard output as bytes.</summary>
    public required Stream Output { get; init; }

    /// <summary>Standard output as text. It is the same stream as <see cref="Output"/>, so use only one of the two.</summary>
    public required TextWriter OutputText { get; init; }

    /// <summary>Standard error.</summary>
    public required TextWriter Error { get; init; }

    /// <summary>Whether standard error is a terminal, which can show a progress bar.</summary>
    public required bool ErrorIsTerminal { get; init; }

    /// <summary>Whether standard output is a terminal, which determines the width of tables.</summary>
    public required bool OutputIsTerminal { get; init; }

    /// <summary>Whether the user can be prompted.</summary>
    public required bool CanAsk { get; init; }

    /// <summary>Reads a line of input.</summary>
    public required Func<string?> ReadLine { get; init; }

    /// <summary>Reads a secret without echo. The caller zeroes the returned array.</summary>
    public required Func<char[]> ReadSecret { get; init; }

    /// <summary>The clock, for rates.</summary>
    public required TimeProvider Time { get; init; }

    /// <summary>Creates a shell with the streams of this process.</summary>
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

    /// <summary>Reads keys up to Enter; backspace deletes one. The buffer never grows, so no copy of it is left behind.</summary>
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

    /// <summary>A console for tables on standard output.</summary>
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

    /// <summary>A console for a progress bar on standard error.</summary>
    public IAnsiConsole ErrorConsole() => AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(Error) });
}
