using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Trees;

/// <summary>The entries of one leaf, in key order, read in place.</summary>
public readonly ref struct LeafEntries
{
    private readonly PageStore _store;
    private readonly SlottedPage _leaf;
    private readonly Span<byte> _keyRoom;
    private readonly ReadOnlySpan<ushort> _slots;
    private readonly int _start;
    private readonly int _prefixBytes;

    internal LeafEntries(PageStore store, SlottedPage leaf, int start, Span<byte> keyRoom)
    {
        Debug.Assert((uint)start <= (uint)leaf.Count, "entries of the leaf");
        Debug.Assert(leaf.Count == 0 || keyRoom.Length >= leaf.KeyLength(leaf.Count - 1), "there is room for the keys");
        _store = store;
        _leaf = leaf;
        _start = start;
        _keyRoom = keyRoom;
        Count = leaf.Count - start;
        _slots = leaf.Slots[start..];
        ReadOnlySpan<byte> prefix = leaf.Prefix;
        _prefixBytes = prefix.Length;
        prefix.CopyTo(keyRoom);
    }

    /// <summary>A range of entries, for callers that read values only.</summary>
    internal LeafEntries(PageStore store, SlottedPage leaf, int start, int count)
    {
        Debug.Assert(start >= 0 && count >= 0 && start + count <= leaf.Count, "entries of the leaf");
        _store = store;
        _leaf = leaf;
        _start = start;
        Count = count;
        _slots = leaf.Slots.Slice(start, count);
    }

    /// <summary>The number of entries; indexes start at 0.</summary>
    public int Count { get; }

    /// <summary>The common prefix of all keys.</summary>
    public ReadOnlySpan<byte> Prefix => _leaf.Prefix;

    /// <summary>Returns the part of a key after the prefix, in place.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The entry does not exist.</exception>
    public ReadOnlySpan<byte> Suffix(int index) => _leaf.Suffix(At(index));

    /// <summary>
    /// Returns a whole key. If the page has a prefix, the key is assembled in the scan's buffer and valid until the next key is
    /// read.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The entry does not exist.</exception>
    public ReadOnlySpan<byte> Key(int index)
    {
        Debug.Assert(
            _prefixBytes == _leaf.Header.PrefixLength, "entries that are read for their values have no keys");
        ReadOnlySpan<byte> suffix = _leaf.Suffix(At(index));
        if (_prefixBytes == 0)
            return suffix;

        suffix.CopyTo(_keyRoom[_prefixBytes..]);
        return _keyRoom[..(_prefixBytes + suffix.Length)];
    }

    /// <summary>Returns the value of an entry, in place; valid until the read is disposed.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The entry does not exist.</exception>
    /// <exception cref="CorruptionException">The pages of a long value are damaged.</exception>
    public ReadOnlySpan<byte> Value(int index)
    {
        Span<byte> value = _leaf.Value(At(index), out bool isOverflow);
        return isOverflow
            ? _store.ReadRun(OverflowReference.ReadPacked(value))
            : value;
    }

    /// <summary>Gets the key and value of an entry at once, like <see cref="Key"/> and <see cref="Value"/>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The entry does not exist.</exception>
    /// <exception cref="CorruptionException">The pages of a long value are damaged.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Get(int index, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        if ((uint)index >= (uint)_slots.Length)
            At(index);

        SlottedPage.Cell cell = _leaf.At(_slots[index]);
        key = cell.Key;
        value = cell.Value;
        if (_prefixBytes > 0)
        {
            int length = _prefixBytes + key.Length;
            key.CopyTo(_keyRoom[_prefixBytes..]);
            key = _keyRoom[..length];
        }

        if (cell.IsOverflow)
            value = _store.ReadRun(OverflowReference.ReadPacked(value));
    }

    /// <summary>Like <see cref="Value"/>, for callers that read all values and no keys.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ReadOnlySpan<byte> ValueOf(int index)
    {
        SlottedPage.Cell cell = _leaf.At(_slots[index]);
        ReadOnlySpan<byte> value = cell.Value;
        return cell.IsOverflow ? _store.ReadRun(OverflowReference.ReadPacked(value)) : value;
    }

    private int At(int index)
    {
        if ((uint)index >= (uint)Count)
            throw new ArgumentOutOfRangeException(nameof(index), index, $"The leaf has {Count} entries.");
        return _start + index;
    }
}
