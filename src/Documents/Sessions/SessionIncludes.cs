using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>What answers brought along, until it is asked for. Not thread-safe.</summary>
/// <param name="most">Most documents.</param>
internal sealed class SessionIncludes(int most)
{
    private Dictionary<string, (string Id, DocumentCopy Document)>? _documents;

    /// <summary>What lies beside documents; null: nothing.</summary>
    public IncludedBeside? Beside { get; private set; }

    /// <summary>Whether there is room for a document.</summary>
    public bool HasRoom => _documents is null || _documents.Count < most;

    public void Keep(string id, DocumentCopy document) =>
        (_documents ??= new(IdComparer.Instance))[id] = (id, document);

    public void Keep(BesideIncluded included, DatabaseSnapshot snapshot) =>
        (Beside ??= new IncludedBeside()).Keep(included, snapshot);

    /// <summary>Hands over a document with its id as it is stored; the session then follows it.</summary>
    public (string Id, DocumentCopy Document)? Take(string id) =>
        _documents is not null && _documents.Remove(id, out (string, DocumentCopy) document) ? document : null;

    /// <summary>What lies beside documents was changed.</summary>
    public void ForgetBeside() => Beside = null;

    public void Clear()
    {
        _documents = null;
        Beside = null;
    }
}
