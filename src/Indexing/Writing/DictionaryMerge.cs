using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>Brings the additions and removals of one dictionary into term order and applies each term once.</summary>
internal static class DictionaryMerge
{
    /// <param name="writer">The dictionary.</param>
    /// <param name="added">Terms of the batch, owned by places of its entries; null: none.</param>
    /// <param name="idOf">Entry ids by place; -1 for an entry that a later one of the batch replaced.</param>
    /// <param name="removed">Terms taken out, owned by places in <paramref name="removedIds"/>; null: none.</param>
    /// <param name="removedIds">Entries removed.</param>
    /// <param name="cancellationToken">Checked now and then.</param>
    public static void Run(
        PostingWriter writer, TermTable? added, long[] idOf, TermTable? removed, long[] removedIds, CancellationToken cancellationToken)
    {
        TermTable adds = added ?? new TermTable();
        TermTable removes = removed ?? new TermTable();
        int[] addOrder = adds.SortedOrdinals();
        int[] removeOrder = removes.SortedOrdinals();
        (int[] addStarts, int[] owners, int[] frequencies) = adds.GroupByTerm();
        (int[] removeStarts, int[] removeOwners, _) = removes.GroupByTerm();
        Posting[] additions = new Posting[16];
        long[] removals = new long[16];

        int a = 0;
        int r = 0;
        for (int step = 0; a < addOrder.Length || r < removeOrder.Length; step++)
        {
            if ((step & 1023) == 0)
                cancellationToken.ThrowIfCancellationRequested();
            int order = a == addOrder.Length ? 1
                : r == removeOrder.Length ? -1
                : adds[addOrder[a]].SequenceCompareTo(removes[removeOrder[r]]);
            ReadOnlySpan<byte> term = order <= 0 ? adds[addOrder[a]] : removes[removeOrder[r]];

            int addCount = 0;
            if (order <= 0)
            {
                int ordinal = addOrder[a++];
                int start = addStarts[ordinal];
                int end = addStarts[ordinal + 1];
                Grow(ref additions, end - start);
                for (int i = start; i < end; i++)
                {
                    if (idOf[owners[i]] >= 0)
                        additions[addCount++] = new Posting(idOf[owners[i]], frequencies[i]);
                }
            }

            int removeCount = 0;
            if (order >= 0)
            {
                int ordinal = removeOrder[r++];
                int start = removeStarts[ordinal];
                int end = removeStarts[ordinal + 1];
                Grow(ref removals, end - start);
                for (int i = start; i < end; i++)
                    removals[removeCount++] = removedIds[removeOwners[i]];
            }

            if (addCount + removeCount > 0)
                writer.Apply(term, additions.AsSpan(0, addCount), removals.AsSpan(0, removeCount));
        }
    }

    private static void Grow<T>(ref T[] array, int needed)
    {
        if (array.Length < needed)
            array = new T[Math.Max(needed, array.Length * 2)];
    }
}
