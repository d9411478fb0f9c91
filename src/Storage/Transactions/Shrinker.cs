using Treepie.Storage.Format;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Shrinks the data file while reads and writes continue: pages at its end are relocated towards the front by ordinary
/// copy-on-write commits of a bounded number of pages each; checkpoints make that durable and release the old pages; then the
/// free end is cut off.
/// </summary>
/// <remarks>
/// Pages that readers see cannot be released until the readers end. Free pages in the middle keep their disk blocks: a commit
/// that reuses them must not find the disk full, since the checkpoint writes them much later. They are reused first.
/// </remarks>
internal sealed class Shrinker
{
    /// <summary>Each round leaves fewer pages to move; more than a few rounds gain nothing.</summary>
    private const int MaxRounds = 4;

    /// <summary>Number of free pages in the middle for which no further round is worthwhile: 2 MiB.</summary>
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

        _checkpoints.Cut(keptPages: 0);
        Report();
        return new ShrinkReport(
            before, State.Store.FileBytes, _relocation.Moved, State.Space.FreeCount * PageLayout.SizeBytes, Holders());
    }

    /// <summary>
    /// Three checkpoints: the first releases what the previous one referred to and moves one bitmap towards the front, the
    /// second moves the other, and the third trims what those moves freed.
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
