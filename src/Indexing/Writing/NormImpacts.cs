using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>Impacts from the recorded lengths of a field: those of the batch's own entries from memory, others from the tree.</summary>
internal sealed class NormImpacts(Tree norms, double reference, long firstNewId, int[] newLengths) : IImpacts, IDisposable
{
    private readonly ChunkCursor column = new(norms);

    public byte Of(long entryId, int frequency)
    {
        int length = entryId >= firstNewId
            ? newLengths[entryId - firstNewId]
            : LengthOf(entryId);
        return Bm25.Impact(frequency, length, reference);
    }

    private int LengthOf(long entryId)
    {
        long window = NormChunk.WindowOf(entryId);
        return new NormChunk(column.Read(NormChunk.NumberOf(window)), window)[NormChunk.SlotOf(entryId)];
    }

    public void Dispose() => column.Dispose();
}
