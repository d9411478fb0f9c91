using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Tests.Model;

/// <summary>Every key and value of every tree of a store, to compare stores.</summary>
internal static class StoreContent
{
    public static List<string> Of(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        var content = new List<string>();
        foreach (string name in read.TreeNames.Order(StringComparer.Ordinal))
        {
            using Cursor cursor = read.FindTree(name)!.OpenCursor(); // it is one of them
            for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
                content.Add($"{name}: {Convert.ToHexString(cursor.Key)} = {Convert.ToHexString(cursor.Value)}");
        }

        return content;
    }
}
