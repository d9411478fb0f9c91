namespace Treepie.Indexing;

/// <summary>
/// Counters of the work of a query: deterministic for the same query on the same view, whether pages are in memory or not.
/// </summary>
public record struct QueryCounters
{
    /// <summary>The number of accesses to pages of the index's trees.</summary>
    public long PagesRead { get; set; }

    /// <summary>The number of windows of postings, chunks of columns and short lists that were decoded.</summary>
    public long BlocksDecoded { get; set; }

    /// <summary>Their size in bytes, including short lists that were merged into others.</summary>
    public long BytesDecoded { get; set; }

    /// <summary>The number of dictionary terms that were examined individually.</summary>
    public long TermsScanned { get; set; }

    /// <summary>
    /// The number of entries whose id or value was examined individually, not as a bit of a window, and of vectors that were
    /// compared.
    /// </summary>
    public long EntriesScanned { get; set; }

    /// <summary>The number of hits that were scored.</summary>
    public long CandidatesScored { get; set; }

    /// <summary>Adds two sets of counters.</summary>
    public static QueryCounters operator +(QueryCounters left, QueryCounters right) => new()
    {
        PagesRead = left.PagesRead + right.PagesRead,
        BlocksDecoded = left.BlocksDecoded + right.BlocksDecoded,
        BytesDecoded = left.BytesDecoded + right.BytesDecoded,
        TermsScanned = left.TermsScanned + right.TermsScanned,
        EntriesScanned = left.EntriesScanned + right.EntriesScanned,
        CandidatesScored = left.CandidatesScored + right.CandidatesScored,
    };

    /// <summary>Subtracts one set of counters from another.</summary>
    public static QueryCounters operator -(QueryCounters left, QueryCounters right) => new()
    {
        PagesRead = left.PagesRead - right.PagesRead,
        BlocksDecoded = left.BlocksDecoded - right.BlocksDecoded,
        BytesDecoded = left.BytesDecoded - right.BytesDecoded,
        TermsScanned = left.TermsScanned - right.TermsScanned,
        EntriesScanned = left.EntriesScanned - right.EntriesScanned,
        CandidatesScored = left.CandidatesScored - right.CandidatesScored,
    };

    /// <inheritdoc cref="op_Addition"/>
    public static QueryCounters Add(QueryCounters left, QueryCounters right) => left + right;

    /// <inheritdoc cref="op_Subtraction"/>
    public static QueryCounters Subtract(QueryCounters left, QueryCounters right) => left - right;
}

/// <summary>Holds the counters of one running query by reference.</summary>
internal sealed class QueryMeter
{
    private QueryCounters _count;

    /// <summary>The counters themselves: <c>meter.Count.BlocksDecoded++</c>.</summary>
    public ref QueryCounters Count => ref _count;
}
