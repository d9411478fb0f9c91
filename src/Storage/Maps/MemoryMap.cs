using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// The map for caches: buckets and serializers of <see cref="DiskMap{TKey,TValue,TKeySerializer,TValueSerializer}"/> without disk
/// and transactions, and the surface of <c>ConcurrentDictionary</c>. Every operation is atomic for itself. Keys and values lie
/// outside the managed heap as bytes: nothing is allocated for an entry, and the garbage collector never sees them. Thread-safe;
/// readers take no lock.
/// </summary>
/// <typeparam name="TKey">Keys; null is refused. At most <see cref="MapLimits.MaxKeyBytes"/> bytes each.</typeparam>
/// <typeparam name="TValue">Values; null is refused. At most <see cref="MaxValueBytes"/> bytes each.</typeparam>
/// <typeparam name="TKeySerializer">How keys become bytes.</typeparam>
/// <typeparam name="TValueSerializer">How values become bytes.</typeparam>
/// <remarks>
/// An entry of 8-byte key and value takes 19 to 38 bytes, depending on how far the last doubling of buckets lies back. Memory of
/// removed entries is used again by others; it goes back to the system when the map is disposed. A serializer's
/// <see cref="IMapSerializer{T}.Hash"/> must not throw.
/// </remarks>
public sealed class MemoryMap<TKey, TValue, TKeySerializer, TValueSerializer>
    : IDisposable, IEnumerable<KeyValuePair<TKey, TValue>>
    where TKey : notnull
    where TKeySerializer : struct, IMapSerializer<TKey>
    where TValueSerializer : struct, IMapSerializer<TValue>
{
    /// <summary>Longest value, in bytes, as its serializer writes it.</summary>
    [SuppressMessage("Design", "CA1000", Justification = "A constant.")]
    public const int MaxValueBytes = 1 << 30;

    private const int Window = 16;

    private readonly MemoryTable<TKey, TValue, TKeySerializer, TValueSerializer> _table;

    /// <summary>Creates an empty map.</summary>
    /// <param name="maxBytes">Most memory it may take. As many addresses, not memory, are reserved at once.</param>
    /// <param name="seed">Seed of the hash; null draws one, so that nobody can prepare keys that collide.</param>
    /// <exception cref="ArgumentOutOfRangeException">Less than 1 MiB, or more than 2 TiB.</exception>
    public MemoryMap(long maxBytes = 64L << 30, ulong? seed = null)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(maxBytes, 1L << 20);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(maxBytes, 2L << 40);
        _ = MapDescription.Of<TKey, TKeySerializer>();
        _ = MapDescription.Of<TValue, TValueSerializer>();
        _table = new(
            maxBytes, seed ?? BitConverter.ToUInt64(System.Security.Cryptography.RandomNumberGenerator.GetBytes(sizeof(ulong))));
    }

    /// <summary>Number of keys; while others write, of some moment.</summary>
    public long Count => _table.Figures.Count;

    /// <summary>Whether there are no keys.</summary>
    public bool IsEmpty => Count == 0;

    /// <summary>Bytes of memory in use.</summary>
    public long MemoryBytes => _table.MemoryBytes;

    /// <summary>The keys, as the enumeration meets them.</summary>
    public IEnumerable<TKey> Keys => this.Select(static pair => pair.Key);

    /// <summary>The values, as the enumeration meets them.</summary>
    public IEnumerable<TValue> Values => this.Select(static pair => pair.Value);

    /// <summary>Gets or sets the value of a key.</summary>
    /// <exception cref="KeyNotFoundException">On getting: it is not there.</exception>
    /// <exception cref="ArgumentException">Key or value are too long, or null.</exception>
    /// <exception cref="StorageException">On setting: the map has all the memory it may take.</exception>
    public TValue this[TKey key]
    {
        get => TryGetValue(key, out TValue? value) ? value : throw new KeyNotFoundException($"The map has no key '{key}'.");
        set => Put(key, value, onlyIfNew: false);
    }

    /// <summary>The value of a key; false if it is not there.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryGetValue(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        if (default(TKeySerializer) is not IPlainSerializer || default(TValueSerializer) is not IPlainSerializer)
            return TryGetAny(key, out value);

        ReadOnlySpan<byte> bytes = RawValue.BytesOf(in key);
        ulong hash = _table.HashOf(bytes);
        return _table.TryReadAtHome(hash, bytes, out value) || TryGetElsewhere(key, hash, out value);
    }

    /// <summary>
    /// The values of many keys: values and whether they are there, in the order of the keys; returns how many are there. Each is
    /// read for itself. Faster than one after the other where the map is larger than the processor's caches, because the memory
    /// accesses of sixteen keys go on at once.
    /// </summary>
    /// <exception cref="ArgumentException">The spans have different lengths.</exception>
    public int TryGetValues(ReadOnlySpan<TKey> keys, Span<TValue> values, Span<bool> found)
    {
        if (values.Length != keys.Length || found.Length != keys.Length)
            throw new ArgumentException(
                $"There must be as many places as keys: {keys.Length} keys, {values.Length} values, {found.Length} flags.");

        int count = 0;
        Span<ulong> hashes = stackalloc ulong[Window];
        for (int start = 0; start < keys.Length; start += Window)
        {
            ReadOnlySpan<TKey> some = keys.Slice(start, Math.Min(Window, keys.Length - start));
            Prefetch(some, hashes);
            for (int i = 0; i < some.Length; i++)
            {
                bool isFound = TryGetHashed(some[i], hashes[i], out TValue? value);
                found[start + i] = isFound;
                values[start + i] = value!; // default where the flag says that it is not there
                count += isFound ? 1 : 0;
            }
        }

        return count;
    }

    /// <summary>
    /// Sets many keys, each for itself; where a key comes twice, the later value counts. Faster than one after the other, as
    /// <see cref="TryGetValues"/>.
    /// </summary>
    /// <exception cref="ArgumentException">The spans have different lengths, or as for <see cref="this"/>; the keys before it are
    /// set.</exception>
    public void SetAll(ReadOnlySpan<TKey> keys, ReadOnlySpan<TValue> values)
    {
        if (values.Length != keys.Length)
            throw new ArgumentException($"There must be as many values as keys: {keys.Length} keys, {values.Length} values.");

        Span<ulong> hashes = stackalloc ulong[Window];
        for (int start = 0; start < keys.Length; start += Window)
        {
            ReadOnlySpan<TKey> some = keys.Slice(start, Math.Min(Window, keys.Length - start));
            Prefetch(some, hashes);
            for (int i = 0; i < some.Length; i++)
                PutHashed(some[i], values[start + i], hashes[i]);
        }
    }

    /// <summary>Whether a key is there.</summary>
    public bool ContainsKey(TKey key) => TryGetValue(key, out _);

    /// <summary>Adds a key that is not there; false, with nothing changed, if it is.</summary>
    /// <exception cref="ArgumentException">Key or value are too long, or null.</exception>
    /// <exception cref="StorageException">The map has all the memory it may take.</exception>
    public bool TryAdd(TKey key, TValue value) => Put(key, value, onlyIfNew: true);

    /// <summary>The value of a key, which is added with this value if it is not there.</summary>
    public TValue GetOrAdd(TKey key, TValue value)
    {
        while (true)
        {
            if (TryGetValue(key, out TValue? found))
                return found;
            if (TryAdd(key, value))
                return value;
        }
    }

    /// <summary>
    /// As <see cref="GetOrAdd(TKey, TValue)"/>, with a value that is made only when needed; of several threads at once only one's
    /// value counts.
    /// </summary>
    public TValue GetOrAdd(TKey key, Func<TKey, TValue> factory)
    {
        ArgumentNullException.ThrowIfNull(factory);
        return TryGetValue(key, out TValue? found) ? found : GetOrAdd(key, factory(key));
    }

    /// <summary>
    /// Adds a key, or changes its value to one made from the old; returns what is there then. <paramref name="update"/> is called
    /// again where another thread came between.
    /// </summary>
    public TValue AddOrUpdate(TKey key, TValue addValue, Func<TKey, TValue, TValue> update)
    {
        ArgumentNullException.ThrowIfNull(update);
        while (true)
        {
            if (TryGetValue(key, out TValue? found))
            {
                TValue value = update(key, found);
                if (TryUpdate(key, value, found))
                    return value;
            }
            else if (TryAdd(key, addValue))
            {
                return addValue;
            }
        }
    }

    /// <summary>
    /// Changes the value of a key that has the value <paramref name="comparison"/> now, compared as bytes; false if it has not.
    /// </summary>
    [SkipLocalsInit]
    public bool TryUpdate(TKey key, TValue value, TValue comparison)
    {
        using var keyBytes = new Serialized<TKey, TKeySerializer>(
            key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        using var valueBytes = new Serialized<TValue, TValueSerializer>(
            value, stackalloc byte[Serialized<TValue, TValueSerializer>.StackBytes]);
        using var expected = new Serialized<TValue, TValueSerializer>(
            comparison, stackalloc byte[Serialized<TValue, TValueSerializer>.StackBytes]);
        Verify(keyBytes.Bytes, valueBytes.Bytes);
        return _table.TryReplace(_table.HashOf(keyBytes.Bytes), keyBytes.Bytes, valueBytes.Bytes, expected.Bytes);
    }

    /// <summary>Removes a key and returns its value; false if it is not there.</summary>
    [SkipLocalsInit]
    public bool TryRemove(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        using var bytes = new Serialized<TKey, TKeySerializer>(key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        var taken = default(TakenValue<TValue, TValueSerializer>);
        bool isRemoved = _table.TryRemove(_table.HashOf(bytes.Bytes), bytes.Bytes, default, mustBeEqual: false, ref taken);
        value = isRemoved ? taken.Finish() : default;
        return isRemoved;
    }

    /// <summary>Removes a key that has this value, compared as bytes; false if it has not.</summary>
    [SkipLocalsInit]
    public bool TryRemove(KeyValuePair<TKey, TValue> item)
    {
        using var keyBytes = new Serialized<TKey, TKeySerializer>(
            item.Key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        using var expected = new Serialized<TValue, TValueSerializer>(
            item.Value, stackalloc byte[Serialized<TValue, TValueSerializer>.StackBytes]);
        var taken = default(TakenValue<TValue, TValueSerializer>);
        bool isRemoved = _table.TryRemove(
            _table.HashOf(keyBytes.Bytes), keyBytes.Bytes, expected.Bytes, mustBeEqual: true, ref taken);
        taken.Drop();
        return isRemoved;
    }

    /// <summary>Removes all keys that are there when it comes by.</summary>
    public void Clear() => _table.Clear();

    /// <summary>All keys with their values as the enumeration meets them, in no order.</summary>
    public KeyValuePair<TKey, TValue>[] ToArray() => [.. this];

    /// <summary>
    /// Goes through the keys with their values, in no order, while others write: a key that stays is met once, with a value it
    /// had meanwhile; one that comes or goes is met or not.
    /// </summary>
    public IEnumerator<KeyValuePair<TKey, TValue>> GetEnumerator()
    {
        _table.ThrowIfDisposed();
        var frames = new List<byte[]>();
        var runs = new List<byte[]>();
        var pairs = new List<KeyValuePair<TKey, TValue>>();
        long buckets = _table.Buckets;
        for (long bucket = 0; bucket < buckets; bucket++)
        {
            frames.Clear();
            runs.Clear();
            pairs.Clear();
            _table.CopyFrames(bucket, buckets, frames, runs);
            Read(frames, runs, pairs);
            foreach (KeyValuePair<TKey, TValue> pair in pairs)
                yield return pair;
        }
    }

    /// <inheritdoc/>
    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>
    /// Gives the memory back to the system. What is called afterwards throws <see cref="ObjectDisposedException"/>.
    /// </summary>
    public void Dispose() => _table.Dispose();

    private static void Verify(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (key.Length > MapLimits.MaxKeyBytes)
            throw new ArgumentException($"A key of a map has at most {MapLimits.MaxKeyBytes} bytes; this one has {key.Length}.");
        if (value.Length > MaxValueBytes)
            throw new ArgumentException(
                $"A value of a map in memory has at most {MaxValueBytes} bytes; this one has {value.Length}.");
    }

    private static void Read(List<byte[]> frames, List<byte[]> runs, List<KeyValuePair<TKey, TValue>> pairs)
    {
        int run = 0;
        foreach (byte[] frame in frames)
        {
            var page = new BucketPage(frame, new BucketLayout(TKeySerializer.FixedBytes, TValueSerializer.FixedBytes));
            int slots = page.Slots;
            for (int slot = 0; slot < slots; slot++)
            {
                if (!page.IsUsed(slot))
                    continue;

                ReadOnlySpan<byte> value = page.Value(slot, out bool isRun);
                if (isRun)
                    value = runs[run++];
                pairs.Add(new(TKeySerializer.Read(page.Key(slot)), TValueSerializer.Read(value)));
            }
        }
    }

    /// <summary>As <see cref="TryGetValue"/>, of a key whose hash is known.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryGetHashed(TKey key, ulong hash, [MaybeNullWhen(false)] out TValue value)
    {
        if (default(TKeySerializer) is not IPlainSerializer || default(TValueSerializer) is not IPlainSerializer)
            return TryGetAny(key, out value);

        return _table.TryReadAtHome(hash, RawValue.BytesOf(in key), out value) || TryGetElsewhere(key, hash, out value);
    }

    /// <summary>The value of a key that is not where it would be first.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryGetElsewhere(TKey key, ulong hash, [MaybeNullWhen(false)] out TValue value)
    {
        var taken = default(PlainTaken<TValue, TValueSerializer>);
        bool isFound = _table.TryRead(hash, RawValue.BytesOf(in key), ref taken);
        value = taken.Value;
        return isFound;
    }

    [SkipLocalsInit]
    private bool TryGetAny(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        using var bytes = new Serialized<TKey, TKeySerializer>(key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        var taken = default(TakenValue<TValue, TValueSerializer>);
        bool isFound = _table.TryRead(_table.HashOf(bytes.Bytes), bytes.Bytes, ref taken);
        value = isFound ? taken.Finish() : default;
        taken.Drop();
        return isFound;
    }

    [SkipLocalsInit]
    private void Prefetch(ReadOnlySpan<TKey> keys, Span<ulong> hashes)
    {
        Span<byte> buffer = stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes];
        for (int i = 0; i < keys.Length; i++)
        {
            if (default(TKeySerializer) is IPlainSerializer)
            {
                hashes[i] = _table.HashOf(RawValue.BytesOf(in keys[i]));
                _table.PrefetchFirst(hashes[i]);
                continue;
            }

            using var bytes = new Serialized<TKey, TKeySerializer>(keys[i], buffer);
            hashes[i] = _table.HashOf(bytes.Bytes);
            _table.PrefetchFirst(hashes[i]);
        }

        foreach (ulong hash in hashes[..keys.Length])
            _table.PrefetchRecord(hash);
    }

    private bool Put(TKey key, TValue value, bool onlyIfNew)
    {
        if (default(TKeySerializer) is not IPlainSerializer || default(TValueSerializer) is not IPlainSerializer)
            return PutAny(key, value, onlyIfNew);

        ReadOnlySpan<byte> bytes = RawValue.BytesOf(in key);
        return _table.Put(_table.HashOf(bytes), bytes, RawValue.BytesOf(in value), onlyIfNew);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void PutHashed(TKey key, TValue value, ulong hash)
    {
        if (default(TKeySerializer) is not IPlainSerializer || default(TValueSerializer) is not IPlainSerializer)
            PutAny(key, value, onlyIfNew: false);
        else
            _table.Put(hash, RawValue.BytesOf(in key), RawValue.BytesOf(in value), onlyIfNew: false);
    }

    [SkipLocalsInit]
    private bool PutAny(TKey key, TValue value, bool onlyIfNew)
    {
        using var keyBytes = new Serialized<TKey, TKeySerializer>(
            key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        using var valueBytes = new Serialized<TValue, TValueSerializer>(
            value, stackalloc byte[Serialized<TValue, TValueSerializer>.StackBytes]);
        Verify(keyBytes.Bytes, valueBytes.Bytes);
        return _table.Put(_table.HashOf(keyBytes.Bytes), keyBytes.Bytes, valueBytes.Bytes, onlyIfNew);
    }
}
