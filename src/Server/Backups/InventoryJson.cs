using System.Text.Json;
using Treepie.BackupTasks;
using Treepie.Server.Http;

namespace Treepie.Server.Backups;

/// <summary>Writes the backups at a destination, what can be restored from them, and what is missing.</summary>
internal static class InventoryJson
{
    /// <summary>Writes one object per database.</summary>
    public static void Write(Utf8JsonWriter json, IReadOnlyList<BackupInventory> inventories)
    {
        json.WriteStartObject();
        json.WriteStartArray("Databases");
        foreach (BackupInventory inventory in inventories)
        {
            json.WriteStartObject();
            json.WriteString("Database", inventory.Database);
            json.WriteStartArray("Backups");
            var cards = inventory.Histories.SelectMany(static history => history.Pages.Concat(history.Logs))
                .ToDictionary(static part => part.Point.Object, static part => part.Card, StringComparer.Ordinal);
            foreach (RestorePoint point in inventory.Points)
                Write(json, point, cards.GetValueOrDefault(point.Object));
            json.WriteEndArray();
            json.WriteStartArray("Histories");
            foreach (BackupHistory history in inventory.Histories)
                Write(json, history);
            json.WriteEndArray();
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, RestorePoint point, BackupCard? card)
    {
        json.WriteStartObject();
        json.WriteString("Object", point.Object);
        json.WriteString("Kind", point.Kind.ToString());
        json.WriteBoolean("IsIncremental", point.IsIncremental);
        json.WriteBoolean("IsEncrypted", point.IsEncrypted);
        json.WriteString("TakenAt", WireTime.ToWire(point.TakenAt));
        json.WriteNumber("SizeInBytes", point.LengthBytes);
        if (card is not null)
        {
            json.WriteNumber("SinceCommit", card.Since);
            json.WriteNumber("LastCommit", card.Commit);
            json.WriteString("LastCommitAt", card.CommittedAt is { } at ? WireTime.ToWire(at) : null);
        }

        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, BackupHistory history)
    {
        json.WriteStartObject();
        json.WriteString("StoreId", history.StoreId.ToString("D"));
        json.WriteStartArray("Restorable");
        foreach (RestorableStretch stretch in history.Stretches)
        {
            json.WriteStartObject();
            json.WriteNumber("FirstCommit", stretch.FirstCommit);
            json.WriteString("From", WireTime.ToWire(stretch.From));
            json.WriteNumber("LastCommit", stretch.LastCommit);
            json.WriteString("To", WireTime.ToWire(stretch.To));
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteTexts("Gaps", history.Gaps);
        json.WriteEndObject();
    }
}
