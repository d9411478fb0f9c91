using System.Diagnostics;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Sessions;

/// <summary>
/// A bidirectional cursor over a tree of an optimistic session, covering the snapshot and the session's own writes. The commit
/// validates the ranges that it moves over, so a full scan reads the whole tree. Writes of the session do not invalidate the
/// position: the next move sees them.
/// </summary>
/// <remarks>
/// Merges two positions, in the snapshot and in the writes: the nearer one is returned; for equal keys, the write. The range that
/// was read is kept as its two ends and extended only when the direction changes or the cursor leaves it, so that a move costs
/// nothing for it.
/// </remarks>
public sealed class SessionCursor : IDisposable
{
    private const int MostEndBytes = 2 * Tree.MaxKeyBytes;

    private readonly SessionTree _tree;
    private readonly Cursor _snapshot;
    private readonly RangeEnd _low = new();
    private readonly RangeEnd _high = new();
    private readonly byte[] _key = new byte[Tree.MaxKeyBytes];
    private int _entry;
    private int _version;
    private bool _hasSnapshot;
    private bool _isForward;
    private bool _isHighExcluded;
    private bool _hasRange;
    private bool _isValid;

    internal SessionCursor(SessionTree tree)
    {
        _tree = tree;
        _snapshot = tree.Snapshot.OpenCursor();
    }

    /// <summary>Whether the cursor is positioned on a key.</summary>
    public bool IsValid => _isValid;

    /// <summary>The current key. Valid until the cursor moves.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not positioned on a key.</exception>
    public ReadOnlySpan<byte> Key
    {
        get
        {
            ThrowIfInvalid();
            return Current;
        }
    }

    /// <summary>The current value; empty if the session has deleted it since the cursor moved here.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not positioned on a key.</exception>
    public ReadOnlySpan<byte> Value
    {
        get
        {
            ThrowIfInvalid();
            if (IsAtEntry)
                return _tree.Writes.Value(_entry);

            int written = _version == _tree.Writes.Version ? 0 : _tree.Writes.Find(Current);
            return written != 0 ? _tree.Writes.Value(written) : _snapshot.Value;
        }
    }

    private ReadOnlySpan<byte> Current => IsAtEntry ? _tree.Writes.Key(_entry) : _snapshot.Key;

    private bool IsAtEntry { get; set; }

    /// <summary>Moves to the smallest key; returns false if the tree is empty.</summary>
    /// <exception cref="SessionLimitException">The session has reached its limit of reads.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    public bool MoveFirst() => Seek(default, isUnbounded: true);

    /// <summary>
    /// Moves to the smallest key that is equal to or greater than <paramref name="key"/>; returns false if there is none.
    /// </summary>
    /// <exception cref="SessionLimitException">The session has reached its limit of reads.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    public bool Seek(scoped ReadOnlySpan<byte> key) => Seek(key, isUnbounded: false);

    /// <summary>Moves to the greatest key; returns false if the tree is empty.</summary>
    /// <exception cref="SessionLimitException">The session has reached its limit of reads.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    public bool MoveLast()
    {
        Begin();
        _high.Open();
        _low.Clear();
        _isHighExcluded = false;
        _hasSnapshot = _snapshot.MoveLast();
        _entry = _tree.Writes.Last();
        return SettleBackward() && KeepLow();
    }

    /// <summary>
    /// Moves to the greatest key that is smaller than <paramref name="key"/>; returns false if there is none.
    /// </summary>
    /// <exception cref="SessionLimitException">The session has reached its limit of reads.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    public bool SeekBefore(scoped ReadOnlySpan<byte> key)
    {
        Begin();
        _low.Set(key);
        _high.Set(key);
        _isHighExcluded = true;
        _hasSnapshot = _snapshot.SeekBefore(key);
        _entry = _tree.Writes.LastBefore(key);
        return SettleBackward();
    }

    /// <summary>Moves to the next key; after the last one, returns false and the cursor is no longer valid.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not positioned on a key.</exception>
    public bool MoveNext()
    {
        ThrowIfInvalid();
        if (!_isForward || _version != _tree.Writes.Version)
        {
            ReadOnlySpan<byte> key = Turn();
            _hasSnapshot = _snapshot.Seek(key) && (!_snapshot.Key.SequenceEqual(key) || _snapshot.MoveNext());
            _entry = _tree.Writes.LowerBound(key);
            if (_entry != 0 && _tree.Writes.Key(_entry).SequenceEqual(key))
                _entry = _tree.Writes.Next(_entry);
        }
        else if (IsAtEntry)
        {
            _entry = _tree.Writes.Next(_entry);
        }
        else
        {
            _hasSnapshot = _snapshot.MoveNext();
        }

        return SettleForward();
    }

    /// <summary>Moves to the previous key; before the first one, returns false and the cursor is no longer valid.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not positioned on a key.</exception>
    public bool MovePrevious()
    {
        ThrowIfInvalid();
        if (_isForward || _version != _tree.Writes.Version)
        {
            ReadOnlySpan<byte> key = Turn();
            _hasSnapshot = _snapshot.SeekBefore(key);
            _entry = _tree.Writes.LastBefore(key);
        }
        else if (IsAtEntry)
        {
            _entry = _tree.Writes.LastBefore(_tree.Writes.Key(_entry));
        }
        else
        {
            _hasSnapshot = _snapshot.MovePrevious();
        }

        return SettleBackward();
    }

