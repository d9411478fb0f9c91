using System.Text.Json;
using Treepie.BackupTasks;
using Treepie.Indexes;
using Treepie.Server.Backups;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Store;

namespace Treepie.Server.Endpoints;

/// <summary>Statistics of a database and its collections.</summary>
internal static class StatisticsEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database(
            "GET", "/stats", AccessLevel.DatabaseRead,
            static (request, database) => Statistics(request, database, detailed: false));
        routes.Database(
            "GET", "/stats/detailed", AccessLevel.DatabaseRead,
            static (request, database) => Statistics(request, database, detailed: true));
        routes.Database(
            "GET", "/stats/essential", AccessLevel.DatabaseRead,
            static (request, database) => Statistics(request, database, detailed: false));
        routes.Database(
            "GET", "/collections/stats", AccessLevel.DatabaseRead,
            static (request, database) => Collections(request, database, detailed: false));
        routes.Database(
            "GET", "/collections/stats/detailed", AccessLevel.DatabaseRead,
            static (request, database) => Collections(request, database, detailed: true));
    }

    private static Task Statistics(HttpServerRequest request, Database database, bool detailed) =>
        request.JsonAsync(
            (Database: database, Statistics: database.GetStatistics(), detailed, Backups: request.Server.Backups.Scheduler.List(
                database.Name)),
            static (json, state) =>
            {
                DatabaseStatistics statistics = state.Statistics;
                json.WriteStartObject();
                json.WriteNumber("CountOfDocuments", statistics.DocumentCount);
                json.WriteNumber("CountOfIndexes", statistics.Indexes.Count);
                json.WriteNumber("CountOfTombstones", statistics.TombstoneCount);
                json.WriteNumber("CountOfTimeSeriesSegments", statistics.TimeSeriesSegmentCount);
                json.WriteNumber("CountOfRevisionDocuments", statistics.RevisionCount);
                foreach (string none in (ReadOnlySpan<string>)
                [
                    "CountOfConflicts", "CountOfDocumentsConflicts", "NumberOfTransactionMergerQueueOperations"
                ])
                    json.WriteNumber(none, 0);

                json.WriteNumber("CountOfAttachments", statistics.AttachmentCount);
                json.WriteNumber("CountOfUniqueAttachments", statistics.UniqueAttachmentCount);
                json.WriteNumber("CountOfCounterEntries", statistics.CounterCount);
                if (state.detailed)
                {
                    json.WriteNumber("CountOfIdentities", statistics.IdentityCount);
                    json.WriteNumber("CountOfCompareExchange", statistics.CompareExchangeCount);
                    json.WriteNumber("CountOfCompareExchangeTombstones", statistics.CompareExchangeTombstoneCount);
                    json.WriteNumber("CountOfTimeSeriesDeletedRanges", 0);
                }

                json.WriteNumber("LastDocEtag", statistics.LastEtag);
                json.WriteNumber("LastDatabaseEtag", statistics.LastEtag);
                json.WriteString("DatabaseChangeVector", statistics.ChangeVector);
                json.WriteString("DatabaseId", state.Database.Id);
                json.WriteBoolean("Is64Bit", Environment.Is64BitProcess);
                json.WriteString("Pager", "Treepie.Storage");
                json.WriteBoolean("IsEncrypted", statistics.IsEncrypted);
                if (statistics.IsEncrypted)
                {
                    WriteSize(json, "DecryptedInMemory", statistics.DecryptedBytes);
                    json.WriteBoolean("IsDecryptedMemoryLocked", statistics.IsDecryptedMemoryLocked);
                }

                if (state.Backups.Count > 0)
                    WriteBackups(json, state.Backups);
                WriteSize(json, "SizeOnDisk", statistics.SizeOnDiskBytes);
                WriteSize(json, "TempBuffersSizeOnDisk", 0);
                json.WriteStartArray("Indexes");
                foreach (IndexStatistics index in statistics.Indexes)
                    WriteIndex(json, index);

                json.WriteEndArray();
                json.WriteEndObject();
            });

    /// <summary>Writes the latest state that was verified to be restorable, and the alerts of the backup tasks.</summary>
    private static void WriteBackups(Utf8JsonWriter json, IReadOnlyList<BackupTaskInfo> tasks)
    {
        json.WritePropertyName("LastProvenBackup");
        BackupTaskJson.WriteProven(
            json, tasks.Select(static info => info.State.LastProven).OfType<ProvenPoint>().MaxBy(static point => point.TakenAt));
        json.WriteStartArray("BackupAlerts");
        foreach (BackupTaskInfo info in tasks)
            if (info.Alert is not null)
                json.WriteStringValue(ServerPaths.Hide(info.Alert));
        json.WriteEndArray();
    }

    private static void WriteIndex(Utf8JsonWriter json, IndexStatistics index)
    {
        json.WriteStartObject();
        json.WriteString("Name", index.Name);
        json.WriteBoolean("IsStale", index.IsStale);
        json.WriteString("State", IndexWire.StateOf(index));
        json.WriteString("LockMode", index.Settings.LockMode.ToString());
        json.WriteString("Priority", index.Settings.Priority.ToString());
        json.WriteString("Type", IndexWire.TypeOf(index));
        json.WriteString("SourceType", index.Source.ToString());
        if (index.LastIndexingTime is { } time)
            json.WriteString("LastIndexingTime", WireTime.ToWire(time));
        else
            json.WriteNull("LastIndexingTime");

        json.WriteEndObject();
    }

    private static Task Collections(HttpServerRequest request, Database database, bool detailed)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return request.JsonAsync((Snapshot: snapshot, detailed), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteNumber("CountOfDocuments", state.Snapshot.DocumentCount);
            json.WriteNumber("CountOfConflicts", 0);
            json.WriteStartObject("Collections");
            foreach (CollectionStatistics collection in state.Snapshot.Collections())
            {
                if (!state.detailed)
                {
                    json.WriteNumber(collection.Name, collection.DocumentCount);
                    continue;
                }

                json.WriteStartObject(collection.Name);
                json.WriteString("Name", collection.Name);
                json.WriteNumber("CountOfDocuments", collection.DocumentCount);
                WriteSize(json, "Size", collection.SizeBytes);
                WriteSize(json, "DocumentsSize", collection.SizeBytes);
                json.WriteEndObject();
            }

            json.WriteEndObject();
            json.WriteEndObject();
        });
    }

    private static void WriteSize(Utf8JsonWriter json, string name, long bytes)
    {
        json.WriteStartObject(name);
        json.WriteString("HumaneSize", HumaneSize.Of(bytes));
        json.WriteNumber("SizeInBytes", bytes);
        json.WriteEndObject();
    }
}
