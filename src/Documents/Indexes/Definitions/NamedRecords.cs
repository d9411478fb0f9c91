using System.Text;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// Records of indexes by name, in a tree of the documents' environment: durable with the documents and included in every
/// copy of them. Thread-safe.
/// </summary>
/// <param name="documents">The environment in which the tree is, or is created at the first write.</param>
/// <param name="treeName">The name of the tree.</param>
internal sealed class NamedRecords(StorageEnvironment documents, string treeName)
{
    /// <summary>Returns all records with their names.</summary>
    public List<(string Name, byte[] Value)> ReadAll()
    {
        List<(string Name, byte[] Value)> records = [];
        using ReadTransaction read = documents.BeginRead();
        if (read.FindTree(treeName) is not { } tree)
            return records;

        using Cursor cursor = tree.OpenCursor();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
            records.Add((Encoding.UTF8.GetString(cursor.Key), cursor.Value.ToArray()));
        return records;
    }

    /// <summary>Stores a record, replacing one of the same name; durable when the method returns.</summary>
    public void Put(byte[] name, byte[] value)
    {
        documents.Write(transaction => transaction.GetOrCreateTree(treeName).Put(name, value));
    }

    /// <summary>
    /// Deletes a record, and in the same commit stores another if one is given. Returns false if there was none.
    /// </summary>
    public bool Delete(byte[] name, (byte[] Name, byte[] Value)? instead = null)
    {
        return documents.Write(transaction =>
        {
            transaction.UseReserve(); // deleting an index must be possible on a full disk
            Tree tree = transaction.GetOrCreateTree(treeName);
            bool found = tree.Delete(name);
            if (instead is { } other)
                tree.Put(other.Name, other.Value);
            return found;
        });
    }
}
