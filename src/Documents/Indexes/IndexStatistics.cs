namespace Treepie.Indexes;

/// <summary>State of one index at one moment.</summary>
public sealed record IndexStatistics
{
    /// <summary>Largest value of <see cref="WaitingChanges"/>: more are not counted.</summary>
    public const int MostWaitingChanges = 65_536;

    /// <summary>
    /// Its name, for instance <c>Auto/Users/ByName</c>. That of an index which will take the place of another begins with
    /// <c>ReplacementOf/</c>.
    /// </summary>
    public required string Name { get; init; }

    /// <summary>The collections it covers; <c>@all_docs</c> for all.</summary>
    public required IReadOnlyList<string> Collections { get; init; }

    /// <summary>Its fields, by name.</summary>
    public required IReadOnlyList<string> Fields { get; init; }

    /// <summary>The definition of an index defined by hand; null for one that queries made.</summary>
    public IndexDefinition? Definition { get; init; }

    /// <summary>What its entries are made from.</summary>
    public IndexSourceType Source { get; init; }

    /// <summary>Whether its entries are groups of documents, not documents.</summary>
    public bool IsMapReduce { get; init; }

    /// <summary>
    /// Calls of its reduce since it was built: one for each leaf and branch of partial results that a change has touched.
    /// </summary>
    public long ReduceAttempts { get; init; }

    /// <summary>Calls of its reduce that failed, since it was built.</summary>
    public long ReduceErrors { get; init; }

    /// <summary>Whether documents wait to be indexed.</summary>
    public bool IsStale { get; init; }

    /// <summary>Running, disabled, or with an error that concerns most of it.</summary>
    public IndexState State { get; init; }

    /// <summary>What is set of it.</summary>
    public IndexSettings Settings { get; init; } = new();

    /// <summary>Whether it takes no changes until it is resumed or the database is opened again.</summary>
    public bool IsPaused { get; init; }

    /// <summary>Entries.</summary>
    public long EntryCount { get; init; }

    /// <summary>How far it is.</summary>
    public long LastIndexedEtag { get; init; }

    /// <summary>Fields, from the first on, that all entries have; fewer than there are while it is widened.</summary>
    public int CompleteFieldCount { get; init; }

    /// <summary>How many changes wait, up to <see cref="MostWaitingChanges"/>.</summary>
    public int WaitingChanges { get; init; }

    /// <summary>
    /// How old the oldest change is that waits: what is younger may be missing from answers, what is older is not. Zero where
    /// none waits.
    /// </summary>
    public TimeSpan TimeBehind { get; init; }

    /// <summary>
    /// By how much the last etag of the database is greater than that of the index: no more changes than that wait, of any
    /// collection.
    /// </summary>
    public long EtagsBehind { get; init; }

    /// <summary>Changes of the last batch; 0 before the first since it was opened.</summary>
    public int LastBatchChanges { get; init; }

    /// <summary>Changes indexed per second of work, by the last batches; 0 before the first.</summary>
    public double ChangesPerSecond { get; init; }

    /// <summary>End of its last batch (UTC); null before the first since it was opened.</summary>
    public DateTime? LastIndexingTime { get; init; }

    /// <summary>How long it was at work since it was opened.</summary>
    public TimeSpan IndexingTime { get; init; }

    /// <summary>Its last batches since it was opened, at most 64, oldest first.</summary>
    public IReadOnlyList<IndexBatchReport> RecentBatches { get; init; } = [];

    /// <summary>How many errors it keeps; see <see cref="IndexCatalogue.Errors"/>.</summary>
    public long ErrorCount { get; init; }

    /// <summary>
    /// Why it stopped, or that most of what it computes fails, or else the last error of a document; null without any.
    /// </summary>
    public string? Error { get; init; }
}

/// <summary>State of an index.</summary>
public enum IndexState
{
    /// <summary>Running.</summary>
    Normal,

    /// <summary>
    /// Stopped by an error, or more than 15 % of what it computes fails: see <see cref="IndexStatistics.Error"/>.
    /// </summary>
    Error,

    /// <summary>It was said to take no changes.</summary>
    Disabled,
}
