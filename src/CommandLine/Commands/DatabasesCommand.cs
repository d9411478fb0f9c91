using System.CommandLine;
using Treepie.CommandLine.Keys;
using Treepie.Storage;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie databases</c>: list, create, delete.</summary>
internal static class DatabasesCommand
{
    /// <summary>The command.</summary>
    public static Command Create(Shell shell) => new("databases", "Lists, creates and deletes databases")
    {
        List(shell),
        Create(shell, Name()),
        Delete(shell, Name()),
    };

    private static Argument<string> Name() => new("name") { Description = "Name of the database" };

    private static Command List(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        var command = new Command("list", "Writes the names of all databases, one per line") { url };
        command.SetAction(shell, url, async (_, server, cancellationToken) =>
        {
            foreach (string name in await server.DatabaseNamesAsync(cancellationToken))
                await shell.OutputText.WriteLineAsync(name);

            return ExitCode.Ok;
        });
        return command;
    }

    private static Command Create(Shell shell, Argument<string> name)
    {
        Option<Uri> url = CommonOptions.Url();
        var encrypted = new Option<bool>("--encrypted")
        {
            Description = "Encrypt the whole database on disk, with the key that --key names or that was given to the server"
        };
        Option<KeyArgument?> key = KeyOptions.Key("With --encrypted: where its key is, which the server keeps");
        var command = new Command("create", "Creates a database") { name, url, encrypted, key };
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            string database = parsed.GetRequiredValue(name);
            bool isEncrypted = parsed.GetValue(encrypted);
            if (parsed.GetValue(key) is { } source)
            {
                if (!isEncrypted)
                    throw new UsageException(
                        "--key is the key of an encrypted database: say --encrypted too. Nothing was created.");
                if ((await server.DatabaseNamesAsync(cancellationToken)).Contains(database, StringComparer.OrdinalIgnoreCase))
                    throw new UsageException($"There is a database '{database}' already.");
                using EncryptionKey given = source.Read(shell, database, cancellationToken);
                await server.GiveKeyAsync(database, given, keep: true, overwrite: false, cancellationToken);
            }

            bool created = await server.CreateDatabaseAsync(database, isEncrypted, cancellationToken);
            await shell.Error.WriteLineAsync(
                created
                    ? $"Database '{database}' is created{(isEncrypted ? ", encrypted" : "")}."
                    : $"There is a database '{database}' already.");
            return created ? ExitCode.Ok : ExitCode.Failure;
        });
        return command;
    }

    private static Command Delete(Shell shell, Argument<string> name)
    {
        Option<Uri> url = CommonOptions.Url();
        var yes = new Option<bool>("--yes", "-y") { Description = "Do not ask" };
        var command = new Command("delete", "Deletes a database with all its documents and files") { name, url, yes };
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            string database = parsed.GetRequiredValue(name);
            if (!(await server.DatabaseNamesAsync(cancellationToken)).Contains(database, StringComparer.OrdinalIgnoreCase))
            {
                await shell.Error.WriteLineAsync($"There is no database '{database}' on {server.Url}.");
                return ExitCode.Failure;
            }

            if (!parsed.GetValue(yes) && !Confirm(shell, database))
                throw new UsageException("Nothing is deleted. --yes deletes without asking.");

            await server.DeleteDatabaseAsync(database, cancellationToken);
            await shell.Error.WriteLineAsync($"Database '{database}' is deleted.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static bool Confirm(Shell shell, string database)
    {
        if (!shell.CanAsk)
            return false;

        shell.Error.Write($"Delete database '{database}' with all its documents? Type its name to do so: ");
        return string.Equals(shell.ReadLine()?.Trim(), database, StringComparison.OrdinalIgnoreCase);
    }
}
