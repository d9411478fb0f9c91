using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>
/// The union of many terms (a range, a prefix, a long <c>in</c>), gathered once when the query is compiled. Many entries go
/// into one bitmap of all windows, into which lists are written one after the other. Few entries, or those of an index with
/// very many windows, go into one set per non-empty window. Memory: an eighth of a byte per entry of the index, or 512 bytes
/// per non-empty window.
/// </summary>
internal sealed class UnionOperator : Operator
{
    /// <summary>
    /// With at least this many entries, or one per window if that is fewer, one bitmap of all windows is used.
    /// </summary>
    private const int ManyEntries = 1_024;

    /// <summary>Maximum number of windows for the bitmap of all windows: 2 MiB, 16 million entries.</summary>
    public const int MostFlatWindows = 4_096;

    private static readonly ulong[] _nothing = new ulong[BitmapKernels.Words];

    private readonly Dictionary<long, WindowSet> _sets = [];
    private readonly List<long> _windows = [];
    private readonly LongListUnion _longLists;
    private ulong[]? _flat;
    private ushort[] _counts = [];
    private long _lastWindow = -1;
    private WindowSet? _lastSet;
    private long _addedApart;
    private int _position;
    private int _terms;

    public UnionOperator(QueryContext context)
        : base(context, MatchEstimate.Exactly(0), new(CostModel.UnionWindow, CostModel.UnionProbe)) =>
        _longLists = new LongListUnion(context);

    private Span<ulong> Flat => _flat.AsSpan(0, (int)Context.View.WindowCount * BitmapKernels.Words);

    /// <summary>Adds all entries of a term.</summary>
    public void Add(TermPayload payload, Tree? postings)
    {
        if (payload.Kind == PostingKind.Long)
        {
            // A dictionary with a long list has a postings tree.
            Add(postings!, payload.ListId, payload.EntryCount);
            return;
        }

        Begin(payload.EntryCount);
        FlatPostings list = payload.Flat;
        Context.Meter.Count.EntriesScanned += list.Count;
        Context.Meter.Count.BytesDecoded += payload.Bytes;
        if (_flat is not null)
        {
            list.CopyTo(Flat);
            return;
        }

        while (list.MoveNext(out Posting posting))
            Set(posting.Window).Add(posting.Offset);
    }

    /// <summary>Adds all entries of a long list.</summary>
    public void Add(Tree postings, long listId, long entries)
    {
        Begin(entries);
        if (_flat is not null)
            _longLists.Add(postings, listId);
        else
            AddLong(postings, listId);
    }

    /// <summary>Adds one entry. Entries may be added in any order.</summary>
    public void Add(long id)
    {
        Reserve(1);
        if (_flat is not null)
            _flat[(int)(id >> PostingWindow.BlockBits)] |= 1UL << (int)(id & (PostingWindow.Blocks - 1));
        else
            Set(id >> PostingWindow.SizeBits).Add((ushort)(id & (PostingWindow.Size - 1)));
    }

    /// <summary>Ends gathering. Must be called before the operator is evaluated.</summary>
    public void Seal()
    {
        Debug.Assert(Estimate == 0 && _windows.Count == 0, "gathering ends once");
        if (_flat is null)
        {
            _windows.AddRange(_sets.Keys.Order());
            Expected = MatchEstimate.Exactly(_sets.Values.Sum(set => (long)set.Count));
            return;
        }

        _longLists.CopyTo(Flat);
        long count = 0;
        _counts = new ushort[Context.View.WindowCount];
        for (int window = 0; window < _counts.Length; window++)
        {
            int members = BitmapKernels.Count(Words(window));
            _counts[window] = (ushort)members;
            count += members;
            if (members > 0)
                _windows.Add(window);
        }

        Expected = MatchEstimate.Exactly(count);
    }

    /// <summary>What was gathered, for the plan: operation, field and label.</summary>
    public (string Operation, string? Field, string? Label) Name { get; set; } = ("union", null, null);

    public override PlanNode Describe() => new(
        Name.Operation, Name.Field,
        string.Create(
            System.Globalization.CultureInfo.InvariantCulture,
            $"{(Name.Label is null ? "" : Name.Label + ", ")}"
                + $"{(_terms == 0 ? "" : $"{_terms:N0} {(_terms == 1 ? "term" : "terms")} ")}gathered"))
    {
        Estimate = Estimate,
        IsExact = true,
    };

