using Treepie.Storage.Format;

namespace Treepie.Storage.Transactions;

/// <summary>
/// A read of one snapshot that lives on the stack and allocates nothing: what <see cref="ReadTransaction"/> is to code that
/// awaits or hands its reader around, this is to a few look-ups. Disposing it ends the life of every span read through it.
/// </summary>
/// <remarks>
/// A copy of it is the same read: once one is disposed, every other one says so. Beginning and ending it costs two interlocked
/// operations on a line of its own.
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

    /// <summary>The transaction whose result is seen.</summary>
    /// <exception cref="ObjectDisposedException">It has been disposed.</exception>
    public long TransactionId
    {
        get
        {
            _slot.ThrowIfFreed();
            return _snapshot.TransactionId;
        }
    }

    /// <summary>
    /// The tree of that name; one that does not exist is an empty one. It may be used until this read is disposed.
    /// </summary>
    /// <exception cref="ArgumentException">The name is empty, or that of a hash map.</exception>
    /// <exception cref="ObjectDisposedException">It has been disposed.</exception>
    public TreeView GetTree(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        _slot.ThrowIfFreed();
        TreeRecord record = Catalogue.Find(_environment.State.Store, _snapshot.Catalogue, name) ?? TreeRecord.Empty(0);
        return record.Kind == TreeKind.Tree
            ? new TreeView(_environment.State.Store, record, _slot)
            : throw new ArgumentException($"'{name}' is a hash map, not a tree: open it as a map.", nameof(name));
    }

    /// <summary>Ends the read. A second time does nothing.</summary>
    public void Dispose()
    {
        if (_environment is not null && !_slot.IsFreed)
            _environment.ExitRead(_slot);
    }
}
