using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>What answers brought along, until it is asked for. Not thread-safe.</summary>
/// <param name="most">Most documents.</param>
internal sealed class SessionIncludes(int most)
{
    private Dictionary<string, IncludedDocument>? _documents;

    /// <summary>What lies beside documents; null: nothing.</summary>
    public IncludedBeside? Beside { get; private set; }

    /// <summary>Whether there is room for a document.</summary>
    public bool HasRoom => _documents is null || _documents.Count < most;

    public void Keep(IncludedDocument document) =>
        (_documents ??= new Dictionary<string, IncludedDocument>(IdComparer.Instance))[document.Id] = document;

    public void Keep(BesideIncluded included, DatabaseSnapshot snapshot) =>
        (Beside ??= new IncludedBeside()).Keep(included, snapshot);

    /// <summary>Hands over a document, which the session then follows.</summary>
    public IncludedDocument? Take(string id) =>
        _documents is not null && _documents.Remove(id, out IncludedDocument? document) ? document : null;

    /// <summary>What lies beside documents was changed.</summary>
    public void ForgetBeside() => Beside = null;

    public void Clear()
    {
        _documents = null;
        Beside = null;
    }
}
