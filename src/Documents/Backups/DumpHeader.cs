using System.Globalization;
using System.Text.Json;
using Treepie.Storage.Backups;

namespace Treepie.Backups;

/// <summary>
/// What a backup of this program says of itself at its beginning, as the one element of the array <c>Treepie</c>.
/// </summary>
/// <param name="DatabaseName">Name of the database.</param>
/// <param name="DatabaseId">Its id, part of its change vectors.</param>
/// <param name="LastEtag">Etag of the last change in the backup.</param>
/// <param name="TakenAt">When, UTC.</param>
/// <param name="IsWhole">Whether nothing was left out.</param>
internal sealed record DumpHeader(string DatabaseName, Guid DatabaseId, long LastEtag, DateTime TakenAt, bool IsWhole)
{
    /// <summary>
    /// An increment has a format of its own, so that who does not know of increments does not take one for the whole.
    /// </summary>
    private const int Format = 11, IncrementFormat = 12;

    /// <summary>Formats up to this one have revisions without attachments: they are read, and not written any more.</summary>
    private const int BareRevisionsIncrementFormat = 10;

    /// <summary>Formats up to this one have revisions in a form of their own: they are read, and not written any more.</summary>
    private const int RawRevisionsIncrementFormat = 8;

    /// <summary>
    /// Formats up to this one have no hash of what is set of indexes, and indexes in another form: they are read, and not
    /// written any more.
    /// </summary>
    private const int UnhashedSettingsIncrementFormat = 4;

    /// <summary>Formats that have nothing beside documents: they are read, and not written any more.</summary>
    private const int BareFormat = 5, BareIncrementFormat = 6;

    /// <summary>The same as these, hashed with SHA-256.</summary>
    private const int Sha256Format = 1, Sha256IncrementFormat = 2;

    /// <summary>Of an increment: what it goes on from, and what it does there.</summary>
    public DumpSince? Since { get; init; }

    /// <summary>What its content hash is.</summary>
    public BackupHashKind Hash { get; init; }

    /// <summary>Whether its manifest has a hash of what is set of indexes.</summary>
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

    /// <summary>Reads it.</summary>
    /// <exception cref="BackupException">It is of a newer format.</exception>
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
