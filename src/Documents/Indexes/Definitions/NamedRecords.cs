using System.Text;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// What is kept of indexes by a name, in a tree of the documents' environment: durable with the documents, in every copy of them.
/// Safe for any thread.
/// </summary>
/// <param name="documents">Where the tree is, or will be once something is put.</param>
/// <param name="treeName">Its name.</param>
internal sealed class NamedRecords(StorageEnvironment documents, string treeName)
{
    /// <summary>All of them by name.</summary>
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

    /// <summary>Keeps a value in the place of any of the same name; durable when this returns.</summary>
    public void Put(byte[] name, byte[] value)
    {
        documents.Write(transaction => transaction.GetOrCreateTree(treeName).Put(name, value));
    }

    /// <summary>
    /// Forgets what is kept under a name, and in the same commit keeps something under another, where that is given; false if
    /// there was nothing.
    /// </summary>
    public bool Delete(byte[] name, (byte[] Name, byte[] Value)? instead = null)
    {
        return documents.Write(transaction =>
        {
            transaction.UseReserve(); // an index must find room to go on a full disk
            Tree tree = transaction.GetOrCreateTree(treeName);
            bool found = tree.Delete(name);
            if (instead is { } other)
                tree.Put(other.Name, other.Value);
            return found;
        });
    }
}
