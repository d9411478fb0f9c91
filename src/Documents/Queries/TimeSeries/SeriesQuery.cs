using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Rql.Syntax;
using Treepie.Store;

namespace Treepie.Queries.TimeSeries;

/// <summary>
/// An executable <c>timeseries(from …)</c>: returns entries of a document's time series, or aggregates of groups of entries.
/// Segments that lie entirely within a group are aggregated from their headers, without reading entries. Immutable; thread-safe.
/// </summary>
internal sealed record SeriesQuery(string Name)
{
    /// <summary>The maximum number of groups per document.</summary>
    public const int MaxGroups = 1_000_000;

    /// <summary>The maximum number of values of a group that are sorted for a percentile.</summary>
    public const int MaxKeptValues = 10_000_000;

    /// <summary>The length of a time in UTC with all its digits.</summary>
    private const int TimeBytes = 28;

    /// <summary>The start of the range, inclusive, in UTC ticks.</summary>
    public long From { get; init; }

    /// <summary>The end of the range, inclusive, in UTC ticks.</summary>
    public long To { get; init; } = DateTime.MaxValue.Ticks;

    /// <summary>Whether the query specifies the range.</summary>
    public bool HasRange { get; init; }

    /// <summary>Restricts the range to a period from the first entry. Null: no restriction.</summary>
    public TimeSeriesPeriod? First { get; init; }

    /// <summary>Restricts the range to a period before the last entry. Null: no restriction.</summary>
    public TimeSeriesPeriod? Last { get; init; }

    /// <summary>The condition on entries; null for all.</summary>
    public Func<SeriesEntry, bool>? Where { get; init; }

    /// <summary>The length of a group in time; null if entries are not grouped by time.</summary>
    public TimeSeriesPeriod? Period { get; init; }

    /// <summary>An additional grouping key, or null.</summary>
    public Func<SeriesEntry, string?>? Key { get; init; }

    public TimeSeriesFill Fill { get; init; }

    /// <summary>The aggregates of groups; empty if entries are returned.</summary>
    public IReadOnlyList<SeriesItem> Items { get; init; } = [];

    /// <summary>The factor by which returned values are multiplied.</summary>
    public double Scale { get; init; } = 1;

    /// <summary>Ticks added to all times, before grouping.</summary>
    public long Offset { get; init; }

    private bool ReadsHeads =>
        Where is null
            && Key is null
            && Items.All(static item => item.Function < SeriesFunction.Percentile);

    /// <summary>Writes the result for a document.</summary>
    public void Write(SeriesSource source, byte[] foldedId, IBufferWriter<byte> output, CancellationToken cancellationToken)
    {
        byte[] prefix = KindKey.TimeSeriesPrefix(foldedId, Encoding.UTF8.GetBytes(Name));
        (long from, long to) = Range(source.Items, prefix);
        using var json = new Utf8JsonWriter(output, new JsonWriterOptions { SkipValidation = true });
        if (Items.Count == 0)
            WriteEntries(source, prefix, from, to, json, cancellationToken);
        else
            WriteGroups(source, prefix, from, to, json, cancellationToken);
    }

    private (long From, long To) Range(KindItems items, byte[] prefix)
    {
        if (First is { } first
            && items.SegmentAfter(prefix, -1) is { } begin
            && items.TryGet(begin, out KindRecord record))
            return (From, first.After(new TimeSeriesSegment(record.Value).FirstTicks));
        if (Last is { } last
            && items.SegmentAt(prefix, DateTime.MaxValue.Ticks) is { } end
            && items.TryGet(end, out KindRecord newest))
            return (last.Before(new TimeSeriesSegment(newest.Value).LastTicks), To);
        return (From, To);
    }

    private void WriteEntries(
        SeriesSource source, byte[] prefix, long from, long to, Utf8JsonWriter json, CancellationToken cancellationToken)
    {
        long count = 0;
        bool isRollup = Name.Contains('@', StringComparison.Ordinal);
        json.WriteStartObject();
        json.WriteStartArray("Results"u8);
        void Take(SeriesEntry entry)
        {
            count++;
            json.WriteStartObject();
            WriteTime(json, "Timestamp"u8, entry.Ticks);
            json.WriteString("Tag"u8, entry.Tag);
            json.WriteStartArray("Values"u8);
            for (int i = 0; i < entry.Count; i++)
                json.WriteNumberValue(entry.Values[i] * Scale);
            json.WriteEndArray();
            json.WriteBoolean("IsRollup"u8, isRollup);
            json.WriteEndObject();
        }

        Read(source, prefix, from, to, null, Take, cancellationToken);
        json.WriteEndArray();
        json.WriteNumber("Count"u8, count);
        json.WriteEndObject();
    }

