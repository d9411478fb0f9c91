using Treepie.Storage.Trees;

namespace Treepie.Storage.Sessions;

/// <summary>
/// A tree as a session sees it: the snapshot with the session's own writes over it. A tree that does not exist reads as an empty
/// one, and is created by the commit if something was put into it.
/// </summary>
/// <remarks>Spans it returns live until the session's next write, or its end. Not thread-safe, like its session.</remarks>
public sealed class SessionTree
{
    private readonly OptimisticSession _session;
    private readonly Tree _snapshot;

    internal SessionTree(OptimisticSession session, Tree snapshot, SessionArena arena)
    {
        _session = session;
        _snapshot = snapshot;
        Reads = new ReadSet(arena);
        Writes = new WriteBuffer(arena);
    }

    /// <summary>The name of the tree.</summary>
    public string Name => _snapshot.Name;

    internal ReadSet Reads { get; }

    internal WriteBuffer Writes { get; }

    internal Tree Snapshot => _snapshot;

    internal OptimisticSession Session => _session;

    /// <summary>
    /// The value of a key. The commit will fail if another has changed it by then; a key that this session wrote itself is not
    /// read from the snapshot.
    /// </summary>
    /// <exception cref="SessionLimitException">The session has read more than it may remember.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    public bool TryGet(scoped ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        _session.ThrowIfEnded();
        int entry = Writes.Count == 0 ? 0 : Writes.Find(key);
        if (entry != 0)
        {
            value = Writes.Value(entry);
            return !Writes.IsDelete(entry);
        }

        if (!Reads.Contains(key))
        {
            _session.ChargeRead(key.Length + ReadSet.KeyOverheadBytes);
            Reads.Add(key);
        }

        return _snapshot.TryGet(key, out value);
    }

    /// <summary>Whether the key is there; as <see cref="TryGet"/>.</summary>
    public bool Contains(scoped ReadOnlySpan<byte> key) => TryGet(key, out _);

    /// <summary>Sets the value of a key, when the session commits. Reads nothing: whether the key is new is not told.</summary>
    /// <exception cref="ArgumentException">Key or value are too long.</exception>
    /// <exception cref="SessionLimitException">The session has written more than it may.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    public void Put(scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value)
    {
        if (value.Length > Tree.MaxValueBytes)
            throw new ArgumentException(
                $"A value has at most {Tree.MaxValueBytes} bytes; this one has {value.Length}.", nameof(value));

        Write(key, value, isDelete: false);
    }

    /// <summary>Removes a key, if it is there when the session commits. Reads nothing: whether it is there is not told.</summary>
    /// <exception cref="ArgumentException">The key is too long.</exception>
    /// <exception cref="SessionLimitException">The session has written more than it may.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    public void Delete(scoped ReadOnlySpan<byte> key) => Write(key, default, isDelete: true);

    /// <summary>
    /// A cursor over snapshot and own writes. The commit will fail if another has by then changed, added or removed a key in a
    /// stretch it moved over.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    public SessionCursor OpenCursor()
    {
        _session.ThrowIfEnded();
        var cursor = new SessionCursor(this);
        _session.Register(cursor);
        return cursor;
    }

    private void Write(scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value, bool isDelete)
    {
        _session.ThrowIfEnded();
        if (key.Length > Tree.MaxKeyBytes)
            throw new ArgumentException($"A key has at most {Tree.MaxKeyBytes} bytes; this one has {key.Length}.", nameof(key));

        _session.ChargeWrite(Writes.CostOf(key, value.Length));
        Writes.Set(key, value, isDelete);
    }
}
