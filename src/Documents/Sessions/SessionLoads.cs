using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>Loads of several documents, from one snapshot.</summary>
internal static class SessionLoads
{
    /// <summary>The objects of documents by the ids as given; null for those that do not exist.</summary>
    public static Dictionary<string, T?> Of<T>(DocumentSession session, IEnumerable<string> ids)
        where T : class
    {
        var loaded = new Dictionary<string, T?>(IdComparer.Instance);
        var others = new List<string>();
        foreach (string id in ids)
        {
            if (session.TryFindTracked(id, out T? entity))
                loaded[id] = entity;
            else
                others.Add(id);
        }

        if (others.Count == 0)
            return loaded;
        using DatabaseSnapshot snapshot = session.BeginRead();
        foreach (string id in others)
            loaded[id] = session.TryFindTracked(id, out T? entity) ? entity : session.Track<T>(snapshot, id);
        return loaded;
    }

    /// <summary>The objects of documents whose id starts with a prefix, in id order.</summary>
    public static List<T> StartingWith<T>(DocumentSession session, DocumentPrefix prefix, int start, int pageSize)
        where T : class
    {
        var loaded = new List<T>();
        using DatabaseSnapshot snapshot = session.BeginRead();
        using DocumentCursor cursor = snapshot.ByPrefix(prefix);
        for (int position = 0; loaded.Count < pageSize && cursor.MoveNext(); position++)
        {
            if (position >= start && session.Track<T>(cursor.Current) is { } entity)
                loaded.Add(entity);
        }

        return loaded;
    }
}
