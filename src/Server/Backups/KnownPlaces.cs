using System.Text.Json;
using Treepie.Destinations;

namespace Treepie.Server.Backups;

/// <summary>
/// The destinations of a task, by the member of its configuration that names them: the first folder, the first bucket that
/// <c>S3Settings</c> can describe, and the others. Immutable.
/// </summary>
internal sealed class KnownPlaces
{
    private readonly string? _settings;

    public KnownPlaces(IReadOnlyList<DestinationSettings> places)
    {
        Local = places.FirstOrDefault(static place => BackupTaskJson.IsFolder(place.Address));
        foreach (DestinationSettings place in places)
            if (Bucket is null && DescribeBucket(place.Address) is { } settings)
                (Bucket, _settings) = (place, settings);
        Others = [.. places.Where(place => !ReferenceEquals(place, Local) && !ReferenceEquals(place, Bucket))];
    }

    /// <summary>The folder in <c>LocalSettings</c>.</summary>
    public DestinationSettings? Local { get; }

    /// <summary>The bucket in <c>S3Settings</c>.</summary>
    public DestinationSettings? Bucket { get; }

    /// <summary>Those in <c>Destinations</c>.</summary>
    public IReadOnlyList<DestinationSettings> Others { get; }

    /// <summary>Returns a destination with the keys that a former one of its address has, if it brings none itself.</summary>
    public static DestinationSettings WithKeys(DestinationSettings place, IReadOnlyList<DestinationSettings> before) =>
        place is { AccessKey: null, SecretKey: null, SessionToken: null }
            ? before.FirstOrDefault(known => known.Address == place.Address) ?? place
            : place;

    /// <summary>Writes the members, without keys.</summary>
    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject("LocalSettings");
        json.WriteBoolean("Disabled", Local is null);
        json.WriteString("FolderPath", Local?.Address);
        json.WriteEndObject();
        if (_settings is not null)
        {
            json.WritePropertyName("S3Settings");
            json.WriteRawValue(_settings);
        }

        json.WriteStartArray("Destinations");
        foreach (DestinationSettings place in Others)
        {
            json.WriteStartObject();
            json.WriteString("Address", place.Address);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    /// <summary>Returns the <c>S3Settings</c> that are read as an address; null if none are.</summary>
    private static string? DescribeBucket(string address)
    {
        const string scheme = "s3://";
        if (!address.StartsWith(scheme, StringComparison.Ordinal))
            return null;
        string[] parts = address[scheme.Length..].Split('?', 2);
        string[] names = parts[0].Split('/', 2);
        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteBoolean("Disabled", false);
            json.WriteString("BucketName", names[0]);
            if (names.Length > 1)
                json.WriteString("RemoteFolderName", names[1]);
            foreach (string parameter in parts.Length > 1 ? parts[1].Split('&') : [])
                switch (parameter.Split('=', 2))
                {
                    case ["region", var region]:
                        json.WriteString("AwsRegionName", Uri.UnescapeDataString(region));
                        break;
                    case ["endpoint", var endpoint]:
                        json.WriteString("CustomServerUrl", Uri.UnescapeDataString(endpoint));
                        break;
                    case ["path-style", "true"]:
                        json.WriteBoolean("ForcePathStyle", true);
                        break;
                    default:
                        return null;
                }

            json.WriteEndObject();
        }

        using var settings = JsonDocument.Parse(buffer.ToArray());
        return names[0].Length > 0 && BackupTaskReader.ReadS3(settings.RootElement)?.Address == address
            ? settings.RootElement.GetRawText()
            : null;
    }
}
