using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Treepie.Backups;
using Treepie.Encryption;
using Treepie.Server.Databases;
using Treepie.Server.Http;

namespace Treepie.Server.Smuggler;

/// <summary>
/// The options of an export or import sent by a client. Kinds of data that this server does not have are ignored, since there
/// is nothing to export or import. What it cannot do with those it has is refused by name.
/// </summary>
internal sealed class SmugglerOptions : IDisposable
{
    /// <summary>The members of the database record that clients name.</summary>
    private static readonly string[] _recordMembers =
    [
        "Expiration", "Refresh", "DataArchival", "Revisions", "TimeSeries", "DocumentsCompression", "Analyzers", "Sorters",
        "IndexesHistory", "Settings", "Client", "ConflictSolverConfig",
    ];

    /// <summary>Those that clients cannot name, and leave out only with all others.</summary>
    private static readonly string[] _otherMembers = ["Studio", "RevisionsForConflicts"];

    private SmugglerOptions(
        BackupContent content, IReadOnlyList<string>? collections, BackupKey? key, BackupCompression compression, bool allowPlain,
        bool skipInvalid, int percentWhileWriting)
    {
        Content = content;
        Collections = collections;
        Key = key;
        Compression = compression;
        AllowPlain = allowPlain;
        SkipInvalid = skipInvalid;
        PercentWhileWriting = percentWhileWriting;
    }

    public BackupContent Content { get; }

    public IReadOnlyList<string>? Collections { get; }

    /// <summary>Encrypts an export, or decrypts an import.</summary>
    public BackupKey? Key { get; }

    public BackupCompression Compression { get; }

    /// <summary>
    /// Our own member <c>AllowPlain</c>: allows an unencrypted export of an encrypted database, or an unencrypted database
    /// from an encrypted backup.
    /// </summary>
    public bool AllowPlain { get; }

    /// <summary>
    /// The documents left out by <c>IncludeExpired</c>, <c>IncludeArchived</c> and <c>IncludeArtificial</c>; without these
    /// members, none.
    /// </summary>
    public LeftOutDocuments LeftOut { get; private init; }

    /// <summary><c>TransformScript</c>: changes or drops documents.</summary>
    public DocumentTransform? Transform { get; private init; }

    /// <summary>The members of the database record that <c>OperateOnDatabaseRecordType</c> does not name.</summary>
    public IReadOnlyList<string> LeftOutSettings { get; private init; } = [];

    /// <summary><c>RemoveAnalyzers</c>: definitions of indexes lose the analyzers that they name.</summary>
    public bool RemovesAnalyzers { get; private init; }

    /// <summary><c>SkipRevisionCreation</c>: imported documents get no revision.</summary>
    public bool SkipsRevisions { get; private init; }

    /// <summary><c>SkipCorruptedData</c>: skips invalid documents.</summary>
    public bool SkipInvalid { get; }

    /// <summary>
    /// Our own member <c>PercentWhileWriting</c>: the percentage of time during which an export works while documents are
    /// being written.
    /// </summary>
    public int PercentWhileWriting { get; }

    public static SmugglerOptions Default { get; } = new(
        BackupContent.All, null, null, BackupCompression.GzipOptimal, allowPlain: false, skipInvalid: false,
        new BackupOptions().PercentWhileWriting);

    /// <summary>Reads the options; an empty body stands for the defaults.</summary>
    /// <param name="body">The options.</param>
    /// <param name="database">The options of the database, whose engine compiles the script.</param>
    /// <exception cref="WireException">The options are not valid.</exception>
    /// <exception cref="ScriptException">The script is not valid.</exception>
    public static SmugglerOptions Read(RequestBody body, DatabaseOptions database)
    {
        if (body.Length == 0)
            return Default;

        using JsonDocument json = WireJson.ParseObject(body, "the options of an export or import");
        JsonElement root = json.RootElement;
        return new SmugglerOptions(
            ReadContent(root), ReadCollections(root), ReadKey(root), ReadCompression(root), WireJson.Flag(root, "AllowPlain"),
            WireJson.Flag(root, "SkipCorruptedData"), ReadPercent(root))
        {
            LeftOut = LeftOutBy(root, "IncludeExpired", LeftOutDocuments.Expired)
                | LeftOutBy(root, "IncludeArchived", LeftOutDocuments.Archived)
                | LeftOutBy(root, "IncludeArtificial", LeftOutDocuments.Artificial),
            RemovesAnalyzers = WireJson.Flag(root, "RemoveAnalyzers"),
            SkipsRevisions = WireJson.Flag(root, "SkipRevisionCreation"),
            Transform = WireJson.Text(root, "TransformScript", required: false) is { } text && !string.IsNullOrWhiteSpace(text)
                ? DocumentTransform.Compile(text, database)
                : null,
            LeftOutSettings = ReadLeftOutSettings(root),
        };
    }

