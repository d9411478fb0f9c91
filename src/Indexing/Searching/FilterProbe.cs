using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Answers for single entries, in any order, whether a query matches them. After some probes it keeps the matches of each
/// window it was asked about, so that a long walk never asks the operators twice for one window: 512 bytes a window.
/// </summary>
internal sealed class FilterProbe(QueryContext context, Operator root, bool matchesAll)
{
    private const int ProbesBeforeKeeping = 64;

    private readonly Dictionary<long, WindowSet> kept = [];
    private int probes;

    public bool Contains(long id)
    {
        if (matchesAll)
            return true;
        if (++probes <= ProbesBeforeKeeping)
            return root.Contains(id);

        long window = id >> PostingWindow.SizeBits;
        if (!kept.TryGetValue(window, out WindowSet? set))
        {
            context.CancellationToken.ThrowIfCancellationRequested();
            set = new WindowSet();
            root.Fill(window, set);
            kept.Add(window, set);
        }

        return set.Contains((int)(id & (PostingWindow.Size - 1)));
    }

    public void And(long window, WindowSet set)
    {
        if (!matchesAll)
            root.And(window, set);
    }
}
