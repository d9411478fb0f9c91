using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// One unchanging view of the whole environment. May be used from one thread at a time, any thread; disposing it ends
/// the life of every span read through it.
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

    /// <summary>The transaction whose result is seen.</summary>
    public long TransactionId => _snapshot.TransactionId;

    /// <summary>
    /// How often its trees have entered a page so far, finding the trees themselves left out: a measure of work that is the same
    /// for the same reading of the same snapshot, whether pages were in memory or not.
    /// </summary>
    public long PageVisits => _visits?.Count ?? 0;

    internal Snapshot Snapshot => _snapshot;

    /// <summary>What readers of this state keep for one another, see <see cref="Snapshot.Derived"/>.</summary>
    internal T Derived<T>()
        where T : class, new() => _snapshot.Derived.Of<T>();

    /// <summary>Names of all trees, in byte order.</summary>
    public IEnumerable<string> TreeNames
    {
        get
        {
            ThrowIfDisposed();
            return Catalogue.ReadNames(_store, _snapshot.Catalogue, TreeKind.Tree);
        }
    }

    /// <summary>Names of all hash maps, in byte order.</summary>
    public IEnumerable<string> MapNames
    {
        get
        {
            ThrowIfDisposed();
            return Catalogue.ReadNames(_store, _snapshot.Catalogue, TreeKind.Map);
        }
    }

    /// <summary>The tree of that name, or null. The tree may be used until this transaction is disposed.</summary>
    public Tree? FindTree(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return FindTree(name, _visits ??= new PageVisits());
    }

    /// <summary>
    /// As <see cref="FindTree(string)"/>, counting pages elsewhere. Such a tree knows its state and not this transaction: it is
    /// good in every transaction that reads the same state, one after the other.
    /// </summary>
    internal Tree? FindTree(string name, PageVisits visits)
    {
        ThrowIfDisposed();
        if (Catalogue.Find(_store, _snapshot.Catalogue, name) is not { } record)
            return null;

        return record.Kind == TreeKind.Tree
            ? new Tree(_store, name, record, null, visits)
            : throw new ArgumentException($"'{name}' is a hash map, not a tree: open it as a map.", nameof(name));
    }

    /// <summary>The hash map of that name, or null. The map may be used until this transaction is disposed.</summary>
    /// <exception cref="ArgumentException">It was made with other types or serializers, or is a tree; the message says with
    /// which.</exception>
    public TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>?
        FindMap<TKey, TValue, TKeySerializer, TValueSerializer>(string name)
        where TKey : notnull
        where TKeySerializer : struct, IMapSerializer<TKey>
        where TValueSerializer : struct, IMapSerializer<TValue>
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ThrowIfDisposed();
        if (Catalogue.Find(_store, _snapshot.Catalogue, name) is not { } record)
            return null;

        return record.Kind == TreeKind.Map
            ? new TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>(_store, name, record, null)
            : throw new ArgumentException($"'{name}' is a tree, not a hash map: open it as a tree.", nameof(name));
    }

    /// <summary>
    /// Begins another read of the same state, for another thread; to be disposed too, before or after this one, which must not be
    /// disposed before the call has returned.
    /// </summary>
    /// <exception cref="ObjectDisposedException">It has been disposed, or the environment is closed.</exception>
    public ReadTransaction BeginSame()
    {
        ThrowIfDisposed();
        return _environment.BeginSame(_snapshot);
    }

    /// <summary>
    /// Ends the life of every span read through this transaction so far; the snapshot stays, and its trees, maps and cursors may
    /// be used on. For those who read much in one transaction: in an encrypted environment decrypted pages stay in memory as long
    /// as a span of them may be in use. Costs two stores there, and nothing in a plain one, where pages stay.
    /// </summary>
    /// <exception cref="ObjectDisposedException">It has been disposed.</exception>
    public void ReleasePages()
    {
        ThrowIfDisposed();
        if (!PagesStay)
            _slot.Renew();
    }

    /// <summary>Whether spans live until the transaction ends, whatever is released.</summary>
    internal bool PagesStay => _store.Decrypted is null;

    /// <summary>The tree of that name, or an empty one that is not there.</summary>
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
