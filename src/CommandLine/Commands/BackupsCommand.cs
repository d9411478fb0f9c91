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
    public static Command Create(Shell shell) => new("backups", "Shows what backups there are") { List(shell) };

    private static Command List(Shell shell)
    {
        var at = new Option<string>("--at")
        {
            Description = "The place: a folder, or s3://bucket/prefix",
            HelpName = "place",
            Required = true
        };
        var database = new Option<string?>("--database", "-d") { Description = "Of this database only", HelpName = "name" };
        Option<KeyArgument?> key = KeyOptions.Key("Where the key is of sealed backups that have no card");
        var command = new Command(
            "list",
            "Lists backups at a place, to which commits and times they lead, and what is missing between them")
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
