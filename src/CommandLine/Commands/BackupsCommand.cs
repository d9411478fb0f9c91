using System.CommandLine;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.CommandLine.Backups;
using Treepie.CommandLine.Keys;
using Treepie.Destinations;
using Treepie.Storage;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie backups list</c>: lists what is stored at a place. Needs no server.</summary>
internal static class BackupsCommand
{
    /// <summary>The command.</summary>
    public static Command Create(Shell shell) => new("backups", "Lists backups") { List(shell) };

    private static Command List(Shell shell)
    {
        var at = new Option<string>("--at")
        {
            Description = "The destination: a folder, or s3://bucket/prefix",
            HelpName = "place",
            Required = true
        };
        var database = new Option<string?>("--database", "-d") { Description = "Only this database", HelpName = "name" };
        Option<KeyArgument?> key = KeyOptions.Key("The source of the key of sealed backups without a card");
        var command = new Command(
            "list",
            "Lists the backups at a destination, the commits and times they restore, and gaps between them")
            {
                at, database, key
            };
        command.SetAction((parsed, cancellationToken) => OfflineCommands.RunAsync(
            shell,
            async () =>
            {
                using EncryptionKey? seal = parsed.GetValue(key)?.Read(shell, "the backups", cancellationToken);
                using BackupDestination place = BackupPlaces.Open(parsed.GetRequiredValue(at));
                var options = new RestoreOptions { BackupKey = seal };
                BackupInventory all = await BackupInventory.ReadAsync(
                    place, parsed.GetValue(database), options, cancellationToken);
                if (all.Databases.Count == 0)
                    await shell.Error.WriteLineAsync($"There is no backup at '{place.Address}'.");
                foreach (string name in all.Databases)
                    await InventoryListing.WriteAsync(
                        shell.OutputText,
                        all.Database is not null
                            ? all
                            : await BackupInventory.ReadAsync(place, name, options, cancellationToken));
                return all.Databases.Count == 0 ? ExitCode.Failure : ExitCode.Ok;
            },
            cancellationToken));
        return command;
    }
}
