using System.Text;
using Treepie.Storage.Format;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>The one writer's view: sees its own changes. Lives only inside the command it was given to.</summary>
public sealed class WriteTransaction
{
    private readonly Dictionary<string, Tree?> _trees = new(StringComparer.Ordinal);
    private bool _isClosed;

    internal WriteTransaction(MergedBatch batch, long transactionId)
    {
        Batch = batch;
        TransactionId = transactionId;
    }

    /// <summary>The number this transaction will have once committed.</summary>
    public long TransactionId { get; }

    /// <summary>Names of all trees, in byte order.</summary>
    public IEnumerable<string> TreeNames
    {
        get
        {
            ThrowIfClosed();
            var names = new HashSet<string>(Batch.ReadTreeNames(), StringComparer.Ordinal);
            foreach ((string name, Tree? tree) in _trees)
            {
                if (tree is null)
                    names.Remove(name);
                else
                    names.Add(name);
            }

            return names.OrderBy(Encoding.UTF8.GetBytes, ByteOrder.Instance).ToArray();
        }
    }

    internal MergedBatch Batch { get; }

    /// <summary>The tree of that name, or null. The tree may be used until the command returns.</summary>
    public Tree? FindTree(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ThrowIfClosed();
        if (_trees.TryGetValue(name, out Tree? tree))
            return tree;

        if (Batch.FindTree(name) is { } record)
            _trees.Add(name, tree = new Tree(Batch.Pages.Store, name, record, Batch.Pages));
        return tree;
    }

    /// <summary>The tree of that name, created empty if absent.</summary>
    public Tree GetOrCreateTree(string name)
    {
        if (FindTree(name) is { } found)
            return found;

        _ = Catalogue.KeyOf(name); // too long a name is refused here, not at commit
        var tree = new Tree(Batch.Pages.Store, name, TreeRecord.Empty(Batch.NextTreeId++), Batch.Pages);
        _trees[name] = tree;
        return tree;
    }

    /// <summary>Removes a tree with all it holds; false if there is none.</summary>
    public bool DropTree(string name)
    {
        if (FindTree(name) is not { } tree)
            return false;

        tree.Drop();
        _trees[name] = null;
        return true;
    }

    /// <summary>
    /// Keeps the state that this command leaves under a name, until <see cref="DropSnapshot"/>: all or nothing with the other changes of the
    /// command. It costs no walk; from then on each page it shares is kept when it is first changed.
    /// </summary>
    /// <param name="name">1 to 512 bytes of UTF-8 without control characters.</param>
    /// <exception cref="SnapshotExistsException">There is one of that name.</exception>
    /// <exception cref="StorageException">There are as many as there may be (4,096).</exception>
    public SnapshotInfo CreateSnapshot(string name)
    {
        ThrowIfClosed();
        return Batch.CreateSnapshot(name, TransactionId);
    }

    /// <summary>
    /// Drops a named snapshot; false if there is none. Reads of it that are open go on. Its pages are given free by this and the
    /// following commits, a bounded number by each.
    /// </summary>
    public bool DropSnapshot(string name)
    {
        ThrowIfClosed();
        return Batch.Snapshots.Drop(name);
    }

    private void ThrowIfClosed()
    {
        if (_isClosed)
            throw new InvalidOperationException("The write transaction has ended: it lives only inside the command it was given to.");
    }

    /// <summary>Ends it, and hands what it did to trees over to the batch.</summary>
    internal void Close(bool keep)
    {
        _isClosed = true;
        foreach (Tree? tree in _trees.Values)
            tree?.End();
        if (!keep)
            return;

        foreach ((string name, Tree? tree) in _trees)
            Batch.SetTree(name, tree?.Record);
    }

    private sealed class ByteOrder : IComparer<byte[]>
    {
        public static readonly ByteOrder Instance = new();

        public int Compare(byte[]? x, byte[]? y) => x.AsSpan().SequenceCompareTo(y);
    }
}
