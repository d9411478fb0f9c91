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
        var file = new Argument<FileInfo>("file") { Description = "The file to create; an existing file is not changed" };
        var command = new Command("generate", "Creates a file with a new random key that only its owner can read") { file };
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
        Option<KeyArgument?> key = KeyOptions.Key("The source of the key of the database");
        key.Required = true;
        var untilRestart = new Option<bool>("--until-restart")
        {
            Description = "Keep it in memory only, without storing it; this needs no master key"
        };
        var overwrite = new Option<bool>("--overwrite")
        {
            Description = "Replace a key given earlier for a database that does not exist yet"
        };
        var command = new Command(
            "give",
            "Gives a server the key of a database, to open a locked one or to create an encrypted one")
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
            "The database's directory, of a stopped server; without it, --database on a running server");
        Option<KeyArgument?> next = KeyOptions.Key("The source of the new key", "--new-key");
        next.Required = true;
        var command = new Command("change", "Changes the key of a database. Rewrites one block, whatever its size")
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
            "The database's directory, of a stopped server; without it, --database on a running server");
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
