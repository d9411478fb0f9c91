using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>A dictionary created by source code, in insertion order.</summary>
internal sealed class NamedValues(Dictionary<string, Value> values) : IValueMembers
{
    public Value Get(string name) => values.GetValueOrDefault(name);

    public IEnumerable<KeyValuePair<string, Value>> All() => values;
}
