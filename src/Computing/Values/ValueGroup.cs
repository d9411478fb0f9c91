using System.Collections;

namespace Treepie.Computing.Values;

/// <summary>Values with the same key.</summary>
internal sealed class ValueGroup(Value key, List<Value> values) : IEnumerable<Value>
{
    public Value Key { get; } = key;

    public IEnumerator<Value> GetEnumerator() => values.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Groups values, in the order in which their keys appear.</summary>
    public static IEnumerable<Value> By(IEnumerable<(Value Key, Value Value)> pairs)
    {
        var groups = new Dictionary<Value, List<Value>>();
        var order = new List<Value>();
        foreach ((Value key, Value value) in pairs)
        {
            if (!groups.TryGetValue(key, out List<Value>? values))
            {
                groups.Add(key, values = []);
                order.Add(key);
            }

            values.Add(value);
        }

        return order.Select(key => Value.Of(new ValueGroup(key, groups[key])));
    }
}
