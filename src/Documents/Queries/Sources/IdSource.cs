using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>Documents with given ids, in the order of the ids, without duplicates.</summary>
internal sealed class IdSource : ResultSource
{
    private readonly DatabaseSnapshot _snapshot;
    private readonly List<string> _found = [];
    private int _position = -1;

    /// <summary>Finds the documents of a collection (null: any) that have one of the ids.</summary>
    public IdSource(DatabaseSnapshot snapshot, string? collection, IReadOnlyList<string> ids, ScanBudget? budget = null)
    {
        _snapshot = snapshot;
        LookedAt = ids.Count;
        var seen = new HashSet<long>();
        budget?.Resume();
        foreach (string id in ids)
        {
            budget?.Take();
            if (snapshot.TryGet(id, out Document document) && CursorSource.IsIn(collection, document) && seen.Add(document.Etag))
                _found.Add(id);
            snapshot.ReleasePages();
        }
    }

    public override long TotalCount => _found.Count;

    public override long LookedAt { get; }

    public override Document Current =>
        _snapshot.TryGet(_found[_position], out Document document)
            ? document
            : throw new InvalidOperationException("No result is current.");

    public override bool MoveNext() => ++_position < _found.Count;

    public override void Dispose()
    {
        // Holds nothing.
    }
}
