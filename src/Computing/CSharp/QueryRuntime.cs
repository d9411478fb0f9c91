using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>Methods called by compiled queries.</summary>
internal static class QueryRuntime
{
    public static IEnumerator<Value> Elements(Run run, Value items) => run.Each(items).GetEnumerator();

    public static Value Sequence(List<Value> results) => Value.Of(results);

    public static void Pair(List<(Value Key, Value Value)> pairs, Value key, Value value) => pairs.Add((key, value));

    public static Value Groups(List<(Value Key, Value Value)> pairs) => Value.Of(ValueGroup.By(pairs));
}
