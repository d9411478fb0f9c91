using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Merges the additions and removals of one dictionary in term order and applies each term once. Reusable for one dictionary
/// after another.
/// </summary>
internal sealed class DictionaryMerge
{
    /// <summary>Prefetch distance, in terms, for word numbers, which are stored in order of arrival.</summary>
    private const int PrefetchDistance = 16;

    private readonly TermTable _none = new();

    private readonly PostingBuffer _plain = new(keepsPositions: false);
    private readonly PostingBuffer _placed = new(keepsPositions: true);
    private long[] _gone = new long[16];

    /// <param name="writer">The dictionary.</param>
    /// <param name="added">Terms of the batch, owned by places of its entries; null if none.</param>
    /// <param name="idOf">Entry ids by place.</param>
    /// <param name="removed">Terms to remove, owned by places in <paramref name="removedIds"/>; null if there are
    /// none.</param>
    /// <param name="removedIds">Removed entries.</param>
    /// <param name="wordOf">The number for each term of <paramref name="added"/>, by ordinal, in case it is new; replaced by
    /// the actual number. Empty if terms have no numbers.</param>
    /// <param name="cancellationToken">Checked every 1,024 terms.</param>
    public void Run(
        PostingWriter writer, TermTable? added, EntryIds idOf, TermTable? removed, ReadOnlySpan<long> removedIds,
        Span<long> wordOf, CancellationToken cancellationToken)
    {
        TermTable adds = added ?? _none, removes = removed ?? _none;
        ReadOnlySpan<int> addOrder = adds.SortedOrdinals(), removeOrder = removes.SortedOrdinals();
        Debug.Assert(wordOf.IsEmpty || wordOf.Length >= adds.Count, "each term has a number in reserve");
        TermOccurrences addedBy = adds.GroupByTerm();
        PostingBuffer additions = addedBy.HasPositions ? _placed : _plain;
        int a = 0;
        int r = 0;
        for (int step = 0; a < addOrder.Length || r < removeOrder.Length; step++)
        {
            if ((step & 1023) == 0)
                cancellationToken.ThrowIfCancellationRequested();
            int order = a == addOrder.Length ? 1
                : r == removeOrder.Length ? -1
                : adds.InOrder(a).SequenceCompareTo(removes.InOrder(r));
            ReadOnlySpan<byte> term = order <= 0 ? adds.InOrder(a) : removes.InOrder(r);
            int ordinal = order <= 0 ? addOrder[a] : -1;
            additions.Clear();
            if (!wordOf.IsEmpty && a + PrefetchDistance < addOrder.Length)
                PrefetchKernels.Prefetch(in wordOf[addOrder[a + PrefetchDistance]]);
            if (order <= 0)
                additions.Add(addedBy, a++, idOf);
            int goneCount = order >= 0 ? Remove(removes, r++, removedIds) : 0;
            if (additions.Count + goneCount == 0)
                continue;

            bool isNumbered = ordinal >= 0 && !wordOf.IsEmpty;
            long word = writer.Apply(term, additions.Run, _gone.AsSpan(0, goneCount), isNumbered ? wordOf[ordinal] : -1);
            if (isNumbered)
                wordOf[ordinal] = word;
        }

        writer.Finish();
    }

    /// <summary>Collects the entries of a removed term in <see cref="_gone"/>; returns their number.</summary>
    private int Remove(TermTable removes, int term, ReadOnlySpan<long> removedIds)
    {
        TermOccurrences removedBy = removes.GroupByTerm();
        int start = removedBy.Starts[term], count = removedBy.Starts[term + 1] - start;
        TermTable.GrowTo(ref _gone, count);
        ReadOnlySpan<int> owners = removedBy.Owners;
        for (int i = 0; i < count; i++)
            _gone[i] = removedIds[owners[start + i]];
        return count;
    }
}
