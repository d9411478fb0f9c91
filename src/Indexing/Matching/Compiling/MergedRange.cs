using System.Diagnostics;
using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>The intersection of the ranges of an AND over one dictionary.</summary>
internal sealed class MergedRange
{
    private RangeQuery _range;
    private byte[]? _low;
    private byte[]? _high;

    /// <param name="range">The first range.</param>
    /// <param name="keys">Its keys.</param>
    /// <param name="side">True if only lower bounds are merged, false if only upper bounds; null for both.</param>
    /// <param name="place">Position of the first range among the clauses.</param>
    public MergedRange(RangeQuery range, KeyRange keys, bool? side, int place)
    {
        _range = range;
        Dictionary = keys.Dictionary;
        Side = side;
        Place = place;
        _low = range.Low is null ? null : keys.Low;
        _high = range.High is null ? null : keys.High; // an open upper end of texts has a key, too
    }

    public string Dictionary { get; }

    /// <summary>True if only lower bounds are merged, false if only upper bounds; null for both.</summary>
    public bool? Side { get; }

    /// <summary>Position of the first range among the clauses.</summary>
    public int Place { get; }

    /// <summary>Whether the bounds exclude every value.</summary>
    public bool IsEmpty => _low is not null && _high is not null && _low.AsSpan().SequenceCompareTo(_high) is var order
        && (order > 0 || (order == 0 && !(_range.LowInclusive && _range.HighInclusive)));

    /// <summary>The merged range.</summary>
    public RangeQuery ToQuery() => _range;

    /// <summary>Intersects with another range.</summary>
    public void Narrow(RangeQuery other, KeyRange keys)
    {
        Debug.Assert(keys.Dictionary == Dictionary, "only ranges over one dictionary are merged");
        if (other.Low is not null
            && (_low is null || IsTighter(keys.Low.AsSpan().SequenceCompareTo(_low), _range.LowInclusive, other.LowInclusive)))
            (_low, _range) = (keys.Low, _range with { Low = other.Low, LowInclusive = other.LowInclusive });
        if (other.High is not null
            && (_high is null
                || IsTighter(_high.AsSpan().SequenceCompareTo(keys.High), _range.HighInclusive, other.HighInclusive)))
            (_high, _range) = (keys.High, _range with { High = other.High, HighInclusive = other.HighInclusive });
    }

    public bool Contains(ReadOnlySpan<byte> value)
    {
        int above = _low is null ? 1 : value.SequenceCompareTo(_low), below = _high is null ? -1 : value.SequenceCompareTo(_high);
        return (above > 0 || (above == 0 && _range.LowInclusive)) && (below < 0 || (below == 0 && _range.HighInclusive));
    }

    /// <summary>
    /// Unites the ranges of an OR over one dictionary: returns disjoint ranges in order, with those that overlap or touch
    /// merged.
    /// </summary>
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

        // A range needs at least one bound to tell numbers from texts.
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

    /// <summary>Whether a range overlaps or touches one that begins later.</summary>
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
