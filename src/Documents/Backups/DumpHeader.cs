using System.Globalization;
using System.Text.Json;
using Treepie.Storage.Backups;

namespace Treepie.Backups;

/// <summary>
/// The header of a backup written by this program: the single element of the array <c>Treepie</c> at the start.
/// </summary>
/// <param name="DatabaseName">The name of the database.</param>
/// <param name="DatabaseId">The id of the database, which is part of its change vectors.</param>
/// <param name="LastEtag">The etag of the last change in the backup.</param>
/// <param name="TakenAt">When the backup was taken (UTC).</param>
/// <param name="IsWhole">Whether the backup contains the whole database.</param>
internal sealed record DumpHeader(string DatabaseName, Guid DatabaseId, long LastEtag, DateTime TakenAt, bool IsWhole)
{
    /// <summary>
    /// The current formats. Increments have a separate format number, so that a reader that does not know increments does not
    /// mistake one for a full backup.
    /// </summary>
    private const int Format = 11, IncrementFormat = 12;

    /// <summary>
    /// The last format whose revisions have no attachments. Formats up to it are read but no longer written.
    /// </summary>
    private const int BareRevisionsIncrementFormat = 10;

    /// <summary>
    /// The last format with revisions in a different encoding. Formats up to it are read but no longer written.
    /// </summary>
    private const int RawRevisionsIncrementFormat = 8;

    /// <summary>
    /// The last format without a hash of index settings, and with index definitions in a different form. Formats up to it are
    /// read but no longer written.
    /// </summary>
    private const int UnhashedSettingsIncrementFormat = 4;

    /// <summary>Formats without related data (counters, attachments and the like). Read but no longer written.</summary>
    private const int BareFormat = 5, BareIncrementFormat = 6;

    /// <summary>The same formats, hashed with SHA-256.</summary>
    private const int Sha256Format = 1, Sha256IncrementFormat = 2;

    /// <summary>For an increment, the backup that it continues and how it is applied.</summary>
    public DumpSince? Since { get; init; }

    /// <summary>The algorithm of the content hash.</summary>
    public BackupHashKind Hash { get; init; }

    /// <summary>Whether the manifest contains a hash of the index settings.</summary>
    public bool HashesSettings { get; init; } = true;

    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteNumber("Format"u8, Since is null ? Format : IncrementFormat);
        json.WriteString("DatabaseName"u8, DatabaseName);
        json.WriteString("DatabaseId"u8, DatabaseId.ToString("D"));
        json.WriteNumber("LastEtag"u8, LastEtag);
        json.WriteString("TakenAt"u8, TakenAt.ToString("O", CultureInfo.InvariantCulture));
        json.WriteBoolean("IsWhole"u8, IsWhole);
        Since?.Write(json);
        json.WriteEndObject();
    }

    /// <summary>Reads the header.</summary>
    /// <exception cref="BackupException">The format is newer than this program.</exception>
    public static DumpHeader Read(JsonElement json)
    {
        int format = json.GetProperty("Format"u8).GetInt32();
        if (format is < Sha256Format or > IncrementFormat)
            throw new BackupException(
                BackupFault.Newer,
                $"The backup has format {format}, this program knows formats {Sha256Format} to {IncrementFormat}. Restore it "
                    + $"with the version that wrote it, or a newer one.");

        return new DumpHeader(
            DumpJson.Text(json, "DatabaseName"),
            Guid.ParseExact(DumpJson.Text(json, "DatabaseId"), "D"),
            json.GetProperty("LastEtag"u8).GetInt64(),
            DumpJson.Time(json, "TakenAt"),
            json.GetProperty("IsWhole"u8).GetBoolean())
        {
            Since = format is IncrementFormat or BareRevisionsIncrementFormat or RawRevisionsIncrementFormat
                or BareIncrementFormat or UnhashedSettingsIncrementFormat or Sha256IncrementFormat
                ? DumpSince.Read(json)
                : null,
            Hash = format <= Sha256IncrementFormat ? BackupHashKind.Sha256 : BackupHashKind.Blake3,
            HashesSettings = format >= BareFormat,
        };
    }
}
