namespace Treepie.Indexes;

/// <summary>Statistics of one batch of an index.</summary>
/// <param name="Number">The number of the batch, counted from 1 since the index was opened.</param>
/// <param name="Started">When mapping of its changes started (UTC).</param>
/// <param name="Ended">When it was committed (UTC).</param>
/// <param name="Changes">The number of changes in it, including deletions.</param>
/// <param name="Mapping">The time spent mapping; the next batch is mapped while one is committed.</param>
/// <param name="Committing">The time spent reducing, writing and committing.</param>
public sealed record IndexBatchReport(
    long Number, DateTime Started, DateTime Ended, int Changes, TimeSpan Mapping, TimeSpan Committing);
