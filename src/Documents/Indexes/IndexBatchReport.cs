namespace Treepie.Indexes;

/// <summary>What one batch of an index took.</summary>
/// <param name="Number">How many batches there were up to it since the index was opened, it included.</param>
/// <param name="Started">When its changes were begun to be mapped (UTC).</param>
/// <param name="Ended">When it was committed (UTC).</param>
/// <param name="Changes">Changes in it, deletions among them.</param>
/// <param name="Mapping">How long mapping took; the next batch is mapped while one is committed.</param>
/// <param name="Committing">How long reducing, writing and committing took.</param>
public sealed record IndexBatchReport(
    long Number, DateTime Started, DateTime Ended, int Changes, TimeSpan Mapping, TimeSpan Committing);
