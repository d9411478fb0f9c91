using System.Text;
using System.Text.Json;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The definitions made by hand, in the documents' environment: they are data, durable with the documents and part of every copy of them. What lies in the directories
/// of indexes is only what was built: where it is of another definition, or not there, it is built again.
/// </summary>
internal sealed class StaticDefinitions(StorageEnvironment documents)
{
    /// <summary>All definitions.</summary>
    public IReadOnlyList<IndexDefinition> ReadAll()
    {
        var definitions = new List<IndexDefinition>();
        using ReadTransaction read = documents.BeginRead();
        if (read.FindTree(TreeNames.StaticIndexes) is not { } tree)
            return definitions;

        using Cursor cursor = tree.OpenCursor();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
        {
            using JsonDocument json = JsonDocument.Parse(cursor.Value.ToArray());
            definitions.Add(IndexDefinitionJson.Read(json.RootElement));
        }

        return definitions;
    }

    /// <summary>Keeps a definition in the place of any of the same name; durable when this returns.</summary>
    public void Put(IndexDefinition definition)
    {
        byte[] key = KeyOf(definition.Name), value = IndexDefinitionJson.Write(definition);
        documents.Write(transaction => transaction.GetOrCreateTree(TreeNames.StaticIndexes).Put(key, value));
    }

    /// <summary>Forgets a definition; false if there is none.</summary>
    public bool Delete(string name)
    {
        byte[] key = KeyOf(name);
        return documents.Write(transaction =>
        {
            transaction.UseReserve(); // an index must find room to go on a full disk
            return transaction.GetOrCreateTree(TreeNames.StaticIndexes).Delete(key);
        });
    }

    private static byte[] KeyOf(string name) => CollectionName.Fold(Encoding.UTF8.GetBytes(name));
}
