using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>What compiled queries call.</summary>
internal static class QueryRuntime
{
    public static void ForEach(Run run, Value items, Action<Value> work)
    {
        foreach (Value item in run.Each(items))
            work(item);
    }

    public static Value Sequence(List<Value> results) => Value.Of(results);

    public static void Pair(List<(Value Key, Value Value)> pairs, Value key, Value value) => pairs.Add((key, value));

    public static Value Groups(List<(Value Key, Value Value)> pairs) => Value.Of(ValueGroup.By(pairs));
}
