using Treepie.Indexes;

namespace Treepie.Queries;

/// <summary>An index that answers a query, held as long as the answer is read.</summary>
/// <param name="Index">The index.</param>
/// <param name="IsStale">Whether it has not seen every document that the query is about.</param>
/// <param name="MayMissHits">Whether it has not seen every document of the answer's snapshot.</param>
/// <param name="Etag">The last change it has seen.</param>
/// <param name="LastBatch">When it last worked, in UTC; null: not since it was opened.</param>
internal sealed record IndexAnswer(DocumentIndex Index, bool IsStale, bool MayMissHits, long Etag, DateTime? LastBatch);
