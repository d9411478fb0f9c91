using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Transactions;

namespace Treepie.Storage;

/// <summary>
/// A hash map on disk with the interface of <c>ConcurrentDictionary</c>: every change is a transaction of its own, acknowledged
/// according to the environment's <see cref="Durability"/>, and every read sees the last published commit. Thread-safe; readers
/// never wait. For many operations in one transaction use <see cref="In(WriteTransaction)"/> and
/// <see cref="In(ReadTransaction)"/>; concurrent changes share journal writes and syncs like all commits.
/// </summary>
/// <typeparam name="TKey">The type of the keys; not null, at most <see cref="MapLimits.MaxKeyBytes"/> bytes each.</typeparam>
/// <typeparam name="TValue">The type of the values; not null, at most <see cref="MapLimits.MaxValueBytes"/> bytes
/// each.</typeparam>
/// <typeparam name="TKeySerializer">The serializer of the keys.</typeparam>
/// <typeparam name="TValueSerializer">The serializer of the values.</typeparam>
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

    /// <summary>Opens a map by name, creating it if it does not exist.</summary>
    /// <exception cref="ArgumentException">The map was created with other types or serializers, or the name is that of a tree;
    /// the message says which.</exception>
    /// <exception cref="InvalidOperationException">The map does not exist and the environment is read-only.</exception>
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

    /// <summary>The name of the map.</summary>
    public string Name { get; }

    /// <summary>The number of keys.</summary>
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

    /// <summary>Whether the map is empty.</summary>
    public bool IsEmpty => Count == 0;

    /// <summary>The keys at the start of the enumeration.</summary>
    public IEnumerable<TKey> Keys => this.Select(static pair => pair.Key);

    /// <summary>The values at the start of the enumeration.</summary>
    public IEnumerable<TValue> Values => this.Select(static pair => pair.Value);

    /// <summary>Gets or sets the value of a key.</summary>
    /// <exception cref="KeyNotFoundException">On getting: the key does not exist.</exception>
    /// <exception cref="ArgumentException">The key or value is null or too long.</exception>
    /// <exception cref="CommitOutcomeUnknownException">On setting: the journal could not be written.</exception>
    public TValue this[TKey key]
    {
        get =>
            TryGetValue(key, out TValue? value) ? value : throw new KeyNotFoundException($"The map '{Name}' has no key '{key}'.");
        set => _environment.Write(transaction => In(transaction)[key] = value);
    }

    /// <summary>Returns the map as a read transaction sees it; valid until that is disposed.</summary>
    /// <exception cref="InvalidOperationException">The map does not exist in that transaction.</exception>
    public TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer> In(ReadTransaction transaction)
    {
        ArgumentNullException.ThrowIfNull(transaction);
        return transaction.FindMap<TKey, TValue, TKeySerializer, TValueSerializer>(Name) ?? throw Gone();
    }

    /// <summary>
    /// Returns the map in a write transaction, for changes; valid until the command returns. Creates it if it does not exist.
    /// </summary>
    public TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer> In(WriteTransaction transaction)
    {
        ArgumentNullException.ThrowIfNull(transaction);
        return transaction.GetOrCreateMap<TKey, TValue, TKeySerializer, TValueSerializer>(Name);
    }

    /// <summary>Gets the value of a key; returns false if it does not exist. Allocates nothing itself.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
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

    /// <summary>Returns whether a key exists.</summary>
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

    /// <summary>Adds a key; returns false and changes nothing if it exists.</summary>
    /// <exception cref="ArgumentException">The key or value is null or too long.</exception>
    /// <exception cref="CommitOutcomeUnknownException">The journal could not be written.</exception>
    public bool TryAdd(TKey key, TValue value) =>
        !ContainsKey(key) && _environment.Write(transaction => In(transaction).TryAdd(key, value));

    /// <summary>Returns the value of a key; adds the key with the specified value if it does not exist.</summary>
    public TValue GetOrAdd(TKey key, TValue value) =>
        TryGetValue(key, out TValue? found) ? found : _environment.Write(transaction => In(transaction).GetOrAdd(key, value));

    /// <summary>
    /// Same as <see cref="GetOrAdd(TKey, TValue)"/>, with a value that is created only if needed, outside of the transaction.
    /// Changes nothing if the factory throws.
    /// </summary>
    public TValue GetOrAdd(TKey key, Func<TKey, TValue> factory)
    {
        ArgumentNullException.ThrowIfNull(factory);
        return TryGetValue(key, out TValue? found) ? found : GetOrAdd(key, factory(key));
    }

    /// <summary>
    /// Adds a key, or updates its value, and returns the resulting value. <paramref name="update"/> runs inside the transaction,
    /// so the update is atomic; it must not block. Changes nothing if it throws.
    /// </summary>
    public TValue AddOrUpdate(TKey key, TValue addValue, Func<TKey, TValue, TValue> update)
    {
        ArgumentNullException.ThrowIfNull(update);
        return _environment.Write(transaction => In(transaction).AddOrUpdate(key, addValue, update));
    }

    /// <summary>Sets many keys in one transaction. If a key occurs twice, the later value wins.</summary>
    public void SetAll(ReadOnlyMemory<KeyValuePair<TKey, TValue>> pairs) => _environment.Write(transaction =>
    {
        TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer> map = In(transaction);
        foreach ((TKey key, TValue value) in pairs.Span)
            map[key] = value;
        return true;
    });

    /// <summary>
    /// Updates a key if its current value equals <paramref name="comparison"/>, compared as bytes; returns whether it was
    /// updated.
    /// </summary>
    public bool TryUpdate(TKey key, TValue value, TValue comparison) =>
        _environment.Write(transaction => In(transaction).TryUpdate(key, value, comparison));

    /// <summary>Removes a key and returns its value; returns false if it does not exist.</summary>
    public bool TryRemove(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        value = default;
        if (!ContainsKey(key))
            return false;

        (bool isRemoved, value) = _environment.Write(
            transaction => (In(transaction).TryRemove(key, out TValue? removed), removed));
        return isRemoved;
    }

    /// <summary>Removes a key if it has the specified value, compared as bytes; returns whether it was removed.</summary>
    public bool TryRemove(KeyValuePair<TKey, TValue> item) => _environment.Write(transaction => In(transaction).TryRemove(item));

    /// <summary>Removes all keys.</summary>
    public void Clear() => _environment.Write(transaction =>
    {
        In(transaction).Clear();
        return true;
    });

    /// <summary>Returns all keys with their values at one point in time, in no particular order.</summary>
    public KeyValuePair<TKey, TValue>[] ToArray()
    {
        using ReadTransaction read = _environment.BeginRead();
        return In(read).ToArray();
    }

    /// <summary>
    /// Enumerates all keys with their values at the start of the enumeration, in no particular order, while others write. Holds a
    /// snapshot until it ends or is disposed.
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

    /// <summary>Looks the map up in a new snapshot and verifies that its types have not changed.</summary>
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
