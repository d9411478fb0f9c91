using Treepie.Kinds;

namespace Treepie.Queries.TimeSeries;

/// <summary>Aggregates entries, separately for each value of an entry. Not thread-safe.</summary>
internal sealed class SeriesGroup(long start, string? key, SeriesNeeds needs)
{
    private readonly List<Column> _columns = [];

    /// <summary>The start of its period.</summary>
    public long Start { get; } = start;

    /// <summary>The tag or field that its entries share, or null if entries are not grouped by one.</summary>
    public string? Key { get; } = key;

    /// <summary>The number of entries.</summary>
    public long Entries { get; private set; }

    /// <summary>The time of its first entry.</summary>
    public long First { get; private set; }

    /// <summary>The time of its last entry.</summary>
    public long Last { get; private set; }

    /// <summary>The largest number of values in an entry.</summary>
    public int Width => _columns.Count;

    public void Add(SeriesEntry entry)
    {
        Note(entry.Ticks, entry.Ticks, 1);
        for (int i = 0; i < entry.Count; i++)
            ColumnOf(i).Add(entry.Values[i], entry.Ticks, needs);
    }

    /// <summary>Adds all entries of a segment, using the segment's aggregates.</summary>
    public void Add(TimeSeriesSegment segment, long offset)
    {
        Note(segment.FirstTicks + offset, segment.LastTicks + offset, segment.Count);
        for (int i = 0; i < segment.ValueCount; i++)
            ColumnOf(i).Add(segment.Aggregate(i));
    }

    /// <summary>Returns an aggregate of a value.</summary>
    public double Value(SeriesItem item, int column) => _columns[column].Value(item);

    private void Note(long first, long last, long entries)
    {
        if (Entries == 0)
            First = first;
        Last = last;
        Entries += entries;
    }

    private Column ColumnOf(int index)
    {
        while (_columns.Count <= index)
            _columns.Add(new Column());
        return _columns[index];
    }

    private sealed class Column
    {
        private long _count;
        private double _min = double.PositiveInfinity;
        private double _max = double.NegativeInfinity;
        private double _sum;
        private double _first;
        private double _last;
        private long _firstTicks;
        private long _lastTicks;
        private double _mean;
        private double _squares;
        private List<double>? _values;

        public void Add(double value, long ticks, SeriesNeeds needs)
        {
            if (_count++ == 0)
                (_first, _firstTicks) = (value, ticks);
            (_last, _lastTicks) = (value, ticks);
            _min = Math.Min(_min, value);
            _max = Math.Max(_max, value);
            _sum += value;
            if (needs == SeriesNeeds.None)
                return;
            if (needs.HasFlag(SeriesNeeds.Spread))
            {
                double distance = value - _mean;
                _mean += distance / _count;
                _squares += distance * (value - _mean);
            }

            if (!needs.HasFlag(SeriesNeeds.Values))
                return;
            (_values ??= []).Add(value);
            if (_values.Count > SeriesQuery.MaxKeptValues)
                throw new InvalidQueryException(
                    $"'percentile()' has to sort more than {SeriesQuery.MaxKeptValues:N0} values of a group. Narrow the range, "
                    + $"or "
                        + $"group by a shorter time.");
        }

        public void Add((int Count, double Min, double Max, double Sum, double First, double Last) known)
        {
            if (known.Count == 0)
                return;
            if (_count == 0)
                _first = known.First;
            _count += known.Count;
            _last = known.Last;
            _min = Math.Min(_min, known.Min);
            _max = Math.Max(_max, known.Max);
            _sum += known.Sum;
        }

        public double Value(SeriesItem item) => item.Function switch
        {
            SeriesFunction.Count => _count,
            SeriesFunction.Min => _min,
            SeriesFunction.Max => _max,
            SeriesFunction.Sum => _sum,
            SeriesFunction.Average => _sum / _count,
            SeriesFunction.First => _first,
            SeriesFunction.Last => _last,
            SeriesFunction.Slope => _lastTicks == _firstTicks
                ? 0
                : (_last - _first) / ((_lastTicks - _firstTicks) / (double)TimeSpan.TicksPerMillisecond),
            SeriesFunction.StandardDeviation => Math.Sqrt(_squares / _count),
            _ => Percentile(item.Percent),
        };

        private double Percentile(double percent)
        {
            List<double> values = _values ?? [_last];
            values.Sort(); // later calls find them sorted
            double at = percent / 100 * (values.Count - 1);
            int below = (int)at;
            return below + 1 >= values.Count
                ? values[^1]
                : values[below] + ((values[below + 1] - values[below]) * (at - below));
        }
    }
}
