using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;

namespace Treepie.Indexing.Ranking;

/// <summary>Scores one term of a full-text field; reads lengths of entries, cheapest in ascending order.</summary>
internal sealed class TermScorer(ChunkCursor norms, FieldStatistics statistics, long entriesWithTerm)
{
    private readonly double idf = Bm25.Idf(statistics.EntriesWithTerms, entriesWithTerm);
    private readonly double averageLength = (double)statistics.TotalTerms / statistics.EntriesWithTerms;

    public float Score(long id, int frequency, float boost)
    {
        int length = new NormChunk(norms.Read(id >> NormChunk.EntryBits))[(int)(id & (NormChunk.Entries - 1))];
        return (float)(boost * Bm25.Part(idf, frequency, length, averageLength));
    }
}
