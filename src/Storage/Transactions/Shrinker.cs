using Treepie.Storage.Format;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Makes the data file shorter while reads and writes go on: pages at its end are written again nearer to the front, as ordinary
/// copy-on-write commits of a bounded number of pages each; checkpoints make that durable and let the old places go; what is free
/// at the end is cut off.
/// </summary>
/// <remarks>
/// What readers see cannot go until they end. Free pages that stay in the middle keep their blocks: a commit that uses them must
/// not find the disk full, since it is the checkpoint, much later, that writes them; they are the first to be used again.
/// </remarks>
internal sealed class Shrinker
{
    /// <summary>Each round finds the end packed better; more than a few gain nothing.</summary>
    private const int MaxRounds = 4;

    /// <summary>Free pages in the middle that are worth no further round: 2 MiB.</summary>
    private const int IgnoredPages = 256;

    private readonly ITransactionSource _environment;
    private readonly CheckpointRunner _checkpoints;
    private readonly IProgress<ShrinkProgress>? _progress;
    private readonly CancellationToken _cancellation;
    private readonly PageRelocation _relocation;
    private int _round;

    public Shrinker(
        ITransactionSource environment, CheckpointRunner checkpoints, IProgress<ShrinkProgress>? progress,
        CancellationToken cancellationToken)
    {
        _environment = environment;
        _checkpoints = checkpoints;
        _progress = progress;
        _cancellation = cancellationToken;
        _relocation = new PageRelocation(environment, Report, cancellationToken);
    }

    private EnvironmentState State => _environment.State;

    public ShrinkReport Run()
    {
        long before = State.Store.FileBytes;
        Settle(long.MaxValue);
        while (_round < MaxRounds && State.Space.FreeCount > IgnoredPages)
        {
            _round++;
            long pages = State.Space.PageCount;
            long boundary = pages - State.Space.FreeCount;
            _relocation.Run(new MoveChoice(boundary, long.MaxValue));
            Settle(boundary);
            if (pages - State.Space.PageCount < IgnoredPages)
                break;
        }

        _checkpoints.Cut();
        Report();
        return new ShrinkReport(
            before, State.Store.FileBytes, _relocation.Moved, State.Space.FreeCount * PageLayout.SizeBytes, Holders());
    }

    /// <summary>
    /// Two checkpoints: the first lets go of what the one before it referred to, and puts one bitmap nearer to the front; the
    /// second does the same for the other one.
    /// </summary>
    private void Settle(long boundary)
    {
        for (int i = 0; i < 3; i++)
        {
            _checkpoints.RunToShrink(boundary, _cancellation);
            Report();
        }
    }

    private void Report() => _progress?.Report(new ShrinkProgress(_round, _relocation.Moved, State.Store.FileBytes));

    private List<string> Holders()
    {
        var holders = new List<string>();
        StorageStatistics statistics = _environment.GetStatistics();
        if (statistics.BytesHeldBySnapshots > 0)
            holders.Add(
                $"Named snapshots keep {statistics.BytesHeldBySnapshots} bytes that nothing else uses; pages they see are not "
                    + $"moved. Drop those that are not needed.");
        if (statistics.BytesHeldByReaders > 0 && statistics.Readers.Count > 0)
        {
            ReaderInfo oldest = statistics.Readers[0];
            holders.Add(
                $"Open reads keep {statistics.BytesHeldByReaders} bytes; the "
                    + $"oldest{(oldest.Name is null ? "" : $", '{oldest.Name}',")} sees transaction {oldest.TransactionId} and "
                    + $"is {oldest.Age.TotalSeconds:f0} s old. End it and shrink again.");
        }

        return holders;
    }
}
