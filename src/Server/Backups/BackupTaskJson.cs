using System.Globalization;
using System.Text.Json;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Server.Http;

namespace Treepie.Server.Backups;

/// <summary>Writes backup tasks and their state in the format of RavenDB's clients. Keys are never written.</summary>
internal static class BackupTaskJson
{
    /// <summary>Writes <c>PeriodicBackupStatus</c>.</summary>
    public static void WriteStatus(Utf8JsonWriter json, BackupTaskInfo info, string nodeTag)
    {
        BackupTaskState state = info.State;
        json.WriteStartObject();
        json.WriteNumber("TaskId", info.Task.Id);
        json.WriteString("BackupType", info.Task.Kind == BackupKind.Snapshot ? "Snapshot" : "Backup");
        json.WriteBoolean("IsFull", true);
        json.WriteString("NodeTag", nodeTag);
        Time(json, "LastFullBackup", state.LastFull);
        Time(json, "LastFullBackupInternal", state.LastFull);
        Time(json, "LastIncrementalBackup", state.LastIncremental);
        Time(json, "LastIncrementalBackupInternal", state.LastIncremental);
        Time(json, "DelayUntil", state.NotBefore);
        json.WriteNumber("LastEtag", state.LastEtag);
        json.WriteString("FolderName", state.Kept.Count > 0 ? FolderOf(state.Kept[^1].Object) : null);
        json.WriteNumber("DurationInMs", state.DurationMs);
        json.WriteNumber("Version", 1);
        json.WriteNumber("LastOperationId", state.OperationId);
        json.WriteBoolean("IsEncrypted", info.Task.Key is not null || info.Task.KeySource is not null);
        WritePlaces(json, state);
        if (state.Error is not null)
        {
            json.WriteStartObject("Error");
            json.WriteString("Exception", ServerPaths.Hide(state.Error));
            Time(json, "At", state.ErrorAt);
            json.WriteEndObject();
        }

        WriteOwn(json, info);
        json.WriteEndObject();
    }

    /// <summary>
    /// Writes a task as the configuration that makes it, without its keys and secrets: as a member of a database record.
    /// </summary>
    public static void WriteConfiguration(Utf8JsonWriter json, BackupTask task)
    {
        json.WriteStartObject();
        WriteMembers(json, task);
        json.WriteEndObject();
    }

    /// <summary>Writes the members of that configuration.</summary>
    public static void WriteMembers(Utf8JsonWriter json, BackupTask task)
    {
        json.WriteNumber("TaskId", task.Id);
        json.WriteString("Name", task.Name);
        json.WriteBoolean("Disabled", task.IsDisabled);
        json.WriteString("BackupType", task.Kind == BackupKind.Snapshot ? "Snapshot" : "Backup");
        json.WriteString("FullBackupFrequency", task.FullSchedule);
        json.WriteString("IncrementalBackupFrequency", task.IncrementalSchedule);
        json.WriteString("LogInterval", task.LogInterval?.ToString("c", CultureInfo.InvariantCulture));
        json.WriteNumber("LogBudgetBytes", task.LogBudgetBytes);
        json.WriteString("TimeZone", task.TimeZone);
        json.WriteString("BackupUploadMode", task.UploadsAfterDisk ? "Default" : "DirectUpload");
        if (task.PercentWhileWriting is { } percent)
            json.WriteNumber("PercentWhileWriting", percent);
        json.WriteBoolean("Prove", task.Proves);
        json.WriteString("AlertAfter", task.AlertAfter?.ToString("c", CultureInfo.InvariantCulture));
        json.WriteStartObject("RetentionPolicy");
        json.WriteBoolean("Disabled", task.KeepFor is null);
        json.WriteString("MinimumBackupAgeToKeep", task.KeepFor?.ToString("c", CultureInfo.InvariantCulture));
        json.WriteNumber("MinimumBackupsToKeep", task.KeepAtLeast);
        json.WriteEndObject();
        json.WriteStartObject("BackupEncryptionSettings");
        json.WriteString(
            "EncryptionMode", BackupTaskReader.HasKey(task) ? "UseProvidedKey" : task.AllowPlain ? "None" : "UseDatabaseKey");
        json.WriteString("KeySource", task.KeySource);
        json.WriteEndObject();
        (string algorithm, string level) = NamesOf(task.Compression);
        json.WriteStartObject("SnapshotSettings");
        json.WriteString("CompressionAlgorithm", algorithm);
        json.WriteString("CompressionLevel", level);
        json.WriteEndObject();
        new KnownPlaces(task.Destinations).Write(json);
    }

