using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Snapshots;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Makes the data file shorter while reads and writes go on: pages at its end are written again nearer to the front, as ordinary copy-on-write
/// commits of a bounded number of pages each; checkpoints make that durable and let the old places go; what is free at the end is cut off.
/// </summary>
/// <remarks>
/// Every step leaves a state like any other, so it may end, or be ended, anywhere. What named snapshots keep cannot move: their roots never
/// change. What readers see cannot go until they end. Free pages that stay in the middle keep their blocks: a commit that uses them must not find the disk full,
/// since it is the checkpoint, much later, that writes them; they are the first to be used again.
/// </remarks>
internal sealed class Shrinker(
    StorageEnvironment environment, CheckpointRunner checkpoints, IProgress<ShrinkProgress>? progress, CancellationToken cancellationToken)
{
    /// <summary>Each round finds the end packed better; more than a few gain nothing.</summary>
    private const int MaxRounds = 4;

    /// <summary>Steps for catalogue and system tree; a round that leaves some of them is no harm.</summary>
    private const int MaxRootSteps = 16;

    /// <summary>Free pages in the middle that are worth no further round: 2 MiB.</summary>
    private const int IgnoredPages = 256;

    private long _moved;
    private int _round;

    private EnvironmentState State => environment.State;

    public ShrinkReport Run()
    {
        long before = State.Store.FileBytes;
        Settle(long.MaxValue);
        while (_round < MaxRounds && State.Space.FreeCount > IgnoredPages)
        {
            _round++;
            long pages = State.Space.PageCount;
            long boundary = pages - State.Space.FreeCount;
            (List<string> trees, List<string> maps) = Names();
            foreach (string name in trees)
                MoveTree(name, boundary);
            foreach (string name in maps)
                MoveMap(name, boundary);
            for (int i = 0; i < MaxRootSteps && environment.Write(transaction => MoveRoots(transaction, boundary), cancellationToken); i++)
                Report();
            Settle(boundary);
            if (pages - State.Space.PageCount < IgnoredPages)
                break;
        }

        checkpoints.Cut();
        Report();
        return new ShrinkReport(before, State.Store.FileBytes, _moved, State.Space.FreeCount * PageLayout.SizeBytes, Holders());
    }

    private (List<string> Trees, List<string> Maps) Names()
    {
        using ReadTransaction read = environment.BeginRead("shrink");
        return ([.. read.TreeNames], [.. read.MapNames]);
    }

    private void MoveTree(string name, long boundary)
    {
        byte[]? from = [];
        while (from is not null)
        {
            byte[] start = from;
            (from, int moved) = environment.Write(
                transaction =>
                {
                    if (transaction.FindTree(name) is not { } tree)
                        return (null, 0);

                    var mover = new TreeMover(tree, transaction.Batch.Pages, boundary, State.Current.Named.Newest);
                    byte[]? next = mover.Run(start);
                    return (next, mover.Moved);
                },
                cancellationToken);
            _moved += moved;
            Report();
        }
    }

    private void MoveMap(string name, long boundary)
    {
        long bucket = 0;
        while (bucket >= 0)
        {
            long start = bucket;
            (bucket, int moved) = environment.Write(
                transaction =>
                {
                    if (transaction.Batch.FindTree(name) is not { Kind: TreeKind.Map, Levels: > 0 } map)
                        return (-1, 0);

                    var mover = new MapMover(transaction.Batch.Pages, boundary, State.Current.Named.Newest);
                    TreeRecord after = mover.Run(map, start, out long next);
                    transaction.Batch.SetTree(name, after);
                    return (next, mover.Moved);
                },
                cancellationToken);
            _moved += moved;
            Report();
        }
    }

    /// <summary>Catalogue and system tree belong to no command: the batch moves them when it ends.</summary>
    private bool MoveRoots(WriteTransaction transaction, long boundary)
    {
        if (!IsFar(State.Current.Catalogue, boundary) && !IsFar(State.Current.System, boundary))
            return false;

        transaction.Batch.MoveFrom = boundary;
        _moved++;
        return true;
    }

    private bool IsFar(TreeRecord tree, long boundary)
    {
        bool isFar = false;
        if (tree.Levels > 0)
            new RootWalk(State.Store, run => !(isFar |= run.First >= boundary), cancellationToken).Tree(tree);
        return isFar;
    }

    /// <summary>
    /// Two checkpoints: the first lets go of what the one before it referred to, and puts one bitmap nearer to the front; the second does
    /// the same for the other one.
    /// </summary>
    private void Settle(long boundary)
    {
        for (int i = 0; i < 3; i++)
        {
            checkpoints.RunToShrink(boundary, cancellationToken);
            Report();
        }
    }

    private void Report() => progress?.Report(new ShrinkProgress(_round, _moved, State.Store.FileBytes));

    private List<string> Holders()
    {
        var holders = new List<string>();
        StorageStatistics statistics = environment.GetStatistics();
        if (statistics.BytesHeldBySnapshots > 0)
            holders.Add($"Named snapshots keep {statistics.BytesHeldBySnapshots} bytes that nothing else uses; pages they see are not moved. Drop those that are not needed.");
        if (statistics.BytesHeldByReaders > 0 && statistics.Readers.Count > 0)
        {
            ReaderInfo oldest = statistics.Readers[0];
            holders.Add($"Open reads keep {statistics.BytesHeldByReaders} bytes; the oldest{(oldest.Name is null ? "" : $", '{oldest.Name}',")} sees transaction {oldest.TransactionId} and is {oldest.Age.TotalSeconds:f0} s old. End it and shrink again.");
        }

        return holders;
    }
}
