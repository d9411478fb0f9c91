using Treepie.Indexing.Postings;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching;

/// <summary>
/// The number of terms and entries between two bounds of a dictionary, counted without reading any list. Term blocks store
/// how many entries they have, so only the first and last block of a range are read term by term. Of each other block (some
/// 250 numbers), eight bytes are read, together for the blocks of a leaf, and only once for all readers of the same state;
/// see <see cref="LeafSums"/>.
/// </summary>
/// <param name="Terms">Number of terms in the range.</param>
/// <param name="Entries">Number of entries that have them.</param>
internal readonly record struct RangeCount(long Terms, long Entries)
{
    /// <summary>
    /// Counts a range. Returns null if an entry may have several terms, and so would be counted more than once.
    /// </summary>
    public static RangeCount? Of(QueryContext context, KeyRange keys, int field)
    {
        if (context.View.Schema.Fields[field].Analysis == FieldAnalysis.FullText
            || context.View.Statistics(field).EverHadSeveralValues)
            return null;
        if (context.View.Dictionary(keys.Dictionary) is not { } dictionary)
            return default(RangeCount);

        using TermCursor cursor = dictionary.OpenCursor(), end = dictionary.OpenCursor();
        if (!keys.MoveFirst(cursor) || !keys.MoveLast(end) || cursor.Key.SequenceCompareTo(end.Key) > 0)
            return default(RangeCount);

        long terms = 0, entries = 0;
        int from = cursor.Index;
        for (int leaves = 0; !cursor.IsInBlockOf(end);)
        {
            long skipped = 0, weight = 0;
            if (from == 0)
                cursor.SkipBlocks(end, dictionary.Sums, out skipped, out weight);
            if (skipped == 0)
            {
                TermBlock block = cursor.Block;
                (skipped, weight) = (block.Count - from, Sum(context, block, from, block.Count));
                cursor.MoveToNextBlock(); // succeeds, since the end is in a later block
                from = 0;
            }

            terms += skipped;
            entries += weight;
            if ((++leaves & 31) == 0)
                context.Check();
        }

        return new RangeCount(terms + end.Index + 1 - from, entries + Sum(context, end.Block, from, end.Index + 1));
    }

    /// <summary>
    /// Number of entries of the terms <paramref name="from"/> (inclusive) to <paramref name="to"/> (exclusive) of a block.
    /// </summary>
    private static long Sum(QueryContext context, TermBlock block, int from, int to)
    {
        context.Meter.Count.TermsScanned += to - from;
        long count = 0;
        int next = block.At(from, out TermPlace term);
        for (int i = from; i < to; i++)
        {
            count += new TermPayload(block.Value(term)).EntryCount;
            if (i + 1 < to)
                next = block.Read(next, out term);
        }

        return count;
    }
}
