using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>A dynamic field, as a member of an object returned by a map.</summary>
internal sealed class DynamicField(ValueObject description) : IValueMembers
{
    public Value Get(string name) => description.Get(name);

    public IEnumerable<KeyValuePair<string, Value>> All() => description.All();
}
