using System.CommandLine;
using System.CommandLine.Invocation;
using Treepie.CommandLine.Http;
using Treepie.Encryption;

namespace Treepie.CommandLine.Commands;

/// <summary>The root command, and the one place where failures become messages and exit codes.</summary>
internal static class TreepieCommand
{
    /// <summary>Time a cancelled command has to clean up before the process terminates anyway.</summary>
    private static readonly TimeSpan _patience = TimeSpan.FromSeconds(10);

    /// <summary>Runs one command line.</summary>
    public static async Task<int> RunAsync(string[] arguments, Shell shell)
    {
        ParseResult parsed = Create(arguments, shell).Parse(arguments);
        if (parsed.Action is ParseErrorAction errors)
        {
            // The default action writes help and errors to standard output, and the help text would hide the error.
            errors.ShowHelp = arguments.Length == 0;
            errors.ShowTypoCorrections = false;
        }

        int exitCode = await parsed.InvokeAsync(new InvocationConfiguration
        {
            Output = shell.OutputText,
            Error = shell.Error,
            EnableDefaultExceptionHandler = false,
            ProcessTerminationTimeout = _patience,
        });
        return parsed.Errors.Count > 0 ? ExitCode.Usage : exitCode;
    }

    /// <summary>All commands.</summary>
    internal static RootCommand Create(string[] arguments, Shell shell)
    {
        var root = new RootCommand("""
            Fills and asks a Treepie server, over HTTP; asks, checks and salvages the files of one that is stopped.

            Results go to standard output, everything else to standard error.
            Exit codes: 0 done, 1 failed or damage found (the message says what), 2 wrong command line, 130 cancelled.
            """)
        {
            ServeCommand.Create(shell, arguments),
            ImportCommand.Create(shell),
            QueryCommand.Create(shell),
            ShellCommand.Create(shell),
            ExplainCommand.Create(shell),
            ExportCommand.Create(shell),
            DatabasesCommand.Create(shell),
            IndexCommands.Create(shell),
            BackupCommands.CreateBackup(shell),
            BackupCommands.CreateRestore(shell),
            BackupCommands.CreateVerify(shell),
            BackupsCommand.Create(shell),
            KeyCommands.Create(shell),
            SecureCommand.Create(shell),
            TokensCommand.Create(shell),
            TopCommand.Create(shell),
            OfflineCommands.CreateCheck(shell),
            OfflineCommands.CreateSalvage(shell),
            CompletionCommand.Create(shell),
        };
        CommonOptions.AddIdentity(root);
        return root;
    }

    /// <summary>Sets the action of a command, which gets a client for the server. Errors become messages and exit
    /// codes.</summary>
    public static void SetAction(
        this Command command, Shell shell, Option<Uri> url,
        Func<ParseResult, ServerClient, CancellationToken, Task<int>> action) =>
        command.SetAction((parsed, cancellationToken) =>
            RunAsync(shell, parsed, url, server => action(parsed, server, cancellationToken), cancellationToken));

    /// <summary>Runs an action on a server and turns exceptions into messages and exit codes.</summary>
    public static async Task<int> RunAsync(
        Shell shell, ParseResult parsed, Option<Uri> url, Func<ServerClient, Task<int>> action,
        CancellationToken cancellationToken)
    {
        ServerClient server;
        try
        {
            server = new ServerClient(parsed.GetValue(url) ?? CommonOptions.DefaultUrl, CommonOptions.Identity(parsed));
        }
        catch (UsageException exception)
        {
            await shell.Error.WriteLineAsync(exception.Message);
            return ExitCode.Usage;
        }

        using (server)
            return await RunAsync(shell, server, action, cancellationToken);
    }

    private static async Task<int> RunAsync(
        Shell shell, ServerClient server, Func<ServerClient, Task<int>> action, CancellationToken cancellationToken)
    {
        try
        {
            return await action(server);
        }
        catch (Exception) when (cancellationToken.IsCancellationRequested)
        {
            // Any exception after cancellation is a result of it.
            await shell.Error.WriteLineAsync("Cancelled.");
            return ExitCode.Cancelled;
        }
        catch (Exception exception) when (exception is UsageException or KeySourceException)
        {
            await shell.Error.WriteLineAsync(exception.Message);
            return ExitCode.Usage;
        }
        catch (ServerException exception)
        {
            await shell.Error.WriteLineAsync(await ExplainAsync(exception, server, cancellationToken));
            return ExitCode.Failure;
        }
        catch (HttpRequestException exception)
        {
            await shell.Error.WriteLineAsync(Explain(exception, server.Url));
            return ExitCode.Failure;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or InvalidDataException)
        {
            await shell.Error.WriteLineAsync(exception.Message);
            return ExitCode.Failure;
        }
    }

    private static string Explain(HttpRequestException exception, Uri url) => exception.HttpRequestError switch
    {
        HttpRequestError.SecureConnectionError =>
            $"The certificate of {url} is not to be trusted, or there is no TLS "
                + $"({exception.InnerException?.Message ?? exception.Message}). Say with --authority who issued it.",
        HttpRequestError.ConnectionError or HttpRequestError.NameResolutionError =>
            $"No server answers at {url} ({exception.InnerException?.Message ?? exception.Message}). Start one, or say with "
                + $"--url where it is.",
        _ => $"The connection to {url} broke: {exception.InnerException?.Message ?? exception.Message}",
    };

    private static async Task<string> ExplainAsync(
        ServerException exception, ServerClient server, CancellationToken cancellationToken)
    {
        if (!exception.IsMissingDatabase)
            return exception.Message;

        IReadOnlyList<string> names = await server.DatabaseNamesAsync(cancellationToken);
        string known = names.Count == 0 ? "It has none yet" : $"It has: {string.Join(", ", names)}";
        return $"There is no such database on {server.Url}. {known}; 'treepie databases create <name>' makes one.";
    }
}
