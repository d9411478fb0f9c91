using Treepie.Kinds;

namespace Treepie.Lifecycle;

/// <summary>
/// The entries of one roll-up period, combined into one entry: first, last, minimum, maximum, sum and count of each value.
/// </summary>
internal sealed class RollUpGroup(long start, bool ofRollUps)
{
    /// <summary>The number of aggregates per value.</summary>
    public const int Parts = 6;

    /// <summary>The maximum number of values rolled up: as many as fit into an entry.</summary>
    public const int MaxValues = TimeSeriesPoint.MaxValues / Parts;

    private readonly double[] _values = new double[MaxValues * Parts];
    private int _width;

    /// <summary>Creates a group that continues a part of its stretch.</summary>
    public RollUpGroup(RollUpPart part, bool ofRollUps)
        : this(part.Start, ofRollUps)
    {
        part.Values.CopyTo(_values, 0);
        _width = part.Values.Length / Parts;
    }

    public long Start { get; } = start;

    public bool IsEmpty => _width == 0;

    public void Add(ReadOnlySpan<double> values)
    {
        if (ofRollUps)
        {
            for (int i = 0; (i + 1) * Parts <= values.Length; i++)
                Add(
                    i, values[i * Parts], values[(i * Parts) + 1], values[(i * Parts) + 2], values[(i * Parts) + 3],
                    values[(i * Parts) + 4], values[(i * Parts) + 5]);
            return;
        }

        for (int i = 0; i < Math.Min(values.Length, MaxValues); i++)
            Add(i, values[i], values[i], values[i], values[i], values[i], 1);
    }

    /// <summary>Adds all entries of a segment using the aggregates in its header.</summary>
    public void Add(TimeSeriesSegment segment)
    {
        if (ofRollUps)
        {
            for (int i = 0; (i + 1) * Parts <= segment.ValueCount; i++)
                Add(
                    i, segment.Aggregate(i * Parts).First, segment.Aggregate((i * Parts) + 1).Last,
                    segment.Aggregate((i * Parts) + 2).Min, segment.Aggregate((i * Parts) + 3).Max,
                    segment.Aggregate((i * Parts) + 4).Sum, segment.Aggregate((i * Parts) + 5).Sum);
            return;
        }

        for (int i = 0; i < Math.Min(segment.ValueCount, MaxValues); i++)
            if (segment.Aggregate(i) is { Count: > 0 } known)
                Add(i, known.First, known.Last, known.Min, known.Max, known.Sum, known.Count);
    }

    /// <summary>The aggregates of the values so far.</summary>
    public double[] ToValues() => _values[..(_width * Parts)];

    /// <summary>The entry.</summary>
    public TimeSeriesPoint ToPoint() => new(new DateTime(Start, DateTimeKind.Utc), ToValues());

    private void Add(int value, double first, double last, double min, double max, double sum, double count)
    {
        Span<double> parts = _values.AsSpan(value * Parts, Parts);
        if (value >= _width)
        {
            _width = value + 1;
            (parts[0], parts[2], parts[3]) = (first, min, max);
        }

        parts[1] = last;
        parts[2] = Math.Min(parts[2], min);
        parts[3] = Math.Max(parts[3], max);
        parts[4] = Math.Clamp(parts[4] + sum, double.MinValue, double.MaxValue); // entries must have finite numbers
        parts[5] += count;
    }
}
