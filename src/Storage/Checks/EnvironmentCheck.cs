using Treepie.Storage.Format;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Checks;

/// <summary>
/// Walks a snapshot: every page reachable or not in use and never twice, keys in order and within the separators above them,
/// counts, levels, checksums. Reads and writes go on meanwhile.
/// </summary>
internal sealed class EnvironmentCheck(StorageEnvironment environment, CommitLane lane)
{
    private const int MaxProblems = 100;

    private readonly List<string> _problems = [];
    private readonly HashSet<long> _seen = [];

    public CheckReport Run(CancellationToken cancellationToken)
    {
        EnvironmentState state = environment.State;
        ReadTransaction? transaction = null;
        ulong[] live = [];
        long pageCount = 0, freePages = 0;
        MetaPage? meta = null;
        var named = new List<ReadTransaction>();
        lane.RunExclusive(() =>
        {
            transaction = environment.BeginRead();
            named.AddRange(transaction.Snapshot.Named.All.Select(snapshot => environment.OpenSnapshot(snapshot.Name))); // so that dropping one disturbs nothing
            pageCount = state.Space.PageCount;
            freePages = state.Space.FreeCount;
            meta = state.Durable;
            live = state.Space.CopyLive();
        });
        using ReadTransaction read = transaction!; // RunExclusive ran the action
        Mark(meta!.Bitmap, "the bitmap");
        Mark(meta.OtherBitmap, "the other bitmap");

        Snapshot snapshot = read.Snapshot;
        var walk = new TreeCheck(state.Store, Report, number => Mark(new PageRun(number, 1), "a tree"), run => Mark(run, "a value"), cancellationToken);
        try
        {
            walk.Run("(catalogue)", snapshot.Catalogue);
            foreach (string name in read.TreeNames)
                if (read.FindTree(name) is { } tree)
                    walk.Run(name, tree.Record);
            var maps = new MapCheck(state.Store, Report, number => Mark(new PageRun(number, 1), "a map"), run => Mark(run, "a value"), cancellationToken);
            foreach (string name in read.MapNames)
                if (Catalogue.Find(state.Store, snapshot.Catalogue, name) is { } record)
                    maps.Run(name, record);
            walk.Run("(system)", snapshot.System);
            new SnapshotCheck(state.Store, snapshot.Named, snapshot.System, _seen, Report).Run(cancellationToken);
        }
        catch (CorruptionException error)
        {
            Report(error.Message);
        }
        finally
        {
            named.ForEach(open => open.Dispose());
        }

        for (long page = FormatLimits.FirstDataPage; page < pageCount; page++)
        {
            bool isLive = (live[page / 64] & (1UL << (int)(page % 64))) != 0;
            if (isLive && !_seen.Contains(page))
                Report($"Page {page} is marked as in use, but nothing refers to it.");
            else if (!isLive && _seen.Contains(page))
                Report($"Page {page} is referred to, but marked as free.");
        }

        return new CheckReport(pageCount, freePages, _problems);
    }

    private bool Mark(PageRun run, string what)
    {
        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            if (_seen.Add(page))
                continue;

            Report($"Page {page} is referred to twice, the second time by {what}.");
            return false;
        }

        return true;
    }

    private void Report(string problem)
    {
        if (_problems.Count < MaxProblems)
            _problems.Add(problem);
    }
}
