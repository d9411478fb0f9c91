using RadLine;
using Spectre.Console;

namespace Treepie.CommandLine.Queries;

/// <summary>
/// Reads queries from the keyboard: the line can be edited, earlier ones come back with the arrow keys, Tab completes
/// (<see cref="QueryCompletion"/>), Ctrl-C empties the line, and Ctrl-D on an empty line ends the input.
/// </summary>
internal sealed class QueryEditor
{
    private readonly LineEditor _editor;
    private readonly CurrentPrompt _prompt = new();

    private QueryEditor(IAnsiConsole console, IQuerySource source)
    {
        var keywords = new WordHighlighter(StringComparer.OrdinalIgnoreCase);
        foreach (string word in QueryWords.Keywords.SelectMany(word => word.Split(' ')).Distinct())
            keywords.AddWord(word, new Style(Color.Blue));
        _editor = new LineEditor(console)
        {
            Completion = new QueryCompletion(source),
            Highlighter = keywords,
            Prompt = _prompt,
        };
        _editor.KeyBindings.Add(ConsoleKey.UpArrow, () => new PreviousHistoryCommand());
        _editor.KeyBindings.Add(ConsoleKey.DownArrow, () => new NextHistoryCommand());
        _editor.KeyBindings.Add(ConsoleKey.C, ConsoleModifiers.Control, () => new EmptyLine());
        _editor.KeyBindings.Add(ConsoleKey.D, ConsoleModifiers.Control, () => new EndOfInput());
    }

    /// <summary>Creates an editor. Returns null if the input is not a keyboard or the terminal cannot move its cursor.</summary>
    public static QueryEditor? TryCreate(Shell shell, IQuerySource source)
    {
        IAnsiConsole console = shell.ErrorConsole();
        return shell.CanAsk && LineEditor.IsSupported(console) ? new QueryEditor(console, source) : null;
    }

    /// <summary>Reads a line. Returns null at the end of the input.</summary>
    public async Task<string?> ReadAsync(string prompt, CancellationToken cancellationToken)
    {
        _prompt.Text = prompt;
        string? line;
        Console.TreatControlCAsInput = true; // elsewhere it ends what runs
        try
        {
            line = await _editor.ReadLine(cancellationToken);
        }
        finally
        {
            Console.TreatControlCAsInput = false;
        }

        if (!string.IsNullOrWhiteSpace(line))
            _editor.History.Add(line);
        return line;
    }

    private sealed class CurrentPrompt : ILineEditorPrompt
    {
        public string Text { get; set; } = "";

        public (Markup Markup, int Margin) GetPrompt(ILineEditorState state, int line) => (new Markup(Markup.Escape(Text)), 1);
    }

    private sealed class EmptyLine : LineEditorCommand
    {
        public override void Execute(LineEditorContext context)
        {
            context.Buffer.Clear(0, context.Buffer.Length);
            context.Buffer.Move(0);
        }
    }

    private sealed class EndOfInput : LineEditorCommand
    {
        public override void Execute(LineEditorContext context)
        {
            if (context.Buffer.Length == 0)
                context.Submit(SubmitAction.Cancel);
            else
                context.Execute(new DeleteCommand());
        }
    }
}
