using System.Text.Json;

namespace Treepie.Backups;

/// <summary>What an increment goes on from, and what its reader does beside taking what is in it.</summary>
/// <param name="LastEtag">Etag of the last change in the backup before: all in this one is later.</param>
/// <param name="ContentHash">The content hash of that backup: no other will do.</param>
/// <param name="PurgedUpTo">Tombstones up to this etag are forgotten.</param>
/// <param name="HoldsIndexes">Its definitions of indexes take the place of those before; else those before stay.</param>
/// <param name="HoldsIdentities">The same of identities.</param>
/// <param name="Documents">Documents of the database after it.</param>
/// <param name="Tombstones">Tombstones of the database after it.</param>
internal sealed record DumpSince(
    long LastEtag, string ContentHash, long PurgedUpTo, bool HoldsIndexes, bool HoldsIdentities, long Documents, long Tombstones)
{
    /// <summary>Values beside documents, and deletions of such, of the database after it.</summary>
    public long Beside { get; init; }

    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject("Since"u8);
        json.WriteNumber("LastEtag"u8, LastEtag);
        json.WriteString("ContentHash"u8, ContentHash);
        json.WriteNumber("PurgedUpTo"u8, PurgedUpTo);
        json.WriteBoolean("HoldsIndexes"u8, HoldsIndexes);
        json.WriteBoolean("HoldsIdentities"u8, HoldsIdentities);
        json.WriteNumber("Documents"u8, Documents);
        json.WriteNumber("Tombstones"u8, Tombstones);
        json.WriteNumber("Beside"u8, Beside);
        json.WriteEndObject();
    }

    /// <summary>Reads it of a header.</summary>
    public static DumpSince Read(JsonElement header)
    {
        JsonElement json = header.GetProperty("Since"u8);
        return new DumpSince(
            json.GetProperty("LastEtag"u8).GetInt64(),
            DumpJson.Text(json, "ContentHash"),
            json.GetProperty("PurgedUpTo"u8).GetInt64(),
            json.GetProperty("HoldsIndexes"u8).GetBoolean(),
            json.GetProperty("HoldsIdentities"u8).GetBoolean(),
            json.GetProperty("Documents"u8).GetInt64(),
            json.GetProperty("Tombstones"u8).GetInt64())
        {
            Beside = json.TryGetProperty("Beside"u8, out JsonElement beside) ? beside.GetInt64() : 0,
        };
    }
}
