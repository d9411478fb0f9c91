using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Terms;

/// <summary>
/// Changes a dictionary, see <see cref="TermTree"/>. If terms come in ascending order, every block is read and written once.
/// Reusable for one dictionary after another: <see cref="Begin"/>, changes, <see cref="Flush"/>. Invariants:
/// 1. The loaded block covers the terms from its key up to but not including the end key.
/// 2. <c>made</c> ascends, and its terms are before <c>old[next]</c>.
/// 3. Only a loaded block has changes.
/// </summary>
/// <param name="weight">Weight of a term by its value; null if terms have none. Every write of a dictionary must use the
/// same.</param>
internal sealed class TermTreeWriter(TermWeight? weight = null)
{
    /// <summary>Largest capacity of the item lists that is kept for the next block.</summary>
    private const int KeepItems = 1 << 16;

    /// <summary>Below this size, a block that lost terms is merged with the next.</summary>
    private const int MinBytes = TermBlock.MaxBytes / 4;

    private Tree _tree = null!; // Begin sets tree and cursor before any change
    private Cursor _cursor = null!;
    private readonly TermBlockEdit _edit = new(weight);
    private readonly ByteArena _bytes = new();
    private readonly TermBlockEncoder _encoder = new(weight);

    /// <summary>Terms of a block that is being rebuilt; those from <see cref="_next"/> on are not yet in
    /// <see cref="_made"/>.</summary>
    private readonly List<TermItem> _old = [];

    /// <summary>Terms of the rebuilt block up to the last one looked up.</summary>
    private readonly List<TermItem> _made = [];

    private readonly byte[] _blockKey = new byte[Tree.MaxKeyBytes];
    private readonly byte[] _endKey = new byte[Tree.MaxKeyBytes];
    private byte[] _termRoom = new byte[64];
    private byte[] _lastTerm = new byte[64];
    private int _lastTermLength;
    private int _blockKeyLength;
    private int _endKeyLength;
    private int _next;
    private bool _isLoaded;
    private bool _isStored;

    /// <summary>
    /// Whether the block is being rebuilt term by term, because it is new or a term lacks its prefix or suffix.
    /// </summary>
    private bool _isAnew;
    private bool _isChanged;
    private bool _hasLost;

    /// <summary>
    /// Whether the last term looked up exists, and whether it was changed since; after a change only greater terms can be
    /// found.
    /// </summary>
    private bool _isThere;
    private bool _isPassed;
    private long _countChange;

    /// <summary>Creates a writer for a single dictionary.</summary>
    public TermTreeWriter(Tree tree, TermWeight? weight = null)
        : this(weight) => Begin(tree);

    /// <summary>Number of terms.</summary>
    public long Count => TermTree.ReadCount(_tree) + _countChange;

    private bool HasEnd => _endKeyLength > 0;

    /// <summary>Switches to another dictionary. Changes of the previous one that were not flushed are discarded.</summary>
    public void Begin(Tree dictionary)
    {
        _tree = dictionary;
        _cursor = dictionary.OpenCursor();
        _isChanged = false;
        _countChange = 0;
        Leave();
    }

    /// <summary>Finds the value of a term; valid until another block is loaded.</summary>
    public bool TryGet(scoped ReadOnlySpan<byte> term, out ReadOnlySpan<byte> value)
    {
        value = default;
        if (!Find(term))
            return false;
        value = _isAnew ? _bytes.Slice(_old[_next].Value, _old[_next].ValueLength) : _edit.Value;
        return true;
    }

    /// <summary>Sets the value of a term.</summary>
    public void Put(scoped ReadOnlySpan<byte> term, scoped ReadOnlySpan<byte> value)
    {
        bool isKnown = Find(term);
        _countChange += isKnown ? 0 : 1;
        _isChanged = _isPassed = true;
        if (!_isAnew && isKnown)
        {
            _edit.Replace(value);
            return;
        }

        if (!_isAnew && _edit.TryAdd(term, value))
            return;
        if (!_isAnew)
        {
            BeginAnew();
            Walk(term);
        }

        if (isKnown)
            _next++;
        Debug.Assert(_made.Count == 0 || Key(_made[^1]).SequenceCompareTo(term) < 0, "2: made terms ascend");
        Debug.Assert(
            _next == _old.Count || term.SequenceCompareTo(Key(_old[_next])) < 0, "2: made terms are before the old ones");
        int key = _bytes.Add(term);
        _made.Add(new TermItem(key, term.Length, _bytes.Add(value), value.Length));
    }