    /// <summary>Returns the algorithm and level of a compression, by the names that clients have for them.</summary>
    public static (string Algorithm, string Level) NamesOf(BackupCompression compression) => compression switch
    {
        BackupCompression.ZstdFastest => ("Zstd", "Fastest"),
        BackupCompression.ZstdOptimal => ("Zstd", "Optimal"),
        BackupCompression.GzipFastest => ("Deflate", "Fastest"),
        BackupCompression.GzipOptimal => ("Deflate", "Optimal"),
        _ => ("Zstd", "NoCompression"),
    };

    /// <summary>Returns whether an address is a folder, or another place by the name that the server gives it.</summary>
    public static bool IsFolder(string address) => !address.Contains("://", StringComparison.Ordinal);

    /// <summary>Writes a task for the list of ongoing tasks.</summary>
    public static void WriteTask(Utf8JsonWriter json, BackupTaskInfo info, string nodeTag, string nodeUrl, DateTime now)
    {
        json.WriteStartObject();
        json.WriteNumber("TaskId", info.Task.Id);
        json.WriteString("TaskType", "Backup");
        json.WriteString("TaskName", info.Task.Name);
        json.WriteString("TaskState", info.Task.IsDisabled ? "Disabled" : "Enabled");
        json.WriteString("TaskConnectionStatus", info.IsRunning ? "Active" : "NotActive");
        json.WriteStartObject("ResponsibleNode");
        json.WriteString("NodeTag", nodeTag);
        json.WriteString("NodeUrl", nodeUrl);
        json.WriteEndObject();
        json.WriteString("BackupType", info.Task.Kind == BackupKind.Snapshot ? "Snapshot" : "Backup");
        json.WriteStartArray("BackupDestinations");
        foreach (Destinations.DestinationSettings place in info.Task.Destinations)
            json.WriteStringValue(IsFolder(place.Address) ? "Local" : "S3");
        json.WriteEndArray();
        json.WriteString("FullBackupFrequency", info.Task.FullSchedule);
        json.WriteString("IncrementalBackupFrequency", info.Task.IncrementalSchedule);
        json.WriteString("TimeZone", info.Task.TimeZone ?? "UTC");
        json.WriteString("LogInterval", info.Task.LogInterval?.ToString("c", CultureInfo.InvariantCulture));
        json.WriteNumber("PercentWhileWriting", info.Task.PercentWhileWriting ?? BackupTask.DefaultPercentWhileWriting);
        Time(json, "LastFullBackup", info.State.LastFull);
        Time(json, "LastIncrementalBackup", info.State.LastIncremental);
        Time(json, "DelayUntil", info.State.NotBefore);
        json.WriteBoolean("IsEncrypted", info.Task.Key is not null || info.Task.KeySource is not null);
        json.WriteString("Error", ServerPaths.Hide(info.State.Error));
        json.WriteStartObject("RetentionPolicy");
        json.WriteBoolean("Disabled", info.Task.KeepFor is null);
        json.WriteString("MinimumBackupAgeToKeep", info.Task.KeepFor?.ToString("c", CultureInfo.InvariantCulture));
        json.WriteNumber("MinimumBackupsToKeep", info.Task.KeepAtLeast);
        json.WriteEndObject();
        if (info.Next is { } next)
        {
            json.WriteStartObject("NextBackup");
            json.WriteString(
                "TimeSpan", (next.At > now ? next.At - now : TimeSpan.Zero).ToString("c", CultureInfo.InvariantCulture));
            Time(json, "DateTime", next.At);
            json.WriteBoolean("IsFull", next.IsFull);
            json.WriteString("Kind", next.Kind.ToString());
            Time(json, "OriginalBackupTime", next.At);
            json.WriteEndObject();
        }

        WriteOwn(json, info);
        json.WriteEndObject();
    }

    /// <summary>Writes a verified state; null if there is none.</summary>
    public static void WriteProven(Utf8JsonWriter json, ProvenPoint? point)
    {
        if (point is null)
        {
            json.WriteNullValue();
            return;
        }

        json.WriteStartObject();
        Time(json, "TakenAt", point.TakenAt);
        Time(json, "ProvenAt", point.ProvenAt);
        json.WriteNumber("Etag", point.LastEtag);
        json.WriteNumber("Documents", point.Documents);
        json.WriteString("ContentHash", point.ContentHash);
        json.WriteString("Address", point.Address);
        json.WriteString("Object", point.Object);
        json.WriteEndObject();
    }

