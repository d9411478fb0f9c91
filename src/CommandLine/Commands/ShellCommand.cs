using System.CommandLine;
using Treepie.CommandLine.Http;
using Treepie.CommandLine.Offline;
using Treepie.CommandLine.Queries;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie shell</c>: runs queries line by line, from a terminal or a pipe.</summary>
internal static class ShellCommand
{
    private const int MostRows = 50;

    private const string Help = """
        A query ends at the end of its line, or at a line that does not end in '\'. Tab completes words, collections and fields.
          .format table|json|ndjson|csv   how results are written
          .help                           this
          .quit                           ends it, as the end of the input does
        """;

    /// <summary>The command.</summary>
    public static Command Create(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        Option<string?> database = CommonOptions.OptionalDatabase();
        Option<DirectoryInfo?> directory = CommonOptions.Directory();
        var keys = new OfflineKeyOptions();
        var command = new Command("shell", "Reads queries line by line, from the keyboard or a pipe, and writes their results")
        {
            url, database, directory,
        };
        keys.AddTo(command);
        command.Validators.Add(result => CommonOptions.RequireOne(result, database, directory));
        command.SetAction((parsed, cancellationToken) => QueryPlace.RunAsync(
            shell, parsed, url, database, directory, keys, source => RunAsync(shell, source, cancellationToken),
            cancellationToken));
        return command;
    }

    private static async Task<int> RunAsync(Shell shell, IQuerySource source, CancellationToken cancellationToken)
    {
        string format = "table";
        int exitCode = ExitCode.Ok;
        QueryEditor? editor = QueryEditor.TryCreate(shell, source);
        if (shell.CanAsk)
            await shell.Error.WriteLineAsync("RQL, or .help. The end of the input (Ctrl-D, on Windows Ctrl-Z) ends it.");
        while (await ReadAsync(shell, editor, cancellationToken) is { } line && line != ".quit")
        {
            cancellationToken.ThrowIfCancellationRequested();
            string[] words = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            switch (words)
            {
                case []:
                    break;
                case [".help"]:
                    await shell.Error.WriteLineAsync(Help);
                    break;
                case [".format", var name] when QueryFormats.Names.Contains(name):
                    format = name;
                    break;
                case [['.', ..], ..]:
                    await shell.Error.WriteLineAsync($"There is no command '{line}'. {Help}");
                    exitCode = ExitCode.Failure;
                    break;
                default:
                    exitCode = await AskAsync(shell, source, format, line, cancellationToken);
                    break;
            }
        }

        return shell.CanAsk ? ExitCode.Ok : exitCode;
    }

    /// <summary>Runs one query. An error is written and returned as the exit code; the shell continues.</summary>
    private static async Task<int> AskAsync(
        Shell shell, IQuerySource source, string format, string rql, CancellationToken cancellationToken)
    {
        try
        {
            return await QueryFormats.WriteAsync(shell, source, format, new QueryText(rql), MostRows, cancellationToken);
        }
        catch (Exception error)
            when (error is ServerException { IsMissingDatabase: false } or HttpRequestException or TreepieException
                or InvalidDataException)
        {
            await shell.Error.WriteLineAsync(error.Message);
            return ExitCode.Failure;
        }
    }

    /// <summary>Reads a line, joined with the following ones while it ends in a backslash. Returns null at the end.</summary>
    private static async Task<string?> ReadAsync(Shell shell, QueryEditor? editor, CancellationToken cancellationToken)
    {
        string read = "";
        while (true)
        {
            string prompt = read.Length == 0 ? ">" : "…";
            if (editor is null && shell.CanAsk)
                await shell.Error.WriteAsync(prompt + " ");
            if ((editor is null ? shell.ReadLine() : await editor.ReadAsync(prompt, cancellationToken)) is not { } line)
                return read.Length == 0 || editor is not null ? null : read; // at a keyboard it is abandoned
            if (!line.EndsWith('\\'))
                return (read + line).Trim();
            read += line[..^1] + " ";
        }
    }
}