    /// <summary>Removes a term; false if it does not exist.</summary>
    public bool Delete(scoped ReadOnlySpan<byte> term)
    {
        if (!Find(term))
            return false;
        if (_isAnew)
            _next++;
        else
            _edit.Remove();
        _countChange--;
        _isChanged = _hasLost = _isPassed = true;
        return true;
    }

    /// <summary>Writes all remaining changes.</summary>
    public void Flush()
    {
        Leave();
        if (_countChange == 0)
            return;
        long count = Count;
        _countChange = 0;
        if (count == 0)
        {
            _tree.Delete(TermTree.CountKey);
            return;
        }

        Span<byte> value = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(value, count);
        _tree.Put(TermTree.CountKey, value);
    }

    /// <summary>Moves to the place of a term; returns whether it exists.</summary>
    private bool Find(scoped ReadOnlySpan<byte> term)
    {
        if (_isLoaded)
        {
            int order = term.SequenceCompareTo(_lastTerm.AsSpan(0, _lastTermLength));
            if (order == 0 && !_isPassed)
                return _isThere;
            if (order <= 0 || (HasEnd && term.SequenceCompareTo(_endKey.AsSpan(1, _endKeyLength - 1)) >= 0))
                Leave(); // before the last change, or after the block
        }

        if (!_isLoaded)
            Load(term);
        Debug.Assert(
            term.SequenceCompareTo(_blockKey.AsSpan(1, _blockKeyLength - 1)) >= 0
                && (!HasEnd || term.SequenceCompareTo(_endKey.AsSpan(1, _endKeyLength - 1)) < 0),
            "1: the loaded block covers the term");
        if (_lastTerm.Length < term.Length)
            _lastTerm = new byte[term.Length * 2];
        term.CopyTo(_lastTerm);
        _lastTermLength = term.Length;
        _isPassed = false;
        return _isThere = _isAnew ? Walk(term) : _edit.Find(term);
    }

    /// <summary>Moves to the place of a term in a block that is being rebuilt.</summary>
    private bool Walk(scoped ReadOnlySpan<byte> term)
    {
        Debug.Assert(_isAnew, "2: only a block that was taken apart is walked");
        for (; _next < _old.Count; _next++)
        {
            int order = Key(_old[_next]).SequenceCompareTo(term);
            if (order >= 0)
                return order == 0;
            _made.Add(_old[_next]);
        }

        return false;
    }

    /// <summary>Starts to rebuild the block from its current terms.</summary>
    private void BeginAnew()
    {
        Debug.Assert(!_isAnew && _old.Count == 0 && _made.Count == 0, "2: a block is taken apart once");
        _edit.CopyTo(_old, _bytes);
        _isAnew = true;
    }

    private ReadOnlySpan<byte> Key(TermItem item) => _bytes.Slice(item.Key, item.KeyLength);

    /// <summary>Reads the block that covers a term.</summary>
    private void Load(scoped ReadOnlySpan<byte> term)
    {
        Debug.Assert(!_isLoaded && !_isChanged, "3: a block is loaded once the previous one is stored");
        if (_termRoom.Length < term.Length + 2)
            _termRoom = new byte[term.Length * 2];
        _termRoom[0] = TermTree.BlockMark;
        term.CopyTo(_termRoom.AsSpan(1));
        _termRoom[term.Length + 1] = 0;
        _isLoaded = true;
        _isStored = _cursor.SeekBefore(_termRoom.AsSpan(0, term.Length + 2)) && _cursor.Key[0] == TermTree.BlockMark;
        if (_isStored)
        {
            _blockKeyLength = Copy(_cursor.Key, _blockKey);
            _edit.Begin(_cursor.Value);
            _endKeyLength = _cursor.MoveNext() ? Copy(_cursor.Key, _endKey) : 0;
            return;
        }

        // The term is before all existing blocks: start a new block that ends at the first.
        _isAnew = true;
        _blockKey[0] = TermTree.BlockMark;
        _blockKeyLength = 1;
        _endKeyLength = _cursor.Seek([TermTree.BlockMark]) ? Copy(_cursor.Key, _endKey) : 0;
    }

