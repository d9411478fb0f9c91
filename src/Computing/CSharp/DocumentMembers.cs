using Treepie.Computations;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>The mapped document: its body, its id as <c>Id</c>, and its metadata, which is built on first access.</summary>
internal sealed class DocumentMembers(ReadOnlyMemory<byte> body, string id, IMapHost host) : IValueMembers
{
    public const string Metadata = "@metadata";

    private readonly JsonMembers _body = new(body);
    private Value _metadata;

    public string Id => id;

    public Value Get(string name) => name switch
    {
        "Id" => Value.Of(id),
        Metadata =>
            _metadata.Kind == ValueKind.Missing ? _metadata = new JsonMembers(host.WholeDocument()).Get(Metadata) : _metadata,
        _ => _body.Get(name),
    };

    public IEnumerable<KeyValuePair<string, Value>> All() => _body.All();
}
