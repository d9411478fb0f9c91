using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Matches entries of any of many terms (a range, a prefix, a long <c>in</c>), gathered once when the query is prepared:
/// a bitmap per window that has any. Memory: 512 bytes per such window, at most an eighth of a byte per entry of the index.
/// </summary>
internal sealed class UnionOperator : Operator
{
    private readonly Dictionary<long, WindowSet> sets = [];
    private readonly List<long> windows = [];
    private long lastWindow = -1;
    private WindowSet? lastSet;
    private int position;
    private int terms;
    private long count;

    public UnionOperator(QueryContext context)
        : base(context)
    {
    }

    public override long Estimate => count;

    public override bool IsExact => true;

    /// <summary>Adds all entries of a term.</summary>
    public void Add(TermPayload payload, Tree? postings)
    {
        if ((++terms & 1023) == 0)
            Context.Check();
        switch (payload.Kind)
        {
            case PostingKind.Flat:
                FlatPostings flat = payload.Flat;
                Context.Meter.Count.EntriesScanned += flat.Count;
                while (flat.MoveNext(out Posting posting))
                    Set(posting.Window).Add(posting.Offset);
                break;
            default:
                AddLong(postings!, payload.ListId); // a dictionary with a long list has its postings tree
                break;
        }
    }

    /// <summary>Adds one entry, in any order.</summary>
    public void Add(long id) => Set(id >> PostingWindow.SizeBits).Add((ushort)(id & (PostingWindow.Size - 1)));

    /// <summary>Ends the gathering.</summary>
    public void Seal()
    {
        windows.AddRange(sets.Keys.Order());
        count = sets.Values.Sum(set => (long)set.Count);
    }

    /// <summary>What was gathered, for the plan: operation, field, label.</summary>
    public (string Operation, string? Field, string? Label) Name { get; set; } = ("union", null, null);

    public override OperatorCost Cost => new(CostModel.UnionWindow, CostModel.UnionProbe);

    public override PlanNode Describe() => new(
        Name.Operation, Name.Field, string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{(Name.Label is null ? "" : Name.Label + ", ")}{(terms == 0 ? "" : $"{terms:N0} {(terms == 1 ? "term" : "terms")} ")}gathered"))
    {
        Estimate = count,
        IsExact = true,
    };

    public override long Next(long from)
    {
        if (position >= windows.Count || windows[position] < from || (position > 0 && windows[position - 1] >= from))
        {
            // One step in ascending walks, a search otherwise.
            if (position + 1 < windows.Count && windows[position] < from && windows[position + 1] >= from)
            {
                position++;
            }
            else
            {
                int found = windows.BinarySearch(from);
                position = found < 0 ? ~found : found;
            }
        }

        return position < windows.Count ? windows[position] : End;
    }

    public override void Fill(long window, WindowSet set)
    {
        if (sets.TryGetValue(window, out WindowSet? mine))
            set.Set(mine);
        else
            set.SetEmpty();
    }

    public override void And(long window, WindowSet set)
    {
        if (sets.TryGetValue(window, out WindowSet? mine))
            set.And(mine);
        else
            set.SetEmpty();
    }

    public override void Or(long window, WindowSet set)
    {
        if (sets.TryGetValue(window, out WindowSet? mine))
            set.Or(mine);
    }

    public override void AndNot(long window, WindowSet set)
    {
        if (sets.TryGetValue(window, out WindowSet? mine))
            set.AndNot(mine);
    }

    public override bool Contains(long id) =>
        sets.TryGetValue(id >> PostingWindow.SizeBits, out WindowSet? mine) && mine.Contains((int)(id & (PostingWindow.Size - 1)));

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        if (!sets.TryGetValue(window, out WindowSet? mine))
            return;

        for (int i = 0; i < hits.Length; i++)
        {
            if (mine.Contains(hits[i]))
                scores[i] += boost;
        }
    }

    private void AddLong(Tree postings, long listId)
    {
        using var cursor = new PostingCursor(postings, listId, Context.Meter);
        for (long window = cursor.Next(0); window != End; window = cursor.Next(window + 1))
        {
            Context.Check();
            if (cursor.TryGet(window, out PostingWindow found))
                Set(window).Or(found);
        }
    }

    private WindowSet Set(long window)
    {
        if (window == lastWindow)
            return lastSet!; // set together with lastWindow

        if (!sets.TryGetValue(window, out WindowSet? set))
            sets.Add(window, set = new WindowSet());
        lastWindow = window;
        lastSet = set;
        return set;
    }
}
