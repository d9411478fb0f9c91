using System.Text.Json;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Destinations;
using Treepie.Server.Http;

namespace Treepie.Server.Backups;

/// <summary>
/// Reads backup requests of clients: <c>PeriodicBackupConfiguration</c>, <c>BackupConfiguration</c>, and additional members
/// of our own.
/// </summary>
internal static class BackupTaskReader
{
    private static readonly string[] _unbuiltPlaces = ["GlacierSettings", "AzureSettings", "FtpSettings", "GoogleCloudSettings"];

    /// <summary>Reads a backup task.</summary>
    /// <exception cref="WireException">A member is not valid or not supported.</exception>
    public static BackupTask Read(JsonElement root, string defaultName)
    {
        BackupKind kind = WireJson.Text(root, "BackupType", required: false) switch
        {
            null or "" or "Backup" => BackupKind.Logical,
            "Snapshot" => BackupKind.Snapshot,
            var type => throw WireException.BadRequest($"There is no backup type '{type}'; there are Backup and Snapshot."),
        };
        string? frequency = NotEmpty(WireJson.Text(root, "FullBackupFrequency", required: false));
        JsonElement retention = Part(root, "RetentionPolicy"), encryption = Part(root, "BackupEncryptionSettings");
        bool retains = retention.ValueKind == JsonValueKind.Object && !WireJson.Flag(retention, "Disabled");
        (string? key, string? source, bool plain) = ReadEncryption(encryption);
        List<DestinationSettings> places = ReadPlaces(root);
        return new BackupTask
        {
            Id = WireJson.Count(root, "TaskId", 0),
            Name = NotEmpty(WireJson.Text(root, "Name", required: false)) ?? defaultName,
            IsDisabled = WireJson.Flag(root, "Disabled"),
            FullSchedule = frequency,
            IncrementalSchedule = NotEmpty(WireJson.Text(root, "IncrementalBackupFrequency", required: false)),
            LogInterval = WireJson.Time(root, "LogInterval"),
            LogBudgetBytes = WireJson.Count(root, "LogBudgetBytes", new BackupTask().LogBudgetBytes),
            TimeZone = NotEmpty(WireJson.Text(root, "TimeZone", required: false)),
            Destinations = places,
            UploadsAfterDisk = ReadUploadMode(root)
                && places.Any(static place => !place.Address.Contains("://", StringComparison.Ordinal)),
            Kind = kind,
            Compression = ReadCompression(root),
            KeySource = source,
            Key = key,
            AllowPlain = plain,
            PercentWhileWriting = ReadPercent(root),
            Proves = !root.TryGetProperty("Prove", out JsonElement prove)
                || prove.ValueKind == JsonValueKind.Null
                || WireJson.Flag(root, "Prove"),
            AlertAfter = WireJson.Time(root, "AlertAfter"),
            KeepFor = retains ? WireJson.Time(retention, "MinimumBackupAgeToKeep") : null,
            KeepAtLeast = retains ? (int)Math.Min(int.MaxValue, WireJson.Count(retention, "MinimumBackupsToKeep", 1)) : 1,
        };
    }

    /// <summary>
    /// Reads <c>PercentWhileWriting</c>, a member of our own; null if absent. Its range is checked where it is used.
    /// </summary>
    public static int? ReadPercent(JsonElement root) =>
        root.TryGetProperty("PercentWhileWriting", out JsonElement percent) && percent.ValueKind != JsonValueKind.Null
            ? (int)Math.Min(int.MaxValue, WireJson.Count(root, "PercentWhileWriting", 0))
            : null;

    /// <summary>Reads the destination in <c>LocalSettings</c>; null if there is none or it is disabled.</summary>
    public static DestinationSettings? ReadLocal(JsonElement local) =>
        IsOn(local) && NotEmpty(WireJson.Text(local, "FolderPath", required: false)) is { } path
            ? new DestinationSettings { Address = path }
            : null;

    /// <summary>Reads the destination in <c>S3Settings</c>; null if there is none or it is disabled.</summary>
    public static DestinationSettings? ReadS3(JsonElement s3)
    {
        if (!IsOn(s3))
            return null;

        string bucket = NotEmpty(WireJson.Text(s3, "BucketName", required: false))
            ?? throw WireException.BadRequest("'S3Settings' lacks 'BucketName'.");
        var parameters = new List<string>();
        if (NotEmpty(WireJson.Text(s3, "AwsRegionName", required: false)) is { } region)
            parameters.Add($"region={Uri.EscapeDataString(region)}");
        if (NotEmpty(WireJson.Text(s3, "CustomServerUrl", required: false)) is { } endpoint)
            parameters.Add($"endpoint={Uri.EscapeDataString(endpoint)}");
        if (WireJson.Flag(s3, "ForcePathStyle"))
            parameters.Add("path-style=true");
        string prefix = NotEmpty(WireJson.Text(s3, "RemoteFolderName", required: false)) is { } folder
            ? "/" + folder.Trim('/')
            : "";
        return new DestinationSettings
        {
            Address = $"s3://{bucket}{prefix}{(parameters.Count > 0 ? "?" : "")}{string.Join('&', parameters)}",
            AccessKey = NotEmpty(WireJson.Text(s3, "AwsAccessKey", required: false)),
            SecretKey = NotEmpty(WireJson.Text(s3, "AwsSecretKey", required: false)),
            SessionToken = NotEmpty(WireJson.Text(s3, "AwsSessionToken", required: false)),
        };
    }

