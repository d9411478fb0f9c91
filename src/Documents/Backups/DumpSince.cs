using System.Text.Json;

namespace Treepie.Backups;

/// <summary>The backup that an increment continues, and how the increment is applied.</summary>
/// <param name="LastEtag">The etag of the last change in the previous backup; all changes in this one are later.</param>
/// <param name="ContentHash">The content hash of the previous backup, which must match.</param>
/// <param name="PurgedUpTo">Tombstones up to this etag have been purged.</param>
/// <param name="HoldsIndexes">Whether its index definitions replace the previous ones; otherwise those are kept.</param>
/// <param name="HoldsIdentities">The same for identities.</param>
/// <param name="Documents">The number of documents in the database after the increment.</param>
/// <param name="Tombstones">The number of tombstones in the database after the increment.</param>
internal sealed record DumpSince(
    long LastEtag, string ContentHash, long PurgedUpTo, bool HoldsIndexes, bool HoldsIdentities, long Documents, long Tombstones)
{
    /// <summary>
    /// The number of items of related data, including their deletions, in the database after the increment.
    /// </summary>
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

    /// <summary>Reads it from a header.</summary>
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
