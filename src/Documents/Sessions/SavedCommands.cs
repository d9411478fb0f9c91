using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>Applies the results of a save's commands to the session's entities.</summary>
internal static class SavedCommands
{
    /// <summary>
    /// A change of related data changes the document's change vector, which the entity takes over, so that its next save expects
    /// the new one. An entity whose document was patched is updated to the new state, or no longer tracked if it cannot be: its
    /// next save would undo the patch.
    /// </summary>
    public static void Apply(DocumentSession session, IReadOnlyList<WriteResult> results)
    {
        foreach (WriteResult result in results)
        {
            if (result.Patch is { Status: PatchStatus.Patched or PatchStatus.Created })
                Refresh(session, result.Id);
            foreach ((string id, string? changeVector) in Moved(result.Beside))
                if (changeVector is not null && session.FindTracked(id) is { ChangeVector: not null } tracked)
                    tracked.Move(changeVector);
        }
    }

    private static void Refresh(DocumentSession session, string id)
    {
        if (session.FindTracked(id) is not { IsNew: false } tracked)
            return;
        using DatabaseSnapshot snapshot = session.BeginDocumentRead();
        if (snapshot.TryGet(id, out Document document) // otherwise it was deleted since
            && !session.TryRefresh(tracked, document))
            session.Objects.Remove(tracked);
    }

    private static IEnumerable<(string Id, string? ChangeVector)> Moved(KindResult? result) => result switch
    {
        CountersResult counters => [(counters.DocumentId, counters.DocumentChangeVector)],
        TimeSeriesResult series => [(series.DocumentId, series.DocumentChangeVector)],
        RevisionResult revision => [(revision.DocumentId, revision.ChangeVector)],
        AttachmentResult attachment => [(attachment.DocumentId, attachment.DocumentChangeVector)],
        _ => [],
    };
}
