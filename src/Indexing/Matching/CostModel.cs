namespace Treepie.Indexing.Matching;

/// <summary>
/// All costs used by the planner: nanoseconds of one thread with everything in memory. Only their ratios matter, and the
/// other inputs are exact counts, so a plan is the same on every machine and every run. The benchmark <c>search-costs</c>
/// measures them with queries forced into each plan. On the verses data set, the ratios of gathering to comparing, of
/// walking to reading values and of the two ways to count facets are within 50% of those measured. A list window relative to
/// one probe measures higher than stated here, because the measurement includes the step to the next segment, which both
/// plans take.
/// </summary>
internal static class CostModel
{
    /// <summary>
    /// One window of a long list combined with a bitmap: one pass over 512 bytes, and the step to the window in its segment.
    /// </summary>
    public const double ListWindow = 60;

    /// <summary>
    /// One entry in a window of a long list: finding the window, then testing a bit or searching the offsets.
    /// </summary>
    public const double ListProbe = 40;

    /// <summary>Locating one window of a long list together with all its others, without reading its entries.</summary>
    public const double PlacedWindow = 25;

    /// <summary>One window of a short list that is already decoded.</summary>
    public const double ShortWindow = 30;

    /// <summary>One entry of a short list.</summary>
    public const double ShortProbe = 15;

    /// <summary>One sort value read by entry id from a chunk (64 entries) that is at hand: a slot.</summary>
    public const double ColumnValue = 12;

    /// <summary>One step of a cursor to the next chunk that has an entry whose sort value is read.</summary>
    public const double ColumnStep = 70;

    /// <summary>One sort value read by entry id in random order: a descent of the column's tree.</summary>
    public const double ColumnProbe = 120;

    /// <summary>
    /// One chunk of a column (the sort values of 64 entries), located in its leaf. Derived, not measured separately.
    /// </summary>
    public const double ColumnChunk = 40;

    /// <summary>One value of a chunk compared with bounds, eight at a time or a few.</summary>
    public const double ColumnCompare = 0.6;

    /// <summary>One window of a column: 64 chunks, 4,096 comparisons.</summary>
    public const double ColumnWindow = 5_000;

    /// <summary>One text of a column compared with bounds, in ascending order of entries.</summary>
    public const double TextCompare = 50;

    /// <summary>One window of texts: 4,096 comparisons.</summary>
    public const double TextWindow = 4_096 * TextCompare;

    /// <summary>
    /// One window stored as a number block: located, 4,096 bytes compared with bounds, and the few undecided numbers.
    /// </summary>
    public const double NumberWindow = 200;

    /// <summary>One entry of a number block: the block located, one number read.</summary>
    public const double NumberProbe = 20;

    /// <summary>
    /// One term of a dictionary whose few entries are set in a bitmap: about eighteen times <see cref="ColumnValue"/>.
    /// </summary>
    public const double GatheredTerm = 220;

    /// <summary>One window of a gathered union: its bitmap found in a table and combined.</summary>
    public const double UnionWindow = 50;

    /// <summary>One entry of a gathered union.</summary>
    public const double UnionProbe = 25;

    /// <summary>The default for operators that state no cost.</summary>
    public static OperatorCost Unknown => new(200, 250);

    /// <summary>Comparing sort keys while keeping the first hits: per hit kept and per doubling of their number.</summary>
    public const double KeyCompare = 10;

    /// <summary>One entry of an ordered walk, looked up in cached windows.</summary>
    public const double KeptProbe = 15;

    /// <summary>One step along a compound key: the key assembled and compared with the previous one.</summary>
    public const double CompoundStep = 60;

    /// <summary>One hit whose value is read and looked up among the groups of a facet.</summary>
    public const double FacetValue = 45;

    /// <summary>One hit whose text is read from the bitmaps of its block, the group being known.</summary>
    public const double FacetPlace = 8;

    /// <summary>One block of texts, located and its texts compared with those of the previous block.</summary>
    public const double FacetBlock = 60;

    /// <summary>
    /// One text of a block: the hits that have it counted. Measured separately: 170 ns for a block of 25 texts.
    /// </summary>
    public const double FacetText = 10;

    /// <summary>One entry of a short list looked up among the hits of a facet.</summary>
    public const double FacetPosting = 8;

    /// <summary>One window of a long list combined with the hits of a facet and counted.</summary>
    public const double FacetWindow = 80;

    /// <summary>
    /// One place of a walk outward from a centre: read from its cell, measured, added to and removed from the queue.
    /// </summary>
    public const double NearPlace = 250;

    /// <summary>
    /// The sort values of entries read by ascending id: each value, and a step to each chunk with one of them, as many as there
    /// are if the entries are spread evenly.
    /// </summary>
    /// <param name="values">The number of entries whose values are read.</param>
    /// <param name="entries">The number of entries of the index.</param>
    public static double Column(long values, long entries)
    {
        double chunks = Math.Max(1, entries / 64.0);
        return (values * ColumnValue) + (chunks * (1 - Math.Exp(-values / chunks)) * ColumnStep);
    }

    /// <summary>One step through a dictionary: the next term and its list.</summary>
    public const double WalkStep = 40;
}
