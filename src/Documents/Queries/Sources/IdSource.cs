using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>Documents with given ids, in the order of the ids, without duplicates.</summary>
internal sealed class IdSource : ResultSource
{
    private readonly DatabaseSnapshot _snapshot;
    private readonly List<(string Id, int Place)> _found = [];
    private readonly ScanPosition? _position;
    private int _current = -1;

    /// <summary>Finds the documents of a collection (null: any) that have one of the ids.</summary>
    /// <param name="snapshot">The snapshot.</param>
    /// <param name="collection">The collection.</param>
    /// <param name="ids">The ids.</param>
    /// <param name="budget">The budget, or null.</param>
    /// <param name="position">Where to begin, or null.</param>
    public IdSource(
        DatabaseSnapshot snapshot, string? collection, IReadOnlyList<string> ids, ScanBudget? budget = null,
        ScanPosition? position = null)
    {
        _snapshot = snapshot;
        _position = position;
        LookedAt = ids.Count;
        var seen = new HashSet<long>();
        budget?.Resume();
        for (int place = 0; place < ids.Count; place++)
        {
            budget?.Take();
            if (snapshot.TryGet(ids[place], out Document document)
                && CursorSource.IsIn(collection, document)
                && seen.Add(document.Etag))
                _found.Add((ids[place], place));
            snapshot.ReleasePages();
        }

        while (_current + 1 < _found.Count && _found[_current + 1].Place <= (position?.AfterNumber ?? -1))
            _current++;
    }

    public override long TotalCount => _found.Count;

    public override long LookedAt { get; }

    public override Document Current =>
        _snapshot.TryGet(_found[_current].Id, out Document document)
            ? document
            : throw new InvalidOperationException("No result is current.");

    public override byte[]? Position() => _position?.At(_found[_current].Place);

    public override bool MoveNext() => ++_current < _found.Count;

    public override void Dispose()
    {
        // Holds nothing.
    }
}