    /// <summary>Writes the result at one destination.</summary>
    public static void Write(Utf8JsonWriter json, BackupPlaceResult place)
    {
        json.WriteStartObject();
        json.WriteString("Address", place.Address);
        json.WriteString("Object", place.Object);
        json.WriteNumber("StoredBytes", place.StoredBytes);
        json.WriteBoolean("IsProven", place.IsProven);
        json.WriteString("Error", ServerPaths.Hide(place.Error));
        json.WriteEndObject();
    }

    private static void WriteOwn(Utf8JsonWriter json, BackupTaskInfo info)
    {
        json.WriteBoolean("IsRunning", info.IsRunning);
        json.WritePropertyName("LastProven");
        WriteProven(json, info.State.LastProven);
        WriteNewest(json, info.State.Newest);
        WriteLog(json, info);
        json.WriteString("Alert", ServerPaths.Hide(info.Alert));
        json.WriteNumber("BackupsKept", info.State.Kept.Count);
        json.WriteStartArray("Places");
        foreach (BackupPlaceResult place in info.State.Places)
            Write(json, place);
        json.WriteEndArray();
    }

    private static void WriteNewest(Utf8JsonWriter json, RestorableMoment? newest)
    {
        if (newest is null)
        {
            json.WriteNull("NewestRestorable");
            return;
        }

        json.WriteStartObject("NewestRestorable");
        Time(json, "At", newest.At);
        json.WriteNumber("Commit", newest.Commit);
        json.WriteNumber("Etag", newest.LastEtag);
        json.WriteString("Object", newest.Object);
        json.WriteBoolean("IsProven", newest.IsProven);
        json.WriteEndObject();
    }

    private static void WriteLog(Utf8JsonWriter json, BackupTaskInfo info)
    {
        if (info.Task.LogInterval is null)
            return;

        json.WriteStartObject("Log");
        Time(json, "LastLogBackup", info.State.LastLog);
        json.WriteString("LastGap", info.State.LogGap);
        Time(json, "LastGapAt", info.State.LogGapAt);
        if (info.Log is { } log)
        {
            json.WriteBoolean("IsLost", log.IsLost);
            json.WriteNumber("WaitingBytes", log.WaitingBytes);
            json.WriteNumber("BudgetBytes", log.BudgetBytes);
        }

        json.WriteEndObject();
    }

    // Clients know only one folder and one bucket; our own member lists all destinations.
    private static void WritePlaces(Utf8JsonWriter json, BackupTaskState state)
    {
        if (state.Places.FirstOrDefault(static place => IsFolder(place.Address)) is { } folder)
        {
            json.WriteStartObject("LocalBackup");
            json.WriteString("BackupDirectory", $"{folder.Address.TrimEnd('/')}/{FolderOf(folder.Object)}".TrimEnd('/'));
            json.WriteString("FileName", folder.Object);
            json.WriteBoolean("TempFolderUsed", false);
            WritePlace(json, state, folder);
        }

        if (state.Places.FirstOrDefault(static place => !IsFolder(place.Address)) is not { } bucket)
            return;
        json.WriteStartObject("UploadToS3");
        json.WriteBoolean("Skipped", false);
        json.WriteStartObject("UploadProgress");
        json.WriteString("UploadType", "Chunked");
        json.WriteString("UploadState", bucket.Error is null ? "Done" : "PendingUpload");
        json.WriteNumber("UploadedInBytes", bucket.Error is null ? bucket.StoredBytes : 0);
        json.WriteNumber("TotalInBytes", bucket.StoredBytes);
        json.WriteEndObject();
        WritePlace(json, state, bucket);
    }

    private static void WritePlace(Utf8JsonWriter json, BackupTaskState state, BackupPlaceResult place)
    {
        Time(json, "LastFullBackup", state.LastFull);
        Time(json, "LastIncrementalBackup", state.LastIncremental);
        json.WriteNumber("FullBackupDurationInMs", state.DurationMs);
        json.WriteString("Exception", ServerPaths.Hide(place.Error));
        json.WriteEndObject();
    }

    private static string FolderOf(string name) => name.LastIndexOf('/') is > 0 and var slash ? name[..slash] : "";

    private static void Time(Utf8JsonWriter json, string name, DateTime? time)
    {
        if (time is { } at)
            json.WriteString(name, WireTime.ToWire(at));
        else
            json.WriteNull(name);
    }
}
