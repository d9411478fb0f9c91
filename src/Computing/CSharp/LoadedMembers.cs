using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>A document loaded by a map: its body, its metadata, and its id as <c>Id</c>.</summary>
internal sealed class LoadedMembers(ReadOnlyMemory<byte> json) : IValueMembers
{
    private readonly JsonMembers _members = new(json);

    public Value Get(string name) =>
        name == "Id" ? MemberAccess.Get(_members.Get(DocumentMembers.Metadata), "@id") : _members.Get(name);

    public IEnumerable<KeyValuePair<string, Value>> All() => _members.All();
}
