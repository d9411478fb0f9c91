using System.Buffers;
using System.Text.Json;
using Treepie.Storage;
using Treepie.Store;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The settings of indexes, in the documents' environment:
/// <c>{"LockMode":"LockedError","Priority":"High","IsDisabled":true}</c> by name; default values are omitted.
/// </summary>
internal sealed class IndexSettingsStore(StorageEnvironment documents)
{
    private readonly NamedRecords _records = new(documents, TreeNames.IndexSettings);

    /// <summary>Returns all settings, by folded name.</summary>
    public Dictionary<string, IndexSettings> ReadAll()
    {
        var settings = new Dictionary<string, IndexSettings>(StringComparer.OrdinalIgnoreCase);
        foreach ((string name, byte[] value) in _records.ReadAll())
            settings[name] = Read(value);
        return settings;
    }

    /// <summary>Stores the settings of an index; durable when the method returns.</summary>
    public void Put(string name, IndexSettings settings) => _records.Put(KeyOf(name), Write(settings));

    /// <summary>Deletes the settings of an index, and stores them under another name if one is given.</summary>
    public void Delete(string name, string? newName = null, IndexSettings? settings = null) =>
        _records.Delete(KeyOf(name), newName is null || settings is null ? null : (KeyOf(newName), Write(settings)));

    private static byte[] KeyOf(string name) => CollectionName.Fold(name);

    private static byte[] Write(IndexSettings settings)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            if (settings.LockMode != IndexLockMode.Unlock)
                json.WriteString("LockMode"u8, settings.LockMode.ToString());
            if (settings.Priority != IndexPriority.Normal)
                json.WriteString("Priority"u8, settings.Priority.ToString());
            if (settings.IsDisabled)
                json.WriteBoolean("IsDisabled"u8, true);
            json.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }

    private static IndexSettings Read(byte[] value)
    {
        using JsonDocument json = JsonDocument.Parse(value);
        JsonElement root = json.RootElement;
        return new IndexSettings
        {
            LockMode = Enum.TryParse(Text(root, "LockMode"), out IndexLockMode mode) ? mode : IndexLockMode.Unlock,
            Priority = Enum.TryParse(Text(root, "Priority"), out IndexPriority priority) ? priority : IndexPriority.Normal,
            IsDisabled = root.TryGetProperty("IsDisabled"u8, out JsonElement disabled)
                && disabled.ValueKind == JsonValueKind.True,
        };
    }

    private static string? Text(JsonElement root, string name) =>
        root.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;
}
