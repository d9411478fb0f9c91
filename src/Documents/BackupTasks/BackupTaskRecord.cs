using System.Text.Json;
using System.Text.Json.Serialization;
using Treepie.Destinations;

namespace Treepie.BackupTasks;

/// <summary>A backup task as stored in its database.</summary>
/// <param name="Format">The version of this record, 1.</param>
/// <param name="Home">
/// The directory of the database when the record was written. In a restored or moved copy, which has another directory, the
/// task is suspended until it is enabled, because the tasks of both databases would overwrite each other's backups.
/// </param>
/// <param name="Task">The task.</param>
/// <param name="State">The state of the task.</param>
internal sealed record BackupTaskRecord(int Format, string Home, BackupTask Task, BackupTaskState State)
{
    public const int CurrentFormat = 1;

    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, BackupTaskJson.Default.BackupTaskRecord);

    /// <summary>Reads a record.</summary>
    /// <exception cref="BackupTaskException">It was written by a newer version.</exception>
    public static BackupTaskRecord FromJson(ReadOnlySpan<byte> json)
    {
        BackupTaskRecord record = JsonSerializer.Deserialize(json, BackupTaskJson.Default.BackupTaskRecord)
            ?? throw new BackupTaskException("A backup task of the database is empty.");
        return record.Format == CurrentFormat
            ? record
            : throw new BackupTaskException(
                $"A backup task has format {record.Format}, and this program knows format {CurrentFormat}. Use the version that "
                    + $"wrote it, or a newer one.");
    }
}

/// <summary>Serializes records without reflection.</summary>
[JsonSourceGenerationOptions(UseStringEnumConverter = true, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(BackupTaskRecord))]
[JsonSerializable(typeof(DestinationSettings))]
[JsonSerializable(typeof(BackupCard))]
[JsonSerializable(typeof(KeptLog))]
internal sealed partial class BackupTaskJson : JsonSerializerContext;
