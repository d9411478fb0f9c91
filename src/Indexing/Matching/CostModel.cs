namespace Treepie.Indexing.Matching;

/// <summary>
/// Every figure the planner reckons with, in one place: nanoseconds of one thread with everything in memory. Only their ratios
/// decide anything, and only exact counts go in, so a plan is the same on every machine and every run. The benchmarks measure
/// them by queries that are made to go each way (<c>search-costs</c>): over verses, ratios of gathering to comparing, of walking
/// to reading values, and of the two ways to count facets are theirs within a half; a window of a list costs more beside one
/// entry than is said here, as the measured one has the step to the next segment in it, which both ways take.
/// </summary>
internal static class CostModel
{
    /// <summary>
    /// A window of a long list against a bitmap: 512 bytes, one pass, and the step to the window in its segment.
    /// </summary>
    public const double ListWindow = 60;

    /// <summary>One entry in a window of a long list: the search of the window, and a bit or a search among offsets.</summary>
    public const double ListProbe = 40;

    /// <summary>A window of a long list, found with all others and not looked at.</summary>
    public const double PlacedWindow = 25;

    /// <summary>A window of a short list, decoded before.</summary>
    public const double ShortWindow = 30;

    /// <summary>One entry of a short list.</summary>
    public const double ShortProbe = 15;

    /// <summary>One sort value read by its entry id, in ascending order: a step of a cursor every 64 entries, a slot.</summary>
    public const double ColumnValue = 12;

    /// <summary>One sort value read by its entry id in no order: a descent of the column's tree.</summary>
    public const double ColumnProbe = 120;

    /// <summary>
    /// A chunk of a column, which has the sort values of 64 entries, found in its leaf: reckoned from what it does, not measured
    /// by itself.
    /// </summary>
    public const double ColumnChunk = 40;

    /// <summary>One value of a chunk compared with bounds: eight at a time, or few.</summary>
    public const double ColumnCompare = 0.6;

    /// <summary>A window of a column: 64 chunks, 4,096 comparisons.</summary>
    public const double ColumnWindow = 5_000;

    /// <summary>
    /// A window whose numbers are a block: found, 4,096 bytes compared with bounds, and the few numbers that these do not decide.
    /// </summary>
    public const double NumberWindow = 200;

    /// <summary>One entry of such a window: the block is found, a number read.</summary>
    public const double NumberProbe = 20;

    /// <summary>
    /// One term of a dictionary, with its few entries put into a bitmap: what comparing one value of a column costs, eighteen
    /// times.
    /// </summary>
    public const double GatheredTerm = 220;

    /// <summary>A window of a gathered union: its bitmap is found in a table and combined.</summary>
    public const double UnionWindow = 50;

    /// <summary>One entry of a gathered union.</summary>
    public const double UnionProbe = 25;

    /// <summary>What any operator is taken to cost that says nothing of itself.</summary>
    public static OperatorCost Unknown => new(200, 250);

    /// <summary>Comparing a key with others while the first hits are kept, by doubling of their number.</summary>
    public const double KeyCompare = 10;

    /// <summary>One entry of a walk, looked up in windows that are kept.</summary>
    public const double KeptProbe = 15;

    /// <summary>One step along a compound key: the key is put together and compared with the one before.</summary>
    public const double CompoundStep = 60;

    /// <summary>One hit whose value is read, and looked for among the groups of a facet.</summary>
    public const double FacetValue = 45;

    /// <summary>One hit whose text is read from the bitmaps of its block, its group known.</summary>
    public const double FacetPlace = 8;

    /// <summary>A block of texts, found and its texts compared with those of the one before.</summary>
    public const double FacetBlock = 60;

    /// <summary>
    /// One of its texts: the hits of the block that have it, counted. Measured alone: 170 ns for a block of 25 texts.
    /// </summary>
    public const double FacetText = 10;

    /// <summary>One entry of a short list that is looked for among the hits of a facet.</summary>
    public const double FacetPosting = 8;

    /// <summary>One window of a long list, combined with the hits of a facet and counted.</summary>
    public const double FacetWindow = 80;

    /// <summary>
    /// One place of a walk outward from a centre: read from its square, measured, put into a queue and taken out of it.
    /// </summary>
    public const double NearPlace = 250;

    /// <summary>One step of a walk through a dictionary: the next term, its list.</summary>
    public const double WalkStep = 40;
}
