using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Deletes ranges of a time series, then appends entries, which replace those at the same times or are added to their values.
/// Changes only segments that contain such times.
/// </summary>
internal sealed class TimeSeriesCommand(
    string documentId, byte[] foldedId, byte[] name, IReadOnlyList<TimeSeriesPoint> points, bool isIncrement,
    IReadOnlyList<(DateTime From, DateTime To)> deletes)
    : KindCommand
{
    public override bool IsDelete => points.Count == 0;

    public override KindResult Apply(IKindHost host)
    {
        bool exists = host.TryGet(foldedId, out DocumentRecord _);
        if (!exists && !IsDelete)
            throw new DocumentNotFoundException(documentId, "has no time series");
        byte[] prefix = KindKey.TimeSeriesPrefix(foldedId, name);
        bool wasThere = First(host, prefix) is not null;
        foreach ((DateTime from, DateTime to) in deletes)
            Delete(host, prefix, from.Ticks, to.Ticks);
        for (int at = 0; at < points.Count;)
            at = Add(host, prefix, points, at);
        if (exists && wasThere != (First(host, prefix) is not null))
            host.Touch(foldedId);
        return new TimeSeriesResult(
            documentId, host.TryGet(foldedId, out DocumentRecord document) ? host.ChangeVectors.Format(document.Etag) : null);
    }

    /// <summary>Adds the entries, from an index on, that belong to one segment; returns the index of the next.</summary>
    private int Add(IKindHost host, byte[] prefix, IReadOnlyList<TimeSeriesPoint> added, int at)
    {
        KindItems items = host.Kinds.Items;
        byte[]? key = items.SegmentAt(prefix, added[at].Timestamp.Ticks);
        long bound = items.SegmentAfter(prefix, added[at].Timestamp.Ticks) is { } next
            ? TreeNames.EtagOfKey(next)
            : long.MaxValue;
        int end = at;
        while (end < added.Count && added[end].Timestamp.Ticks < bound)
            end++;
        List<TimeSeriesPoint> before = key is null ? [] : Unpack(host, key);
        Put(host, prefix, key, Merge(before, added, at, end));
        return end;
    }

    /// <summary>Replaces a segment by as many segments as the entries need.</summary>
    private void Put(IKindHost host, byte[] prefix, byte[]? key, List<TimeSeriesPoint> merged)
    {
        byte[] spelled = First(host, prefix) is { } first && host.Kinds.TryGet(first, out KindRecord record)
            ? record.Name.ToArray()
            : name;
        if (key is not null && (merged.Count == 0 || merged[0].Timestamp.Ticks < TreeNames.EtagOfKey(key)))
        {
            host.Kinds.Delete(key, host.NextEtag(), host.NowTicks); // it starts earlier now, or is empty
            key = null;
        }

        bool isFirst = true;
        for (int from = 0; from < merged.Count;)
        {
            byte[] packed = TimeSeriesSegment.Pack(merged, from, out int taken);
            byte[] target = isFirst && key is not null ? key : KindKey.OfSegment(prefix, merged[from].Timestamp.Ticks);
            host.Kinds.Put(target, spelled, packed, host.NextEtag(), host.NowTicks);
            isFirst = false;
            from += taken;
        }
    }

    private void Delete(IKindHost host, byte[] prefix, long from, long to)
    {
        KindItems items = host.Kinds.Items;
        for (byte[]? key = items.SegmentAt(prefix, from), next; key is not null && TreeNames.EtagOfKey(key) <= to; key = next)
        {
            next = items.SegmentAfter(prefix, TreeNames.EtagOfKey(key)); // before it is replaced by others
            if (!host.Kinds.TryGet(key, out KindRecord record)
                || new TimeSeriesSegment(record.Value) is var segment && (segment.LastTicks < from || segment.FirstTicks > to))
                continue;
            if (segment.FirstTicks >= from && segment.LastTicks <= to)
            {
                Put(host, prefix, key, []);
                continue;
            }

            List<TimeSeriesPoint> kept = Unpack(host, key);
            if (kept.RemoveAll(point => point.Timestamp.Ticks >= from && point.Timestamp.Ticks <= to) > 0)
                Put(host, prefix, key, kept);
        }
    }

    private List<TimeSeriesPoint> Merge(List<TimeSeriesPoint> before, IReadOnlyList<TimeSeriesPoint> added, int at, int end)
    {
        var merged = new List<TimeSeriesPoint>(before.Count + end - at);
        int old = 0;
        for (; at < end; at++)
        {
            while (old < before.Count && before[old].Timestamp < added[at].Timestamp)
                merged.Add(before[old++]);
            if (merged.Count > 0 && merged[^1].Timestamp == added[at].Timestamp)
            {
                merged[^1] = Sum(merged[^1], added[at]); // the same time twice in one command
                continue;
            }

            bool isSame = old < before.Count && before[old].Timestamp == added[at].Timestamp;
            merged.Add(isSame && isIncrement ? Sum(before[old], added[at]) : added[at]);
            old += isSame ? 1 : 0;
        }

        merged.AddRange(before.Skip(old));
        return merged;
    }

    private TimeSeriesPoint Sum(TimeSeriesPoint one, TimeSeriesPoint other)
    {
        double[] values = new double[Math.Max(one.Values.Count, other.Values.Count)];
        for (int i = 0; i < values.Length; i++)
            values[i] = (i < one.Values.Count ? one.Values[i] : 0) + (i < other.Values.Count ? other.Values[i] : 0);
        var sum = new TimeSeriesPoint(one.Timestamp, values, other.Tag ?? one.Tag);
        sum.Check(documentId, System.Text.Encoding.UTF8.GetString(name));
        return sum;
    }

    private static byte[]? First(IKindHost host, byte[] prefix) => host.Kinds.Items.SegmentAt(prefix, long.MaxValue);

    private static List<TimeSeriesPoint> Unpack(IKindHost host, byte[] key) =>
        host.Kinds.TryGet(key, out KindRecord record) ? new TimeSeriesSegment(record.Value).Unpack() : [];
}
