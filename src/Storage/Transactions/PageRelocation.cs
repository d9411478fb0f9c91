using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Snapshots;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Relocates chosen pages of all trees and maps while reads and writes continue, by ordinary copy-on-write commits of a
/// bounded number of pages each. Every step leaves a valid state, so it may stop anywhere. Pages held by named snapshots do
/// not move: their roots never change.
/// </summary>
internal sealed class PageRelocation(ITransactionSource environment, Action onStep, CancellationToken cancellationToken)
{
    /// <summary>Maximum number of steps for catalogue and system tree; leaving some pages unmoved does no harm.</summary>
    private const int MaxRootSteps = 16;

    /// <summary>Number of pages relocated.</summary>
    public long Moved { get; private set; }

    private EnvironmentState State => environment.State;

    public void Run(MoveChoice choice)
    {
        (List<string> trees, List<string> maps) = Names();
        foreach (string name in trees)
            MoveTree(name, choice);
        foreach (string name in maps)
            MoveMap(name, choice);
        for (int i = 0;
             i < MaxRootSteps && environment.Write(transaction => MoveRoots(transaction, choice), cancellationToken);
             i++)
            onStep();
    }

    private (List<string> Trees, List<string> Maps) Names()
    {
        using ReadTransaction read = environment.BeginRead("move pages");
        return ([.. read.TreeNames], [.. read.MapNames]);
    }

    private void MoveTree(string name, MoveChoice choice)
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

                    var mover = new TreeMover(tree, transaction.Batch.Pages, choice, State.Current.Named.Newest);
                    byte[]? next = mover.Run(start);
                    return (next, mover.Moved);
                },
                cancellationToken);
            Moved += moved;
            onStep();
        }
    }

    private void MoveMap(string name, MoveChoice choice)
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

                    var mover = new MapMover(transaction.Batch.Pages, choice, State.Current.Named.Newest);
                    TreeRecord after = mover.Run(map, start, out long next);
                    transaction.Batch.SetTree(name, after);
                    return (next, mover.Moved);
                },
                cancellationToken);
            Moved += moved;
            onStep();
        }
    }

    /// <summary>Catalogue and system tree belong to no command: the batch relocates them when it ends.</summary>
    private bool MoveRoots(WriteTransaction transaction, MoveChoice choice)
    {
        if (!HasAny(State.Current.Catalogue, choice) && !HasAny(State.Current.System, choice))
            return false;

        transaction.Batch.Move = choice;
        Moved++;
        return true;
    }

    private bool HasAny(TreeRecord tree, MoveChoice choice)
    {
        bool isAny = false;
        if (tree.Levels > 0)
            new RootWalk(
                State.Store,
                run => !(isAny |= choice.Includes(new PageReference(run.First, new Page(State.Store.Read(run.First)).Birth))),
                cancellationToken).Tree(tree);
        return isAny;
    }
}
