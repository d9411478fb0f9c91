using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>A tree of a <see cref="ReadScope"/>: look-ups and scans that allocate nothing.</summary>
public readonly ref struct TreeView
{
    private readonly PageStore _store;
    private readonly TreeRecord _record;
    private readonly ReaderTable.Slot _slot;

    internal TreeView(PageStore store, scoped in TreeRecord record, ReaderTable.Slot slot)
    {
        _store = store;
        _record = record;
        _slot = slot;
    }

    /// <summary>Number of keys.</summary>
    public long Count => _record.Count;

    /// <summary>The value of a key, in place in its page, until the read is disposed; values of any size are one span.</summary>
    /// <exception cref="ObjectDisposedException">The read has been disposed.</exception>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    public bool TryGet(scoped ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        _slot.ThrowIfFreed();
        return Tree.TryGet(_store, _record, key, out value);
    }

    /// <summary>A scan of all keys in order, a page at a time.</summary>
    /// <param name="keyRoom">Where keys are put together: <see cref="Tree.MaxKeyBytes"/> at least.</param>
    /// <exception cref="ArgumentException">The room is too small.</exception>
    public TreeScan Scan(Span<byte> keyRoom) => Scan(default, keyRoom);

    /// <summary>
    /// A scan in order from the smallest key that is equal to or greater than <paramref name="from"/>, a page at a time.
    /// </summary>
    /// <param name="from">Where it begins.</param>
    /// <param name="keyRoom">Where keys are put together: <see cref="Tree.MaxKeyBytes"/> at least.</param>
    /// <exception cref="ArgumentException">The room is too small.</exception>
    public TreeScan Scan(ReadOnlySpan<byte> from, Span<byte> keyRoom)
    {
        if (keyRoom.Length < Tree.MaxKeyBytes)
            throw new ArgumentException(
                $"The room for keys has {keyRoom.Length} bytes; a key may have {Tree.MaxKeyBytes}.", nameof(keyRoom));

        return new TreeScan(_store, _record, _slot, from, keyRoom);
    }
}
