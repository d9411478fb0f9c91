using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Checks;

/// <summary>
/// What every part of a check shares: where pages are read, which were seen, what was found, how far it is. One thread; its
/// memory is a bit for each page and a bounded list.
/// </summary>
internal sealed class CheckContext(
    PageStore store, long pageCount, IProgress<CheckProgress>? progress, CancellationToken cancellationToken)
{
    private const int MaxProblems = 1000;
    private const int PagesPerReport = 256;

    private readonly List<CheckProblem> _problems = [];
    private long _nextReport;
    private int _untilRelease = PagesPerReport;

    public PageStore Store => store;

    public CancellationToken Cancellation => cancellationToken;

    /// <summary>Pages that something refers to.</summary>
    public PageSet Seen { get; } = new(pageCount);

    /// <summary>Pages there are to see.</summary>
    public long PagesTotal { get; init; }

    /// <summary>Lets go of the pages that were read so far; null: they stay until the end.</summary>
    public Action? Release { get; init; }

    public int Trees { get; set; }

    public long Keys { get; set; }

    public int Snapshots { get; set; }

    public long JournalFrames { get; set; }

    public long ProblemCount { get; private set; }

    public void Report(string what, string? tree = null, long? page = null, string? file = null)
    {
        if (ProblemCount++ < MaxProblems)
            _problems.Add(new CheckProblem(file ?? store.Path, page, tree, what));
    }

    /// <summary>Notes pages that are referred to; false, with a report, if one of them was before or cannot be.</summary>
    public bool Mark(PageRun run, string owner)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (run.First < FormatLimits.FirstDataPage || run.Pages < 1 || run.First > pageCount - run.Pages)
        {
            Report($"{run.Pages} pages from {run.First} on are referred to, but there are {pageCount}.", owner, run.First);
            return false;
        }

        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            if (Seen.Add(page))
                continue;

            Report("It is referred to twice.", owner, page);
            return false;
        }

        if (Seen.Count >= _nextReport)
        {
            _nextReport = Seen.Count + PagesPerReport;
            progress?.Report(new CheckProgress("pages", Seen.Count, Math.Max(PagesTotal, Seen.Count)));
        }

        return true;
    }

    /// <summary>
    /// Called at each page of a walk, where no caller goes on with bytes that it has read before: so that what is decrypted for a
    /// check does not add up.
    /// </summary>
    public void Rest()
    {
        if (--_untilRelease > 0)
            return;

        _untilRelease = PagesPerReport;
        Release?.Invoke();
    }

    /// <summary>
    /// Reads a page of the file again, whatever was found on first touch; false, with a report, if it is damaged.
    /// </summary>
    public bool Verify(long page, string owner)
    {
        if (store.FindFault(page) is not { } fault)
            return true;

        Report($"It is damaged: {fault}.", owner, page);
        return false;
    }

    /// <summary>
    /// Looks at the long value that a cell of a page refers to; false, with a report, if it is not there or not sound.
    /// </summary>
    public bool CheckRun(OverflowReference value, string tree, long page)
    {
        if (!value.IsPossible)
        {
            Report($"It speaks of a value of {value.LengthBytes} bytes.", tree, page);
            return false;
        }

        if (!Mark(value.Run, tree) || !Verify(value.First.Number, tree))
            return false;

        try
        {
            store.ReadRun(value);
            return true;
        }
        catch (CorruptionException error)
        {
            Report(error.Message, tree, value.First.Number);
            return false;
        }
    }

    /// <summary>The result.</summary>
    public CheckReport ToReport(long transactionId, long freePages) => new()
    {
        TransactionId = transactionId,
        Pages = pageCount,
        FreePages = freePages,
        Trees = Trees,
        Keys = Keys,
        Snapshots = Snapshots,
        JournalFrames = JournalFrames,
        Problems = _problems,
        ProblemCount = ProblemCount,
    };
}
