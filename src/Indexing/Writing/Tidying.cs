using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Makes the files of an index small after much was changed: leaves that changes in no order have left two thirds full are
/// filled, then the file is cut to what is in use. Goes in short commits between which queries read and others write. It may be
/// stopped after any of them and goes on from there, so that all attempts together cost one walk; only the cutting is not taken
/// up again.
/// </summary>
/// <param name="environment">The index's store.</param>
internal sealed class Tidying(StorageEnvironment environment)
{
    /// <summary>Free room that is left alone: changes use it first.</summary>
    private const long MinFreeBytes = 2 << 20;

    private const int PageBytes = 8_192;

    private readonly Queue<string> trees = new(NamesOf(environment));
    private byte[] from = [];

    /// <summary>Goes on; false if it was stopped and has more to do.</summary>
    public bool Run(Func<bool> isWanted, CancellationToken cancellationToken)
    {
        while (trees.TryPeek(out string? name))
        {
            if (!isWanted())
                return false;
            byte[]? next = environment.Write(transaction => transaction.FindTree(name)?.Pack(from, out _), cancellationToken);
            from = next ?? [];
            if (next is null)
                trees.Dequeue();
        }

        Shrink(isWanted, cancellationToken);
        return true;
    }

    private static List<string> NamesOf(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead("tidy");
        return [.. read.TreeNames];
    }

    private void Shrink(Func<bool> isWanted, CancellationToken cancellationToken)
    {
        // What was given back, by changes and just now, is free once two checkpoints have passed.
        environment.Checkpoint(cancellationToken);
        environment.Checkpoint(cancellationToken);
        StorageStatistics statistics = environment.GetStatistics();
        if (statistics.FreePages * PageBytes < Math.Max(MinFreeBytes, statistics.DataFileBytes / 5))
            return;

        using var stopped = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        try
        {
            environment.Shrink(new Watch(isWanted, stopped), stopped.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // What was moved stays moved; the rest waits until much was changed again.
        }
    }

    /// <summary>Asks after each step, on the thread that works.</summary>
    private sealed class Watch(Func<bool> isWanted, CancellationTokenSource stopped) : IProgress<ShrinkProgress>
    {
        public void Report(ShrinkProgress value)
        {
            if (!isWanted())
                stopped.Cancel();
        }
    }
}
