using System.Buffers;
using System.Globalization;
using System.Text.Json;

namespace Treepie.Backups;

/// <summary>The description of the database in the header of a snapshot: the information that is not in its pages.</summary>
/// <param name="DatabaseName">The name of the database.</param>
/// <param name="DatabaseId">The id of the database, which is part of its change vectors.</param>
/// <param name="LastEtag">The etag of the last change.</param>
/// <param name="TakenAt">When the snapshot was taken (UTC).</param>
/// <param name="Counts">The number of items of each kind.</param>
/// <param name="Indexes">The folders of the indexes, with their definitions as stored.</param>
internal sealed record SnapshotDescription(
    string DatabaseName, Guid DatabaseId, long LastEtag, DateTime TakenAt, BackupCounts Counts,
    IReadOnlyList<(string Folder, byte[] Definition)> Indexes)
{
    private const int Format = 1;

    /// <summary>
    /// For a log, the commit to whose state the description refers: the last one of the log. Null for snapshots, and for
    /// older logs, whose descriptions refer to approximately that state.
    /// </summary>
    public long? Commit { get; init; }

    /// <summary>Returns the description as JSON.</summary>
    public byte[] Write()
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteNumber("Format"u8, Format);
            json.WriteString("DatabaseName"u8, DatabaseName);
            json.WriteString("DatabaseId"u8, DatabaseId.ToString("D"));
            json.WriteNumber("LastEtag"u8, LastEtag);
            json.WriteString("TakenAt"u8, TakenAt.ToString("O", CultureInfo.InvariantCulture));
            if (Commit is { } commit)
                json.WriteNumber("Commit"u8, commit);
            json.WriteNumber("Documents"u8, Counts.Documents);
            json.WriteNumber("Tombstones"u8, Counts.Tombstones);
            json.WriteNumber("Identities"u8, Counts.Identities);
            json.WriteNumber("Collections"u8, Counts.Collections);
            json.WriteStartArray("Indexes"u8);
            foreach ((string folder, byte[] definition) in Indexes)
            {
                json.WriteStartObject();
                json.WriteString("Folder"u8, folder);
                json.WriteBase64String("Definition"u8, definition);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>Reads a description.</summary>
    /// <exception cref="BackupException">The format is newer than this program, or it is not a description.</exception>
    public static SnapshotDescription Read(ReadOnlyMemory<byte> utf8)
    {
        try
        {
            using JsonDocument document = JsonDocument.Parse(utf8);
            JsonElement json = document.RootElement;
            int format = json.GetProperty("Format"u8).GetInt32();
            if (format != Format)
                throw new BackupException(
                    BackupFault.Newer,
                    $"The snapshot has format {format}, this program knows format {Format}. Restore it with the version that "
                        + $"wrote it, or a newer one.");

            var indexes = new List<(string Folder, byte[] Definition)>();
            foreach (JsonElement index in json.GetProperty("Indexes"u8).EnumerateArray())
                indexes.Add((DumpJson.Text(index, "Folder"), index.GetProperty("Definition"u8).GetBytesFromBase64()));
            return new SnapshotDescription(
                DumpJson.Text(json, "DatabaseName"),
                Guid.ParseExact(DumpJson.Text(json, "DatabaseId"), "D"),
                json.GetProperty("LastEtag"u8).GetInt64(),
                DumpJson.Time(json, "TakenAt"),
                new BackupCounts(
                    json.GetProperty("Documents"u8).GetInt64(),
                    json.GetProperty("Tombstones"u8).GetInt64(),
                    indexes.Count,
                    json.GetProperty("Identities"u8).GetInt64(),
                    json.GetProperty("Collections"u8).GetInt64()),
                indexes)
            {
                Commit = json.TryGetProperty("Commit"u8, out JsonElement commit) ? commit.GetInt64() : null,
            };
        }
        catch (Exception error)
            when (error is JsonException or KeyNotFoundException or InvalidOperationException or FormatException)
        {
            throw new BackupException(
                BackupFault.Damaged,
                $"The snapshot does not say which database it is of ({error.Message}): it is no backup of a database. Give "
                    + $"another file.",
                error);
        }
    }
}