    private void WriteGroups(
        SeriesSource source, byte[] prefix, long from, long to, Utf8JsonWriter json, CancellationToken cancellationToken)
    {
        var groups = new Dictionary<(long Start, string Key), SeriesGroup>();
        var inOrder = new List<SeriesGroup>(); // entries are in time order, so groups are made in it
        SeriesNeeds needs = Items.Aggregate(SeriesNeeds.None, static (needs, item) => needs | item.Function switch
        {
            SeriesFunction.Percentile => SeriesNeeds.Values,
            SeriesFunction.StandardDeviation => SeriesNeeds.Spread,
            _ => SeriesNeeds.None,
        });
        SeriesGroup? current = null; // entries are in time order, so most belong to the same group as the previous one
        long end = 0;
        SeriesGroup GroupOf(long ticks, string? key)
        {
            if (current is not null && ticks >= current.Start && ticks < end && current.Key == key)
                return current;
            long start = 0;
            end = long.MaxValue;
            if (Period is { } period)
            {
                start = period.Floor(ticks);
                end = period.After(start);
            }

            if (!groups.TryGetValue((start, key ?? ""), out current))
            {
                if (groups.Count == MaxGroups)
                    throw new InvalidQueryException(
                        $"The time series '{Name}' has more than {MaxGroups:N0} groups. Narrow the range, or group by a longer "
                            + $"time.");
                groups.Add((start, key ?? ""), current = new SeriesGroup(start, key, needs));
                inOrder.Add(current);
            }

            return current;
        }

        bool TakeHead(TimeSeriesSegment segment)
        {
            (long first, long last) = (Moved(segment.FirstTicks), Moved(segment.LastTicks));
            if (Period is { } grouped && grouped.Floor(first) != grouped.Floor(last))
                return false;
            GroupOf(first, null).Add(segment, Offset);
            return true;
        }

        Read(
            source, prefix, from, to, ReadsHeads ? TakeHead : null,
            entry => GroupOf(entry.Ticks, Key?.Invoke(entry)).Add(entry), cancellationToken);
        if (Key is not null)
            inOrder.Sort(static (one, other) => one.Start != other.Start
                ? one.Start.CompareTo(other.Start)
                : string.CompareOrdinal(one.Key, other.Key));
        Write(inOrder, from, to, json);
    }

    private void Write(List<SeriesGroup> groups, long from, long to, Utf8JsonWriter json)
    {
        long count = 0;
        json.WriteStartObject();
        json.WriteStartArray("Results"u8);
        var last = new Dictionary<string, SeriesGroup>(StringComparer.Ordinal);
        foreach (SeriesGroup group in groups)
        {
            count += group.Entries;
            if (Fill != TimeSeriesFill.None && Period is { } period)
            {
                if (last.TryGetValue(group.Key ?? "", out SeriesGroup? before))
                    WriteGap(before, group, period, json);
                last[group.Key ?? ""] = group;
            }

            WriteGroup(group, from, to, json);
        }

        json.WriteEndArray();
        json.WriteNumber("Count"u8, count);
        json.WriteEndObject();
    }

    private void WriteGroup(SeriesGroup group, long from, long to, Utf8JsonWriter json)
    {
        (long start, long end) = Period is { } period ? (group.Start, period.After(group.Start))
            : HasRange ? (from + Offset, to == DateTime.MaxValue.Ticks ? to : to + Offset)
            : (group.First, group.Last);
        WriteStart(start, end, group.Key, json);
        json.WriteStartArray("Count"u8);
        for (int i = 0; i < group.Width; i++)
            json.WriteNumberValue(group.Value(new SeriesItem("", SeriesFunction.Count), i));
        json.WriteEndArray();
        foreach (SeriesItem item in Items)
            if (item.Function != SeriesFunction.Count || item.Name != "Count")
                WriteItem(item, group.Width, i => group.Value(item, i), json);
        json.WriteEndObject();
    }

