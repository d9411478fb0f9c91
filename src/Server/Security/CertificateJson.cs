using System.Buffers;
using System.Text.Json;

namespace Treepie.Server.Security;

/// <summary>Certificates and rights as JSON, in the format of clients and as stored.</summary>
internal static class CertificateJson
{
    private const string Time = "yyyy'-'MM'-'dd'T'HH':'mm':'ss'.'fffffff'Z'";

    /// <summary>Writes an entry, with or without the certificate itself.</summary>
    public static void Write(Utf8JsonWriter json, CertificateEntry entry, bool withCertificate)
    {
        json.WriteStartObject();
        json.WriteString("Name", entry.Name);
        if (withCertificate)
            json.WriteBase64String("Certificate", entry.Certificate);
        WriteRights(json, entry.Rights);
        json.WriteString("Thumbprint", entry.Thumbprint);
        json.WriteString("Fingerprint", entry.Fingerprint);
        json.WriteString("PublicKeyPinningHash", entry.Pin);
        json.WriteString("NotBefore", TimeText(entry.NotBefore));
        json.WriteString("NotAfter", TimeText(entry.NotAfter));
        json.WriteBoolean("WellKnown", entry.IsWellKnown);
        json.WriteStartArray("CollectionSecondaryKeys");
        json.WriteEndArray();
        json.WriteString("CollectionPrimaryKey", "");
        json.WriteEndObject();
    }

    /// <summary>Returns the stored form of an entry.</summary>
    public static byte[] ToStored(CertificateEntry entry)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteString("Name", entry.Name);
            WriteRights(json, entry.Rights);
            json.WriteBase64String("Certificate", entry.Certificate);
            json.WriteStartArray("Issuers");
            foreach (byte[] issuer in entry.Issuers)
                json.WriteBase64StringValue(issuer);
            json.WriteEndArray();
            json.WriteStartObject("@metadata");
            json.WriteString("@collection", "Certificates");
            json.WriteEndObject();
            json.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>Reads the stored form. The properties of the certificate are read from the certificate itself.</summary>
    public static CertificateEntry FromStored(JsonElement stored)
    {
        using var certificate = System.Security.Cryptography.X509Certificates.X509CertificateLoader.LoadCertificate(
            stored.GetProperty("Certificate").GetBytesFromBase64());
        return CertificateEntry.For(certificate, [], stored.GetProperty("Name").GetString() ?? "", StoredRights(stored)) with
        {
            Issuers = [.. stored.GetProperty("Issuers").EnumerateArray().Select(static issuer => issuer.GetBytesFromBase64())],
        };
    }

    /// <summary>Writes the members with the rights.</summary>
    public static void WriteRights(Utf8JsonWriter json, Rights rights)
    {
        json.WriteString("SecurityClearance", rights.Clearance.ToString());
        json.WriteStartObject("Permissions");
        foreach ((
            string database,
            DatabaseAccess access) in rights.Databases.OrderBy(static one => one.Key, StringComparer.OrdinalIgnoreCase))
            json.WriteString(database, access.ToString());
        json.WriteEndObject();
    }

    /// <summary>Reads rights written by <see cref="WriteRights"/> from the stored form.</summary>
    public static Rights StoredRights(JsonElement stored) => Rights.Of(
        Enum.Parse<Clearance>(stored.GetProperty("SecurityClearance").GetString() ?? ""),
        stored.GetProperty("Permissions").EnumerateObject()
            .Select(static one => KeyValuePair.Create(one.Name, Enum.Parse<DatabaseAccess>(one.Value.GetString() ?? ""))));

    /// <summary>Formats a time (UTC) for clients.</summary>
    public static string TimeText(DateTime time) => time.ToString(Time, System.Globalization.CultureInfo.InvariantCulture);

    /// <summary>Reads a clearance sent by a client.</summary>
    /// <exception cref="WireException">The clearance is not supported.</exception>
    public static Clearance ReadClearance(JsonElement body) => Text(body, "SecurityClearance") switch
    {
        "ClusterAdmin" => Clearance.ClusterAdmin,
        "Operator" => Clearance.Operator,
        "ValidUser" => Clearance.ValidUser,
        var other =>
            throw WireException.BadRequest($"'SecurityClearance' is '{other}'; it must be ClusterAdmin, Operator or ValidUser."),
    };

    /// <summary>Reads rights sent by a client.</summary>
    /// <exception cref="WireException">The rights are not valid.</exception>
    public static Rights ReadRights(JsonElement body)
    {
        Clearance clearance = ReadClearance(body);
        var databases = new Dictionary<string, DatabaseAccess>(StringComparer.OrdinalIgnoreCase);
        if (!body.TryGetProperty("Permissions", out JsonElement permissions) || permissions.ValueKind == JsonValueKind.Null)
            return Rights.Of(clearance, databases);

        if (permissions.ValueKind != JsonValueKind.Object)
            throw WireException.BadRequest(
                "'Permissions' must be an object of databases and what is allowed in each: {\"shop\":\"ReadWrite\"}.");

        foreach (JsonProperty permission in permissions.EnumerateObject())
        {
            DatabaseAccess access = (permission.Value.ValueKind == JsonValueKind.String
                ? permission.Value.GetString()
                : null) switch
            {
                "Read" => DatabaseAccess.Read,
                "ReadWrite" => DatabaseAccess.ReadWrite,
                "Admin" => DatabaseAccess.Admin,
                _ => throw WireException.BadRequest(
                    $"What is allowed in database '{permission.Name}' must be Read, ReadWrite or Admin."),
            };
            if (!databases.TryAdd(permission.Name, access))
                throw WireException.BadRequest(
                    $"'Permissions' names database '{permission.Name}' twice; names are the same without case. Nothing was "
                    + "changed.");
        }

        return Rights.Of(clearance, databases);
    }

    /// <summary>Returns a required, non-empty string of the body.</summary>
    public static string Text(JsonElement body, string name) =>
        body.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.String
            && value.GetString() is { Length: > 0 } text
            ? text
            : throw WireException.BadRequest($"The request body lacks '{name}', a text.");
}
