using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Transactions;

namespace Treepie.Storage;

/// <summary>
/// A hash map on the disk with the surface of <c>ConcurrentDictionary</c>: every change is a transaction of its own, acknowledged
/// as the environment acknowledges (<see cref="Durability"/>), and every read sees the last published commit. Thread-safe;
/// readers never wait. For many operations in one transaction use <see cref="In(WriteTransaction)"/> and
/// <see cref="In(ReadTransaction)"/>; changes of many threads at once share a journal write and a sync as all commits do.
/// </summary>
/// <typeparam name="TKey">Keys; null is refused. At most <see cref="MapLimits.MaxKeyBytes"/> bytes each.</typeparam>
/// <typeparam name="TValue">Values; null is refused. At most <see cref="MapLimits.MaxValueBytes"/> bytes each.</typeparam>
/// <typeparam name="TKeySerializer">How keys become bytes.</typeparam>
/// <typeparam name="TValueSerializer">How values become bytes.</typeparam>
/// <example><code>
/// var hits = new DiskMap&lt;string, long, StringSerializer, PrimitiveSerializer&lt;long&gt;&gt;(environment, "hits");
/// hits.AddOrUpdate("/index.html", 1, (_, count) => count + 1);
/// </code></example>
public sealed class DiskMap<TKey, TValue, TKeySerializer, TValueSerializer> : IEnumerable<KeyValuePair<TKey, TValue>>
    where TKey : notnull
    where TKeySerializer : struct, IMapSerializer<TKey>
    where TValueSerializer : struct, IMapSerializer<TValue>
{
    private readonly StorageEnvironment _environment;
    private View? _view;

    /// <summary>Opens the map of that name, and creates it if it is absent.</summary>
    /// <exception cref="ArgumentException">It was made with other types or serializers, or the name is that of a tree; the
    /// message says with which.</exception>
    /// <exception cref="InvalidOperationException">It is absent and the environment was opened read-only.</exception>
    public DiskMap(StorageEnvironment environment, string name)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentException.ThrowIfNullOrEmpty(name);
        _environment = environment;
        Name = name;
        using (ReadTransaction read = environment.BeginRead())
        {
            if (read.FindMap<TKey, TValue, TKeySerializer, TValueSerializer>(name) is not null)
                return;
        }

        environment.Write(transaction => In(transaction).Count);
    }

    /// <summary>The name it was opened by.</summary>
    public string Name { get; }

    /// <summary>Number of keys.</summary>
    public long Count
    {
        get
        {
            Snapshot snapshot = _environment.EnterRead(null, out ReaderTable.Slot slot);
            try
            {
                return FindView(snapshot).Record.Count;
            }
            finally
            {
                _environment.ExitRead(slot);
            }
        }
    }

    /// <summary>Whether there are no keys.</summary>
    public bool IsEmpty => Count == 0;

    /// <summary>The keys as of the moment the enumeration begins.</summary>
    public IEnumerable<TKey> Keys => this.Select(static pair => pair.Key);

    /// <summary>The values as of the moment the enumeration begins.</summary>
    public IEnumerable<TValue> Values => this.Select(static pair => pair.Value);

    /// <summary>Gets or sets the value of a key.</summary>
    /// <exception cref="KeyNotFoundException">On getting: it is not there.</exception>
    /// <exception cref="ArgumentException">Key or value are too long, or null.</exception>
    /// <exception cref="CommitOutcomeUnknownException">On setting: the journal failed; see there.</exception>
    public TValue this[TKey key]
    {
        get =>
            TryGetValue(key, out TValue? value) ? value : throw new KeyNotFoundException($"The map '{Name}' has no key '{key}'.");
        set => _environment.Write(transaction => In(transaction)[key] = value);
    }

    /// <summary>The map as a read transaction sees it, until that is disposed.</summary>
    /// <exception cref="InvalidOperationException">There is no such map in that transaction.</exception>
    public TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer> In(ReadTransaction transaction)
    {
        ArgumentNullException.ThrowIfNull(transaction);
        return transaction.FindMap<TKey, TValue, TKeySerializer, TValueSerializer>(Name) ?? throw Gone();
    }

    /// <summary>
    /// The map in a write transaction, to be changed there, until the command returns. Created if it is absent.
    /// </summary>
    public TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer> In(WriteTransaction transaction)
    {
        ArgumentNullException.ThrowIfNull(transaction);
        return transaction.GetOrCreateMap<TKey, TValue, TKeySerializer, TValueSerializer>(Name);
    }

    /// <summary>The value of a key; false if it is not there. Allocates nothing itself.</summary>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    [SkipLocalsInit]
    public bool TryGetValue(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        using var bytes = new Serialized<TKey, TKeySerializer>(key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        Snapshot snapshot = _environment.EnterRead(null, out ReaderTable.Slot slot);
        try
        {
            var layout = new BucketLayout(TKeySerializer.FixedBytes, TValueSerializer.FixedBytes);
            if (MapReader.TryGet<TKey, TKeySerializer>(
                _environment.State.Store, FindView(snapshot).Record, layout, bytes.Bytes, out ReadOnlySpan<byte> found))
            {
                value = TValueSerializer.Read(found);
                return true;
            }
        }
        finally
        {
            _environment.ExitRead(slot);
        }

        value = default;
        return false;
    }

    /// <summary>Whether a key is there.</summary>
    [SkipLocalsInit]
    public bool ContainsKey(TKey key)
    {
        using var bytes = new Serialized<TKey, TKeySerializer>(key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        Snapshot snapshot = _environment.EnterRead(null, out ReaderTable.Slot slot);
        try
        {
            var layout = new BucketLayout(TKeySerializer.FixedBytes, TValueSerializer.FixedBytes);
            return MapReader.TryGet<TKey, TKeySerializer>(
                _environment.State.Store, FindView(snapshot).Record, layout, bytes.Bytes, out _);
        }
        finally
        {
            _environment.ExitRead(slot);
        }
    }

    /// <summary>Adds a key that is not there; false, with nothing changed, if it is.</summary>
    /// <exception cref="ArgumentException">Key or value are too long, or null.</exception>
    /// <exception cref="CommitOutcomeUnknownException">The journal failed; see there.</exception>
    public bool TryAdd(TKey key, TValue value) =>
        !ContainsKey(key) && _environment.Write(transaction => In(transaction).TryAdd(key, value));

    /// <summary>The value of a key, which is added with this value if it is not there.</summary>
    public TValue GetOrAdd(TKey key, TValue value) =>
        TryGetValue(key, out TValue? found) ? found : _environment.Write(transaction => In(transaction).GetOrAdd(key, value));

    /// <summary>
    /// As <see cref="GetOrAdd(TKey, TValue)"/>, with a value that is made only when needed, outside the transaction. Nothing is
    /// changed if the factory throws.
    /// </summary>
    public TValue GetOrAdd(TKey key, Func<TKey, TValue> factory)
    {
        ArgumentNullException.ThrowIfNull(factory);
        return TryGetValue(key, out TValue? found) ? found : GetOrAdd(key, factory(key));
    }

    /// <summary>
    /// Adds a key, or changes its value to one made from the old; returns what is there then. <paramref name="update"/> runs
    /// inside the transaction, so nothing comes between; it must not block. If it throws, nothing is changed.
    /// </summary>
    public TValue AddOrUpdate(TKey key, TValue addValue, Func<TKey, TValue, TValue> update)
    {
        ArgumentNullException.ThrowIfNull(update);
        return _environment.Write(transaction => In(transaction).AddOrUpdate(key, addValue, update));
    }

    /// <summary>Sets many keys in one transaction: all or none. Where a key comes twice, the later value counts.</summary>
    public void SetAll(ReadOnlyMemory<KeyValuePair<TKey, TValue>> pairs) => _environment.Write(transaction =>
    {
        TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer> map = In(transaction);
        foreach ((TKey key, TValue value) in pairs.Span)
            map[key] = value;
        return true;
    });

    /// <summary>
    /// Changes the value of a key that has the value <paramref name="comparison"/> now, compared as bytes; false if it has not.
    /// </summary>
    public bool TryUpdate(TKey key, TValue value, TValue comparison) =>
        _environment.Write(transaction => In(transaction).TryUpdate(key, value, comparison));

    /// <summary>Removes a key and returns its value; false if it is not there.</summary>
    public bool TryRemove(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        value = default;
        if (!ContainsKey(key))
            return false;

        (bool isRemoved, value) = _environment.Write(
            transaction => (In(transaction).TryRemove(key, out TValue? removed), removed));
        return isRemoved;
    }

    /// <summary>Removes a key that has this value, compared as bytes; false if it has not.</summary>
    public bool TryRemove(KeyValuePair<TKey, TValue> item) => _environment.Write(transaction => In(transaction).TryRemove(item));

    /// <summary>Removes all keys.</summary>
    public void Clear() => _environment.Write(transaction =>
    {
        In(transaction).Clear();
        return true;
    });

    /// <summary>All keys with their values as of one moment, in no order.</summary>
    public KeyValuePair<TKey, TValue>[] ToArray()
    {
        using ReadTransaction read = _environment.BeginRead();
        return In(read).ToArray();
    }

    /// <summary>
    /// Goes through all keys with their values as of the moment it begins, in no order, while others write. It holds a snapshot
    /// until it is disposed or at its end.
    /// </summary>
    public IEnumerator<KeyValuePair<TKey, TValue>> GetEnumerator()
    {
        using ReadTransaction read = _environment.BeginRead();
        foreach (KeyValuePair<TKey, TValue> pair in In(read))
            yield return pair;
    }

    /// <inheritdoc/>
    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    private View FindView(Snapshot snapshot)
    {
        View? view = Volatile.Read(ref _view);
        return view is not null && ReferenceEquals(view.Snapshot, snapshot) ? view : MakeView(snapshot, view);
    }

    /// <summary>Looks the map up in a snapshot that was not seen before, and makes sure that it is still what it was.</summary>
    private View MakeView(Snapshot snapshot, View? before)
    {
        if (Catalogue.Find(_environment.State.Store, snapshot.Catalogue, Name) is not { Kind: TreeKind.Map } record)
            throw Gone();
        if (before?.Record.Id != record.Id)
            MapDescription.Verify<TKey, TValue, TKeySerializer, TValueSerializer>(
                Name, _environment.State.Store.Read(record.Root));

        var view = new View(snapshot, record);
        Volatile.Write(ref _view, view);
        return view;
    }

    private InvalidOperationException Gone() =>
        new($"There is no map '{Name}': it was dropped, or the snapshot is older than the map.");

    private sealed record View(Snapshot Snapshot, TreeRecord Record);
}