    /// <summary>
    /// Reads the members of the database record to take; of those that a client can name, the others are left out, and with
    /// <c>None</c> all. Clients that do not send the list take all.
    /// </summary>
    private static List<string> ReadLeftOutSettings(JsonElement root)
    {
        const string Name = "OperateOnDatabaseRecordType";
        if (!root.TryGetProperty(Name, out JsonElement given) || given.ValueKind == JsonValueKind.Null)
            return [];
        string[] named = given.ValueKind switch
        {
            JsonValueKind.Array => [.. given.EnumerateArray().Select(static type => WireJson.Text(type, Name) ?? "")],
            JsonValueKind.String => given.GetString()!.Split(',', StringSplitOptions.TrimEntries),
            _ => throw WireException.BadRequest($"'{Name}' must be an array of names."),
        };
        bool isNone = named is [var only] && string.Equals(only, "None", StringComparison.OrdinalIgnoreCase);
        return [
            .. _recordMembers.Where(member => !named.Contains(member, StringComparer.OrdinalIgnoreCase)),
            .. isNone ? _otherMembers : [],
        ];
    }

    private static LeftOutDocuments LeftOutBy(JsonElement root, string name, LeftOutDocuments documents) =>
        root.TryGetProperty(name, out JsonElement given) && given.ValueKind != JsonValueKind.Null && !WireJson.Flag(root, name)
            ? documents
            : LeftOutDocuments.None;

    /// <summary>Returns the options for an export.</summary>
    public BackupOptions ForBackup()
    {
        var options = new BackupOptions
        {
            Compression = Compression,
            Content = Content,
            Collections = Collections,
            LeftOut = LeftOut,
            Transform = Transform,
            LeftOutSettings = LeftOutSettings,
            RemoveAnalyzers = RemovesAnalyzers,
            AllowPlain = AllowPlain,
            PercentWhileWriting = PercentWhileWriting
        };
        return Key is null ? options : options.SealedWith(Key);
    }

    /// <summary>
    /// Returns the options for an import. Settings are taken only from those who may set them one by one, and the state of the
    /// database, which is set by operators, is never that of another database.
    /// </summary>
    public ImportOptions ForImport(bool maySet)
    {
        var options = new ImportOptions
        {
            Content = maySet ? Content : Content & ~BackupContent.Settings,
            Collections = Collections,
            LeftOut = LeftOut,
            Transform = Transform,
            LeftOutSettings = [DatabaseState.SettingName, .. LeftOutSettings],
            RemoveAnalyzers = RemovesAnalyzers,
            SkipRevisionCreation = SkipsRevisions,
            SkipInvalidDocuments = SkipInvalid,
        };
        return Key is null ? options : options.OpenedWith(Key);
    }

    /// <summary>Returns the options for a restore.</summary>
    public RestoreOptions ForRestore()
    {
        if (Transform is not null || LeftOutSettings.Count > 0 || RemovesAnalyzers)
            throw WireException.BadRequest(
                "A restore takes a backup as it is, without 'TransformScript', 'OperateOnDatabaseRecordType' and "
                    + "'RemoveAnalyzers'. Nothing was restored. Create a database, and import the backup into it.");
        var options = new RestoreOptions { SkipInvalidDocuments = SkipInvalid, AllowPlain = AllowPlain };
        return Key is null ? options : options.OpenedWith(Key);
    }

    public void Dispose() => Key?.Dispose();

    private static BackupContent ReadContent(JsonElement root)
    {
        if (WireJson.Text(root, "OperateOnTypes", required: false) is not { Length: > 0 } types)
            return BackupContent.All;

        BackupContent content = BackupContent.None;
        foreach (string type in types.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
            if (type is "CounterGroups")
                content |= BackupContent.Counters;
            else if (type is "DatabaseRecord")
                content |= BackupContent.Settings;
            else if (Enum.TryParse(type, ignoreCase: true, out BackupContent kind) && !char.IsAsciiDigit(type[0]))
                content |= kind;
        return content;
    }

    private static List<string>? ReadCollections(JsonElement root)
    {
        if (!root.TryGetProperty("Collections", out JsonElement collections) || collections.ValueKind == JsonValueKind.Null)
            return null;
        if (collections.ValueKind != JsonValueKind.Array)
            throw WireException.BadRequest("'Collections' must be an array of names.");

        List<string> names = [
            .. collections.EnumerateArray()
                .Select(
                    name => WireJson.Text(name, "Collections") ?? throw WireException.BadRequest("'Collections' holds a null."))];
        return names.Count == 0 ? null : names;
    }

    private static BackupKey? ReadKey(JsonElement root)
    {
        if (WireJson.Text(root, "EncryptionKey", required: false) is not { Length: > 0 } text)
            return null;

        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        try
        {
            return BackupKey.From(utf8);
        }
        catch (KeySourceException exception)
        {
            throw WireException.BadRequest($"'EncryptionKey' is no key of 32 bytes in base64. {exception.Message}", exception);
        }
        finally
        {
            CryptographicOperations.ZeroMemory(utf8);
        }
    }

    private static int ReadPercent(JsonElement root) =>
        (int)Math.Min(int.MaxValue, WireJson.Count(root, "PercentWhileWriting", new BackupOptions().PercentWhileWriting));

    private static BackupCompression ReadCompression(JsonElement root) =>
        WireJson.Text(root, "CompressionAlgorithm", required: false) switch
        {
            null or "" or "Gzip" or "GzipOptimal" => BackupCompression.GzipOptimal,
            "GzipFastest" => BackupCompression.GzipFastest,
            "Zstd" or "ZstdFastest" => BackupCompression.ZstdFastest,
            "ZstdOptimal" => BackupCompression.ZstdOptimal,
            "None" => BackupCompression.None,
            var other => throw WireException.BadRequest(
                $"There is no compression '{other}'; there are Gzip, GzipFastest, Zstd, ZstdOptimal and None."),
        };
}
