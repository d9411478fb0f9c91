using Treepie.Indexing.Postings;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching;

/// <summary>
/// What is between two bounds of a dictionary, without reading any list: blocks of terms say how many entries they have, and only
/// the first and the last block of a range are read term by term. Of the others, some 250 numbers each, eight bytes are read, for
/// those of a leaf together, and once for all who read the same state: see <see cref="LeafSums"/>.
/// </summary>
/// <param name="Terms">Terms in the range.</param>
/// <param name="Entries">Entries that have them.</param>
internal readonly record struct RangeCount(long Terms, long Entries)
{
    /// <summary>Counts; null where an entry may have several terms, and would count more than once.</summary>
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
                cursor.MoveToNextBlock(); // the end is behind
                from = 0;
            }

            terms += skipped;
            entries += weight;
            if ((++leaves & 31) == 0)
                context.Check();
        }

        return new RangeCount(terms + end.Index + 1 - from, entries + Sum(context, end.Block, from, end.Index + 1));
    }

    /// <summary>Entries of the terms of a block from one up to before another.</summary>
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
