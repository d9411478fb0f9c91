using System.Text;
using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// The settings of a database in the form of RavenDB's tools: the object <c>DatabaseRecord</c>. Dumps by this program contain
/// it for those tools only; a restore uses a separate section.
/// </summary>
internal static class DumpRecord
{
    public const string Section = "DatabaseRecord";

    /// <summary>The last definitions of each index by its name; see <see cref="DumpIndex.ReadHistories"/>.</summary>
    public const string Histories = "IndexesHistory";

    /// <summary>Members that describe the dump and contain no setting.</summary>
    private static readonly string[] _passedOver =
        ["DatabaseName", "Encrypted", "Disabled", "UnusedDatabaseIds", "LockMode", Histories];

    /// <summary>
    /// Returns the name under which a member of the record is stored; the name of a setting of programs is its own member.
    /// </summary>
    public static string SettingOf(string member)
    {
        foreach ((LifecycleTask task, string name, _) in RecordSettings.LifecycleTasks)
            if (name == member)
                return LifecycleSettings.NameOf(task);
        foreach ((string kept, string name) in RecordSettings.All)
            if (kept == member)
                return DatabaseSettings.Prefix + name;
        return member switch
        {
            "Revisions" => RevisionsConfiguration.SettingName,
            "TimeSeries" => TimeSeriesConfiguration.SettingName,
            "DocumentsCompression" => DocumentCompressionConfiguration.SettingName,
            "Analyzers" => CustomAnalyzers.SettingName,
            "Sorters" => DatabaseSorters.SettingName,
            _ => DatabaseSettings.Prefix + member,
        };
    }

    public static void Write(Utf8JsonWriter json, string name, DatabaseSnapshot snapshot, LeftOutSettings leftOut)
    {
        json.WriteStartObject();
        json.WriteString("DatabaseName"u8, name);
        foreach ((LifecycleTask task, string member, string frequency) in RecordSettings.LifecycleTasks)
        {
            if (leftOut.Has(LifecycleSettings.NameOf(task))
                || SettingReader.Read(
                    snapshot, LifecycleSettings.NameOf(task), stored => LifecycleSettings.FromJson(stored, task))
                    is not { } settings)
                continue;
            json.WriteStartObject(member);
            json.WriteBoolean("Disabled"u8, settings.IsDisabled);
            json.WriteNumber(frequency, (long)settings.Frequency.TotalSeconds);
            if (settings.MaxItemsPerRun is { } most)
                json.WriteNumber("MaxItemsToProcess"u8, most);
            json.WriteEndObject();
        }

        Write("Revisions", RevisionsConfiguration.SettingName, static stored => RevisionsConfiguration.FromJson(stored).ToJson());
        Write(
            "TimeSeries", TimeSeriesConfiguration.SettingName,
            static stored => TimeSeriesConfiguration.FromJson(stored).ToJson());
        Write(
            "DocumentsCompression", DocumentCompressionConfiguration.SettingName,
            static stored => DocumentCompressionConfiguration.FromJson(stored).ToJson());
        json.WriteEndObject();

        void Write(string member, string setting, Func<ReadOnlyMemory<byte>, byte[]> read)
        {
            if (leftOut.Has(setting) || SettingReader.Read(snapshot, setting, read) is not { } current)
                return;
            json.WritePropertyName(member);
            json.WriteRawValue(current);
        }
    }

    /// <summary>
    /// Reads the record of a dump by another program: its settings by name, with null for those that cannot be used.
    /// </summary>
    public static IEnumerable<(string Name, byte[]? Json)> Read(JsonElement record)
    {
        foreach (JsonProperty member in record.EnumerateObject())
        {
            bool asks = member.Value.ValueKind switch
            {
                JsonValueKind.Object => member.Value.EnumerateObject().MoveNext(),
                JsonValueKind.Array => member.Value.GetArrayLength() > 0,
                _ => false,
            };
            if (asks && member.Name == "Analyzers")
                foreach ((string, byte[]?) read in Read(member, CustomAnalyzers.SettingName, CustomAnalyzers.Usable))
                    yield return read;
            else if (asks && member.Name == "Sorters")
                foreach ((string, byte[]?) read in Read(member, DatabaseSorters.SettingName, DatabaseSorters.Usable))
                    yield return read;
            else if (asks && !_passedOver.Contains(member.Name))
                yield return Read(member);
        }
    }

    /// <summary>Creates the stored item of a setting.</summary>
    public static RestoredKind Setting(string name, byte[] json, long etag, long ticks)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(name);
        return new RestoredKind(KindKey.OfName(Kind.Setting, default, utf8), utf8, json, etag, ticks, IsDeleted: false);
    }

    private static (string Name, byte[]? Json) Read(JsonProperty member)
    {
        try
        {
            switch (member.Name)
            {
                case "Revisions":
                    return (RevisionsConfiguration.SettingName, RevisionsConfiguration.Read(member.Value).ToJson());
                case "TimeSeries":
                    return (TimeSeriesConfiguration.SettingName, TimeSeriesConfiguration.Read(member.Value).ToJson());
                case "DocumentsCompression":
                    return (
                        DocumentCompressionConfiguration.SettingName,
                        DocumentCompressionConfiguration.Read(member.Value).ToJson());
                default:
                    foreach ((LifecycleTask task, string name, string frequency) in RecordSettings.LifecycleTasks)
                        if (member.Name == name)
                            return (LifecycleSettings.NameOf(task), Read(task, member.Value, frequency).ToJson());
                    // RavenDB's settings by key are about its own work, so they are not taken from its dumps
                    foreach ((string kept, string name) in RecordSettings.All)
                        if (member.Name == kept && name != RecordSettings.ByKey)
                            return (DatabaseSettings.Prefix + name, Kept(kept, member.Value));
                    return (member.Name, null);
            }
        }
        catch (Exception error) when (error is InvalidDocumentException or InvalidOperationException or FormatException)
        {
            return (member.Name, null);
        }
    }

    private static byte[] Kept(string member, JsonElement value)
    {
        byte[] json = Encoding.UTF8.GetBytes(value.GetRawText());
        DatabaseSettings.Check(member, json);
        return json;
    }

    /// <summary>Reads definitions given as data; skips those in C#.</summary>
    private static IEnumerable<(string Name, byte[]? Json)> Read(
        JsonProperty member, string setting, Func<NamedCode, NamedCode> usableOf)
    {
        NamedCode usable = usableOf(NamedCode.Read(member.Value));
        if (usable.ToJson() is { } json)
            yield return (setting, json);
        if (member.Value.ValueKind != JsonValueKind.Object || usable.All.Count < member.Value.GetPropertyCount())
            yield return (member.Name, null);
    }

    private static LifecycleSettings Read(LifecycleTask task, JsonElement json, string frequency)
    {
        var settings = new LifecycleSettings
        {
            IsDisabled = json.TryGetProperty("Disabled"u8, out JsonElement disabled) && disabled.ValueKind == JsonValueKind.True,
            MaxItemsPerRun = Number(json, "MaxItemsToProcess"),
        };
        if (Number(json, frequency) is { } seconds)
            settings = settings with { Frequency = TimeSpan.FromSeconds(Math.Clamp(seconds, 0, int.MaxValue)) };
        settings.Validate(task);
        return settings;
    }

    private static long? Number(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.Number ? value.GetInt64() : null;
}