    private static int Copy(ReadOnlySpan<byte> from, Span<byte> to)
    {
        from.CopyTo(to);
        return from.Length;
    }

    /// <summary>Writes the block, split if it has grown too long, and unloads it.</summary>
    private void Leave()
    {
        Debug.Assert(!_isChanged || _isLoaded, "3: only a loaded block has changes");
        if (_isChanged)
            Store();
        Clear(_old);
        Clear(_made);
        _bytes.Clear(1 << 20);
        _next = 0;
        _isLoaded = _isAnew = _isChanged = _hasLost = false;
    }

    private static void Clear(List<TermItem> items)
    {
        items.Clear();
        if (items.Capacity > KeepItems)
            items.Capacity = 0;
    }

    private void Store()
    {
        Debug.Assert(_isChanged && _isLoaded, "3: only a loaded block has changes");
        if (!_isAnew)
        {
            int length = _edit.Bytes;
            bool isLong = length > TermBlock.MaxBytes && _edit.Count > 1;
            if (_edit.Count > 0 && !isLong && (!_hasLost || !HasEnd || length >= MinBytes))
            {
                _tree.Put(_blockKey.AsSpan(0, _blockKeyLength), _edit.Finish());
                return;
            }

            BeginAnew();
        }

        for (; _next < _old.Count; _next++)
            _made.Add(_old[_next]);
        if (_hasLost && HasEnd && TermBlockEncoder.Measure(_made, _bytes) < MinBytes)
            Join();
        if (_made.Count == 0)
        {
            if (_isStored)
                _tree.Delete(_blockKey.AsSpan(0, _blockKeyLength));
            return;
        }

        int wanted = TermBlock.MaxBytes;
        ReadOnlySpan<byte> encoded = _encoder.Encode(_made, 0, wanted, _bytes, out int count);
        Debug.Assert(count > 0 && count <= _made.Count, "a block has terms");
        if (count < _made.Count && HasEnd)
        {
            // Terms are mostly appended to the last block but inserted into the others, so split those evenly: each part
            // then has free space.
            int total = TermBlockEncoder.Measure(_made, _bytes);
            wanted = 1 + (total / Math.Max(2, (total + TermBlock.MaxBytes - 1) / TermBlock.MaxBytes));
            encoded = _encoder.Encode(_made, 0, wanted, _bytes, out count);
        }

        _tree.Put(_blockKey.AsSpan(0, _blockKeyLength), encoded);
        for (int first = count; first < _made.Count; first += count)
        {
            ReadOnlySpan<byte> before = Key(_made[first - 1]), key = Key(_made[first]);
            int length = key.CommonPrefixLength(before) + 1;
            _endKey[0] = TermTree.BlockMark;
            key[..length].CopyTo(_endKey.AsSpan(1));
            _tree.Put(_endKey.AsSpan(0, length + 1), _encoder.Encode(_made, first, wanted, _bytes, out count));
        }
    }

    /// <summary>Merges the terms of the next block into this one.</summary>
    private void Join()
    {
        Debug.Assert(_hasLost && HasEnd && _isAnew, "a block is joined with the next after it lost terms");
        ReadOnlySpan<byte> key = _endKey.AsSpan(0, _endKeyLength);
        if (!_tree.TryGet(key, out ReadOnlySpan<byte> value))
            return;
        _edit.Begin(value);
        _edit.CopyTo(_made, _bytes);
        _tree.Delete(key);
        Debug.Assert(_made.Count > 0, "a block has terms");
    }
}

/// <summary>A term to be written and its value, in an arena.</summary>
/// <param name="Key">Where the term begins.</param>
/// <param name="KeyLength">Its length in bytes.</param>
/// <param name="Value">Where its value begins.</param>
/// <param name="ValueLength">Length of the value in bytes.</param>
internal readonly record struct TermItem(int Key, int KeyLength, int Value, int ValueLength);
