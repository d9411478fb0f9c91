using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Computes impacts from the recorded lengths of a field: from memory for the batch's own entries, otherwise from the tree.
/// </summary>
/// <param name="norms">The tree.</param>
/// <param name="reference">The average length on which impacts are based.</param>
/// <param name="firstNewId">The id of the first of the batch's own entries.</param>
/// <param name="newLengths">Their lengths.</param>
/// <param name="newImpacts">Their impacts at frequency 1, the usual case: a byte in the L1 cache replaces two divisions per
/// posting.</param>
internal sealed class NormImpacts(Tree norms, double reference, long firstNewId, int[] newLengths, byte[] newImpacts)
    : IImpacts, IDisposable
{
    private readonly ChunkCursor _column = new(norms);

    public byte Of(long entryId, int frequency) =>
        frequency == 1 && entryId >= firstNewId
            ? newImpacts[entryId - firstNewId]
            : Bm25.Impact(frequency, LengthOf(entryId), reference);

    public double PartOf(int frequency, int length) => Bm25.Part(frequency, length, reference);

    public int LengthOf(long entryId)
    {
        if (entryId >= firstNewId)
            return newLengths[entryId - firstNewId];
        long window = NormChunk.WindowOf(entryId);
        return new NormChunk(_column.Read(NormChunk.NumberOf(window)), window)[NormChunk.SlotOf(entryId)];
    }

    public void Dispose() => _column.Dispose();
}
