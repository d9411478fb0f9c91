using System.Globalization;
using System.Text.Json;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.CommandLine.Http;
using Treepie.Storage;

namespace Treepie.CommandLine.Backups;

/// <summary>
/// Has a server restore backups that it reads from a place itself, because several parts, some of which are read twice, cannot
/// be uploaded as one stream. Shows progress until the restore is complete.
/// </summary>
internal sealed class PlaceRestore(Shell shell, ServerClient server)
{
    private static readonly TimeSpan _look = TimeSpan.FromMilliseconds(200);

    /// <summary>Restores to a new database.</summary>
    public async Task<string> RunAsync(
        RestoreTarget target, string from, BackupOrigin origin, RestoreWish moment, EncryptionKey? key,
        CancellationToken cancellationToken)
    {
        string address = from.Contains("://", StringComparison.Ordinal) ? from : Path.GetFullPath(from);
        long operation = await server.StartRestoreAsync(
            target, address, origin.Selection.Points[^1], moment, key, cancellationToken);
        JsonElement result = await BackupDisplay.RunAsync(
            shell, origin.Title, progress => WaitAsync(operation, progress, cancellationToken));
        string stop = result.GetProperty("LastCommitAt").GetString() is { } at
            ? string.Create(CultureInfo.InvariantCulture, $", commit {result.GetProperty("LastCommit").GetInt64()} of {at}")
            : "";
        return string.Create(
            CultureInfo.InvariantCulture,
            $"Restored to database '{target.Name}': {result.GetProperty("Processed").GetInt64():N0} documents from "
                + $"{result.GetProperty("Parts").GetInt32()} backups{stop}.{SectionLines.Of(result)}");
    }

    private async Task<JsonElement> WaitAsync(
        long operation, IProgress<BackupProgress> progress, CancellationToken cancellationToken)
    {
        try
        {
            while (true)
            {
                using JsonDocument state = await server.OperationStateAsync(operation, cancellationToken);
                JsonElement root = state.RootElement;
                switch (root.GetProperty("Status").GetString())
                {
                    case "InProgress":
                        JsonElement at = root.GetProperty("Progress");
                        progress.Report(
                            new BackupProgress(BackupStep.Reading, 0, 0, 0, 0, 0, null)
                            {
                                Pages = at.GetProperty("Processed").GetInt64(),
                                PagesTotal = at.GetProperty("Total").GetInt64()
                            });
                        break;
                    case "Completed":
                        return root.GetProperty("Result").Clone();
                    case "Canceled":
                        throw new InvalidDataException(
                            "The server gave up the restore: it was asked to, or is stopping. Nothing was kept; run it again.");
                    default:
                        throw new InvalidDataException(root.GetProperty("Result").GetProperty("Message").GetString());
                }

                await Task.Delay(_look, shell.Time, cancellationToken);
            }
        }
        catch (OperationCanceledException)
        {
            await server.KillAsync(operation, CancellationToken.None);
            throw;
        }
    }
}
