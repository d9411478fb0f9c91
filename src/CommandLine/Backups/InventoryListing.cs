using System.Globalization;
using Treepie.Backups;
using Treepie.BackupTasks;

namespace Treepie.CommandLine.Backups;

/// <summary>
/// Lists what is stored at a place: what can be restored, what is missing, then the backups, latest first.
/// </summary>
internal static class InventoryListing
{
    /// <summary>Writes the listing.</summary>
    public static async Task WriteAsync(TextWriter output, BackupInventory inventory)
    {
        await output.WriteLineAsync($"Database '{inventory.Database}'");
        foreach (BackupHistory history in inventory.Histories)
        {
            foreach (RestorableStretch stretch in history.Stretches)
                await output.WriteLineAsync($"  can be restored: {stretch}");
            foreach (string gap in history.Gaps)
                await output.WriteLineAsync($"  missing: {gap}");
        }

        foreach (RestorePoint point in inventory.Unknown)
            await output.WriteLineAsync(
                $"  not known: which backup '{point.Object}' continues: it has no card, and is damaged, or sealed with a key "
                    + "that was not given (--key).");
        var cards = inventory.Histories.SelectMany(static history => history.Pages.Concat(history.Logs))
            .ToDictionary(static part => part.Point.Object, static part => part.Card, StringComparer.Ordinal);
        foreach (RestorePoint point in inventory.Points)
            await output.WriteLineAsync(Line(point, cards.GetValueOrDefault(point.Object)));
    }

    private static string Line(RestorePoint point, BackupCard? card)
    {
        string kind = (point.Kind, point.IsIncremental) switch
        {
            (BackupKind.Log, _) => "log",
            (BackupKind.Snapshot, true) => "increment",
            (BackupKind.Snapshot, false) => "snapshot",
            (_, true) => "changes",
            _ => "full",
        };
        string commits = card is null ? "" : card.Since < 0 ? $"commit {card.Commit}" : $"commits {card.Since} to {card.Commit}";
        return string.Create(
            CultureInfo.InvariantCulture,
            $"  {point.TakenAt:u}  {kind,-9}  {point.LengthBytes / 1e6,10:N1} MB  {(point.IsEncrypted ? "sealed" : ""),-6}  "
                + $"{commits,-24}  {point.Object}");
    }
}
