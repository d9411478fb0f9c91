using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Searching;

/// <summary>How many entries several lists have together, whose windows lie side by side: of two bitmaps what both have is counted where they lie, and taken off.</summary>
internal static class UnitedCount
{
    /// <summary>Counts.</summary>
    /// <param name="context">The query.</param>
    /// <param name="lists">Long lists, unrolled.</param>
    public static long Of(QueryContext context, UnrolledList[] lists)
    {
        WindowSet set = context.Rent();
        int[] at = new int[lists.Length];
        long total = 0;
        for (long window = 0; ;)
        {
            long next = Operator.End;
            int isIn = 0, first = -1, second = -1;
            for (int i = 0; i < lists.Length; i++)
            {
                at[i] = lists[i].Step(at[i], window);
                long mine = lists[i].WindowAt(at[i]);
                if (mine > next)
                    continue;
                isIn = mine == next ? isIn + 1 : 1;
                (first, second) = mine == next ? (first, second < 0 ? i : second) : (i, -1);
                next = mine;
            }

            if (next == Operator.End)
                break;
            if ((next & 63) == 0)
                context.Check();
            lists[first].Announce(at[first]);
            PostingWindow one = lists[first].PostingsAt(at[first]);
            if (isIn == 1)
            {
                total += one.Count;
            }
            else if (isIn == 2 && one.Form == WindowSetForm.Bits && lists[second].PostingsAt(at[second]) is { Form: WindowSetForm.Bits } two)
            {
                total += one.Count + two.Count - BitmapKernels.CountBoth(one.Words, two.Bitmap);
            }
            else
            {
                set.SetEmpty();
                for (int i = 0; i < lists.Length; i++)
                {
                    if (lists[i].WindowAt(at[i]) == next)
                        set.Or(lists[i].PostingsAt(at[i]));
                }

                total += set.Count;
            }

            window = next + 1;
        }

        context.Return(set);
        return total;
    }
}
