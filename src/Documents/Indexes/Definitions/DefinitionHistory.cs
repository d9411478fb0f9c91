using System.Buffers;
using System.Text.Json;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The latest definitions of each index, in the documents' environment: <c>[{"CreatedAt":…,"Definition":{…}},…]</c> by
/// folded name, newest first. Used for display only.
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
        bool isSame = before.Count > 0
            && IndexDefinitionJson.Write(before[0].Definition).AsSpan().SequenceEqual(IndexDefinitionJson.Write(definition));
        if (!isSame)
            _records.Put(key, Write([new DefinitionVersion(now, definition), .. before.Take(MostVersions - 1)]));
    }

    /// <summary>Deletes the definitions of an index.</summary>
    public void Forget(byte[] key)
    {
        if (Of(key).Count > 0)
            _records.Delete(key);
    }

    private static byte[] Write(IReadOnlyList<DefinitionVersion> versions)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer))
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

        return buffer.WrittenSpan.ToArray();
    }

    private static List<DefinitionVersion> Read(byte[] value)
    {
        using JsonDocument json = JsonDocument.Parse(value);
        var versions = new List<DefinitionVersion>();
        foreach (JsonElement one in json.RootElement.EnumerateArray())
            versions.Add(new DefinitionVersion(
                one.GetProperty("CreatedAt"u8).GetDateTime(), IndexDefinitionJson.Read(one.GetProperty("Definition"u8))));
        return versions;
    }
}
