using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>
/// Rebuilds pages from the entries of an old page and, optionally, one additional entry: for compaction, a new prefix, splits and
/// merges. The old page must be a copy that is not written to.
/// </summary>
/// <remarks>
/// Entries are numbered in their new order, with the additional one at <c>index</c>; without one, <c>index</c> is -1.
/// </remarks>
internal readonly ref struct PageRebuild(Span<byte> old, int index, ReadOnlySpan<byte> key, int valueBytes, bool isOverflow)
{
    private readonly SlottedPage _old = new(old);
    private readonly ReadOnlySpan<byte> _key = key;
    private readonly int _index = index;
    private readonly int _valueBytes = valueBytes;
    private readonly bool _isOverflow = isOverflow;

    /// <summary>Number of entries, including the additional one.</summary>
    public int Count => _old.Count + (_index >= 0 ? 1 : 0);

    /// <summary>Size of an entry in bytes: its whole key, value, head and slot.</summary>
    public int EntryBytes(int entry)
    {
        Debug.Assert((uint)entry < (uint)Count, "one of the entries has this number");
        if (entry == _index)
            return SlottedPage.EntryBytes(_key.Length, _valueBytes);

        int at = OldIndex(entry);
        return SlottedPage.EntryBytes(_old.Prefix.Length + _old.Suffix(at).Length, _old.Value(at, out _).Length);
    }

    /// <summary>Length of the common prefix of the keys of these entries.</summary>
    public int CommonPrefix(int from, int to, bool isBranch)
    {
        Debug.Assert(from >= 0 && from <= to && to <= Count, "a prefix is that of entries that there are");
        if (isBranch)
            from++;
        if (to - from < 2)
            return 0;

        Span<byte> first = stackalloc byte[Tree.MaxKeyBytes], last = stackalloc byte[Tree.MaxKeyBytes];
        int firstLength = CopyKey(from, first), lastLength = CopyKey(to - 1, last);
        return first[..firstLength].CommonPrefixLength(last[..lastLength]);
    }

    /// <summary>Bytes of content of a page with these entries.</summary>
    public int ContentBytes(int from, int to, bool isBranch)
    {
        int prefix = CommonPrefix(from, to, isBranch);
        int bytes = prefix + SlottedPage.UnusedHeadBytes(to - from);
        for (int entry = from; entry < to; entry++)
            bytes += isBranch && entry == from ? SlottedPage.EntryBytes(0, ValueBytes(entry)) : EntryBytes(entry) - prefix;
        return bytes;
    }

    /// <summary>
    /// Fills an empty page with entries; returns the span for the additional entry's value if that entry is among them. Entry
    /// <paramref name="from"/> of a branch loses its key, which has no meaning there. Static, because the returned span is in
    /// the destination and outlives the entries.
    /// </summary>
    public static Span<byte> Write(scoped PageRebuild rebuild, SlottedPage destination, int from, int to)
    {
        Debug.Assert(from >= 0 && from < to && to <= rebuild.Count, "a page gets entries that there are");
        bool isBranch = destination.Header.Type == PageType.Branch;
        int prefix = rebuild.CommonPrefix(from, to, isBranch);
        Span<byte> buffer = stackalloc byte[Tree.MaxKeyBytes];
        if (prefix > 0)
        {
            rebuild.CopyKey(from + (isBranch ? 1 : 0), buffer);
            destination.SetPrefix(buffer[..prefix], default);
        }

        Span<byte> place = default;
        for (int entry = from; entry < to; entry++)
        {
            bool isKeyless = isBranch && entry == from;
            if (entry == rebuild._index)
            {
                ReadOnlySpan<byte> suffix = isKeyless ? default : rebuild._key[prefix..];
                place = destination.InsertSuffix(entry - from, suffix, default, rebuild._valueBytes, rebuild._isOverflow);
                continue;
            }

            int at = rebuild.OldIndex(entry);
            ReadOnlySpan<byte> oldPrefix = rebuild._old.Prefix, oldSuffix = rebuild._old.Suffix(at);
            ReadOnlySpan<byte> first = prefix < oldPrefix.Length ? oldPrefix[prefix..] : default;
            ReadOnlySpan<byte> second = prefix <= oldPrefix.Length
                ? oldSuffix
                : oldSuffix[Math.Min(oldSuffix.Length, prefix - oldPrefix.Length)..];
            Span<byte> value = rebuild._old.Value(at, out bool oldIsOverflow);
            value.CopyTo(isKeyless
                ? destination.InsertSuffix(entry - from, default, default, value.Length, oldIsOverflow)
                : destination.InsertSuffix(entry - from, first, second, value.Length, oldIsOverflow));
        }

        Debug.Assert(destination.Count == to - from, "every entry is in its page");
        rebuild.AssertWritten(destination, from, to, prefix, isBranch);
        return place;
    }

    /// <summary>Copies the whole key of an entry; returns its length.</summary>
    public int CopyKey(int entry, Span<byte> destination)
    {
        Debug.Assert((uint)entry < (uint)Count, "one of the entries has this number");
        if (entry != _index)
            return _old.CopyKey(OldIndex(entry), destination);

        _key.CopyTo(destination);
        return _key.Length;
    }

    /// <summary>Returns the entry to split at so that both sides have about the same number of bytes.</summary>
    public int MiddleByBytes()
    {
        int total = 0;
        for (int entry = 0; entry < Count; entry++)
            total += EntryBytes(entry);

        int left = 0, split = 0;
        while (split < Count - 1 && (split == 0 || left + (EntryBytes(split) / 2) <= total / 2))
            left += EntryBytes(split++);
        return split;
    }

    /// <summary>
    /// Asserts that the page has the planned keys and size. In a damaged page with unordered keys, some keys may lack the
    /// common prefix of the first and the last; then the rest is not checked.
    /// </summary>
    [Conditional("DEBUG")]
    private void AssertWritten(SlottedPage destination, int from, int to, int prefix, bool isBranch)
    {
        Span<byte> planned = stackalloc byte[Tree.MaxKeyBytes], written = stackalloc byte[Tree.MaxKeyBytes];
        for (int entry = isBranch ? from + 1 : from; entry < to; entry++)
        {
            int plannedBytes = CopyKey(entry, planned), writtenBytes = destination.CopyKey(entry - from, written);
            if (!planned[..plannedBytes].StartsWith(destination.Prefix))
                return;
            Debug.Assert(planned[..plannedBytes].SequenceEqual(written[..writtenBytes]), "a key stays what it is");
        }

        Debug.Assert(destination.Prefix.Length == prefix, "a page has the prefix it was planned to have");
        Debug.Assert(destination.UsedBytes == ContentBytes(from, to, isBranch), "a page has the bytes it was planned to have");
    }

    private int ValueBytes(int entry) => entry == _index ? _valueBytes : _old.Value(OldIndex(entry), out _).Length;

    private int OldIndex(int entry) => _index >= 0 && entry > _index ? entry - 1 : entry;
}
