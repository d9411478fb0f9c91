namespace Treepie.Store;

/// <summary>
/// Iterates over changes of one kind of related data, including deletions, in etag order. Valid until its snapshot is disposed.
/// </summary>
internal sealed class KindChanges : IDisposable
{
    private readonly DatabaseSnapshot _snapshot;
    private readonly Kind _kind;
    private readonly LogReader _log;
    private readonly LogReader _deletions;
    private LogReader? _current;

    public KindChanges(DatabaseSnapshot snapshot, Kind kind, long afterEtag)
    {
        _snapshot = snapshot;
        _kind = kind;
        _log = snapshot.Kinds.Log(afterEtag);
        _deletions = snapshot.Kinds.Deletions(afterEtag);
    }

    public long Etag => Current.Etag;

    /// <summary>The time of the change (UTC ticks).</summary>
    public long Ticks => _snapshot.Kinds.RecordOf(Current.Value).Ticks;

    /// <summary>The key; see <see cref="KindKey"/>.</summary>
    public ReadOnlySpan<byte> Key => Current.Value;

    /// <summary>Whether the change is a deletion.</summary>
    public bool IsDeletion => _current == _deletions;

    /// <summary>The name, as it was written.</summary>
    public ReadOnlySpan<byte> Name => _snapshot.Kinds.RecordOf(Current.Value).Name;

    private LogReader Current =>
        _current ?? throw new InvalidOperationException("The cursor is before the first change: call MoveNext first.");

    public bool MoveNext()
    {
        if (_current is null)
        {
            Move(_log);
            Move(_deletions);
        }
        else
        {
            Move(_current);
        }

        _current = !_deletions.IsValid || (_log.IsValid && _log.Etag < _deletions.Etag) ? _log : _deletions;
        return _current.IsValid;
    }

    public void Dispose()
    {
        _log.Dispose();
        _deletions.Dispose();
    }

    private void Move(LogReader log)
    {
        while (log.MoveNext() && KindKey.KindOf(log.Value) != _kind)
        {
            // skip changes of other kinds
        }
    }
}
