using System.CommandLine;
using Treepie.CommandLine.Keys;
using Treepie.CommandLine.Offline;
using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie key</c>: generates keys, gives them to a server, changes them, and re-encrypts databases.</summary>
internal static class KeyCommands
{
    /// <summary>The command.</summary>
    public static Command Create(Shell shell) => new(
        "key", "Makes, gives and changes the keys of encrypted databases. Whoever loses the key of a database loses the database")
    {
        Generate(shell),
        Give(shell),
        Change(shell),
        Rotate(shell),
    };

    private static Command Generate(Shell shell)
    {
        var file = new Argument<FileInfo>("file") { Description = "The file to make; one that is there is left alone" };
        var command = new Command("generate", "Makes a file with a new random key, readable for its owner alone") { file };
        command.SetAction((parsed, cancellationToken) => OfflineCommands.RunAsync(
            shell,
            async () =>
            {
                string path = Path.GetFullPath(parsed.GetRequiredValue(file).FullName);
                using (EncryptionKey key = EncryptionKey.Generate())
                    KeyFile.Create(path, key);
                await shell.Error.WriteLineAsync(
                    $"A new key is in '{path}'. Keep a copy of it elsewhere: without it, what it encrypts is lost.");
                return ExitCode.Ok;
            },
            cancellationToken));
        return command;
    }

    private static Command Give(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        Option<string> database = CommonOptions.Database();
        Option<KeyArgument?> key = KeyOptions.Key("Where the key of the database is");
        key.Required = true;
        var untilRestart = new Option<bool>("--until-restart")
        {
            Description = "The server holds it in memory and does not keep it; it needs no master key for that"
        };
        var overwrite = new Option<bool>("--overwrite")
        {
            Description = "Replace another key that was given for a database that is not made yet"
        };
        var command = new Command(
            "give",
            "Gives a server the key of a database: one that is locked opens, one that is to be made can be")
            {
                url, database, key, untilRestart, overwrite
            };
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            string name = parsed.GetRequiredValue(database);
            using EncryptionKey given = parsed.GetRequiredValue(key)!.Read(shell, name, cancellationToken); // a required option
            await server.GiveKeyAsync(
                name, given, keep: !parsed.GetValue(untilRestart), parsed.GetValue(overwrite), cancellationToken);
            await shell.Error.WriteLineAsync(
                $"{server.Url} has the key of '{name}'{(parsed.GetValue(untilRestart) ? " until it is restarted" : "")}.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static Command Change(Shell shell)
    {
        var place = new KeyPlace(
            "The database's directory, of a server that is stopped; without it, --database on a server that runs");
        Option<KeyArgument?> next = KeyOptions.Key("Where the new key is", "--new-key");
        next.Required = true;
        var command = new Command("change", "Gives a database another key. Rewrites one block, however large the database is")
        {
            next
        };
        place.AddTo(command);
        command.SetAction((parsed, cancellationToken) => place.RunAsync(
            shell,
            parsed,
            async (server, name) =>
            {
                // A required option.
                using EncryptionKey key = parsed.GetRequiredValue(next)!.Read(shell, $"'{name}', the new one", cancellationToken);
                await server.Database(name).ChangeKeyAsync(key, cancellationToken);
                await shell.Error.WriteLineAsync($"Database '{name}' has its new key.");
            },
            // A required option.
            keys => new KeyChange(shell, keys).ChangeAsync(
                () => parsed.GetRequiredValue(next)!.Read(shell, "the database, the new one", cancellationToken),
                cancellationToken),
            cancellationToken));
        return command;
    }

    private static Command Rotate(Shell shell)
    {
        var place = new KeyPlace(
            "The database's directory, of a server that is stopped; without it, --database on a server that runs");
        var command = new Command(
            "rotate",
            "Encrypts a database anew with random keys drawn now, under the same key of yours; takes as long as writing all of "
                + "it. Interrupted, it can be run again");
        place.AddTo(command);
        command.SetAction((parsed, cancellationToken) => place.RunAsync(
            shell,
            parsed,
            (server, name) => new KeyRotationRun(shell, server.Database(name)).RunAsync(cancellationToken),
            keys => new KeyChange(shell, keys).RotateAsync(cancellationToken),
            cancellationToken));
        return command;
    }
}
