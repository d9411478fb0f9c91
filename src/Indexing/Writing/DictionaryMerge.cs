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
    /// <param name="wordOf">Numbers for new words by ordinal of <paramref name="added"/>, replaced by those that they have; null where terms have no numbers.</param>
    /// <param name="cancellationToken">Checked now and then.</param>
    public static void Run(
        PostingWriter writer, TermTable? added, long[] idOf, TermTable? removed, long[] removedIds, long[]? wordOf, CancellationToken cancellationToken)
    {
        TermTable adds = added ?? new TermTable();
        TermTable removes = removed ?? new TermTable();
        int[] addOrder = adds.SortedOrdinals();
        int[] removeOrder = removes.SortedOrdinals();
        TermOccurrences addedBy = adds.GroupByTerm();
        TermOccurrences removedBy = removes.GroupByTerm();
        var additions = new PostingBuffer(keepsPositions: addedBy.PositionStarts.Length > 0);
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

            additions.Clear();
            int addedOrdinal = -1;
            if (order <= 0)
            {
                int ordinal = addedOrdinal = addOrder[a++];
                for (int i = addedBy.Starts[ordinal]; i < addedBy.Starts[ordinal + 1]; i++)
                {
                    long id = idOf[addedBy.Owners[i]];
                    if (id >= 0)
                        additions.Add(new Posting(id, addedBy.Frequencies[i]), addedBy.PositionsOf(i));
                }
            }

            int removeCount = 0;
            if (order >= 0)
            {
                int ordinal = removeOrder[r++];
                int start = removedBy.Starts[ordinal];
                int end = removedBy.Starts[ordinal + 1];
                if (removals.Length < end - start)
                    removals = new long[Math.Max(end - start, removals.Length * 2)];
                for (int i = start; i < end; i++)
                    removals[removeCount++] = removedIds[removedBy.Owners[i]];
            }

            if (additions.Count + removeCount == 0)
                continue;
            long word = writer.Apply(term, additions.Run, removals.AsSpan(0, removeCount), addedOrdinal >= 0 && wordOf is not null ? wordOf[addedOrdinal] : -1);
            if (addedOrdinal >= 0 && wordOf is not null)
                wordOf[addedOrdinal] = word;
        }

        writer.Finish();
    }
}
