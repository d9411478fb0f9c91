using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>Documents straight from the store: of a collection, of all, or of a prefix of ids.</summary>
internal sealed class CursorSource : ResultSource
{
    private readonly DatabaseSnapshot _snapshot;
    private readonly DocumentCursor _cursor;
    private readonly string? _collection;
    private readonly ScanBudget? _budget;

    private readonly long? _totalCount;
    private long _seen;
    private long _lookedAt;
    private bool _isAtEnd;

    private CursorSource(
        DatabaseSnapshot snapshot, DocumentCursor cursor, string? collection, long? totalCount, ScanBudget? budget)
    {
        _budget = budget;
        _snapshot = snapshot;
        _cursor = cursor;
        _collection = collection;
        _totalCount = totalCount;
    }

    public override long TotalCount => _totalCount ?? _seen;

    public override bool IsTotalExact => _totalCount is not null || _isAtEnd;

    public override long LookedAt => _lookedAt;

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
    /// <param name="snapshot">Where they are.</param>
    /// <param name="collection">The collection.</param>
    /// <param name="prefix">The prefix.</param>
    /// <param name="counts">Whether they are to be counted before the first is given.</param>
    /// <param name="budget">The budget.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public static CursorSource OfPrefix(
        DatabaseSnapshot snapshot, string? collection, string prefix, bool counts, ScanBudget? budget,
        CancellationToken cancellationToken)
    {
        var wanted = new DocumentPrefix { StartsWith = prefix };
        long? count = !counts
            ? null
            : budget is null
            ? snapshot.CountByPrefix(prefix, collection, cancellationToken)
            : Count(snapshot, collection, wanted, budget, cancellationToken);

        // Where no other collection has a document, none has to be asked for its collection.
        string? asked = collection is not null && snapshot.Collection(collection)?.DocumentCount == snapshot.DocumentCount
            ? null
            : collection;
        return new CursorSource(snapshot, snapshot.ByPrefix(wanted), asked, count, budget);
    }

    /// <summary>A budget counts the documents that are looked at, so each is.</summary>
    private static long Count(
        DatabaseSnapshot snapshot, string? collection, DocumentPrefix wanted, ScanBudget budget,
        CancellationToken cancellationToken)
    {
        budget.Resume();
        long count = 0;
        using DocumentCursor counted = snapshot.ByPrefix(wanted);
        while (counted.MoveNext())
        {
            cancellationToken.ThrowIfCancellationRequested();
            budget.Take();
            if (IsIn(collection, counted.Current))
                count++;
            snapshot.ReleasePages();
        }

        budget.Pause();
        return count;
    }

    /// <summary>Without a budget documents that are left out are not looked at, unless their collection is asked for.</summary>
    public override void Skip(long count, CancellationToken cancellationToken)
    {
        const int Step = 1 << 16;
        bool looksAtEach = _budget is not null || _collection is not null;
        for (long left = count; left > 0;)
        {
            long step = looksAtEach ? 1 : Math.Min(left, Step), skipped = looksAtEach ? (MoveNext() ? 1 : 0) : _cursor.Skip(step);
            _seen += looksAtEach ? 0 : skipped;
            left -= skipped;
            if (skipped < step)
                return;
            cancellationToken.ThrowIfCancellationRequested();
            _snapshot.ReleasePages();
        }
    }

    public override bool MoveNext()
    {
        _budget?.Resume();
        while (_cursor.MoveNext())
        {
            _budget?.Take();
            _lookedAt++;
            if (IsIn(_collection, _cursor.Current))
            {
                _budget?.Pause();
                _seen++;
                return true;
            }

            _snapshot.ReleasePages(); // of those passed over; whoever moves on is done with the one before
        }

        _isAtEnd = true;
        return false;
    }

    public override void Dispose() => _cursor.Dispose();

    internal static bool IsIn(string? collection, Document document) =>
        collection is null || string.Equals(document.CollectionName, collection, StringComparison.OrdinalIgnoreCase);
}
