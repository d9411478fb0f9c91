using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>Impacts from the recorded lengths of a field: those of the batch's own entries from memory, others from the tree.</summary>
internal sealed class NormImpacts(Tree norms, double reference, long firstNewId, int[] newLengths) : IImpacts, IDisposable
{
    private readonly ChunkCursor column = new(norms);

    public byte Of(long entryId, int frequency) => Bm25.Impact(frequency, LengthOf(entryId), reference);

    public double PartOf(int frequency, int length) => Bm25.Part(frequency, length, reference);

    public int LengthOf(long entryId)
    {
        if (entryId >= firstNewId)
            return newLengths[entryId - firstNewId];
        long window = NormChunk.WindowOf(entryId);
        return new NormChunk(column.Read(NormChunk.NumberOf(window)), window)[NormChunk.SlotOf(entryId)];
    }

    public void Dispose() => column.Dispose();
}
