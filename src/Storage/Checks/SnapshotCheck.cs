using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Snapshots;

namespace Treepie.Storage.Checks;

/// <summary>
/// What only named snapshots see: each of their pages belongs to the newest state or is pinned, and what is pinned some snapshot sees.
/// </summary>
internal sealed class SnapshotCheck(PageStore store, NamedSnapshots named, TreeRecord system, HashSet<long> seenByState, Action<string> report)
{
    private readonly HashSet<long> _pinned = [];
    private readonly HashSet<long> _seen = [];

    /// <summary>Checks; what is pinned is added to what the state sees, because it is in use as that is.</summary>
    public void Run(CancellationToken cancellationToken)
    {
        foreach (PinnedRun run in PinnedPagesTree.ReadAll(store, system))
            for (long page = run.Run.First; page < run.Run.First + run.Run.Pages; page++)
                if (seenByState.Contains(page) || !_pinned.Add(page))
                    report($"Page {page} is kept for snapshots, and referred to otherwise or kept twice.");
        if (_pinned.Count != named.PinnedPages)
            report($"The system tree says that {named.PinnedPages} pages are kept for snapshots, {_pinned.Count} were found.");

        var walk = new RootWalk(store, Visit, cancellationToken);
        foreach (NamedSnapshot snapshot in named.All)
        {
            try
            {
                walk.Catalogue(snapshot.Record.Catalogue);
            }
            catch (CorruptionException error)
            {
                report($"Snapshot '{snapshot.Name}': {error.Message}");
            }
        }

        if (named.Dropped.Count == 0)
            foreach (long page in _pinned.Where(page => !_seen.Contains(page)).Order())
                report($"Page {page} is kept for snapshots, but none sees it.");
        seenByState.UnionWith(_pinned);
    }

    private bool Visit(PageRun run)
    {
        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            if (seenByState.Contains(page))
                return false; // shared with the newest state, which was walked
            if (!_seen.Add(page))
                return false;
            if (!_pinned.Contains(page))
                report($"Page {page} is seen by a named snapshot, but not kept for it.");
        }

        return true;
    }
}
