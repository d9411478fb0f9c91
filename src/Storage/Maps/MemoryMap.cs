using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// An in-memory hash map for caches, with the interface of <c>ConcurrentDictionary</c> and the serializers of
/// <see cref="DiskMap{TKey,TValue,TKeySerializer,TValueSerializer}"/>. Every operation is atomic on its own. Keys and values are
/// stored as bytes outside the managed heap: entries allocate nothing and are invisible to the garbage collector. Thread-safe;
/// readers take no lock.
/// </summary>
/// <typeparam name="TKey">The type of the keys; not null, at most <see cref="MapLimits.MaxKeyBytes"/> bytes each.</typeparam>
/// <typeparam name="TValue">The type of the values; not null, at most <see cref="MaxValueBytes"/> bytes each.</typeparam>
/// <typeparam name="TKeySerializer">The serializer of the keys.</typeparam>
/// <typeparam name="TValueSerializer">The serializer of the values.</typeparam>
/// <remarks>
/// An entry with a key and a value of 8 bytes each takes 19 to 38 bytes, depending on the time since the last doubling of
/// buckets. The memory of removed entries is reused; it is returned to the system when the map is disposed. A serializer's
/// <see cref="IMapSerializer{T}.Hash"/> must not throw.
/// </remarks>
public sealed class MemoryMap<TKey, TValue, TKeySerializer, TValueSerializer>
    : IDisposable, IEnumerable<KeyValuePair<TKey, TValue>>
    where TKey : notnull
    where TKeySerializer : struct, IMapSerializer<TKey>
    where TValueSerializer : struct, IMapSerializer<TValue>
{
    /// <summary>The maximum length of a serialized value in bytes.</summary>
    [SuppressMessage("Design", "CA1000", Justification = "A constant.")]
    public const int MaxValueBytes = 1 << 30;

    private const int Window = 16;

    private readonly MemoryTable<TKey, TValue, TKeySerializer, TValueSerializer> _table;

    /// <summary>Creates an empty map.</summary>
    /// <param name="maxBytes">The maximum memory in bytes. As much address space, not memory, is reserved immediately.</param>
    /// <param name="seed">The seed of the hash function; null generates one, so that nobody can prepare colliding keys.</param>
    /// <exception cref="ArgumentOutOfRangeException">The maximum is less than 1 MiB or more than 2 TiB.</exception>
    public MemoryMap(long maxBytes = 64L << 30, ulong? seed = null)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(maxBytes, 1L << 20);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(maxBytes, 2L << 40);
        _ = MapDescription.Of<TKey, TKeySerializer>();
        _ = MapDescription.Of<TValue, TValueSerializer>();
        _table = new(
            maxBytes, seed ?? BitConverter.ToUInt64(System.Security.Cryptography.RandomNumberGenerator.GetBytes(sizeof(ulong))));
    }

    /// <summary>The number of keys; approximate while others write.</summary>
    public long Count => _table.Figures.Count;

    /// <summary>Whether the map is empty.</summary>
    public bool IsEmpty => Count == 0;

    /// <summary>The memory in use, in bytes.</summary>
    public long MemoryBytes => _table.MemoryBytes;

    /// <summary>The keys, enumerated while others may write.</summary>
    public IEnumerable<TKey> Keys => this.Select(static pair => pair.Key);

    /// <summary>The values, enumerated while others may write.</summary>
    public IEnumerable<TValue> Values => this.Select(static pair => pair.Value);

    /// <summary>Gets or sets the value of a key.</summary>
    /// <exception cref="KeyNotFoundException">On getting: the key does not exist.</exception>
    /// <exception cref="ArgumentException">The key or value is null or too long.</exception>
    /// <exception cref="StorageException">On setting: the map has reached its maximum memory.</exception>
    public TValue this[TKey key]
    {
        get => TryGetValue(key, out TValue? value) ? value : throw new KeyNotFoundException($"The map has no key '{key}'.");
        set => Put(key, value, onlyIfNew: false);
    }

    /// <summary>Gets the value of a key; returns false if it does not exist.</summary>
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
    /// Gets the values of many keys, and whether each exists, in the order of the keys; returns the number that exist. Each key
    /// is read atomically on its own. Faster than individual calls if the map is larger than the processor's caches, because the
    /// memory accesses of sixteen keys overlap.
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
                values[start + i] = value!; // default if the flag is false
                count += isFound ? 1 : 0;
            }
        }

        return count;
    }

    /// <summary>
    /// Sets many keys, each atomically on its own; if a key occurs twice, the later value wins. Faster than individual calls,
    /// like <see cref="TryGetValues"/>.
    /// </summary>
    /// <exception cref="ArgumentException">The spans have different lengths, or as for <see cref="this"/>; the keys before it
    /// have been set.</exception>
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

    /// <summary>Returns whether a key exists.</summary>
    public bool ContainsKey(TKey key) => TryGetValue(key, out _);

    /// <summary>Adds a key; returns false and changes nothing if it exists.</summary>
    /// <exception cref="ArgumentException">The key or value is null or too long.</exception>
    /// <exception cref="StorageException">The map has reached its maximum memory.</exception>
    public bool TryAdd(TKey key, TValue value) => Put(key, value, onlyIfNew: true);

    /// <summary>Returns the value of a key; adds the key with the specified value if it does not exist.</summary>
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
    /// Same as <see cref="GetOrAdd(TKey, TValue)"/>, with a value that is created only if needed; if several threads call it
    /// concurrently, the value of only one is kept.
    /// </summary>
    public TValue GetOrAdd(TKey key, Func<TKey, TValue> factory)
    {
        ArgumentNullException.ThrowIfNull(factory);
        return TryGetValue(key, out TValue? found) ? found : GetOrAdd(key, factory(key));
    }

    /// <summary>
    /// Adds a key, or updates its value, and returns the resulting value. <paramref name="update"/> is called again if another
    /// thread changed the value in the meantime.
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
    /// Updates a key if its current value equals <paramref name="comparison"/>, compared as bytes; returns whether it was
    /// updated.
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

    /// <summary>Removes a key and returns its value; returns false if it does not exist.</summary>
    [SkipLocalsInit]
    public bool TryRemove(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        using var bytes = new Serialized<TKey, TKeySerializer>(key, stackalloc byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        var taken = default(TakenValue<TValue, TValueSerializer>);
        bool isRemoved = _table.TryRemove(_table.HashOf(bytes.Bytes), bytes.Bytes, default, mustBeEqual: false, ref taken);
        value = isRemoved ? taken.Finish() : default;
        return isRemoved;
    }

    /// <summary>Removes a key if it has the specified value, compared as bytes; returns whether it was removed.</summary>
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

    /// <summary>Removes all keys. Keys added concurrently may remain.</summary>
    public void Clear() => _table.Clear();

    /// <summary>Returns all keys with their values, in no particular order, while others may write.</summary>
    public KeyValuePair<TKey, TValue>[] ToArray() => [.. this];

    /// <summary>
    /// Enumerates the keys with their values, in no particular order, while others may write: a key that exists throughout is
    /// returned once, with a value that it had meanwhile; one that is added or removed may or may not be returned.
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
    /// Returns the memory to the system. Subsequent calls throw <see cref="ObjectDisposedException"/>.
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

    /// <summary>Like <see cref="TryGetValue"/>, for a key whose hash is known.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryGetHashed(TKey key, ulong hash, [MaybeNullWhen(false)] out TValue value)
    {
        if (default(TKeySerializer) is not IPlainSerializer || default(TValueSerializer) is not IPlainSerializer)
            return TryGetAny(key, out value);

        return _table.TryReadAtHome(hash, RawValue.BytesOf(in key), out value) || TryGetElsewhere(key, hash, out value);
    }

    /// <summary>Finds the value of a key that is not in its preferred lines.</summary>
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
