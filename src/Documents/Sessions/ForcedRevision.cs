namespace Treepie.Sessions;

/// <summary>
/// Creates a revision of the document's state before the save. If the save stores the document, that command creates it.
/// </summary>
internal sealed class ForcedRevision(string id)
    : SessionCommand(batch => batch.ForceRevision(id), (id, new SessionChange(SessionChangeKind.RevisionForced)))
{
    public string DocumentId { get; } = id;
}
