using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Checks;

/// <summary>
/// State shared by all parts of a check: the page store, the pages seen, the problems found and the progress.
/// Single-threaded. Memory is one bit per page plus a bounded list of problems.
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

    /// <summary>The number of pages the walk is expected to see, for progress reports.</summary>
    public long PagesTotal { get; init; }

    /// <summary>Releases the pages read so far. If null, they are kept until the end of the check.</summary>
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

    /// <summary>
    /// Marks pages as referred to. Returns false and reports a problem if one is marked already or out of range.
    /// </summary>
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
    /// Called for each page of a walk, at a point where no caller still uses bytes read earlier. Releases pages from time to
    /// time so that the memory for decrypted pages stays bounded.
    /// </summary>
    public void Rest()
    {
        if (--_untilRelease > 0)
            return;

        _untilRelease = PagesPerReport;
        Release?.Invoke();
    }

    /// <summary>
    /// Reads and verifies a page from the file again, even if it was verified on first access. Returns false and reports a
    /// problem if it is damaged.
    /// </summary>
    public bool Verify(long page, string owner)
    {
        if (store.FindFault(page) is not { } fault)
            return true;

        Report($"It is damaged: {fault}.", owner, page);
        return false;
    }

    /// <summary>
    /// Checks the overflow value that a cell of a page refers to. Returns false and reports a problem if it is missing or
    /// damaged.
    /// </summary>
    public bool CheckRun(OverflowReference value, string tree, long page)
    {
        if (!value.IsPossible)
        {
            Report($"It refers to a value with the impossible length of {value.LengthBytes} bytes.", tree, page);
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

    /// <summary>Returns the report of the check.</summary>
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
