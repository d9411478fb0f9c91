using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>A tree of a <see cref="ReadScope"/>, for lookups and scans without allocations.</summary>
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

    /// <summary>The number of keys.</summary>
    public long Count => _record.Count;

    /// <summary>
    /// Gets the value of a key, in place in its page; returns false if it does not exist. Valid until the read is disposed.
    /// Values of any size are one span.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The read was disposed.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    public bool TryGet(scoped ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        _slot.ThrowIfFreed();
        return Tree.TryGet(_store, _record, key, out value);
    }

    /// <summary>Scans all keys in order, one page at a time.</summary>
    /// <param name="keyRoom">A buffer for assembling keys, of at least <see cref="Tree.MaxKeyBytes"/>.</param>
    /// <exception cref="ArgumentException">The buffer is too small.</exception>
    public TreeScan Scan(Span<byte> keyRoom) => Scan(default, keyRoom);

    /// <summary>
    /// Scans keys in order, starting at the smallest key that is equal to or greater than <paramref name="from"/>, one page at a
    /// time.
    /// </summary>
    /// <param name="from">The key at which to start.</param>
    /// <param name="keyRoom">A buffer for assembling keys, of at least <see cref="Tree.MaxKeyBytes"/>.</param>
    /// <exception cref="ArgumentException">The buffer is too small.</exception>
    public TreeScan Scan(ReadOnlySpan<byte> from, Span<byte> keyRoom)
    {
        if (keyRoom.Length < Tree.MaxKeyBytes)
            throw new ArgumentException(
                $"The room for keys has {keyRoom.Length} bytes; a key may have {Tree.MaxKeyBytes}.", nameof(keyRoom));

        return new TreeScan(_store, _record, _slot, from, keyRoom);
    }
}
