using System.CommandLine;
using Treepie.CommandLine.Offline;
using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie check</c> and <c>treepie salvage</c>: work on the files directly, without a server.</summary>
internal static class OfflineCommands
{
    /// <summary><c>check</c>.</summary>
    public static Command CreateCheck(Shell shell)
    {
        Argument<DirectoryInfo> directory = Directory(
            "The data directory of a server, a database in it, or a single environment");
        Option<bool> json = Json();
        var keys = new OfflineKeyOptions();
        var command = new Command("check", "Checks the files of a data directory while no server is using it; changes nothing")
        {
            directory, json
        };
        keys.AddTo(command);
        command.SetAction((parsed, cancellationToken) => RunAsync(
            shell,
            async () =>
            {
                DataDirectory data = DataDirectory.Open(parsed.GetRequiredValue(directory));
                using DirectoryKeys found = keys.Of(shell, data, parsed);
                return await new CheckRun(shell, data, found).RunAsync(parsed.GetValue(json), cancellationToken);
            },
            cancellationToken));
        return command;
    }

    /// <summary><c>salvage</c>.</summary>
    public static Command CreateSalvage(Shell shell)
    {
        Argument<DirectoryInfo> directory = Directory("The damaged data directory; nothing is written in it");
        var target = new Argument<DirectoryInfo>("target") { Description = "The target directory, absent or empty" };
        Option<bool> json = Json();
        var keys = new OfflineKeyOptions();
        var command = new Command("salvage", "Copies what can still be read from a damaged data directory to a new one")
        {
            directory, target, json
        };
        keys.AddTo(command);
        command.SetAction((parsed, cancellationToken) => RunAsync(
            shell,
            async () =>
            {
                DataDirectory data = DataDirectory.Open(parsed.GetRequiredValue(directory));
                using DirectoryKeys found = keys.Of(shell, data, parsed);
                return await new SalvageCommandRun(shell, data, Path.GetFullPath(parsed.GetRequiredValue(target).FullName), found)
                    .RunAsync(parsed.GetValue(json), cancellationToken);
            },
            cancellationToken));
        return command;
    }

    private static Argument<DirectoryInfo> Directory(string description) => new("directory") { Description = description };

    private static Option<bool> Json() => new("--json") { Description = "Write the report as JSON" };

    /// <summary>Runs an action on files and turns exceptions into messages and exit codes.</summary>
    public static async Task<int> RunAsync(Shell shell, Func<Task<int>> run, CancellationToken cancellationToken)
    {
        try
        {
            return await run();
        }
        catch (Exception) when (cancellationToken.IsCancellationRequested)
        {
            await shell.Error.WriteLineAsync("Cancelled.");
            return ExitCode.Cancelled;
        }
        catch (UsageException error)
        {
            await shell.Error.WriteLineAsync(error.Message);
            return ExitCode.Usage;
        }
        catch (EnvironmentLockedException error)
        {
            await shell.Error.WriteLineAsync($"{error.Message} Stop the server, or work on a copy made while it is stopped.");
            return ExitCode.Usage;
        }
        catch (EncryptionKeyException error)
        {
            await shell.Error.WriteLineAsync($"{error.Message} Nothing was done.");
            return ExitCode.Usage;
        }
        catch (KeySourceException error)
        {
            await shell.Error.WriteLineAsync(error.Message);
            return ExitCode.Usage;
        }
        catch (Exception error) when (error is StorageException or TreepieException or IOException or UnauthorizedAccessException)
        {
            await shell.Error.WriteLineAsync(error.Message);
            return ExitCode.Failure;
        }
    }
}
