using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// An immutable view of the whole environment. Not thread-safe, but may move between threads. Disposing it invalidates every span
/// read through it.
/// </summary>
public sealed class ReadTransaction : IDisposable
{
    private readonly ITransactionSource _environment;
    private readonly PageStore _store;
    private readonly Snapshot _snapshot;
    private PageVisits? _visits;
    private ReaderTable.Slot _slot;
    private int _disposed;

    internal ReadTransaction(ITransactionSource environment, PageStore store, Snapshot snapshot, ReaderTable.Slot slot)
    {
        _environment = environment;
        _store = store;
        _snapshot = snapshot;
        _slot = slot;
    }

    /// <summary>The id of the transaction whose result is read.</summary>
    public long TransactionId => _snapshot.TransactionId;

    /// <summary>
    /// The number of page accesses by its trees so far, not counting the lookup of the trees themselves: a deterministic measure
    /// of work, whether pages were in memory or not.
    /// </summary>
    public long PageVisits => _visits?.Count ?? 0;

    internal Snapshot Snapshot => _snapshot;

    /// <summary>State shared by readers of this snapshot, see <see cref="Snapshot.Derived"/>.</summary>
    internal T Derived<T>()
        where T : class, new() => _snapshot.Derived.Of<T>();

    /// <summary>The names of all trees, in byte order.</summary>
    public IEnumerable<string> TreeNames
    {
        get
        {
            ThrowIfDisposed();
            return Catalogue.ReadNames(_store, _snapshot.Catalogue, TreeKind.Tree);
        }
    }

    /// <summary>The names of all hash maps, in byte order.</summary>
    public IEnumerable<string> MapNames
    {
        get
        {
            ThrowIfDisposed();
            return Catalogue.ReadNames(_store, _snapshot.Catalogue, TreeKind.Map);
        }
    }

    /// <summary>Returns a tree, or null if it does not exist. Valid until this transaction is disposed.</summary>
    public Tree? FindTree(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return FindTree(name, _visits ??= new PageVisits());
    }

    /// <summary>
    /// Like <see cref="FindTree(string)"/>, with a separate counter of page visits. Such a tree refers to the snapshot and
    /// not to this transaction: it may be used in every transaction that reads the same snapshot, one after the other.
    /// </summary>
    internal Tree? FindTree(string name, PageVisits visits)
    {
        ThrowIfDisposed();
        if (_snapshot.Find(_store, name) is not { } record)
            return null;

        return record.Kind == TreeKind.Tree
            ? new Tree(_store, name, record, null, visits)
            : throw new ArgumentException($"'{name}' is a hash map, not a tree: open it as a map.", nameof(name));
    }

    /// <summary>Returns a hash map, or null if it does not exist. Valid until this transaction is disposed.</summary>
    /// <exception cref="ArgumentException">The map was created with other types or serializers, or the name is that of a tree;
    /// the message says which.</exception>
    public TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>?
        FindMap<TKey, TValue, TKeySerializer, TValueSerializer>(string name)
        where TKey : notnull
        where TKeySerializer : struct, IMapSerializer<TKey>
        where TValueSerializer : struct, IMapSerializer<TValue>
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ThrowIfDisposed();
        if (_snapshot.Find(_store, name) is not { } record)
            return null;

        return record.Kind == TreeKind.Map
            ? new TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>(_store, name, record, null)
            : throw new ArgumentException($"'{name}' is a tree, not a hash map: open it as a tree.", nameof(name));
    }

    /// <summary>
    /// Begins another read transaction on the same state, for another thread. It must be disposed, before or after this one,
    /// which must not be disposed before the call has returned.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The transaction was disposed, or the environment is closed.</exception>
    public ReadTransaction BeginSame()
    {
        ThrowIfDisposed();
        return _environment.BeginSame(_snapshot);
    }

    /// <summary>
    /// Invalidates every span read through this transaction so far; the snapshot, its trees, maps and cursors remain usable. Call
    /// it regularly when reading much in one transaction: in an encrypted environment, decrypted pages stay in memory as long as
    /// a span may refer to them. Costs almost nothing there, and nothing in an unencrypted environment.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The transaction was disposed.</exception>
    public void ReleasePages()
    {
        ThrowIfDisposed();
        if (!PagesStay)
            _slot.Renew();
    }

    /// <summary>Whether spans stay valid until the transaction ends, even after <see cref="ReleasePages"/>.</summary>
    internal bool PagesStay => _store.Decrypted is null;

    /// <summary>Returns the tree of that name, or an empty one if it does not exist.</summary>
    internal Tree FindTreeOrEmpty(string name) => FindTree(name) ?? new Tree(_store, name, Format.TreeRecord.Empty(0), null);

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
            return;

        _environment.ExitRead(_slot);
    }

    private void ThrowIfDisposed() => ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
}
