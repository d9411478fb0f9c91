namespace Treepie.Sessions;

/// <summary>
/// The state that a document has before the save is kept. Where the save puts the document, that put does it.
/// </summary>
internal sealed class ForcedRevision(string id)
    : SessionCommand(batch => batch.ForceRevision(id), (id, new SessionChange(SessionChangeKind.RevisionForced)))
{
    public string DocumentId { get; } = id;
}
