using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
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
    /// <summary>From this many entries on they are gathered in one bitmap of all windows,</summary>
    private const int ManyEntries = 1_024;

    /// <summary>if these are no more: 2 MiB, 16 million entries.</summary>
    private const int MostFlatWindows = 4_096;

    /// <summary>Bits of an entry id that are its place in a word.</summary>
    private const int WordBits = 6;

    private readonly Dictionary<long, WindowSet> sets = [];
    private ulong[]? flat;
    private int addedApart;
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
                FlatPostings list = payload.Flat;
                Context.Meter.Count.EntriesScanned += list.Count;
                Context.Meter.Count.BytesDecoded += payload.Bytes;
                while (list.MoveNext(out Posting posting))
                    Add(posting.EntryId);
                break;
            default:
                AddLong(postings!, payload.ListId); // a dictionary with a long list has its postings tree
                break;
        }
    }

    /// <summary>Adds one entry, in any order.</summary>
    public void Add(long id)
    {
        if (flat is not null)
            flat[(int)(id >> WordBits)] |= 1UL << (int)(id & ((1 << WordBits) - 1));
        else
            AddApart(id);
    }

    /// <summary>Ends the gathering.</summary>
    public void Seal()
    {
        if (flat is not null)
            Split(flat);
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
            if (!cursor.TryGet(window, out PostingWindow found))
                continue;
            WindowSet set = Set(window);
            set.Or(found);
            if (flat is not null)
                Merge(window, set, flat);
        }
    }

    /// <summary>Adds an entry to the set of its window; from many on, to one bitmap of all windows, where nothing has to be searched or moved.</summary>
    private void AddApart(long id)
    {
        Set(id >> PostingWindow.SizeBits).Add((ushort)(id & (PostingWindow.Size - 1)));
        if (++addedApart != ManyEntries || Context.View.WindowCount > MostFlatWindows)
            return;

        ulong[] words = Context.RentWords((int)Context.View.WindowCount * PostingWindow.Blocks);
        Array.Clear(words);
        foreach ((long window, WindowSet set) in sets)
            Merge(window, set, words);
        flat = words;
    }

    private static void Merge(long window, WindowSet set, ulong[] words)
    {
        Span<ulong> mine = stackalloc ulong[PostingWindow.Blocks];
        set.CopyWords(mine);
        Span<ulong> all = words.AsSpan((int)window * PostingWindow.Blocks, PostingWindow.Blocks);
        for (int i = 0; i < mine.Length; i++)
            all[i] |= mine[i];
    }

    /// <summary>Makes the sets of the windows from the one bitmap.</summary>
    private void Split(ulong[] words)
    {
        ushort[] offsets = Context.RentOffsets();
        sets.Clear();
        lastWindow = -1;
        for (int window = 0; window < Context.View.WindowCount; window++)
        {
            ReadOnlySpan<ulong> mine = words.AsSpan(window * PostingWindow.Blocks, PostingWindow.Blocks);
            int members = BitmapKernels.Count(mine);
            if (members == 0)
                continue;
            var set = new WindowSet();
            if (members <= WindowSet.MaxListCount)
                set.SetOffsets(offsets.AsSpan(0, BitmapKernels.Decode(mine, offsets)));
            else
                set.SetBits(MemoryMarshal.AsBytes(mine));
            sets.Add(window, set);
        }

        flat = null;
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
