using Treepie.Storage.Trees;

namespace Treepie.Storage.Sessions;

/// <summary>
/// A tree as an optimistic session sees it: the snapshot overlaid with the session's own writes. A tree that does not exist reads
/// as empty, and is created by the commit if something was written to it.
/// </summary>
/// <remarks>Returned spans are valid until the session's next write, or its end. Not thread-safe, like the session.</remarks>
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
    /// Gets the value of a key; returns false if it does not exist. The commit will fail if someone else changes it in the
    /// meantime, unless the session wrote the key itself.
    /// </summary>
    /// <exception cref="SessionLimitException">The session has reached its limit of reads.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
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

    /// <summary>Returns whether a key exists; like <see cref="TryGet"/>.</summary>
    public bool Contains(scoped ReadOnlySpan<byte> key) => TryGet(key, out _);

    /// <summary>
    /// Sets the value of a key when the session commits. Does not read, so it does not tell whether the key is new.
    /// </summary>
    /// <exception cref="ArgumentException">The key or value is too long.</exception>
    /// <exception cref="SessionLimitException">The session has reached its limit of writes.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    public void Put(scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value)
    {
        if (value.Length > Tree.MaxValueBytes)
            throw new ArgumentException(
                $"A value has at most {Tree.MaxValueBytes} bytes; this one has {value.Length}.", nameof(value));

        Write(key, value, isDelete: false);
    }

    /// <summary>
    /// Removes a key, if it exists, when the session commits. Does not read, so it does not tell whether the key exists.
    /// </summary>
    /// <exception cref="ArgumentException">The key is too long.</exception>
    /// <exception cref="SessionLimitException">The session has reached its limit of writes.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    public void Delete(scoped ReadOnlySpan<byte> key) => Write(key, default, isDelete: true);

    /// <summary>
    /// Opens a cursor over the snapshot and the session's own writes. The commit will fail if someone else changes, adds or
    /// removes a key in a range that the cursor has read.
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
