using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>Documents straight from the store: of a collection, of all, or of a prefix of ids.</summary>
internal sealed class CursorSource : ResultSource
{
    private readonly DatabaseSnapshot _snapshot;
    private readonly DocumentCursor _cursor;
    private readonly string? _collection;
    private readonly ScanBudget? _budget;

    private CursorSource(
        DatabaseSnapshot snapshot, DocumentCursor cursor, string? collection, long totalCount, ScanBudget? budget)
    {
        _budget = budget;
        _snapshot = snapshot;
        _cursor = cursor;
        _collection = collection;
        TotalCount = totalCount;
    }

    public override long TotalCount { get; }

    public override Document Current => _cursor.Current;

    /// <summary>Documents of a collection (null: all), in order of their etag.</summary>
    public static CursorSource OfCollection(DatabaseSnapshot snapshot, string? collection, ScanBudget? budget = null)
    {
        if (collection is null)
            return new CursorSource(snapshot, snapshot.ByEtag(), null, snapshot.DocumentCount, budget);

        long count = snapshot.Collection(collection)?.DocumentCount ?? 0;
        return new CursorSource(snapshot, snapshot.ByCollection(collection), null, count, budget);
    }

    /// <summary>Documents of a collection (null: all) whose id starts with a prefix, in order of their id.</summary>
    public static CursorSource OfPrefix(
        DatabaseSnapshot snapshot, string? collection, string prefix, ScanBudget? budget, CancellationToken cancellationToken)
    {
        budget?.Resume();
        var wanted = new DocumentPrefix { StartsWith = prefix };
        long count = 0;
        using (DocumentCursor counted = snapshot.ByPrefix(wanted))
        {
            while (counted.MoveNext())
            {
                cancellationToken.ThrowIfCancellationRequested();
                budget?.Take();
                if (IsIn(collection, counted.Current))
                    count++;
                snapshot.ReleasePages();
            }
        }

        budget?.Pause();
        return new CursorSource(snapshot, snapshot.ByPrefix(wanted), collection, count, budget);
    }

    public override bool MoveNext()
    {
        _budget?.Resume();
        while (_cursor.MoveNext())
        {
            _budget?.Take();
            if (IsIn(_collection, _cursor.Current))
            {
                _budget?.Pause();
                return true;
            }

            _snapshot.ReleasePages(); // of those passed over; whoever moves on is done with the one before
        }

        return false;
    }

    public override void Dispose() => _cursor.Dispose();

    internal static bool IsIn(string? collection, Document document) =>
        collection is null || string.Equals(document.CollectionName, collection, StringComparison.OrdinalIgnoreCase);
}
