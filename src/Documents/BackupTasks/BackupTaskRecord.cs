using System.Text.Json;
using System.Text.Json.Serialization;
using Treepie.Destinations;

namespace Treepie.BackupTasks;

/// <summary>A task as it is kept in its database.</summary>
/// <param name="Format">Version of this record, 1.</param>
/// <param name="Home">Directory of the database when it was written: in a copy that was restored or moved elsewhere the task
/// rests until it is enabled, or two would write over each other.</param>
/// <param name="Task">The task.</param>
/// <param name="State">What has become of it.</param>
internal sealed record BackupTaskRecord(int Format, string Home, BackupTask Task, BackupTaskState State)
{
    public const int CurrentFormat = 1;

    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, BackupTaskJson.Default.BackupTaskRecord);

    /// <summary>Reads one.</summary>
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

/// <summary>Reads and writes records without reflection.</summary>
[JsonSourceGenerationOptions(UseStringEnumConverter = true, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(BackupTaskRecord))]
[JsonSerializable(typeof(DestinationSettings))]
[JsonSerializable(typeof(BackupCard))]
[JsonSerializable(typeof(KeptLog))]
internal sealed partial class BackupTaskJson : JsonSerializerContext;
