namespace Treepie.Store;

/// <summary>
/// Reads changes in etag order. A document appears once, at its latest change. Valid until its snapshot is disposed.
/// </summary>
/// <remarks>
/// In the feed of one collection, a document that was deleted and then stored in another collection appears as a deletion, so
/// that a reader of the first collection sees it leave.
/// </remarks>
public sealed class ChangeFeed : IDisposable
{
    private readonly DatabaseSnapshot _snapshot;
    private readonly LogReader _documents;
    private readonly LogReader _tombstones;
    private readonly bool _ofOneCollection;
    private bool _started;

    internal ChangeFeed(DatabaseSnapshot snapshot, LogReader documents, LogReader tombstones, bool ofOneCollection)
    {
        _snapshot = snapshot;
        _documents = documents;
        _tombstones = tombstones;
        _ofOneCollection = ofOneCollection;
    }

    /// <summary>The etag of the current change.</summary>
    public long Etag => IsTombstone ? _tombstones.Etag : _documents.Etag;

    /// <summary>Whether the current change is a deletion. If so, <see cref="Document"/> cannot be read.</summary>
    public bool IsTombstone { get; private set; }

    /// <summary>The id of the document, in UTF-8.</summary>
    public ReadOnlySpan<byte> Id => IsTombstone ? Tombstone.Id : Document.Id;

    /// <summary>The name of the document's collection, in UTF-8.</summary>
    public ReadOnlySpan<byte> Collection => IsTombstone ? _snapshot.NameOf(Tombstone.CollectionId).Utf8 : Document.Collection;

    /// <summary>The document at the current change.</summary>
    /// <exception cref="InvalidOperationException">The current change is a deletion.</exception>
    public Document Document => !IsTombstone
        ? _snapshot.GetByFoldedId(_documents.Value)
        : throw new InvalidOperationException("The current change is a deletion: there is no document to read.");

    /// <summary>The time of the current change (UTC ticks).</summary>
    internal long ChangedAtTicks => IsTombstone ? Tombstone.DeletedAtTicks : Document.LastModifiedTicks;

    private TombstoneRecord Tombstone => new(_ofOneCollection ? _snapshot.GetTombstone(_tombstones.Etag) : _tombstones.Value);

    /// <summary>Advances to the next change; returns false after the last one.</summary>
    public bool MoveNext()
    {
        if (!_started)
        {
            _started = true;
            _documents.MoveNext();
            NextTombstone();
        }
        else if (IsTombstone)
        {
            NextTombstone();
        }
        else
        {
            _documents.MoveNext();
        }

        IsTombstone = _tombstones.IsValid && (!_documents.IsValid || _tombstones.Etag < _documents.Etag);
        return _tombstones.IsValid || _documents.IsValid;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _documents.Dispose();
        _tombstones.Dispose();
    }

    private void NextTombstone()
    {
        while (_tombstones.MoveNext())
            if (_ofOneCollection || !new TombstoneRecord(_tombstones.Value).IsSuperseded)
                return;
    }
}
