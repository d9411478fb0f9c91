using Treepie.Computations;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>An attachment: name, type, hash and size; its content is read on access.</summary>
internal sealed class AttachmentMembers(IMapHost host, string id, string name, ReadOnlyMemory<byte> json) : IValueMembers
{
    private readonly JsonMembers _members = new(json);

    /// <summary>Its content, decoded as UTF-8.</summary>
    public string Text => host.AttachmentText(id, name) ?? "";

    public Value Get(string name) => _members.Get(name);

    public IEnumerable<KeyValuePair<string, Value>> All() => _members.All();
}
