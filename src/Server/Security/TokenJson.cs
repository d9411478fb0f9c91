using System.Buffers;
using System.Globalization;
using System.Text.Json;

namespace Treepie.Server.Security;

/// <summary>Tokens as JSON, in the format of clients and as stored.</summary>
internal static class TokenJson
{
    /// <summary>Writes a token; its text is included only in the response to its creation.</summary>
    public static void Write(Utf8JsonWriter json, TokenEntry entry, string? text = null)
    {
        json.WriteStartObject();
        json.WriteString("Id", entry.Id);
        if (text is not null)
            json.WriteString("Token", text);
        json.WriteString("Name", entry.Name);
        CertificateJson.WriteRights(json, entry.Rights);
        json.WriteString("NotBefore", CertificateJson.TimeText(entry.NotBefore));
        json.WriteString("NotAfter", CertificateJson.TimeText(entry.NotAfter));
        json.WriteEndObject();
    }

    /// <summary>Returns the stored form of a token.</summary>
    public static byte[] ToStored(TokenEntry entry)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteString("Id", entry.Id);
            json.WriteString("Hash", entry.Hash);
            json.WriteString("Name", entry.Name);
            CertificateJson.WriteRights(json, entry.Rights);
            json.WriteString("NotBefore", CertificateJson.TimeText(entry.NotBefore));
            json.WriteString("NotAfter", CertificateJson.TimeText(entry.NotAfter));
            json.WriteStartObject("@metadata");
            json.WriteString("@collection", "Tokens");
            json.WriteEndObject();
            json.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>Reads the stored form.</summary>
    public static TokenEntry FromStored(JsonElement stored) => new()
    {
        Id = stored.GetProperty("Id").GetString() ?? "",
        Hash = stored.GetProperty("Hash").GetString() ?? "",
        Name = stored.GetProperty("Name").GetString() ?? "",
        Rights = CertificateJson.StoredRights(stored),
        NotBefore = Time(stored, "NotBefore"),
        NotAfter = Time(stored, "NotAfter"),
    };

    private static DateTime Time(JsonElement stored, string name) => DateTime.Parse(
        stored.GetProperty(name).GetString() ?? "", CultureInfo.InvariantCulture,
        DateTimeStyles.AdjustToUniversal | DateTimeStyles.AssumeUniversal);
}
