using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>Documents and related data included by results, kept until they are loaded. Not thread-safe.</summary>
/// <param name="most">The maximum number of documents.</param>
internal sealed class SessionIncludes(int most)
{
    private Dictionary<string, (string Id, DocumentCopy Document)>? _documents;

    /// <summary>The included related data; null if there is none.</summary>
    public IncludedBeside? Beside { get; private set; }

    /// <summary>Whether another document can be kept.</summary>
    public bool HasRoom => _documents is null || _documents.Count < most;

    public void Keep(string id, DocumentCopy document) =>
        (_documents ??= new(IdComparer.Instance))[id] = (id, document);

    public void Keep(BesideIncluded included, DatabaseSnapshot snapshot) =>
        (Beside ??= new IncludedBeside()).Keep(included, snapshot);

    /// <summary>Removes and returns a document with its stored id, for the session to track.</summary>
    public (string Id, DocumentCopy Document)? Take(string id) =>
        _documents is not null && _documents.Remove(id, out (string, DocumentCopy) document) ? document : null;

    /// <summary>Discards what is known of a document that was changed, or is to be read again.</summary>
    public void Forget(string id)
    {
        _documents?.Remove(id);
        Beside?.Forget(id);
    }

    /// <summary>Discards what a save has changed.</summary>
    /// <param name="outcome">The outcome of the save.</param>
    /// <param name="deletions">The ids of deleted documents that were not loaded.</param>
    public void Saved(SaveOutcome outcome, IReadOnlyCollection<string> deletions)
    {
        if (outcome.Commands.Count > 0)
            Clear();
        foreach (string id in deletions.Concat(outcome.Deleted.Select(deleted => deleted.Id)))
            Forget(id);
        foreach (TrackedEntity put in outcome.Put)
        {
            _documents?.Remove(put.Id);
            Beside?.ForgetRevisions(put.Id);
        }
    }

    public void Clear()
    {
        _documents = null;
        Beside = null;
    }
}
