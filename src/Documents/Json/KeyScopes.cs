using System.Buffers.Binary;

namespace Treepie.Json;

/// <summary>
/// The keys of every object that is open during a scan, to detect duplicate keys in an object. A chained hash table whose entries
/// form a stack: closing an object removes its keys in reverse order, so that each is the head of its chain, and only keys of
/// open objects are held. The cost per key is the same for a million keys in one object and in a million objects.
/// </summary>
internal sealed class KeyScopes
{
    private const int InitialEntries = 64;
    private const int KeptEntries = 64 * 1024;

    // Derived from the runtime's random seed of the process, so that nobody can craft keys that all fall into one chain.
    // Results never depend on it.
    private readonly ulong _seed = (ulong)(uint)HashCode.Combine(1) << 32 | (uint)HashCode.Combine(2);

    private Entry[] _entries = new Entry[InitialEntries];
    // Index of an entry plus one; 0 if empty. The length is a power of two and at least that of the entries.
    private int[] _buckets = new int[InitialEntries];
    private int[] _scopeStarts = new int[16];
    private byte[] _unescaped = [];
    private int _count;
    private int _depth;
    private int _unescapedLength;

    /// <summary>The number of open objects.</summary>
    public int Depth => _depth;

    /// <summary>
    /// Removes everything, including what a failed scan left behind, and frees the memory of an unusually large document.
    /// </summary>
    public void Reset()
    {
        if (_entries.Length > KeptEntries)
        {
            _entries = new Entry[InitialEntries];
            _buckets = new int[InitialEntries];
            _unescaped = [];
        }
        else if (_count > 0)
        {
            Array.Clear(_buckets);
        }

        _count = 0;
        _depth = 0;
        _unescapedLength = 0;
    }

    /// <summary>Begins an object.</summary>
    public void Open()
    {
        if (_depth == _scopeStarts.Length)
            Array.Resize(ref _scopeStarts, _depth * 2);
        _scopeStarts[_depth++] = _count;
    }

    /// <summary>Ends the innermost object.</summary>
    public void Close()
    {
        int start = _scopeStarts[--_depth];
        while (_count > start)
        {
            ref Entry last = ref _entries[--_count];
            _buckets[last.Hash & (uint)(_buckets.Length - 1)] = last.Next;
            if (last.IsUnescaped)
                _unescapedLength = last.Offset;
        }
    }

    /// <summary>
    /// Adds a key of the innermost object, given by its position in <paramref name="json"/>. Returns false if the object already
    /// has the key.
    /// </summary>
    public bool TryAdd(ReadOnlySpan<byte> json, int offset, int length, bool hasEscapes)
    {
        ReadOnlySpan<byte> key = json.Slice(offset, length);
        if (hasEscapes)
        {
            offset = _unescapedLength;
            length = Unescape(key);
            key = _unescaped.AsSpan(offset, length);
        }

        uint hash = Hash(key, _depth);
        for (int index = _buckets[hash & (uint)(_buckets.Length - 1)]; index != 0; index = _entries[index - 1].Next)
        {
            ref Entry other = ref _entries[index - 1];
            if (other.Hash == hash && other.Depth == _depth && KeyOf(in other, json).SequenceEqual(key))
                return false;
        }

        if (_count == _entries.Length)
            Grow();
        ref int bucket = ref _buckets[hash & (uint)(_buckets.Length - 1)];
        _entries[_count++] = new Entry(hash, bucket, offset, length, _depth, hasEscapes);
        bucket = _count;
        if (hasEscapes)
            _unescapedLength += length;
        return true;
    }

    /// <summary>
    /// Returns the current key of the open object at <paramref name="depth"/> (from 0); empty before its first key.
    /// </summary>
    public ReadOnlySpan<byte> CurrentKey(int depth, ReadOnlySpan<byte> json)
    {
        int end = depth + 1 < _depth ? _scopeStarts[depth + 1] : _count;
        return end > _scopeStarts[depth] ? KeyOf(in _entries[end - 1], json) : default;
    }

    private ReadOnlySpan<byte> KeyOf(ref readonly Entry entry, ReadOnlySpan<byte> json) =>
        entry.IsUnescaped ? _unescaped.AsSpan(entry.Offset, entry.Length) : json.Slice(entry.Offset, entry.Length);

    private int Unescape(ReadOnlySpan<byte> key)
    {
        if (_unescaped.Length - _unescapedLength < key.Length)
            Array.Resize(ref _unescaped, Math.Max(_unescaped.Length * 2, _unescapedLength + key.Length + 64));
        return JsonStrings.Unescape(key, _unescaped.AsSpan(_unescapedLength));
    }

    private void Grow()
    {
        Array.Resize(ref _entries, _entries.Length * 2);
        _buckets = new int[_entries.Length];
        for (int index = 0; index < _count; index++) // from the oldest, so that the newest become the heads
        {
            ref int bucket = ref _buckets[_entries[index].Hash & (uint)(_buckets.Length - 1)];
            _entries[index].Next = bucket;
            bucket = index + 1;
        }
    }

    private uint Hash(ReadOnlySpan<byte> key, int depth)
    {
        ulong hash = _seed ^ ((ulong)depth << 32) ^ (uint)key.Length;
        for (; key.Length >= sizeof(ulong); key = key[sizeof(ulong)..])
            hash = Mix(hash ^ BinaryPrimitives.ReadUInt64LittleEndian(key));

        ulong tail = 0;
        foreach (byte value in key)
            tail = (tail << 8) | value;
        return (uint)Mix(hash ^ tail);
    }

    private static ulong Mix(ulong value)
    {
        ulong high = Math.BigMul(value, 0x9E37_79B9_7F4A_7C15, out ulong low);
        return high ^ low;
    }

    private record struct Entry(uint Hash, int Next, int Offset, int Length, int Depth, bool IsUnescaped);
}