    /// <summary>Returns an object member; undefined if it is absent or null.</summary>
    public static JsonElement Part(JsonElement root, string name) =>
        root.TryGetProperty(name, out JsonElement part) && part.ValueKind switch
        {
            JsonValueKind.Object => true,
            JsonValueKind.Null => false,
            _ => throw WireException.BadRequest($"'{name}' holds a JSON {part.ValueKind}; expected is an object."),
        } ? part : default;

    public static string? NotEmpty(string? text) => string.IsNullOrWhiteSpace(text) ? null : text;

    private static bool IsOn(JsonElement settings) =>
        settings.ValueKind == JsonValueKind.Object && !WireJson.Flag(settings, "Disabled");

    private static List<DestinationSettings> ReadPlaces(JsonElement root)
    {
        foreach (string name in _unbuiltPlaces)
            if (IsOn(Part(root, name)))
                throw WireException.NotBuilt($"'{name}' of backups; there are LocalSettings and S3Settings");

        var places = new List<DestinationSettings>();
        if (ReadLocal(Part(root, "LocalSettings")) is { } local)
            places.Add(local);
        if (ReadS3(Part(root, "S3Settings")) is { } s3)
            places.Add(s3);
        if (root.TryGetProperty("Destinations", out JsonElement more) && more.ValueKind == JsonValueKind.Array)
            places.AddRange(more.EnumerateArray().Select(ReadDestination));
        return places;
    }

    /// <summary>Reads a destination in our own format.</summary>
    public static DestinationSettings ReadDestination(JsonElement place) => place.ValueKind == JsonValueKind.Object
        ? new DestinationSettings
        {
            Address = WireJson.Text(place, "Address", required: true) ?? "",
            AccessKey = NotEmpty(WireJson.Text(place, "AccessKey", required: false)),
            SecretKey = NotEmpty(WireJson.Text(place, "SecretKey", required: false)),
            SessionToken = NotEmpty(WireJson.Text(place, "SessionToken", required: false)),
        }
        : throw WireException.BadRequest("'Destinations' must be an array of objects with an 'Address'.");

    private static (string? Key, string? Source, bool Plain) ReadEncryption(JsonElement encryption)
    {
        if (encryption.ValueKind != JsonValueKind.Object)
            return default;
        string? key = NotEmpty(WireJson.Text(encryption, "Key", required: false)),
            source = NotEmpty(WireJson.Text(encryption, "KeySource", required: false));
        return WireJson.Text(encryption, "EncryptionMode", required: false) switch
        {
            "None" => (null, null, true),
            null or "" or "UseProvidedKey" => (key, source, false),
            "UseDatabaseKey" => (null, null, false),
            var other => throw WireException.BadRequest(
                $"There is no encryption mode '{other}'; there are None, UseDatabaseKey and UseProvidedKey."),
        };
    }

    private static bool ReadUploadMode(JsonElement root) => WireJson.Text(root, "BackupUploadMode", required: false) switch
    {
        null or "" or "DirectUpload" => false,
        "Default" => true,
        var other => throw WireException.BadRequest(
            $"There is no upload mode '{other}'; there are DirectUpload and Default (to the disk first)."),
    };

    private static BackupCompression ReadCompression(JsonElement root)
    {
        JsonElement settings = Part(root, "SnapshotSettings");
        string? algorithm = NotEmpty(WireJson.Text(root, "CompressionAlgorithm", required: false)),
            level = NotEmpty(WireJson.Text(root, "CompressionLevel", required: false));
        if (settings.ValueKind == JsonValueKind.Object)
            (algorithm, level) = (
                algorithm ?? WireJson.Text(settings, "CompressionAlgorithm", required: false),
                level ?? WireJson.Text(settings, "CompressionLevel", required: false));
        return (algorithm ?? "Zstd", level ?? "Fastest") switch
        {
            ("Zstd", "Fastest") => BackupCompression.ZstdFastest,
            ("Zstd", "Optimal" or "SmallestSize") => BackupCompression.ZstdOptimal,
            ("Gzip" or "Deflate", "Fastest") => BackupCompression.GzipFastest,
            ("Gzip" or "Deflate", "Optimal" or "SmallestSize") => BackupCompression.GzipOptimal,
            ("None", _) or (_, "NoCompression") => BackupCompression.None,
            var (unknown, at) => throw WireException.BadRequest(
                $"There is no compression '{unknown}' with level '{at}'; there are Zstd, Gzip and None, with the levels Fastest, "
                    + $"Optimal and NoCompression."),
        };
    }
}
