using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>Ranges over one dictionary that become one: of an AND what is in all of them.</summary>
internal sealed class MergedRange
{
    private RangeQuery _range;
    private byte[]? _low;
    private byte[]? _high;

    /// <param name="range">The first of them.</param>
    /// <param name="keys">Its keys.</param>
    /// <param name="side">Whether only lower bounds are merged (true) or only upper ones (false); null: both.</param>
    /// <param name="place">Where the first stands among the clauses.</param>
    public MergedRange(RangeQuery range, KeyRange keys, bool? side, int place)
    {
        _range = range;
        Dictionary = keys.Dictionary;
        Side = side;
        Place = place;
        _low = range.Low is null ? null : keys.Low;
        _high = range.High is null ? null : keys.High; // an open end of texts has a key of its own
    }

    /// <summary>The dictionary.</summary>
    public string Dictionary { get; }

    /// <summary>Whether only lower bounds are merged (true) or only upper ones (false); null: both.</summary>
    public bool? Side { get; }

    /// <summary>Where the first stands among the clauses.</summary>
    public int Place { get; }

    /// <summary>Whether nothing can be between the bounds.</summary>
    public bool IsEmpty => _low is not null && _high is not null && _low.AsSpan().SequenceCompareTo(_high) is var order
        && (order > 0 || (order == 0 && !(_range.LowInclusive && _range.HighInclusive)));

    /// <summary>The range that is left.</summary>
    public RangeQuery ToQuery() => _range;

    /// <summary>Takes another range in.</summary>
    public void Narrow(RangeQuery other, KeyRange keys)
    {
        if (other.Low is not null
            && (_low is null || IsTighter(keys.Low.AsSpan().SequenceCompareTo(_low), _range.LowInclusive, other.LowInclusive)))
            (_low, _range) = (keys.Low, _range with { Low = other.Low, LowInclusive = other.LowInclusive });
        if (other.High is not null
            && (_high is null
                || IsTighter(_high.AsSpan().SequenceCompareTo(keys.High), _range.HighInclusive, other.HighInclusive)))
            (_high, _range) = (keys.High, _range with { High = other.High, HighInclusive = other.HighInclusive });
    }

    /// <summary>Whether a value is in the range.</summary>
    public bool Contains(ReadOnlySpan<byte> value)
    {
        int above = _low is null ? 1 : value.SequenceCompareTo(_low), below = _high is null ? -1 : value.SequenceCompareTo(_high);
        return (above > 0 || (above == 0 && _range.LowInclusive)) && (below < 0 || (below == 0 && _range.HighInclusive));
    }

    /// <summary>The ranges of an OR over one dictionary, in order and apart: those that overlap or touch are one.</summary>
    public static List<RangeQuery> Unite(List<(RangeQuery Range, KeyRange Keys)> ranges)
    {
        ranges.Sort(static (x, y) => CompareLow(x, y));
        var apart = new List<RangeQuery>();
        byte[]? end = null;
        foreach ((RangeQuery range, KeyRange keys) in ranges)
        {
            byte[]? high = range.High is null ? null : keys.High;
            if (apart.Count == 0 || !Touches(apart[^1], end, range, keys.Low))
            {
                apart.Add(range);
                end = high;
                continue;
            }

            RangeQuery last = apart[^1];
            int order = last.High is null ? -1 : high is null ? 1 : high.AsSpan().SequenceCompareTo(end);
            if (order > 0)
                (apart[^1], end) = (last with { High = range.High, HighInclusive = range.HighInclusive }, high);
            else if (order == 0)
                apart[^1] = last with { HighInclusive = last.HighInclusive || range.HighInclusive };
        }

        // Without a bound it would not be said of which kind the values are.
        if (apart is [{ Low: null, High: null } open])
            apart[0] = open with
            {
                Low = IsOfNumbers(ranges[0].Range) ? FieldValue.Of(double.NegativeInfinity) : FieldValue.Of(""),
                LowInclusive = true
            };
        return apart;
    }

    private static bool IsOfNumbers(RangeQuery range) =>
        (range.Low ?? range.High) is { Kind: FieldValueKind.Long or FieldValueKind.Double };

    private static int CompareLow((RangeQuery Range, KeyRange Keys) x, (RangeQuery Range, KeyRange Keys) y)
    {
        if (x.Range.Low is null || y.Range.Low is null)
            return (x.Range.Low is not null).CompareTo(y.Range.Low is not null);
        int order = x.Keys.Low.AsSpan().SequenceCompareTo(y.Keys.Low);
        return order != 0 ? order : y.Range.LowInclusive.CompareTo(x.Range.LowInclusive);
    }

    /// <summary>Whether nothing is between a range and one that begins later.</summary>
    private static bool Touches(RangeQuery range, byte[]? end, RangeQuery later, ReadOnlySpan<byte> start)
    {
        if (range.High is null || later.Low is null)
            return true;
        int order = start.SequenceCompareTo(end);
        return order < 0 || (order == 0 && (range.HighInclusive || later.LowInclusive));
    }

    private static bool IsTighter(int order, bool isInclusive, bool otherIsInclusive) =>
        order > 0 || (order == 0 && isInclusive && !otherIsInclusive);
}
