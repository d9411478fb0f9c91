namespace Treepie.Store;

/// <summary>Changes one after the other, by etag; a document stands once, at its last change. Ends with its snapshot.</summary>
/// <remarks>
/// In the feed of one collection a document that was deleted there and put into another collection stands as deleted, so that who
/// follows the collection learns of it.
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

    /// <summary>Etag of the current change.</summary>
    public long Etag => IsTombstone ? _tombstones.Etag : _documents.Etag;

    /// <summary>Whether the current change is a deletion; <see cref="Document"/> is then not to be read.</summary>
    public bool IsTombstone { get; private set; }

    /// <summary>Id of the document, UTF-8.</summary>
    public ReadOnlySpan<byte> Id => IsTombstone ? Tombstone.Id : Document.Id;

    /// <summary>Collection of the document, UTF-8.</summary>
    public ReadOnlySpan<byte> Collection => IsTombstone ? _snapshot.NameOf(Tombstone.CollectionId).Utf8 : Document.Collection;

    /// <summary>The document.</summary>
    /// <exception cref="InvalidOperationException">The current change is a deletion.</exception>
    public Document Document => !IsTombstone
        ? _snapshot.GetByFoldedId(_documents.Value)
        : throw new InvalidOperationException("The current change is a deletion: there is no document to read.");

    /// <summary>When the current change was made (UTC ticks).</summary>
    internal long ChangedAtTicks => IsTombstone ? Tombstone.DeletedAtTicks : Document.LastModifiedTicks;

    private TombstoneRecord Tombstone => new(_ofOneCollection ? _snapshot.GetTombstone(_tombstones.Etag) : _tombstones.Value);

    /// <summary>Goes to the next; false after the last.</summary>
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
