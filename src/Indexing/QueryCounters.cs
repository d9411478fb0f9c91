namespace Treepie.Indexing;

/// <summary>
/// What a query did, in whole numbers: the same numbers on every run of the same query against the same view, cold or warm.
/// </summary>
public record struct QueryCounters
{
    /// <summary>Pages of the index's trees that were entered, each time counted.</summary>
    public long PagesRead { get; set; }

    /// <summary>Windows of postings, chunks of columns and short lists that were opened.</summary>
    public long BlocksDecoded { get; set; }

    /// <summary>Bytes of these, and of the short lists that were gathered into others.</summary>
    public long BytesDecoded { get; set; }

    /// <summary>Terms of dictionaries that were looked at one by one.</summary>
    public long TermsScanned { get; set; }

    /// <summary>
    /// Entries whose id or value was looked at by itself, not as a bit among others; and vectors that were compared.
    /// </summary>
    public long EntriesScanned { get; set; }

    /// <summary>Hits that were scored.</summary>
    public long CandidatesScored { get; set; }

    /// <summary>The sum.</summary>
    public static QueryCounters operator +(QueryCounters left, QueryCounters right) => new()
    {
        PagesRead = left.PagesRead + right.PagesRead,
        BlocksDecoded = left.BlocksDecoded + right.BlocksDecoded,
        BytesDecoded = left.BytesDecoded + right.BytesDecoded,
        TermsScanned = left.TermsScanned + right.TermsScanned,
        EntriesScanned = left.EntriesScanned + right.EntriesScanned,
        CandidatesScored = left.CandidatesScored + right.CandidatesScored,
    };

    /// <summary>The difference.</summary>
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

/// <summary>The counters of one running query, handed to everything that counts.</summary>
internal sealed class QueryMeter
{
    private QueryCounters _count;

    /// <summary>The counters themselves: <c>meter.Count.BlocksDecoded++</c>.</summary>
    public ref QueryCounters Count => ref _count;
}
