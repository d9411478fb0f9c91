using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching;

/// <summary>Finds entries in the dictionary of keys.</summary>
internal static class KeyLookup
{
    /// <summary>Returns the ids of the entries with the keys, ascending.</summary>
    public static long[] Find(QueryContext context, KeyQuery query)
    {
        var ids = new HashSet<long>();
        for (int i = 0; i < query.Keys.Count; i++)
        {
            if ((i & 1023) == 0)
                context.Check();
            byte[] key = Encoding.UTF8.GetBytes(query.Keys[i]);
            if (query.IsPrefix)
                AddAll(context, key, ids);
            else if (context.View.Find(key) is >= 0 and long id)
                ids.Add(id);
        }

        long[] found = [.. ids];
        Array.Sort(found);
        return found;
    }

    private static void AddAll(QueryContext context, byte[] prefix, HashSet<long> ids)
    {
        if (context.View.Dictionary(TreeNames.Keys) is not { } keys)
            return;
        using TermCursor cursor = keys.OpenCursor();
        for (bool isThere = cursor.Seek(prefix); isThere && cursor.Key.StartsWith(prefix); isThere = cursor.MoveNext())
        {
            if ((++context.Meter.Count.TermsScanned & 1023) == 0)
                context.Check();
            ids.Add(EntryKey.Read(cursor.Value));
        }
    }
}