    public override long Next(long from)
    {
        if (_position >= _windows.Count || _windows[_position] < from || (_position > 0 && _windows[_position - 1] >= from))
        {
            // One step in ascending order, a search otherwise.
            if (_position + 1 < _windows.Count && _windows[_position] < from && _windows[_position + 1] >= from)
            {
                _position++;
            }
            else
            {
                int found = _windows.BinarySearch(from);
                _position = found < 0 ? ~found : found;
            }
        }

        return _position < _windows.Count ? _windows[_position] : End;
    }

    public override void Fill(long window, WindowSet set)
    {
        if (_flat is null)
        {
            if (_sets.TryGetValue(window, out WindowSet? mine))
                set.Set(mine);
            else
                set.SetEmpty();
            return;
        }

        int members = window < _counts.Length ? _counts[window] : 0;
        if (members > WindowSet.MaxListCount)
        {
            set.SetBits(MemoryMarshal.AsBytes(Words(window)));
            return;
        }

        Span<ushort> offsets = stackalloc ushort[WindowSet.MaxListCount];
        set.SetOffsets(offsets[..(members == 0 ? 0 : BitmapKernels.Decode(Words(window), offsets))]);
    }

    public override void Combine(long window, WindowSet set, SetOperation operation)
    {
        if (_flat is not null)
            set.Combine(operation, Words(window));
        else if (_sets.TryGetValue(window, out WindowSet? mine))
            set.Combine(operation, mine);
        else
            set.CombineNone(operation);
    }

    public override bool Contains(long id) => _flat is not null
        ? (Words(
            id >> PostingWindow.SizeBits)[(int)(id & (PostingWindow.Size - 1)) >> PostingWindow.BlockBits] >> (int)(id
                & (PostingWindow.Blocks - 1)) & 1) != 0
        : _sets.TryGetValue(id >> PostingWindow.SizeBits, out WindowSet? mine)
            && mine.Contains((int)(id & (PostingWindow.Size - 1)));

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        if (_flat is not null)
        {
            ReadOnlySpan<ulong> words = Words(window);
            for (int i = 0; i < hits.Length; i++)
            {
                if ((words[hits[i] >> PostingWindow.BlockBits] >> hits[i] & 1) != 0)
                    scores[i] += boost;
            }

            return;
        }

        if (!_sets.TryGetValue(window, out WindowSet? mine))
            return;
        for (int i = 0; i < hits.Length; i++)
        {
            if (mine.Contains(hits[i]))
                scores[i] += boost;
        }
    }

    /// <summary>The words of a window in the bitmap of all windows; none are set behind the last window.</summary>
    private ReadOnlySpan<ulong> Words(long window) =>
        window < Context.View.WindowCount ? _flat.AsSpan((int)window * BitmapKernels.Words, BitmapKernels.Words) : _nothing;

    private void AddLong(Tree postings, long listId)
    {
        Debug.Assert(_flat is null, "long lists are deferred once there is one bitmap");
        using var cursor = new PostingCursor(postings, listId, Context.Meter);
        foreach (PostingSegment segment in cursor.Segments())
        {
            Context.Check();
            Context.Meter.Count.BytesDecoded += segment.Payloads.Length;
            for (int i = 0; i < segment.Count; i++)
                Set(segment.WindowAt(i)).Combine(SetOperation.Or, segment.PostingsAt(i));
        }
    }

    private void Begin(long entries)
    {
        if ((++_terms & 1023) == 0)
            Context.Check();
        Reserve(entries);
    }

    /// <summary>
    /// Prepares for more entries. Switches to one bitmap of all windows once there are many, since that needs no searching
    /// or moving.
    /// </summary>
    private void Reserve(long entries)
    {
        if (_flat is null)
            ReserveApart(entries);
    }

    private void ReserveApart(long entries)
    {
        if ((_addedApart += entries) < Math.Min(ManyEntries, Context.View.WindowCount)
            || Context.View.WindowCount > MostFlatWindows)
            return;

        _flat = Context.RentWords((int)Context.View.WindowCount * BitmapKernels.Words);
        Flat.Clear();
        foreach ((long window, WindowSet set) in _sets)
            set.CopyWords(Flat.Slice((int)window * BitmapKernels.Words, BitmapKernels.Words));
        _sets.Clear();
    }

    private WindowSet Set(long window)
    {
        Debug.Assert(_flat is null, "windows have sets of their own until there is one bitmap");
        if (window == _lastWindow)
            return _lastSet!; // set together with _lastWindow

        if (!_sets.TryGetValue(window, out WindowSet? set))
            _sets.Add(window, set = new WindowSet());
        _lastWindow = window;
        _lastSet = set;
        return set;
    }
}
