using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>Loads several documents from one snapshot.</summary>
internal static class SessionLoads
{
    /// <summary>Loads several entities. The result maps each id as given to its entity, or to null.</summary>
    public static Dictionary<string, T?> Of<T>(DocumentSession session, IEnumerable<string> ids)
        where T : class
    {
        DatabaseSnapshot? snapshot = null;
        try
        {
            return Of<T>(session, ids, () => snapshot ??= session.BeginDocumentRead());
        }
        finally
        {
            snapshot?.Dispose();
        }
    }

    /// <summary>Same as above; entities that the session does not track yet are read from the specified snapshot.</summary>
    public static Dictionary<string, T?> Of<T>(
        DocumentSession session, IEnumerable<string> ids, Func<DatabaseSnapshot> snapshot)
        where T : class
    {
        var loaded = new Dictionary<string, T?>(IdComparer.Instance);
        foreach (string id in ids)
            loaded[id] = session.TryFindTracked(id, out T? entity) ? entity : session.Track<T>(snapshot(), id);
        return loaded;
    }

    /// <summary>Loads the entities whose ids start with a prefix, in id order.</summary>
    public static List<T> StartingWith<T>(
        DocumentSession session, DocumentPrefix prefix, int start, int pageSize, DatabaseSnapshot snapshot)
        where T : class
    {
        var loaded = new List<T>();
        session.Reads?.NotePrefix(prefix.StartsWith);
        using DocumentCursor cursor = snapshot.ByPrefix(prefix);
        for (int position = 0; loaded.Count < pageSize && cursor.MoveNext(); position++)
        {
            if (position >= start && session.Track<T>(cursor.Current) is { } entity)
                loaded.Add(entity);
        }

        return loaded;
    }
}
