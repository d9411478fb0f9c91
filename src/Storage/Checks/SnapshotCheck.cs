using Treepie.Storage.Format;
using Treepie.Storage.Snapshots;

namespace Treepie.Storage.Checks;

/// <summary>
/// Checks the pages that only named snapshots use: each page of a snapshot must belong to the newest state or be pinned, and
/// each pinned page must be used by a snapshot.
/// </summary>
internal sealed class SnapshotCheck(CheckContext context, NamedSnapshots named, TreeRecord system)
{
    private readonly PageSet _pinned = new(context.Seen.Bound);
    private readonly PageSet _seen = new(context.Seen.Bound);
    private string _name = "";

    /// <summary>Runs the check and adds the pinned pages to those seen, because they are in use as well.</summary>
    public void Run()
    {
        foreach (PinnedRun run in PinnedPagesTree.ReadAll(context.Store, system))
            for (long page = run.Run.First; page < run.Run.First + run.Run.Pages; page++)
                if (context.Seen.Contains(page) || !_pinned.Add(page))
                    context.Report("It is kept for snapshots, and referred to otherwise or kept twice.", "(system)", page);
        if (_pinned.Count != named.PinnedPages)
            context.Report(
                $"{named.PinnedPages} pages are said to be kept for snapshots, {_pinned.Count} were found.", "(system)");

        var walk = new RootWalk(context.Store, Visit, context.Cancellation);
        foreach (NamedSnapshot snapshot in named.All)
        {
            _name = $"(snapshot {snapshot.Name})";
            context.Snapshots++;
            try
            {
                walk.Catalogue(snapshot.Record.Catalogue);
            }
            catch (CorruptionException error)
            {
                context.Report(error.Message, _name);
            }
        }

        if (named.Dropped.Count == 0)
            for (long page = FormatLimits.FirstDataPage; page < _pinned.Bound; page++)
                if (_pinned.Contains(page) && !_seen.Contains(page))
                    context.Report("It is kept for snapshots, but none sees it.", "(system)", page);
        context.Seen.UnionWith(_pinned);
    }

    private bool Visit(PageRun run)
    {
        context.Rest();
        if (context.Seen.Contains(run.First) || !_seen.Add(run.First))
            return false; // shared with the newest state or another snapshot, and checked there

        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            _seen.Add(page);
            if (!_pinned.Contains(page))
                context.Report("A named snapshot sees it, but it is not kept for it.", _name, page);
        }

        return context.Verify(run.First, _name);
    }
}
