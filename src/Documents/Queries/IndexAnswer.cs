using Treepie.Indexes;

namespace Treepie.Queries;

/// <summary>An index that answers a query; held open while the results are read.</summary>
/// <param name="Index">The index.</param>
/// <param name="IsStale">Whether it lacks changes that the query should see.</param>
/// <param name="IsWhole">Whether all entries have all fields of the query: none is being added to the index.</param>
/// <param name="MayMissHits">Whether it lacks changes of the snapshot that results are read from.</param>
/// <param name="Etag">The last change it has indexed.</param>
/// <param name="LastBatch">When its last batch ended, in UTC; null if there was none since it was opened.</param>
/// <param name="IsOff">Whether it is stale and will remain so, as it is paused or disabled.</param>
internal sealed record IndexAnswer(
    DocumentIndex Index, bool IsStale, bool IsWhole, bool MayMissHits, long Etag, DateTime? LastBatch, bool IsOff = false);
