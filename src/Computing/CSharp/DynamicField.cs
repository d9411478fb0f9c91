using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>A field whose name the document says, as a member of the object of a map.</summary>
internal sealed class DynamicField(ValueObject description) : IValueMembers
{
    public Value Get(string name) => description.Get(name);

    public IEnumerable<KeyValuePair<string, Value>> All() => description.All();
}
