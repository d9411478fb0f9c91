using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>Finds segments of time series, and reads entries from them.</summary>
internal static class KindSegments
{
    /// <summary>Returns the entries of a time series within a range, both ends included, in order.</summary>
    public static IEnumerable<TimeSeriesPoint> TimeSeries(
        this KindItems items, byte[] foldedId, string name, DateTime from, DateTime to)
    {
        byte[] prefix = KindKey.TimeSeriesPrefix(foldedId, System.Text.Encoding.UTF8.GetBytes(name));
        for (byte[]? key = items.SegmentAt(prefix, from.Ticks);
             key is not null && (TreeNames.EtagOfKey(key) <= to.Ticks);
             key = items.SegmentAfter(prefix, TreeNames.EtagOfKey(key)))
            foreach (TimeSeriesPoint point in Unpack(items, key))
                if (point.Timestamp >= from && point.Timestamp <= to)
                    yield return point;
    }

    private static List<TimeSeriesPoint> Unpack(KindItems items, byte[] key) =>
        items.TryGet(key, out KindRecord record) ? new TimeSeriesSegment(record.Value).Unpack() : [];
}
