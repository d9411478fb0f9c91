using System.Buffers.Binary;
using System.Globalization;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching;

/// <summary>
/// A range or prefix of many texts: compares the sort values of the entries it is asked about with the bounds. Once that has
/// cost as much as gathering the texts from the dictionary, they are gathered. The cost is thus at most twice that of the
/// cheaper method, wherever the first matches are. Correct only for entries with a single value.
/// </summary>
internal sealed class TextRangeOperator : Operator
{
    private readonly Operator _all;
    private readonly SortColumn _column;
    private readonly KeyRange _keys;
    private readonly ulong _lowHead;
    private readonly ulong _highHead;
    private readonly Func<UnionOperator> _gather;
    private readonly long _mostCompared;
    private readonly ushort[] _offsets;
    private PlanNode? _node;
    private UnionOperator? _gathered;
    private long _compared;

    /// <param name="context">The query.</param>
    /// <param name="all">Matches every entry: tells which entries exist.</param>
    /// <param name="column">Sort values of the field.</param>
    /// <param name="keys">The range, as keys of the dictionary of texts.</param>
    /// <param name="count">Numbers of texts and entries in the range.</param>
    /// <param name="gather">Gathers the entries of the texts.</param>
    public TextRangeOperator(
        QueryContext context, Operator all, SortColumn column, KeyRange keys, RangeCount count, Func<UnionOperator> gather)
        : base(context, MatchEstimate.Exactly(count.Entries), new(CostModel.TextWindow, CostModel.ColumnProbe))
    {
        (_all, _column, _keys, _gather) = (all, column, keys, gather);
        (_lowHead, _highHead) = (keys.Low is null ? 0 : HeadOf(keys.Low), keys.High is null ? ulong.MaxValue : HeadOf(keys.High));
        _mostCompared = MostCompared(count.Terms);
        _offsets = context.RentOffsets();
    }

    /// <summary>Operation, field and label, shown in the plan.</summary>
    public (string Operation, string? Field, string? Label) Name { get; set; }

    /// <summary>The number of entries whose comparison costs as much as gathering texts.</summary>
    public static long MostCompared(long terms) => (long)(terms * CostModel.GatheredTerm / CostModel.TextCompare);

    public override PlanNode Describe() =>
        _node = new PlanNode($"{Name.Operation}, compared with sort values", Name.Field, Name.Label)
        {
            Estimate = Estimate,
            IsExact = true,
        };

    public override long Next(long from) => _gathered is null ? _all.Next(from) : _gathered.Next(from);

    public override void Fill(long window, WindowSet set)
    {
        _all.Fill(window, set);
        if (IsGatheredFor(set.Count))
            _gathered!.Fill(window, set); // not null, as is tested
        else
            Compare(window, set);
    }

    public override void Combine(long window, WindowSet set, SetOperation operation)
    {
        if (operation != SetOperation.And)
            base.Combine(window, set, operation);
        else if (IsGatheredFor(set.Count))
            _gathered!.Combine(window, set, operation); // not null, as is tested
        else
            Compare(window, set);
    }

    public override int Keep(long window, Span<ushort> offsets, bool wanted) =>
        IsGatheredFor(offsets.Length) ? _gathered!.Keep(window, offsets, wanted) : Compare(window, offsets, wanted);

    public override bool Contains(long id) =>
        IsGatheredFor(1) ? _gathered!.Contains(id) : IsInside(_column.Read(id >> SortChunk.EntryBits), SlotOf(id));

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        long start = window << PostingWindow.SizeBits;
        for (int i = 0; i < hits.Length; i++)
        {
            if (allMatch || Contains(start + hits[i]))
                scores[i] += boost;
        }
    }

    /// <summary>Returns the range that a clause is or traces, or null if it is something else.</summary>
    public static TextRangeOperator? Of(Operator clause) =>
        (clause is TracedOperator traced ? traced.Inner : clause) as TextRangeOperator;

    /// <summary>Whether the texts are gathered, which they are if comparing further entries would cost more.</summary>
    private bool IsGatheredFor(int entries)
    {
        if (_gathered is not null)
            return true;
        if (_compared + entries <= _mostCompared)
        {
            _compared += entries;
            Context.Meter.Count.EntriesScanned += entries;
            return false;
        }

        _gathered = _gather();
        _node?.With(new PlanDecision(
            "how to find the texts", "gathered from the dictionary", null,
            string.Create(CultureInfo.InvariantCulture, $"more than {_compared:N0} entries would have been compared"),
            [new PlanAlternative("compare sort values", null, "reads the value of each entry that is looked at")]));
        return true;
    }

    private void Compare(long window, WindowSet set)
    {
        int count = set.CopyTo(_offsets);
        set.SetOffsets(_offsets.AsSpan(0, Compare(window, _offsets.AsSpan(0, count), wanted: true)));
    }

    private int Compare(long window, Span<ushort> offsets, bool wanted)
    {
        long start = window << PostingWindow.SizeBits, at = -1;
        SortChunk chunk = default;
        int kept = 0;
        foreach (ushort offset in offsets)
        {
            long id = start + offset;
            if (id >> SortChunk.EntryBits != at)
                chunk = _column.Read(at = id >> SortChunk.EntryBits);
            if (IsInside(chunk, SlotOf(id)) == wanted)
                offsets[kept++] = offset;
        }

        return kept;
    }

    private bool IsInside(SortChunk chunk, int slot)
    {
        // The first eight bytes decide unless they are those of a bound; texts after all others begin with a byte of their own.
        if (chunk.TryTextHead(slot, out ulong head, out _) && head != _lowHead && head != _highHead)
            return head > _lowHead && head < _highHead;

        Span<byte> text = stackalloc byte[SortText.MaxBytes];
        int length = SortText.Copy(chunk, slot, text);
        return length >= 0 && !TermForm.IsNoText(text[..length]) && _keys.IsFrom(text[..length]) && _keys.IsUpTo(text[..length]);
    }

    private static int SlotOf(long id) => (int)(id & (SortChunk.Entries - 1));

    /// <summary>The first eight bytes of a text, zero-filled, as an integer with the same order.</summary>
    private static ulong HeadOf(ReadOnlySpan<byte> text)
    {
        Span<byte> head = stackalloc byte[sizeof(ulong)];
        head.Clear();
        text[..Math.Min(sizeof(ulong), text.Length)].CopyTo(head);
        return BinaryPrimitives.ReadUInt64BigEndian(head);
    }
}
