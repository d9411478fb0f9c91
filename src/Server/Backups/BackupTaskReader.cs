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
    /// <param name="root">The configuration.</param>
    /// <param name="defaultName">The name of a new task that has none.</param>
    /// <param name="before">
    /// The task that it replaces: what the configuration does not name stays as it is there. Clients do not know members of our
    /// own, and no answer holds keys, so neither comes back. Null: a new task.
    /// </param>
    /// <exception cref="WireException">A member is not valid or not supported.</exception>
    public static BackupTask Read(JsonElement root, string defaultName, BackupTask? before = null)
    {
        before ??= new BackupTask { Name = defaultName };
        BackupKind kind = WireJson.Text(root, "BackupType", required: false) switch
        {
            null or "" => before.Kind,
            "Backup" => BackupKind.Logical,
            "Snapshot" => BackupKind.Snapshot,
            var type => throw WireException.BadRequest($"There is no backup type '{type}'; there are Backup and Snapshot."),
        };
        JsonElement retention = Part(root, "RetentionPolicy"), encryption = Part(root, "BackupEncryptionSettings");
        bool retains = retention.ValueKind == JsonValueKind.Object && !WireJson.Flag(retention, "Disabled");
        List<DestinationSettings> places = ReadPlaces(root, before.Destinations);
        return ReadEncryption(encryption, before) with
        {
            Id = WireJson.Count(root, "TaskId", 0),
            Name = NotEmpty(WireJson.Text(root, "Name", required: false)) ?? before.Name,
            IsDisabled = Named(root, "Disabled", before.IsDisabled, WireJson.Flag),
            FullSchedule = Named(root, "FullBackupFrequency", before.FullSchedule, OptionalText),
            IncrementalSchedule = Named(root, "IncrementalBackupFrequency", before.IncrementalSchedule, OptionalText),
            LogInterval = Named(root, "LogInterval", before.LogInterval, WireJson.Time),
            LogBudgetBytes = WireJson.Count(root, "LogBudgetBytes", before.LogBudgetBytes),
            TimeZone = Named(root, "TimeZone", before.TimeZone, OptionalText),
            Destinations = places,
            UploadsAfterDisk = Named(
                    root, "BackupUploadMode", before.UploadsAfterDisk, static (root, _) => ReadUploadMode(root))
                && places.Any(static place => BackupTaskJson.IsFolder(place.Address)),
            Kind = kind,
            Compression = ReadCompression(root, before.Compression),
            PercentWhileWriting = Named(
                root, "PercentWhileWriting", before.PercentWhileWriting, static (root, _) => ReadPercent(root)),
            Proves = !root.TryGetProperty("Prove", out JsonElement prove) || prove.ValueKind == JsonValueKind.Null
                ? before.Proves
                : WireJson.Flag(root, "Prove"),
            AlertAfter = Named(root, "AlertAfter", before.AlertAfter, WireJson.Time),
            KeepFor = !root.TryGetProperty("RetentionPolicy", out _) ? before.KeepFor
                : retains ? WireJson.Time(retention, "MinimumBackupAgeToKeep") : null,
            KeepAtLeast = retains
                ? (int)Math.Min(int.MaxValue, WireJson.Count(retention, "MinimumBackupsToKeep", before.KeepAtLeast))
                : before.KeepAtLeast,
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

    private static T Named<T>(JsonElement root, string name, T before, Func<JsonElement, string, T> read) =>
        root.TryGetProperty(name, out _) ? read(root, name) : before;

    private static string? OptionalText(JsonElement root, string name) =>
        NotEmpty(WireJson.Text(root, name, required: false));

    /// <summary>
    /// Reads the destinations. The members that name them are <see cref="KnownPlaces"/>; those of a member that is absent stay,
    /// and a destination that comes back without keys keeps those that it has.
    /// </summary>
    private static List<DestinationSettings> ReadPlaces(JsonElement root, IReadOnlyList<DestinationSettings> before)
    {
        foreach (string name in _unbuiltPlaces)
            if (IsOn(Part(root, name)))
                throw WireException.NotBuilt($"'{name}' of backups; there are LocalSettings and S3Settings");

        var known = new KnownPlaces(before);
        var places = new List<DestinationSettings>();
        if (Named(root, "LocalSettings", known.Local, static (root, name) => ReadLocal(Part(root, name))) is { } local)
            places.Add(local);
        if (Named(root, "S3Settings", known.Bucket, static (root, name) => ReadS3(Part(root, name))) is { } s3)
            places.Add(s3);
        if (!root.TryGetProperty("Destinations", out JsonElement more))
            places.AddRange(known.Others);
        else if (more.ValueKind == JsonValueKind.Array)
            places.AddRange(more.EnumerateArray().Select(ReadDestination));
        return [.. places.Select(place => KnownPlaces.WithKeys(place, before))];
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

    /// <summary>Reads how backups are encrypted; a key that is provided and does not come is the one that the task has.</summary>
    private static BackupTask ReadEncryption(JsonElement encryption, BackupTask before)
    {
        if (encryption.ValueKind != JsonValueKind.Object)
            return before;
        string? key = OptionalText(encryption, "Key"), source = OptionalText(encryption, "KeySource");
        return WireJson.Text(encryption, "EncryptionMode", required: false) switch
        {
            "None" => before with { Key = null, KeySource = null, AllowPlain = true },
            "UseDatabaseKey" => before with { Key = null, KeySource = null, AllowPlain = false },
            null or "" or "UseProvidedKey" when key is not null || source is not null =>
                before with { Key = key, KeySource = source, AllowPlain = false },
            null or "" => before,
            "UseProvidedKey" => HasKey(before)
                ? before
                : throw WireException.BadRequest(
                    "'BackupEncryptionSettings' say UseProvidedKey and bring no key. Send it as 'Key', or say where it is as "
                        + "'KeySource'. Nothing was changed."),
            var other => throw WireException.BadRequest(
                $"There is no encryption mode '{other}'; there are None, UseDatabaseKey and UseProvidedKey."),
        };
    }

    /// <summary>Returns whether a task has a key of its own.</summary>
    public static bool HasKey(BackupTask task) => task.Key is not null || task.KeySource is not null;

    private static bool ReadUploadMode(JsonElement root) => WireJson.Text(root, "BackupUploadMode", required: false) switch
    {
        null or "" or "DirectUpload" => false,
        "Default" => true,
        var other => throw WireException.BadRequest(
            $"There is no upload mode '{other}'; there are DirectUpload and Default (to the disk first)."),
    };

    private static BackupCompression ReadCompression(JsonElement root, BackupCompression before)
    {
        JsonElement settings = Part(root, "SnapshotSettings");
        string? algorithm = NotEmpty(WireJson.Text(root, "CompressionAlgorithm", required: false)),
            level = NotEmpty(WireJson.Text(root, "CompressionLevel", required: false));
        if (settings.ValueKind == JsonValueKind.Object)
            (algorithm, level) = (
                algorithm ?? OptionalText(settings, "CompressionAlgorithm"),
                level ?? OptionalText(settings, "CompressionLevel"));
        (string knownAlgorithm, string knownLevel) = BackupTaskJson.NamesOf(before);
        return (algorithm ?? knownAlgorithm, level ?? (algorithm is null ? knownLevel : "Fastest")) switch
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
