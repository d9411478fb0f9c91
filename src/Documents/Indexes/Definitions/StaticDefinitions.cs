using System.Text;
using System.Text.Json;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The definitions made by hand, in the documents' environment: they are data, durable with the documents and part of every copy
/// of them. What lies in the directories of indexes is only what was built: where it is of another definition, or not there, it
/// is built again.
/// </summary>
internal sealed class StaticDefinitions(StorageEnvironment documents, TimeProvider timeProvider)
{
    private readonly DefinitionHistory _history = new(documents);
    private readonly NamedRecords _records = new(documents, TreeNames.StaticIndexes);

    /// <summary>All definitions.</summary>
    public IReadOnlyList<IndexDefinition> ReadAll()
    {
        var definitions = new List<IndexDefinition>();
        foreach ((_, byte[] value) in _records.ReadAll())
        {
            using JsonDocument json = JsonDocument.Parse(value);
            definitions.Add(IndexDefinitionJson.Read(json.RootElement));
        }

        return definitions;
    }

    /// <summary>All definitions of a state, as they are kept.</summary>
    public static IReadOnlyList<byte[]> ReadAll(ReadTransaction documents)
    {
        var definitions = new List<byte[]>();
        using Cursor? cursor = documents.FindTree(TreeNames.StaticIndexes)?.OpenCursor();
        for (bool valid = cursor?.MoveFirst() == true; valid; valid = cursor!.MoveNext()) // it has moved
            definitions.Add(cursor!.Value.ToArray()); // it has moved
        return definitions;
    }

    /// <summary>The definitions that an index was given, the last first.</summary>
    public IReadOnlyList<DefinitionVersion> History(string name) => _history.Of(KeyOf(name));

    /// <summary>Keeps a definition in the place of any of the same name; durable when this returns.</summary>
    public void Put(IndexDefinition definition)
    {
        byte[] key = KeyOf(definition.Name);
        _records.Put(key, IndexDefinitionJson.Write(definition));
        _history.Add(key, definition, timeProvider.GetUtcNow().UtcDateTime);
    }

    /// <summary>Forgets a definition, and what it was before; false if there is none.</summary>
    public bool Delete(string name)
    {
        _history.Forget(KeyOf(name));
        return _records.Delete(KeyOf(name));
    }

    private static byte[] KeyOf(string name) => CollectionName.Fold(Encoding.UTF8.GetBytes(name));
}
