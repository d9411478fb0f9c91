using System.Buffers;
using System.Text.Json;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The latest definitions of each index, in the documents' environment: <c>[{"CreatedAt":…,"Definition":{…}},…]</c> by
/// folded name, newest first. For display only.
/// </summary>
internal sealed class DefinitionHistory(StorageEnvironment documents)
{
    /// <summary>The maximum number of definitions kept for one index.</summary>
    private const int MostVersions = 10;

    private readonly NamedRecords _records = new(documents, TreeNames.IndexHistory);

    /// <summary>Returns the definitions of an index.</summary>
    public IReadOnlyList<DefinitionVersion> Of(byte[] key)
    {
        using ReadTransaction read = documents.BeginRead();
        return read.FindTree(TreeNames.IndexHistory) is { } tree && tree.TryGet(key, out ReadOnlySpan<byte> value)
            ? Read(value.ToArray())
            : [];
    }

    /// <summary>Adds a definition, unless it equals the latest one.</summary>
    public void Add(byte[] key, IndexDefinition definition, DateTime now)
    {
        IReadOnlyList<DefinitionVersion> before = Of(key);
        if (before.Count == 0 || !AreEqual(before[0].Definition, definition))
            Put(key, [new DefinitionVersion(now, definition), .. before]);
    }

    /// <summary>Sets the definitions of an index that was just defined to those of a dump, newest first.</summary>
    public void Restore(byte[] key, IReadOnlyList<DefinitionVersion> versions)
    {
        if (versions.Count == 0 || Of(key) is not [var current, ..])
            return;
        bool hasCurrent = AreEqual(versions[0].Definition, current.Definition);
        Put(key, hasCurrent ? versions : [current, .. versions]);
    }

    /// <summary>Deletes the definitions of an index.</summary>
    public void Forget(byte[] key)
    {
        if (Of(key).Count > 0)
            _records.Delete(key);
    }

    /// <summary>Writes definitions as they are stored.</summary>
    public static void Write(Utf8JsonWriter json, IReadOnlyList<DefinitionVersion> versions)
    {
        json.WriteStartArray();
        foreach (DefinitionVersion version in versions)
        {
            json.WriteStartObject();
            json.WriteString("CreatedAt"u8, version.CreatedAt);
            json.WritePropertyName("Definition"u8);
            IndexDefinitionJson.Write(json, version.Definition);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    /// <summary>
    /// Reads definitions of a dump: the newest, at most as many as are kept, newest first. Leaves out those that are not of a
    /// form known here.
    /// </summary>
    /// <param name="json">An array of objects with <c>CreatedAt</c> and <c>Definition</c>.</param>
    /// <param name="read">Reads a definition.</param>
    public static IReadOnlyList<DefinitionVersion> Read(JsonElement json, Func<JsonElement, IndexDefinition> read) =>
        json.ValueKind == JsonValueKind.Array
            ? Read(json.EnumerateArray().OrderByDescending(CreatedAt).Take(MostVersions), read)
            : [];

    private static List<DefinitionVersion> Read(IEnumerable<JsonElement> newestFirst, Func<JsonElement, IndexDefinition> read)
    {
        var versions = new List<DefinitionVersion>();
        foreach (JsonElement one in newestFirst)
        {
            if (CreatedAt(one) is not { } createdAt || !one.TryGetProperty("Definition"u8, out JsonElement definition))
                continue;
            try
            {
                versions.Add(new DefinitionVersion(createdAt, read(definition)));
            }
            catch (Exception error) when (error is InvalidIndexDefinitionException or InvalidOperationException
                or KeyNotFoundException or FormatException)
            {
                // It is from a later version, or of what cannot be built here.
            }
        }

        return versions;
    }

    private static DateTime? CreatedAt(JsonElement version) =>
        version.ValueKind == JsonValueKind.Object
        && version.TryGetProperty("CreatedAt"u8, out JsonElement time)
        && time.ValueKind == JsonValueKind.String
        && time.TryGetDateTime(out DateTime createdAt)
            ? createdAt
            : null;

    private static bool AreEqual(IndexDefinition one, IndexDefinition other) =>
        IndexDefinitionJson.Write(one).AsSpan().SequenceEqual(IndexDefinitionJson.Write(other));

    private void Put(byte[] key, IEnumerable<DefinitionVersion> versions)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer))
            Write(json, [.. versions.Take(MostVersions)]);
        _records.Put(key, buffer.WrittenSpan.ToArray());
    }

    private static List<DefinitionVersion> Read(byte[] value)
    {
        using JsonDocument json = JsonDocument.Parse(value);
        return Read(json.RootElement.EnumerateArray(), static one => IndexDefinitionJson.Read(one));
    }
}
