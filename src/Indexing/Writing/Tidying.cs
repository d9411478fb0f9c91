using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Compacts an index after many changes: it fills leaves that random changes have left two thirds full, then truncates the
/// file to the pages in use. It works in short commits, between which other transactions can read and write. It can stop
/// after any commit and continue later, so that all runs together cost one traversal; only truncation is not resumed.
/// </summary>
/// <param name="environment">The environment of the index.</param>
internal sealed class Tidying(StorageEnvironment environment)
{
    /// <summary>Less free space than this is not worth truncating: changes will use it.</summary>
    private const long MinFreeBytes = 2 << 20;

    private const int PageBytes = 8_192;

    private readonly Queue<string> _trees = new(NamesOf(environment));
    private byte[] _from = [];

    /// <summary>Continues compaction; false if it was stopped before the end.</summary>
    public bool Run(Func<bool> isWanted, CancellationToken cancellationToken)
    {
        while (_trees.TryPeek(out string? name))
        {
            if (!isWanted())
                return false;
            byte[]? next = environment.Write(transaction => transaction.FindTree(name)?.Pack(_from, out _), cancellationToken);
            _from = next ?? [];
            if (next is null)
                _trees.Dequeue();
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
        // Released pages become free after two checkpoints.
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
            // Pages that were moved stay moved; the next run moves the rest.
        }
    }

    /// <summary>Checks after each step, on the working thread, whether to continue.</summary>
    private sealed class Watch(Func<bool> isWanted, CancellationTokenSource stopped) : IProgress<ShrinkProgress>
    {
        public void Report(ShrinkProgress value)
        {
            if (!isWanted())
                stopped.Cancel();
        }
    }
}
