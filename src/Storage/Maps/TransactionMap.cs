using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Text;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Maps;

/// <summary>
/// A hash map in a transaction, for many operations in one transaction. A lookup takes two or three memory accesses; keys have no
/// order. Not thread-safe, like the transaction. For a map with one transaction per change see
/// <see cref="DiskMap{TKey,TValue,TKeySerializer,TValueSerializer}"/>.
/// </summary>
/// <typeparam name="TKey">The type of the keys; not null, at most <see cref="MapLimits.MaxKeyBytes"/> bytes each.</typeparam>
/// <typeparam name="TValue">The type of the values; not null, at most <see cref="MapLimits.MaxValueBytes"/> bytes
/// each.</typeparam>
/// <typeparam name="TKeySerializer">The serializer of the keys.</typeparam>
/// <typeparam name="TValueSerializer">The serializer of the values.</typeparam>
public sealed class TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>
    : MapRoot, IEnumerable<KeyValuePair<TKey, TValue>>
    where TKey : notnull
    where TKeySerializer : struct, IMapSerializer<TKey>
    where TValueSerializer : struct, IMapSerializer<TValue>
{
    private readonly PageStore _store;
    private readonly PageWriter? _pages;
    private readonly TreeRecord _record;
    private MapWriter? _writer;
    private int _changes;
    private bool _isEnded;

    internal TransactionMap(PageStore store, string name, TreeRecord record, PageWriter? pages)
        : base(name)
    {
        _store = store;
        _record = record;
        _pages = pages;
        MapDescription.Verify<TKey, TValue, TKeySerializer, TValueSerializer>(name, store.Read(record.Root));
    }

    /// <summary>The number of keys.</summary>
    public long Count => Record.Count;

    /// <summary>Whether the map is empty.</summary>
    public bool IsEmpty => Count == 0;

    /// <summary>The keys, each read when it is enumerated.</summary>
    public IEnumerable<TKey> Keys => this.Select(static pair => pair.Key);

    /// <summary>The values, each read when it is enumerated.</summary>
    public IEnumerable<TValue> Values => this.Select(static pair => pair.Value);

    /// <inheritdoc/>
    internal override TreeRecord Record => _writer?.Record ?? _record;

    private static BucketLayout Layout
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => new(TKeySerializer.FixedBytes, TValueSerializer.FixedBytes);
    }

    /// <summary>Gets or sets the value of a key.</summary>
    /// <exception cref="KeyNotFoundException">On getting: the key does not exist.</exception>
    /// <exception cref="ArgumentException">The key or value is null or too long.</exception>
    /// <exception cref="InvalidOperationException">On setting: the map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    public TValue this[TKey key]
    {
        get =>
            TryGetValue(key, out TValue? value) ? value : throw new KeyNotFoundException($"The map '{Name}' has no key '{key}'.");
        set => Put(key, value, onlyIfNew: false);
    }

    /// <summary>Gets the value of a key; returns false if it does not exist.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    [SkipLocalsInit]
    public bool TryGetValue(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        using var bytes = new Serialized<TKey, TKeySerializer>(key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        if (MapReader.TryGet<TKey, TKeySerializer>(_store, Record, Layout, bytes.Bytes, out ReadOnlySpan<byte> found))
        {
            value = TValueSerializer.Read(found);
            return true;
        }

        value = default;
        return false;
    }

    /// <summary>Returns whether a key exists.</summary>
    [SkipLocalsInit]
    public bool ContainsKey(TKey key)
    {
        using var bytes = new Serialized<TKey, TKeySerializer>(key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        return MapReader.TryGet<TKey, TKeySerializer>(_store, Record, Layout, bytes.Bytes, out _);
    }

    /// <summary>Adds a key; returns false and changes nothing if it exists.</summary>
    /// <exception cref="ArgumentException">The key or value is null or too long.</exception>
    /// <exception cref="InvalidOperationException">The map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    public bool TryAdd(TKey key, TValue value) => Put(key, value, onlyIfNew: true);

    /// <summary>Returns the value of a key; adds the key with the specified value if it does not exist.</summary>
    /// <exception cref="InvalidOperationException">The map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    public TValue GetOrAdd(TKey key, TValue value)
    {
        if (TryGetValue(key, out TValue? found))
            return found;

        Put(key, value, onlyIfNew: true);
        return value;
    }

    /// <summary>
    /// Same as <see cref="GetOrAdd(TKey, TValue)"/>, with a value that is created only if needed. Changes nothing if the factory
    /// throws.
    /// </summary>
    public TValue GetOrAdd(TKey key, Func<TKey, TValue> factory)
    {
        ArgumentNullException.ThrowIfNull(factory);
        if (TryGetValue(key, out TValue? found))
            return found;

        TValue value = factory(key);
        return TryAdd(key, value) ? value : this[key];
    }

    /// <summary>
    /// Adds a key, or updates its value, and returns the resulting value. Changes nothing if a factory throws.
    /// </summary>
    public TValue AddOrUpdate(TKey key, TValue addValue, Func<TKey, TValue, TValue> update)
    {
        ArgumentNullException.ThrowIfNull(update);
        TValue value = TryGetValue(key, out TValue? found) ? update(key, found) : addValue;
        Put(key, value, onlyIfNew: false);
        return value;
    }

    /// <summary>
    /// Updates a key if its current value equals <paramref name="comparison"/>, compared as bytes; returns whether it was
    /// updated.
    /// </summary>
    /// <exception cref="InvalidOperationException">The map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    public bool TryUpdate(TKey key, TValue value, TValue comparison)
    {
        if (!HasValue(key, comparison))
            return false;

        Put(key, value, onlyIfNew: false);
        return true;
    }

    /// <summary>Removes a key and returns its value; returns false if it does not exist.</summary>
    /// <exception cref="InvalidOperationException">The map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    public bool TryRemove(TKey key, [MaybeNullWhen(false)] out TValue value) => TryGetValue(key, out value) && Remove(key);

    /// <summary>Removes a key if it has the specified value, compared as bytes; returns whether it was removed.</summary>
    /// <exception cref="InvalidOperationException">The map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    public bool TryRemove(KeyValuePair<TKey, TValue> item) => HasValue(item.Key, item.Value) && Remove(item.Key);

    /// <summary>
    /// Removes a key; returns false if it does not exist. Same as <see cref="TryRemove(TKey, out TValue)"/>, without reading the
    /// value.
    /// </summary>
    /// <exception cref="InvalidOperationException">The map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    [SkipLocalsInit]
    public bool Remove(TKey key)
    {
        using var bytes = new Serialized<TKey, TKeySerializer>(key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        MapWriter writer = Change();
        if (!MapReader.TryGet<TKey, TKeySerializer>(_store, Record, Layout, bytes.Bytes, out _))
            return false;

        _changes++;
        var hashing = new SerializerKeyHash<TKey, TKeySerializer>(writer.Seed);
        writer.Remove(hashing.Of(bytes.Bytes), bytes.Bytes, hashing);
        return true;
    }

    /// <summary>Removes all keys.</summary>
    /// <exception cref="InvalidOperationException">The map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    public void Clear()
    {
        MapWriter writer = Change();
        _changes++;
        writer.Clear();
    }

    /// <summary>Returns all keys with their values, in no particular order.</summary>
    public KeyValuePair<TKey, TValue>[] ToArray()
    {
        var pairs = new List<KeyValuePair<TKey, TValue>>(checked((int)Count));
        pairs.AddRange(this);
        return [.. pairs];
    }

    /// <summary>
    /// Enumerates all keys with their values, in no particular order, one bucket at a time. Throws if the map is changed
    /// meanwhile.
    /// </summary>
    public IEnumerator<KeyValuePair<TKey, TValue>> GetEnumerator()
    {
        int changes = _changes;
        var pairs = new List<KeyValuePair<TKey, TValue>>();
        long buckets = MapLayout.Read(_store.Read(Record.Root)).Buckets;
        for (long bucket = 0; bucket < buckets; bucket++)
        {
            pairs.Clear();
            ReadBucket(bucket, pairs);
            foreach (KeyValuePair<TKey, TValue> pair in pairs)
            {
                yield return pair;
                if (changes != _changes)
                    throw new InvalidOperationException(
                        $"The map '{Name}' was changed while it was enumerated: collect the changes first, then make them.");
            }
        }
    }

    /// <inheritdoc/>
    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Creates a new map.</summary>
    internal static TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer> Create(
        PageWriter pages, string name, uint id, ulong seed)
    {
        byte[] key = Encoding.UTF8.GetBytes(MapDescription.Of<TKey, TKeySerializer>());
        byte[] value = Encoding.UTF8.GetBytes(MapDescription.Of<TValue, TValueSerializer>());
        var header = new MapHeader(
            seed, 1, 0, TKeySerializer.FixedBytes, TValueSerializer.FixedBytes, !TKeySerializer.HasOwnHash);
        return new(pages.Store, name, MapWriter.Create(pages, id, header, key, value), pages);
    }

    /// <inheritdoc/>
    internal override void Drop()
    {
        Change().Drop();
        _changes++;
        _isEnded = true;
    }

    /// <inheritdoc/>
    internal override void End() => _isEnded = true;

    [SkipLocalsInit]
    private bool Put(TKey key, TValue value, bool onlyIfNew)
    {
        using var keyBytes = new Serialized<TKey, TKeySerializer>(
            key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        using var valueBytes = new Serialized<TValue, TValueSerializer>(
            value, stackalloc byte[Serialized<TValue, TValueSerializer>.StackBytes]);
        MapWriter writer = Change();
        MapLimits.Verify(Name, keyBytes.Bytes.Length, valueBytes.Bytes.Length);
        if (onlyIfNew && MapReader.TryGet<TKey, TKeySerializer>(_store, Record, Layout, keyBytes.Bytes, out _))
            return false;

        _changes++;
        var hashing = new SerializerKeyHash<TKey, TKeySerializer>(writer.Seed);
        return writer.Put(hashing.Of(keyBytes.Bytes), keyBytes.Bytes, valueBytes.Bytes, hashing) || !onlyIfNew;
    }

    [SkipLocalsInit]
    private bool HasValue(TKey key, TValue expected)
    {
        using var keyBytes = new Serialized<TKey, TKeySerializer>(
            key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        using var valueBytes = new Serialized<TValue, TValueSerializer>(
            expected, stackalloc byte[Serialized<TValue, TValueSerializer>.StackBytes]);
        return MapReader.TryGet<TKey, TKeySerializer>(_store, Record, Layout, keyBytes.Bytes, out ReadOnlySpan<byte> found)
            && found.SequenceEqual(valueBytes.Bytes);
    }

    private void ReadBucket(long bucket, List<KeyValuePair<TKey, TValue>> pairs)
    {
        TreeRecord record = Record;
        var chain = new BucketChain(_store, MapReader.FindBucket(_store, record, _store.Read(record.Root), bucket));
        while (!chain.IsEnd)
        {
            BucketPage page = chain.Read(Layout);
            int slots = page.Slots;
            for (int slot = 0; slot < slots; slot++)
            {
                if (page.IsUsed(slot))
                    pairs.Add(
                        new(TKeySerializer.Read(page.Key(slot)), TValueSerializer.Read(MapReader.ReadValue(_store, page, slot))));
            }

            chain.MoveTo(page.Next);
        }
    }

    private MapWriter Change()
    {
        if (_pages is null)
            throw new InvalidOperationException(
                $"The map '{Name}' belongs to a read transaction; change it in StorageEnvironment.Write.");
        if (_isEnded)
            throw new InvalidOperationException(
                $"The map '{Name}' can no longer be changed: it was dropped, or its write transaction has ended, which is valid "
                    + $"only inside its command.");

        return _writer ??= new MapWriter(_store, _pages, _record, Layout);
    }
}
