using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Text;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Maps;

/// <summary>
/// A hash map bound to the transaction it came from: many operations in one transaction. Keys are found in the time of two or
/// three memory accesses, in no order. For one thread at a time, as the transaction is; the auto-committing form is
/// <see cref="DiskMap{TKey,TValue,TKeySerializer,TValueSerializer}"/>.
/// </summary>
/// <typeparam name="TKey">Keys; null is refused. At most <see cref="MapLimits.MaxKeyBytes"/> bytes each.</typeparam>
/// <typeparam name="TValue">Values; null is refused. At most <see cref="MapLimits.MaxValueBytes"/> bytes each.</typeparam>
/// <typeparam name="TKeySerializer">How keys become bytes.</typeparam>
/// <typeparam name="TValueSerializer">How values become bytes.</typeparam>
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

    /// <summary>Number of keys.</summary>
    public long Count => Record.Count;

    /// <summary>Whether there are none.</summary>
    public bool IsEmpty => Count == 0;

    /// <summary>The keys, each read as it is asked for.</summary>
    public IEnumerable<TKey> Keys => this.Select(static pair => pair.Key);

    /// <summary>The values, each read as it is asked for.</summary>
    public IEnumerable<TValue> Values => this.Select(static pair => pair.Value);

    /// <inheritdoc/>
    internal override TreeRecord Record => _writer?.Record ?? _record;

    private static BucketLayout Layout
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => new(TKeySerializer.FixedBytes, TValueSerializer.FixedBytes);
    }

    /// <summary>Gets or sets the value of a key.</summary>
    /// <exception cref="KeyNotFoundException">On getting: it is not there.</exception>
    /// <exception cref="ArgumentException">Key or value are too long, or null.</exception>
    /// <exception cref="InvalidOperationException">On setting: the map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    public TValue this[TKey key]
    {
        get =>
            TryGetValue(key, out TValue? value) ? value : throw new KeyNotFoundException($"The map '{Name}' has no key '{key}'.");
        set => Put(key, value, onlyIfNew: false);
    }

    /// <summary>The value of a key; false if it is not there.</summary>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
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

    /// <summary>Whether a key is there.</summary>
    [SkipLocalsInit]
    public bool ContainsKey(TKey key)
    {
        using var bytes = new Serialized<TKey, TKeySerializer>(key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        return MapReader.TryGet<TKey, TKeySerializer>(_store, Record, Layout, bytes.Bytes, out _);
    }

    /// <summary>Adds a key that is not there; false, with nothing changed, if it is.</summary>
    /// <exception cref="ArgumentException">Key or value are too long, or null.</exception>
    /// <exception cref="InvalidOperationException">The map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    public bool TryAdd(TKey key, TValue value) => Put(key, value, onlyIfNew: true);

    /// <summary>The value of a key, which is added with this value if it is not there.</summary>
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
    /// As <see cref="GetOrAdd(TKey, TValue)"/>, with a value that is made only when needed. Nothing is changed if the factory
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
    /// Adds a key, or changes its value to one made from the old; returns what is there then. Nothing is changed if a factory
    /// throws.
    /// </summary>
    public TValue AddOrUpdate(TKey key, TValue addValue, Func<TKey, TValue, TValue> update)
    {
        ArgumentNullException.ThrowIfNull(update);
        TValue value = TryGetValue(key, out TValue? found) ? update(key, found) : addValue;
        Put(key, value, onlyIfNew: false);
        return value;
    }

    /// <summary>
    /// Changes the value of a key that has the value <paramref name="comparison"/> now, compared as bytes; false if it has not.
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

    /// <summary>Removes a key and returns its value; false if it is not there.</summary>
    /// <exception cref="InvalidOperationException">The map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    public bool TryRemove(TKey key, [MaybeNullWhen(false)] out TValue value) => TryGetValue(key, out value) && Remove(key);

    /// <summary>Removes a key that has this value, compared as bytes; false if it has not.</summary>
    /// <exception cref="InvalidOperationException">The map belongs to a read transaction, or to a command that has
    /// returned.</exception>
    public bool TryRemove(KeyValuePair<TKey, TValue> item) => HasValue(item.Key, item.Value) && Remove(item.Key);

    /// <summary>
    /// Removes a key; false if it is not there. As <see cref="TryRemove(TKey, out TValue)"/> for those who do not want the value.
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

    /// <summary>All keys with their values, in no order.</summary>
    public KeyValuePair<TKey, TValue>[] ToArray()
    {
        var pairs = new List<KeyValuePair<TKey, TValue>>(checked((int)Count));
        pairs.AddRange(this);
        return [.. pairs];
    }

    /// <summary>
    /// Goes through all keys with their values, in no order, a bucket at a time. A change of the map ends it with an exception.
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
                        $"The map '{Name}' was changed while it was gone through: collect first what to change.");
            }
        }
    }

    /// <inheritdoc/>
    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Makes a new map.</summary>
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
        PageReference reference = MapReader.FindBucket(_store, record, _store.Read(record.Root), bucket);
        while (!reference.IsNone)
        {
            BucketPage page = MapReader.ReadBucket(_store, reference, 0, Layout);
            int slots = page.Slots;
            for (int slot = 0; slot < slots; slot++)
            {
                if (page.IsUsed(slot))
                    pairs.Add(
                        new(TKeySerializer.Read(page.Key(slot)), TValueSerializer.Read(MapReader.ReadValue(_store, page, slot))));
            }

            reference = page.Next;
        }
    }

    private MapWriter Change()
    {
        if (_pages is null)
            throw new InvalidOperationException(
                $"The map '{Name}' belongs to a read transaction; change it in StorageEnvironment.Write.");
        if (_isEnded)
            throw new InvalidOperationException(
                $"The map '{Name}' may not be changed any more: it was dropped, or its write transaction has ended, which lives "
                    + $"only inside the command it was given to.");

        return _writer ??= new MapWriter(_store, _pages, _record, Layout);
    }
}