    /// <summary>Writes the empty groups between two groups with entries.</summary>
    private void WriteGap(SeriesGroup before, SeriesGroup after, TimeSeriesPeriod period, Utf8JsonWriter json)
    {
        int width = Math.Min(before.Width, after.Width), written = 0;
        for (long start = period.After(before.Start); start < after.Start; start = period.After(start))
        {
            if (++written > MaxGroups)
                throw new InvalidQueryException(
                    $"The time series '{Name}' has a gap of more than {MaxGroups:N0} groups, which 'interpolation' is to fill. "
                        + $"Group by a longer time.");
            double share = (start - before.Start) / (double)(after.Start - before.Start);
            WriteStart(start, period.After(start), before.Key, json);
            json.WriteStartArray("Count"u8);
            for (int i = 0; i < width; i++)
                json.WriteNumberValue(0);
            json.WriteEndArray();
            foreach (SeriesItem item in Items)
                if (item.Function != SeriesFunction.Count)
                    WriteItem(
                        item, width, i => Fill == TimeSeriesFill.Linear
                            ? before.Value(item, i) + ((after.Value(item, i) - before.Value(item, i)) * share)
                            : (share < 0.5 ? before : after).Value(item, i), json);
            json.WriteEndObject();
        }
    }

    private static void WriteStart(long start, long end, string? key, Utf8JsonWriter json)
    {
        json.WriteStartObject();
        WriteTime(json, "From"u8, start);
        WriteTime(json, "To"u8, end);
        if (key is not null)
            json.WriteString("Key"u8, key);
    }

    private void WriteItem(SeriesItem item, int width, Func<int, double> value, Utf8JsonWriter json)
    {
        json.WriteStartArray(item.Name);
        for (int i = 0; i < width; i++)
        {
            double scaled = item.Function == SeriesFunction.Count ? value(i) : value(i) * Scale;
            if (double.IsFinite(scaled))
                json.WriteNumberValue(scaled);
            else
                json.WriteNullValue(); // for instance, the sum overflowed
        }

        json.WriteEndArray();
    }

    /// <summary>
    /// Reads the entries of a range. If <paramref name="head"/> is given, it is offered each segment that lies entirely within
    /// the range, and the entries of segments that it takes are not read.
    /// </summary>
    private void Read(
        SeriesSource source, byte[] prefix, long from, long to, TakeSegment? head, Action<SeriesEntry> take,
        CancellationToken cancellationToken)
    {
        KindItems items = source.Items;
        var entry = new SeriesEntry(source) { Values = new double[TimeSeriesPoint.MaxValues] };
        for (byte[]? key = items.SegmentAt(prefix, from);
             key is not null && TreeNames.EtagOfKey(key) <= to;
             key = items.SegmentAfter(prefix, TreeNames.EtagOfKey(key)))
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (!items.TryGet(key, out KindRecord record))
                continue;
            var segment = new TimeSeriesSegment(record.Value);
            if (segment.LastTicks < from
                || (head is not null && segment.FirstTicks >= from && segment.LastTicks <= to && head(segment)))
                continue;
            TimeSeriesSegment.Reader reader = segment.Read();
            while (reader.MoveNext() && reader.Ticks <= to)
            {
                if (reader.Ticks < from)
                    continue;
                entry.Ticks = Moved(reader.Ticks);
                entry.Count = reader.Values.Length;
                reader.Values.CopyTo(entry.Values);
                entry.Tag = reader.Tag;
                if (Where is null || Where(entry))
                    take(entry);
            }
        }
    }

    /// <summary>Moves a time by the offset, within the range of times.</summary>
    private long Moved(long ticks) => Math.Clamp(ticks + Offset, 0, DateTime.MaxValue.Ticks);

    private static void WriteTime(Utf8JsonWriter json, ReadOnlySpan<byte> name, long ticks)
    {
        Span<byte> text = stackalloc byte[TimeBytes];
        new DateTime(Math.Clamp(ticks, 0, DateTime.MaxValue.Ticks), DateTimeKind.Utc).TryFormat(
            text, out int length, "O", CultureInfo.InvariantCulture);
        json.WriteString(name, text[..length]);
    }

    /// <summary>Takes a segment by its header. Returns false if its entries have to be read.</summary>
    private delegate bool TakeSegment(TimeSeriesSegment segment);
}
