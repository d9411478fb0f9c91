using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Treepie.Storage.Sessions;

/// <summary>
/// A session's writes to one tree in key order: a skip list, so that inserting a key moves no other and keeps cursor
/// positions valid. Keys are never removed; a delete is an entry too.
/// </summary>
/// <remarks>Entries are identified by numbers; 0 is the head, and also means "none".</remarks>
internal sealed class WriteBuffer
{
    /// <summary>Bytes of memory per entry in addition to key and value: its record, and 1.33 links on average.</summary>
    public const int EntryOverheadBytes = 96;

    private const int MaxLevels = 16; // 4^16 entries

    private readonly SessionArena _arena;
    private readonly List<Entry> _entries = [];
    private readonly List<int> _links = [];
    private readonly int[] _path = new int[MaxLevels];
    private uint _draw = 0x9E3779B9;
    private int _levels = 1;

    public WriteBuffer(SessionArena arena)
    {
        _arena = arena;
        _entries.Add(default);
        for (int level = 0; level < MaxLevels; level++)
            _links.Add(0);
    }

    /// <summary>Number of keys written.</summary>
    public int Count => _entries.Count - 1;

    /// <summary>Increases with each new key, so that cursors notice it.</summary>
    public int Version => _entries.Count;

    /// <summary>The key of an entry.</summary>
    public ReadOnlySpan<byte> Key(int entry) => _entries[entry].Key.Span;

    /// <summary>The value of an entry; empty if it is a delete.</summary>
    public ReadOnlySpan<byte> Value(int entry) => CollectionsMarshal.AsSpan(_entries)[entry].Current;

    /// <summary>Whether the entry deletes its key.</summary>
    public bool IsDelete(int entry) => _entries[entry].IsDelete;

    /// <summary>Returns the entry after an entry, or the first one for 0; 0 if there is none.</summary>
    public int Next(int entry) => _links[_entries[entry].FirstLink];

    /// <summary>Returns the entry of a key, or 0.</summary>
    public int Find(scoped ReadOnlySpan<byte> key)
    {
        int entry = LowerBound(key);
        return entry != 0 && Key(entry).SequenceEqual(key) ? entry : 0;
    }

    /// <summary>Returns the first entry whose key is not below <paramref name="key"/>, or 0.</summary>
    public int LowerBound(scoped ReadOnlySpan<byte> key) => Next(LastBefore(key));

    /// <summary>Returns the last entry whose key is below <paramref name="key"/>, or 0. Records the search path.</summary>
    public int LastBefore(scoped ReadOnlySpan<byte> key)
    {
        int at = 0;
        for (int level = _levels - 1; level >= 0; level--)
        {
            for (int next = Link(at, level); next != 0 && Key(next).SequenceCompareTo(key) < 0; next = Link(at, level))
                at = next;
            _path[level] = at;
        }

        return at;
    }

    /// <summary>Returns the last entry, or 0.</summary>
    public int Last()
    {
        int at = 0;
        for (int level = _levels - 1; level >= 0; level--)
            for (int next = Link(at, level); next != 0; next = Link(at, level))
                at = next;
        return at;
    }

    /// <summary>Records a put or delete of a key, replacing an earlier one.</summary>
    public void Set(scoped ReadOnlySpan<byte> key, scoped ReadOnlySpan<byte> value, bool isDelete)
    {
        Debug.Assert(!isDelete || value.IsEmpty, "a deleted key has no value");
        int entry = Next(LastBefore(key)); // sets _path for Add
        if (entry == 0 || !Key(entry).SequenceEqual(key))
            entry = Add(key);
        ref Entry written = ref CollectionsMarshal.AsSpan(_entries)[entry];
        if (value.Length > written.Value.Length)
            written.Value = _arena.Copy(value);
        else
            value.CopyTo(written.Value.Span);
        written.ValueBytes = value.Length;
        written.IsDelete = isDelete;
    }

    /// <summary>Returns the maximum number of bytes of memory that a write would add.</summary>
    public int CostOf(scoped ReadOnlySpan<byte> key, int valueBytes)
    {
        int entry = Find(key);
        return entry == 0 ? EntryOverheadBytes + key.Length + valueBytes
            : valueBytes > _entries[entry].Value.Length ? valueBytes
            : 0;
    }

    private int Add(scoped ReadOnlySpan<byte> key)
    {
        int entry = _entries.Count;
        _entries.Add(new Entry { Key = _arena.Copy(key), FirstLink = _links.Count });
        int levels = DrawLevels();
        for (; _levels < levels; _levels++)
            _path[_levels] = 0;
        for (int level = 0; level < levels; level++)
        {
            int before = _entries[_path[level]].FirstLink + level;
            _links.Add(_links[before]);
            _links[before] = entry;
        }

        Debug.Assert(_links.Count == _entries[entry].FirstLink + levels, "An entry's links lie side by side.");
        Debug.Assert(
            _path[0] == 0 || Key(_path[0]).SequenceCompareTo(key) < 0,
            "keys ascend along the links: one is above the key before it");
        Debug.Assert(
            Next(entry) == 0 || key.SequenceCompareTo(Key(Next(entry))) < 0,
            "keys ascend along the links: one is below the key after it");
        return entry;
    }

    /// <summary>
    /// Draws the number of levels: each further level with probability 1/4. Deterministic for the same writes.
    /// </summary>
    private int DrawLevels()
    {
        _draw ^= _draw << 13;
        _draw ^= _draw >> 17;
        _draw ^= _draw << 5;
        return Math.Min(MaxLevels, 1 + (System.Numerics.BitOperations.TrailingZeroCount(_draw) / 2));
    }

    private int Link(int entry, int level) => _links[_entries[entry].FirstLink + level];

    private struct Entry
    {
        public ReadOnlyMemory<byte> Key;
        public Memory<byte> Value;
        public int ValueBytes;
        public int FirstLink;
        public bool IsDelete;

        public readonly ReadOnlySpan<byte> Current => Value.Span[..ValueBytes];
    }
}
