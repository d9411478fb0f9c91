using Treepie.Storage.Maps;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Maps;

/// <summary>Applies random operations to a map and a dictionary. All results must be equal.</summary>
internal sealed class MapModel<TKey, TValue, TKeySerializer, TValueSerializer>(
    string name, Func<Random, TKey> drawKey, Func<Random, TValue> drawValue)
    where TKey : notnull
    where TKeySerializer : struct, IMapSerializer<TKey>
    where TValueSerializer : struct, IMapSerializer<TValue>
{
    public string Name => name;

    /// <summary>Keys and values, as hexadecimal strings of their bytes.</summary>
    public Dictionary<string, string> Content { get; private set; } = new(StringComparer.Ordinal);

    public MapModel<TKey, TValue, TKeySerializer, TValueSerializer> Copy() =>
        new(name, drawKey, drawValue) { Content = new(Content, StringComparer.Ordinal) };

    /// <summary>Applies the steps drawn from a seed; without a transaction, to the dictionary only.</summary>
    public void Apply(int seed, int steps, WriteTransaction? transaction, bool changesModel = true)
    {
        var draw = new Random(seed);
        TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>? map =
            transaction?.GetOrCreateMap<TKey, TValue, TKeySerializer, TValueSerializer>(name);
        Dictionary<string, string> content = changesModel ? Content : new(Content, StringComparer.Ordinal);
        int removePercent = draw.Next(10) < 3 ? 75 : 30;
        for (int i = 0; i < steps; i++)
            Step(draw, map, content, removePercent);
        if (map is not null)
            Assert.Equal(content.Count, map.Count);
    }

    public void AssertEqual(ReadTransaction read)
    {
        TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>? map =
            read.FindMap<TKey, TValue, TKeySerializer, TValueSerializer>(name);
        Assert.Equal(Content.Count, map?.Count ?? 0);
        if (map is null)
            return;

        int seen = 0;
        foreach ((TKey key, TValue value) in map)
        {
            Assert.Equal(Content[KeyText(key)], ValueText(value));
            Assert.True(map.TryGetValue(key, out TValue? found));
            Assert.Equal(Content[KeyText(key)], ValueText(found));
            seen++;
        }

        Assert.Equal(Content.Count, seen);
    }

    public bool IsEqual(ReadTransaction read)
    {
        TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>? map =
            read.FindMap<TKey, TValue, TKeySerializer, TValueSerializer>(name);
        if (map is null || map.Count != Content.Count)
            return map is null && Content.Count == 0;

        return map.All(pair => Content.TryGetValue(KeyText(pair.Key), out string? value) && value == ValueText(pair.Value));
    }

    private static string KeyText(TKey key)
    {
        using var bytes = new Serialized<TKey, TKeySerializer>(key, new byte[Serialized<TKey, TKeySerializer>.StackBytes]);
        return Convert.ToHexString(bytes.Bytes);
    }

    private static string ValueText(TValue value)
    {
        using var bytes = new Serialized<TValue, TValueSerializer>(
            value, new byte[Serialized<TValue, TValueSerializer>.StackBytes]);
        return Convert.ToHexString(bytes.Bytes);
    }

    private void Step(
        Random draw, TransactionMap<TKey, TValue, TKeySerializer, TValueSerializer>? map, Dictionary<string, string> content,
        int removePercent)
    {
        TKey key = drawKey(draw);
        string text = KeyText(key);
        bool isThere = content.TryGetValue(text, out string? before);
        int action = draw.Next(100);
        if (action < removePercent)
        {
            if (map is not null)
            {
                Assert.Equal(isThere, map.TryRemove(key, out TValue? removed));
                if (isThere)
                    Assert.Equal(before, ValueText(removed!)); // the key existed
            }

            content.Remove(text);
            return;
        }

        TValue value = drawValue(draw);
        switch (action % 4)
        {
            case 0:
                if (map is not null)
                    Assert.Equal(!isThere, map.TryAdd(key, value));
                content.TryAdd(text, ValueText(value));
                break;
            case 1:
                if (map is not null)
                    Assert.Equal(isThere ? before : ValueText(value), ValueText(map.GetOrAdd(key, _ => value)));
                content.TryAdd(text, ValueText(value));
                break;
            case 2:
                if (map is not null)
                    Assert.Equal(ValueText(value), ValueText(map.AddOrUpdate(key, value, (_, _) => value)));
                content[text] = ValueText(value);
                break;
            default:
                if (map is not null)
                    map[key] = value;
                content[text] = ValueText(value);
                break;
        }

        if (map is not null && draw.Next(20) == 0)
        {
            Assert.True(map.ContainsKey(key));
            TValue current = map[key], other = drawValue(draw);
            Assert.Equal(ValueText(other) == ValueText(current), map.TryUpdate(key, current, other));
            Assert.True(map.TryUpdate(key, current, current));
        }
        else if (map is null && draw.Next(20) == 0)
        {
            _ = drawValue(draw);
        }
    }
}
