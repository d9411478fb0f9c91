using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>Documents read without an index: of a collection, of the database, or with an id prefix.</summary>
internal sealed class CursorSource : ResultSource
{
    /// <summary>
    /// The number of documents of other collections for each wanted one, up to which passing over them costs less than looking
    /// the wanted ones up by their log.
    /// </summary>
    private const int OthersOfFastScan = 4;

    private const int NoCollection = -1;

    private readonly DatabaseSnapshot _snapshot;
    private readonly DocumentCursor _cursor;
    private readonly int? _collection; // to be checked; null if the cursor has no others
    private readonly ScanBudget? _budget;
    private readonly ScanPosition? _position;

    private readonly long? _totalCount;
    private long _seen;
    private long _lookedAt;
    private bool _isAtEnd;

    private CursorSource(
        DatabaseSnapshot snapshot, DocumentCursor cursor, int? collection, long? totalCount, ScanBudget? budget,
        bool isInIdOrder, ScanPosition? position)
    {
        IsInIdOrder = isInIdOrder;
        _position = position;
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

    public override byte[]? Position() => IsInIdOrder ? _position?.At(FoldedId) : _position?.At(Current.Etag);

    /// <summary>Whether the documents come in the order of their ids; otherwise in that of their etags.</summary>
    public bool IsInIdOrder { get; }

    /// <summary>Documents of a collection (null: all), ordered by etag.</summary>
    /// <param name="snapshot">The snapshot.</param>
    /// <param name="collection">The collection.</param>
    /// <param name="budget">The budget, or null.</param>
    /// <param name="position">Where to begin, or null.</param>
    public static CursorSource OfCollection(
        DatabaseSnapshot snapshot, string? collection, ScanBudget? budget = null, ScanPosition? position = null)
    {
        long after = Math.Max(0, position?.AfterNumber ?? 0);
        DocumentCursor cursor = collection is null ? snapshot.ByEtag(after) : snapshot.ByCollection(collection, after);
        return new CursorSource(
            snapshot, cursor, null, CountOf(snapshot, collection), budget, isInIdOrder: false, position);
    }

    /// <summary>
    /// Documents of a collection (null: all) in the order that is read faster: the whole tree of documents from one end to the
    /// other, unless most of them are of other collections.
    /// </summary>
    public static CursorSource InAnyOrder(DatabaseSnapshot snapshot, string? collection)
    {
        long count = CountOf(snapshot, collection);
        if (count < snapshot.DocumentCount / OthersOfFastScan)
            return OfCollection(snapshot, collection);
        return new CursorSource(
            snapshot, snapshot.ByPrefix(new DocumentPrefix { StartsWith = "" }), Asked(snapshot, collection, count), count, null,
            isInIdOrder: true, null);
    }

    /// <summary>Documents of a collection (null: all) whose id starts with a prefix, ordered by id.</summary>
    /// <param name="snapshot">The snapshot.</param>
    /// <param name="collection">The collection.</param>
    /// <param name="prefix">The prefix.</param>
    /// <param name="counts">Whether to count the matches in advance.</param>
    /// <param name="budget">The budget, or null.</param>
    /// <param name="position">Where to begin, or null.</param>
    /// <param name="cancellationToken">Cancels the counting.</param>
    public static CursorSource OfPrefix(
        DatabaseSnapshot snapshot, string? collection, string prefix, bool counts, ScanBudget? budget, ScanPosition? position,
        CancellationToken cancellationToken)
    {
        var wanted = new DocumentPrefix { StartsWith = prefix };
        long? count = !counts
            ? null
            : budget is null
            ? snapshot.CountByPrefix(prefix, collection, cancellationToken)
            : Count(snapshot, collection, wanted, budget, cancellationToken);

        return new CursorSource(
            snapshot, snapshot.ByPrefix(wanted, position?.AfterId), Asked(snapshot, collection, CountOf(snapshot, collection)),
            count, budget, isInIdOrder: true, position);
    }

    /// <summary>
    /// Returns the number of the collection that each document must be of; null if the collection has all documents of the
    /// database, so that none need be checked.
    /// </summary>
    private static int? Asked(DatabaseSnapshot snapshot, string? collection, long count) =>
        collection is null || count == snapshot.DocumentCount ? null : snapshot.FindCollection(collection) ?? NoCollection;

    private static long CountOf(DatabaseSnapshot snapshot, string? collection) =>
        collection is null ? snapshot.DocumentCount : snapshot.Collection(collection)?.DocumentCount ?? 0;

    /// <summary>Counts the matches one by one, because each examined document counts against the budget.</summary>
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

    /// <summary>Skips without reading the documents, unless there is a budget or their collection must be checked.</summary>
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
            if (_collection is null || _cursor.Current.CollectionId == _collection)
            {
                _budget?.Pause();
                _seen++;
                return true;
            }

            _snapshot.ReleasePages(); // the pages of documents that did not match; the previous result is no longer valid anyway
        }

        _isAtEnd = true;
        return false;
    }

    public override void Dispose() => _cursor.Dispose();

    internal static bool IsIn(string? collection, Document document) =>
        collection is null || string.Equals(document.CollectionName, collection, StringComparison.OrdinalIgnoreCase);
}
