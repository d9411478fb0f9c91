using System.Text;
using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>The transaction of a write command, which sees its own changes. Valid only inside the command.</summary>
public sealed class WriteTransaction
{
    private readonly Dictionary<string, Tree?> _trees = new(StringComparer.Ordinal);
    private Dictionary<string, MapRoot?>? _maps;
    private MergedBatch? _batch;
    private bool _isClosed = true;

    internal WriteTransaction()
    {
    }

    /// <summary>The id that this transaction will have once committed.</summary>
    public long TransactionId { get; private set; }

    /// <summary>
    /// Allows this command to use the space reserved for deletes on a full disk. Deletes do not need it; it is for a command that
    /// writes a little and frees more, such as one that records elsewhere what it deletes.
    /// </summary>
    public void UseReserve()
    {
        ThrowIfClosed();
        Batch.Pages.MayUseReserve = true;
    }

    /// <summary>The names of all trees, in byte order.</summary>
    public IEnumerable<string> TreeNames
    {
        get
        {
            ThrowIfClosed();
            return ReadNames(TreeKind.Tree, _trees);
        }
    }

    /// <summary>The names of all hash maps, in byte order.</summary>
    public IEnumerable<string> MapNames
    {
        get
        {
            ThrowIfClosed();
            return ReadNames(TreeKind.Map, _maps);
        }
    }

    internal MergedBatch Batch => _batch ?? throw Ended();

    /// <summary>Returns a tree, or null if it does not exist. Valid until the command returns.</summary>
    public Tree? FindTree(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ThrowIfClosed();
        if (_trees.TryGetValue(name, out Tree? tree))
            return tree;

        if (FindRecord(name, TreeKind.Tree) is { } record)
            _trees.Add(name, tree = new Tree(Batch.Pages.Store, name, record, Batch.TakeTreeWriter()));
        return tree;
    }

    /// <summary>Returns a tree; creates it if it does not exist.</summary>
    public Tree GetOrCreateTree(string name)
    {
        if (FindTree(name) is { } found)
            return found;

        _ = Catalogue.KeyOf(name); // rejects a name that is too long here rather than at commit
        ThrowIfOtherKind(name, TreeKind.Tree);
        var tree = new Tree(Batch.Pages.Store, name, TreeRecord.Empty(Batch.NextTreeId++), Batch.TakeTreeWriter());
        _trees[name] = tree;
        return tree;
    }

    /// <summary>Removes a tree with its contents; returns false if it does not exist.</summary>
    public bool DropTree(string name)
    {
        if (FindTree(name) is not { } tree)
            return false;

        tree.Drop();
        _trees[name] = null;
        return true;
    }

    /// <summary>
    /// Keeps the state after this command under a name, until <see cref="DropSnapshot"/>; atomically with the other changes of
    /// the command. Reads no trees; from then on, each page of the snapshot is kept when it is first changed.
    /// </summary>
    /// <param name="name">1 to 512 bytes of UTF-8 without control characters.</param>
    /// <exception cref="SnapshotExistsException">A snapshot of that name exists.</exception>
    /// <exception cref="StorageException">The maximum number of snapshots (4,096) is reached.</exception>
    public SnapshotInfo CreateSnapshot(string name)
    {
        ThrowIfClosed();
        return Batch.CreateSnapshot(name, TransactionId);
    }

    /// <summary>
    /// Drops a named snapshot; returns false if it does not exist. Open reads of it remain valid. Its pages are freed by this and
    /// the following commits, a bounded number by each.
    /// </summary>
    public bool DropSnapshot(string name)
    {
        ThrowIfClosed();
        return Batch.Snapshots.Drop(name);
    }

    /// <summary>Returns a hash map, or null if it does not exist. Valid until the command returns.</summary>
    /// <exception cref="ArgumentException">The map was created with other types or serializers, or the name is that of a tree;
    /// the message says which.</exception>
    public TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>?
        FindMap<TKey, TValue, TKeySerializer, TValueSerializer>(string name)
        where TKey : notnull
        where TKeySerializer : struct, IMapSerializer<TKey>
        where TValueSerializer : struct, IMapSerializer<TValue>
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ThrowIfClosed();
        if (_maps is not null && _maps.TryGetValue(name, out MapRoot? known))
            return known is null ? null : Expect<TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>>(known);

        if (FindRecord(name, TreeKind.Map) is not { } record)
            return null;

