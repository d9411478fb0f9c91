namespace Treepie.Indexes;

/// <summary>Statistics of one index at one point in time.</summary>
public sealed record IndexStatistics
{
    /// <summary>The maximum of <see cref="WaitingChanges"/>; further changes are not counted.</summary>
    public const int MostWaitingChanges = 65_536;

    /// <summary>
    /// The name of the index, such as <c>Auto/Users/ByName</c>. The name of an index that is being built to replace another
    /// starts with <c>ReplacementOf/</c>.
    /// </summary>
    public required string Name { get; init; }

    /// <summary>The collections it covers; <c>@all_docs</c> for all.</summary>
    public required IReadOnlyList<string> Collections { get; init; }

    /// <summary>The names of its fields.</summary>
    public required IReadOnlyList<string> Fields { get; init; }

    /// <summary>The definition of a static index; null for an auto-index.</summary>
    public IndexDefinition? Definition { get; init; }

    /// <summary>The source of its entries: documents, counters or time series.</summary>
    public IndexSourceType Source { get; init; }

    /// <summary>Whether it is a map-reduce index, whose entries are groups of documents.</summary>
    public bool IsMapReduce { get; init; }

    /// <summary>
    /// The number of times that its map ran for a document of a committed batch, since it was built or its errors were cleared; 0
    /// if its map only names fields and paths.
    /// </summary>
    public long MapAttempts { get; init; }

    /// <summary>The number of these that failed.</summary>
    public long MapErrors { get; init; }

    /// <summary>
    /// The number of calls of its reduce since it was built: one for each leaf and branch of partial results affected by a
    /// change.
    /// </summary>
    public long ReduceAttempts { get; init; }

    /// <summary>The number of calls of its reduce that failed since it was built.</summary>
    public long ReduceErrors { get; init; }

    /// <summary>Whether documents are waiting to be indexed.</summary>
    public bool IsStale { get; init; }

    /// <summary>Whether the index is running, disabled, or in an error state.</summary>
    public IndexState State { get; init; }

    /// <summary>The settings of the index.</summary>
    public IndexSettings Settings { get; init; } = new();

    /// <summary>Whether it is paused until it is resumed or the database is opened again.</summary>
    public bool IsPaused { get; init; }

    /// <summary>The number of entries.</summary>
    public long EntryCount { get; init; }

    /// <summary>The etag up to which documents have been indexed.</summary>
    public long LastIndexedEtag { get; init; }

    /// <summary>
    /// The number of fields, counted from the first, that all entries have; less than the total while fields are being added.
    /// </summary>
    public int CompleteFieldCount { get; init; }

    /// <summary>The number of changes waiting to be indexed, up to <see cref="MostWaitingChanges"/>.</summary>
    public int WaitingChanges { get; init; }

    /// <summary>
    /// The age of the oldest change waiting to be indexed: younger changes may be missing from results, older ones are not. Zero
    /// if there is none.
    /// </summary>
    public TimeSpan TimeBehind { get; init; }

    /// <summary>
    /// The difference between the last etag of the database and that of the index: an upper bound of the number of changes
    /// waiting, in all collections.
    /// </summary>
    public long EtagsBehind { get; init; }

    /// <summary>The number of changes in the last batch; 0 before the first since the index was opened.</summary>
    public int LastBatchChanges { get; init; }

    /// <summary>The number of changes indexed per second of work in recent batches; 0 before the first.</summary>
    public double ChangesPerSecond { get; init; }

    /// <summary>When the last batch ended (UTC); null before the first since the index was opened.</summary>
    public DateTime? LastIndexingTime { get; init; }

    /// <summary>The total time spent indexing since the index was opened.</summary>
    public TimeSpan IndexingTime { get; init; }

    /// <summary>The last batches since the index was opened, at most 64, oldest first.</summary>
    public IReadOnlyList<IndexBatchReport> RecentBatches { get; init; } = [];

    /// <summary>The number of errors that are kept; see <see cref="IndexCatalogue.Errors"/>.</summary>
    public long ErrorCount { get; init; }

    /// <summary>
    /// The error that stopped the index, a message that most of its computations fail, or the last error of a document; null if
    /// there is none.
    /// </summary>
    public string? Error { get; init; }
}

/// <summary>The state of an index.</summary>
public enum IndexState
{
    /// <summary>The index is running.</summary>
    Normal,

    /// <summary>
    /// The index was stopped by an error, or more than 15 % of its computations fail; see <see cref="IndexStatistics.Error"/>.
    /// </summary>
    Error,

    /// <summary>The index is disabled.</summary>
    Disabled,
}
