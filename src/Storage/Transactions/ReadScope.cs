using Treepie.Storage.Format;

namespace Treepie.Storage.Transactions;

/// <summary>
/// A read of one snapshot as a ref struct that allocates nothing: for a few lookups, instead of a <see cref="ReadTransaction"/>,
/// which can be passed around and used across awaits. Disposing it invalidates every span read through it.
/// </summary>
/// <remarks>
/// A copy refers to the same read: once one is disposed, the others throw. Beginning and ending it costs two interlocked
/// operations on a cache line of its own.
/// </remarks>
public readonly ref struct ReadScope
{
    private readonly ITransactionSource _environment;
    private readonly Snapshot _snapshot;
    private readonly ReaderTable.Slot _slot;

    internal ReadScope(ITransactionSource environment, Snapshot snapshot, ReaderTable.Slot slot)
    {
        _environment = environment;
        _snapshot = snapshot;
        _slot = slot;
    }

    /// <summary>The id of the transaction whose result is read.</summary>
    /// <exception cref="ObjectDisposedException">The read was disposed.</exception>
    public long TransactionId
    {
        get
        {
            _slot.ThrowIfFreed();
            return _snapshot.TransactionId;
        }
    }

    /// <summary>
    /// Returns a tree; one that does not exist reads as empty. Valid until this read is disposed.
    /// </summary>
    /// <exception cref="ArgumentException">The name is empty, or that of a hash map.</exception>
    /// <exception cref="ObjectDisposedException">The read was disposed.</exception>
    public TreeView GetTree(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        _slot.ThrowIfFreed();
        TreeRecord record = _snapshot.Find(_environment.State.Store, name) ?? TreeRecord.Empty(0);
        return record.Kind == TreeKind.Tree
            ? new TreeView(_environment.State.Store, record, _slot)
            : throw new ArgumentException($"'{name}' is a hash map, not a tree: open it as a map.", nameof(name));
    }

    /// <summary>Ends the read. Further calls do nothing.</summary>
    public void Dispose()
    {
        if (_environment is not null && !_slot.IsFreed)
            _environment.ExitRead(_slot);
    }
}