        var map = new TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>(
            Batch.Pages.Store, name, record, Batch.Pages);
        (_maps ??= new(StringComparer.Ordinal)).Add(name, map);
        return map;
    }

    /// <summary>Returns a hash map; creates it if it does not exist.</summary>
    /// <exception cref="ArgumentException">The map was created with other types or serializers, or the name is that of a tree;
    /// the message says which.</exception>
    public TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>
        GetOrCreateMap<TKey, TValue, TKeySerializer, TValueSerializer>(string name)
        where TKey : notnull
        where TKeySerializer : struct, IMapSerializer<TKey>
        where TValueSerializer : struct, IMapSerializer<TValue>
    {
        if (FindMap<TKey, TValue, TKeySerializer, TValueSerializer>(name) is { } found)
            return found;

        _ = Catalogue.KeyOf(name);
        ThrowIfOtherKind(name, TreeKind.Map);
        uint id = Batch.NextTreeId;
        var map = TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>.Create(
            Batch.Pages, name, id, Batch.HashSeed + id);
        Batch.NextTreeId++;
        (_maps ??= new(StringComparer.Ordinal))[name] = map;
        return map;
    }

    /// <summary>Removes a hash map with its contents; returns false if it does not exist.</summary>
    /// <exception cref="ArgumentException">The map was created with other types or serializers, or the name is that of a tree;
    /// the message says which.</exception>
    public bool DropMap<TKey, TValue, TKeySerializer, TValueSerializer>(string name)
        where TKey : notnull
        where TKeySerializer : struct, IMapSerializer<TKey>
        where TValueSerializer : struct, IMapSerializer<TValue>
    {
        if (FindMap<TKey, TValue, TKeySerializer, TValueSerializer>(name) is not { } map)
            return false;

        map.Drop();
        _maps![name] = null; // FindMap has added it
        return true;
    }

    private static T Expect<T>(MapRoot map)
        where T : MapRoot => map as T
        ?? throw new ArgumentException(
            $"The map '{map.Name}' is in use in this transaction with other types or serializers; use the same.");

    private string[] ReadNames<T>(TreeKind kind, Dictionary<string, T?>? changed)
        where T : class
    {
        var names = new HashSet<string>(Batch.ReadNames(kind), StringComparer.Ordinal);
        foreach ((string name, T? root) in changed ?? [])
        {
            if (root is null)
                names.Remove(name);
            else
                names.Add(name);
        }

        return [.. names.OrderBy(Encoding.UTF8.GetBytes, ByteOrder.Instance)];
    }

    /// <summary>Returns the record of a name, or null if there is none or it was dropped in this transaction.</summary>
    private TreeRecord? FindRecord(string name, TreeKind kind)
    {
        if (IsDropped(name) || Batch.FindTree(name) is not { } record)
            return null;

        return record.Kind == kind ? record : throw OtherKind(name, kind);
    }

    private bool IsDropped(string name) =>
        (_trees.TryGetValue(name, out Tree? tree) && tree is null)
            || (_maps is not null && _maps.TryGetValue(name, out MapRoot? map) && map is null);

    private void ThrowIfOtherKind(string name, TreeKind kind)
    {
        if (kind == TreeKind.Map
            ? _trees.TryGetValue(name, out Tree? tree) && tree is not null
            : _maps is not null && _maps.TryGetValue(name, out MapRoot? map) && map is not null)
            throw OtherKind(name, kind);
    }

    private static ArgumentException OtherKind(string name, TreeKind kind) => new(kind == TreeKind.Map
        ? $"'{name}' is a tree, not a hash map: open it as a tree, or choose another name."
        : $"'{name}' is a hash map, not a tree: open it as a map, or choose another name.");

    private void ThrowIfClosed()
    {
        if (_isClosed)
            throw Ended();
    }

    private static InvalidOperationException Ended() =>
        new("The write transaction has ended: it is valid only inside its command.");

    /// <summary>Prepares it for the next command: one object serves all commands, since they run one at a time.</summary>
    internal void Begin(MergedBatch batch, long transactionId)
    {
        _batch = batch;
        TransactionId = transactionId;
        _isClosed = false;
    }

    /// <summary>Ends the command and, if <paramref name="keep"/> is set, passes its changes to the batch.</summary>
    internal void Close(bool keep)
    {
        _isClosed = true;
        foreach (Tree? tree in _trees.Values)
            tree?.End();
        if (_maps is not null)
        {
            foreach (MapRoot? map in _maps.Values)
                map?.End();
        }

        try
        {
            if (keep)
                HandOver();
        }
        finally
        {
            _trees.Clear();
            _maps = null;
            _batch = null;
        }
    }

    private void HandOver()
    {
        // A dropped name may have been reused since for the other kind; then that one's record is kept.
        foreach ((string name, Tree? tree) in _trees)
        {
            if (tree is not null || _maps?.GetValueOrDefault(name) is null)
                Batch.SetTree(name, tree?.Record);
        }

        if (_maps is null)
            return;

        foreach ((string name, MapRoot? map) in _maps)
        {
            if (map is not null || _trees.GetValueOrDefault(name) is null)
                Batch.SetTree(name, map?.Record);
        }
    }

    private sealed class ByteOrder : IComparer<byte[]>
    {
        public static readonly ByteOrder Instance = new();

        public int Compare(byte[]? x, byte[]? y) => x.AsSpan().SequenceCompareTo(y);
    }
}
