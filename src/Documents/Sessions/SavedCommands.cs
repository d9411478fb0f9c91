using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>What the commands of a save mean for the objects that the session has.</summary>
internal static class SavedCommands
{
    /// <summary>
    /// What lies beside a document moves its change vector, which the object takes over: its next save expects no other. An
    /// object whose document was patched becomes what that is now.
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
        using DatabaseSnapshot snapshot = session.BeginRead();
        if (snapshot.TryGet(id, out Document document)) // else somebody deleted it since
            session.Refresh(tracked, document);
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
