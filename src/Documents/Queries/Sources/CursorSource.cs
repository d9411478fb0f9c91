using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>Documents straight from the store: of a collection, of all, or of a prefix of ids.</summary>
internal sealed class CursorSource : ResultSource
{
    private readonly DatabaseSnapshot _snapshot;
    private readonly DocumentCursor _cursor;
    private readonly string? _collection;

    private CursorSource(DatabaseSnapshot snapshot, DocumentCursor cursor, string? collection, long totalCount)
    {
        _snapshot = snapshot;
        _cursor = cursor;
        _collection = collection;
        TotalCount = totalCount;
    }

    public override long TotalCount { get; }

    public override Document Current => _cursor.Current;

    /// <summary>Documents of a collection (null: all), in order of their etag.</summary>
    public static CursorSource OfCollection(DatabaseSnapshot snapshot, string? collection) => collection is null
        ? new CursorSource(snapshot, snapshot.ByEtag(), null, snapshot.DocumentCount)
        : new CursorSource(snapshot, snapshot.ByCollection(collection), null, snapshot.Collection(collection)?.DocumentCount ?? 0);

    /// <summary>Documents of a collection (null: all) whose id starts with a prefix, in order of their id.</summary>
    public static CursorSource OfPrefix(DatabaseSnapshot snapshot, string? collection, string prefix, CancellationToken cancellationToken)
    {
        var wanted = new DocumentPrefix { StartsWith = prefix };
        long count = 0;
        using (DocumentCursor counted = snapshot.ByPrefix(wanted))
        {
            while (counted.MoveNext())
            {
                cancellationToken.ThrowIfCancellationRequested();
                if (IsIn(collection, counted.Current))
                    count++;
                snapshot.ReleasePages();
            }
        }

        return new CursorSource(snapshot, snapshot.ByPrefix(wanted), collection, count);
    }

    public override bool MoveNext()
    {
        while (_cursor.MoveNext())
        {
            if (IsIn(_collection, _cursor.Current))
                return true;
            _snapshot.ReleasePages(); // of those passed over; whoever moves on is done with the one before
        }

        return false;
    }

    public override void Dispose() => _cursor.Dispose();

    internal static bool IsIn(string? collection, Document document) =>
        collection is null || string.Equals(document.CollectionName, collection, StringComparison.OrdinalIgnoreCase);
}
