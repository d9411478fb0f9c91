using System.Text.Json;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The definitions of static indexes, in the documents' environment: they are data, durable with the documents and included
/// in every copy of them. The directories of indexes contain only what was built: an index that is missing or was built with
/// another definition is rebuilt.
/// </summary>
internal sealed class StaticDefinitions(StorageEnvironment documents, TimeProvider timeProvider)
{
    private readonly DefinitionHistory _history = new(documents);
    private readonly NamedRecords _records = new(documents, TreeNames.StaticIndexes);

    /// <summary>Returns all definitions.</summary>
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

    /// <summary>Returns the definition of an index; null if there is none.</summary>
    public IndexDefinition? Find(string name) =>
        ReadAll().FirstOrDefault(one => string.Equals(one.Name, name, StringComparison.OrdinalIgnoreCase));

    /// <summary>
    /// Returns whether the lock mode of an index allows its definition to be replaced. A lock set before the index existed does
    /// not prevent it.
    /// </summary>
    /// <exception cref="InvalidIndexDefinitionException">The lock mode forbids it.</exception>
    public bool MayReplace(IndexDefinition definition, IndexLockMode mode)
    {
        if (mode == IndexLockMode.Unlock
            || Find(definition.Name) is not { } known
            || IndexDefinitionJson.AreSame(known, definition))
            return true;
        return mode == IndexLockMode.LockedIgnore ? false : throw new InvalidIndexDefinitionException(
            definition.Name, "LockMode",
            "the index is locked (LockedError), so that its definition stays as it is. Unlock it first.");
    }

    /// <summary>Returns all definitions in a transaction, as stored.</summary>
    public static IReadOnlyList<byte[]> ReadAll(ReadTransaction documents)
    {
        var definitions = new List<byte[]>();
        using Cursor? cursor = documents.FindTree(TreeNames.StaticIndexes)?.OpenCursor();
        for (bool valid = cursor?.MoveFirst() == true; valid; valid = cursor!.MoveNext()) // valid only with a cursor
            definitions.Add(cursor!.Value.ToArray()); // as above
        return definitions;
    }

    /// <summary>Returns the definitions of an index, newest first.</summary>
    public IReadOnlyList<DefinitionVersion> History(string name) => _history.Of(KeyOf(name));

    /// <summary>See <see cref="DefinitionHistory.Restore"/>.</summary>
    public void RestoreHistory(string name, IReadOnlyList<DefinitionVersion> versions) =>
        _history.Restore(KeyOf(name), versions);

    /// <summary>Stores a definition, replacing one of the same name; durable when the method returns.</summary>
    public void Put(IndexDefinition definition)
    {
        byte[] key = KeyOf(definition.Name);
        _records.Put(key, IndexDefinitionJson.Write(definition));
        _history.Add(key, definition, timeProvider.GetUtcNow().UtcDateTime);
    }

    /// <summary>Deletes a definition and its history; returns false if it does not exist.</summary>
    public bool Delete(string name)
    {
        _history.Forget(KeyOf(name));
        return _records.Delete(KeyOf(name));
    }

    private static byte[] KeyOf(string name) => CollectionName.Fold(name);
}
