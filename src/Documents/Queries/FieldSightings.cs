using System.Collections.Concurrent;
using System.Text.Json;
using Treepie.Indexes.Fields;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// Remembers which paths some document of a collection has or had, and, for each other path, up to which change documents were
/// read without finding it. A query that names a field which no index has is warned from it. Each query reads a limited number
/// of documents; each document is read once for a path, and again after it has changed. Thread-safe.
/// </summary>
internal sealed class FieldSightings
{
    /// <summary>The maximum number of documents that are read for a query.</summary>
    private const int MostDocuments = 1_024;

    /// <summary>A query reads no further document once those it has read have this many bytes.</summary>
    private const int MostBytes = 1 << 20;

    /// <summary>The maximum number of paths that are remembered; all are forgotten when there are more.</summary>
    private const int MostPaths = 4_096;

    /// <summary>Stands for the change up to which a path was not seen, if it was seen.</summary>
    private const long Seen = long.MaxValue;

    private readonly ConcurrentDictionary<(string? Collection, FieldPath Path), long> _unseenUpTo = new();

    /// <summary>
    /// Returns the paths that none of the documents read so far has, each with the change up to which they were read.
    /// </summary>
    /// <param name="collection">The collection, in its own spelling; null for all documents.</param>
    /// <param name="paths">The paths.</param>
    /// <param name="snapshot">The documents.</param>
    public IReadOnlyList<(FieldPath Path, long Etag)> Unseen(
        string? collection, IReadOnlyList<FieldPath> paths, DatabaseSnapshot snapshot)
    {
        List<(FieldPath Path, long Etag)>? pending = null;
        foreach (FieldPath path in paths)
        {
            long etag = _unseenUpTo.GetValueOrDefault((collection, path));
            if (etag != Seen)
                (pending ??= []).Add((path, etag));
        }

        if (pending is null)
            return [];
        if (pending.Exists(one => one.Etag < snapshot.LastEtag))
            Look(collection, pending, snapshot);
        return pending;
    }

    /// <summary>Reads further documents and removes the paths that they have.</summary>
    private void Look(string? collection, List<(FieldPath Path, long Etag)> pending, DatabaseSnapshot snapshot)
    {
        long from = pending.Min(static one => one.Etag), reached = snapshot.LastEtag;
        var tree = new PathTree([.. pending.Select(static (one, i) => (one.Path, i))], expandsMaps: true);
        var sight = new Sight(new bool[pending.Count]);
        int documents = 0;
        long bytes = 0;
        using DocumentCursor cursor = collection is null ? snapshot.ByEtag(from) : snapshot.ByCollection(collection, from);
        while (cursor.MoveNext())
        {
            ReadOnlySpan<byte> body = cursor.Current.Body;
            tree.Visit(body, ref sight);
            bytes += body.Length;
            if (Array.TrueForAll(sight.IsThere, static isThere => isThere))
                break;
            if (++documents < MostDocuments && bytes < MostBytes)
                continue;
            reached = cursor.Current.Etag;
            break;
        }

        if (_unseenUpTo.Count + pending.Count > MostPaths)
            _unseenUpTo.Clear();
        for (int i = pending.Count - 1; i >= 0; i--)
        {
            (FieldPath path, long before) = pending[i];
            pending[i] = (path, sight.IsThere[i] ? Seen : Math.Max(before, reached));
            _unseenUpTo[(collection, path)] = pending[i].Etag;
        }

        pending.RemoveAll(static one => one.Etag == Seen);
    }

    private readonly struct Sight(bool[] isThere) : IFieldSink
    {
        public bool[] IsThere => isThere;

        public void Value(int slot, ref Utf8JsonReader reader) => isThere[slot] = true;

        public void Object(int slot, ref Utf8JsonReader reader) => isThere[slot] = true;

        public void StartOfArray(int slot, ref Utf8JsonReader reader) => isThere[slot] = true;

        public void EmptyArray(int slot) => isThere[slot] = true;
    }
}