    /// <summary>Invalidates the position. The ranges that it has read are still validated.</summary>
    public void Dispose()
    {
        if (!_tree.Session.IsEnded)
            Note();
        _isValid = false;
        _snapshot.Dispose();
        _tree.Session.Unregister(this);
    }

    /// <summary>Records the range read so far in the session; the next seek begins another.</summary>
    internal void Note()
    {
        if (!_hasRange)
            return;

        if (_isValid)
            Cover(Current);
        _tree.Session.ChargeRead(_low.Length + _high.Length - MostEndBytes);
        Debug.Assert(
            _low.Key is not { } low || _high.Key is not { } high || low.Span.SequenceCompareTo(high.Span) <= 0,
            "a range begins before it ends");
        _tree.Reads.Add(new ReadRange(_low.Key, _high.Key, _isHighExcluded));
        _hasRange = false;
    }

    private bool Seek(scoped ReadOnlySpan<byte> key, bool isUnbounded)
    {
        Begin();
        if (isUnbounded)
            _low.Open();
        else
            _low.Set(key);
        _high.Set(key);
        _isHighExcluded = false;
        _hasSnapshot = isUnbounded ? _snapshot.MoveFirst() : _snapshot.Seek(key);
        _entry = _tree.Writes.LowerBound(key);
        return SettleForward();
    }

    private void Begin()
    {
        _tree.Session.ThrowIfEnded();
        Note();
        _isValid = false;
        // Charges the maximum, so that recording the range cannot fail.
        _tree.Session.ChargeRead(ReadSet.RangeOverheadBytes + MostEndBytes);
        _hasRange = true;
        _version = _tree.Writes.Version;
    }

    /// <summary>
    /// Called before both positions are sought again: extends the range by the current key and returns a copy of that key.
    /// </summary>
    private ReadOnlySpan<byte> Turn()
    {
        ReadOnlySpan<byte> current = Current;
        Cover(current);
        current.CopyTo(_key);
        _version = _tree.Writes.Version;
        return _key.AsSpan(0, current.Length);
    }

    private void Cover(scoped ReadOnlySpan<byte> key)
    {
        if (_low.Key is { } low && key.SequenceCompareTo(low.Span) < 0)
            _low.Set(key);
        if (_high.Key is not { } high || key.SequenceCompareTo(high.Span) is var order && order < 0)
            return;

        if (order > 0)
            _high.Set(key);
        _isHighExcluded = false;
    }

    private bool KeepLow()
    {
        _low.Set(Current);
        return true;
    }

    private bool SettleForward()
    {
        _isForward = true;
        while (_hasSnapshot || _entry != 0)
        {
            int order = !_hasSnapshot ? -1 : _entry == 0 ? 1 : _tree.Writes.Key(_entry).SequenceCompareTo(_snapshot.Key);
            if (order == 0)
                _hasSnapshot = _snapshot.MoveNext();
            IsAtEntry = order <= 0;
            if (!IsAtEntry || !_tree.Writes.IsDelete(_entry))
                return _isValid = true;

            _entry = _tree.Writes.Next(_entry);
        }

        _high.Open();
        return _isValid = false;
    }

    private bool SettleBackward()
    {
        _isForward = false;
        while (_hasSnapshot || _entry != 0)
        {
            int order = !_hasSnapshot ? 1 : _entry == 0 ? -1 : _tree.Writes.Key(_entry).SequenceCompareTo(_snapshot.Key);
            if (order == 0)
                _hasSnapshot = _snapshot.MovePrevious();
            IsAtEntry = order >= 0;
            if (!IsAtEntry || !_tree.Writes.IsDelete(_entry))
                return _isValid = true;

            _entry = _tree.Writes.LastBefore(_tree.Writes.Key(_entry));
        }

        _low.Open();
        return _isValid = false;
    }

    private void ThrowIfInvalid()
    {
        _tree.Session.ThrowIfEnded();
        if (!_isValid)
            throw new InvalidOperationException("The cursor is not on a key: move it to one first.");
    }

    /// <summary>A bound of the range: a key, or none.</summary>
    private sealed class RangeEnd
    {
        private byte[] _bytes = [];
        private bool _isOpen;

        public int Length { get; private set; }

        /// <summary>
        /// The key, or null if unbounded. A plain null would be converted to an empty key through an empty array.
        /// </summary>
        public ReadOnlyMemory<byte>? Key => _isOpen ? default(ReadOnlyMemory<byte>?) : _bytes.AsMemory(0, Length);

        public void Open()
        {
            _isOpen = true;
            Length = 0;
        }

        public void Clear() => Set(default);

        public void Set(scoped ReadOnlySpan<byte> key)
        {
            if (_bytes.Length < key.Length)
                _bytes = new byte[Math.Max(64, key.Length)];
            key.CopyTo(_bytes);
            Length = key.Length;
            _isOpen = false;
        }
    }
}
