using Treepie.Kinds;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// Related data included by results, as of that time: reads of the session that it can answer do not access the database. It is
/// discarded by the next save that changes related data of the same kind.
/// </summary>
internal sealed class IncludedBeside
{
    /// <summary>The maximum number of values that are kept; further values are read when needed.</summary>
    private const int MaxValues = 1_000_000;

    private readonly Dictionary<string, OfDocument> _documents = new(IdComparer.Instance);
    private readonly Dictionary<string, CompareExchangeValue?> _keys = new(StringComparer.OrdinalIgnoreCase);
    private readonly Dictionary<string, Revision?> _revisions = new(StringComparer.Ordinal);
    private int _count;

    /// <summary>Keeps the related data that results include.</summary>
    public void Keep(BesideIncluded included, DatabaseSnapshot snapshot)
    {
        foreach ((string id, IReadOnlyCollection<string> names) in included.Counters)
            KeepCounters(id, names, snapshot);
        foreach (TimeSeriesInclude include in included.TimeSeries)
            KeepSeries(include, snapshot);
        foreach (string key in included.CompareExchangeKeys)
            if (HasRoom(1))
                _keys[key] = snapshot.CompareExchange(key);
        foreach (string changeVector in included.Revisions)
            if (HasRoom(1))
                _revisions[changeVector] = snapshot.RevisionOf(changeVector);
        foreach ((string id, DateTime before) in included.RevisionsBefore)
            if (HasRoom(1))
                Of(id).Revisions[before] = snapshot.RevisionBefore(id, before);
    }

    /// <summary>Discards the related data of a document.</summary>
    public void Forget(string documentId) => _documents.Remove(documentId);

    /// <summary>Discards which revisions a document had at points in time.</summary>
    public void ForgetRevisions(string documentId) => _documents.GetValueOrDefault(documentId)?.Revisions.Clear();

    public bool TryCounter(string documentId, string name, out long? value)
    {
        value = null;
        return _documents.TryGetValue(documentId, out OfDocument? document)
            && (document.Counters.TryGetValue(name, out value) || document.HasAllCounters);
    }

    public IReadOnlyDictionary<string, long>? AllCounters(string documentId) =>
        _documents.TryGetValue(documentId, out OfDocument? document) && document.HasAllCounters
            ? document.Counters.Where(static counter => counter.Value is not null)
                .ToDictionary(static counter => counter.Key, static counter => counter.Value!.Value, document.Counters.Comparer)
            : null;

    /// <summary>Returns the entries of a range of a time series; null if not all of it was included.</summary>
    public IEnumerable<TimeSeriesPoint>? Series(string documentId, string name, DateTime? from, DateTime? to)
    {
        if (!_documents.TryGetValue(documentId, out OfDocument? document))
            return null;
        if (!document.Series.TryGetValue(name, out List<Range>? ranges))
            return document.HasAllSeries ? [] : null;
        (DateTime first, DateTime last) = (from ?? DateTime.MinValue, to ?? DateTime.MaxValue);
        return ranges.Find(range => range.From <= first && range.To >= last) is { } found
            ? found.Points.Where(point => point.Timestamp >= first && point.Timestamp <= last)
            : null;
    }

    public bool TryCompareExchange(string key, out CompareExchangeValue? value) => _keys.TryGetValue(key, out value);

    public bool TryRevision(string changeVector, out Revision? revision) => _revisions.TryGetValue(changeVector, out revision);

    public bool TryRevision(string documentId, DateTime before, out Revision? revision)
    {
        revision = null;
        return _documents.TryGetValue(documentId, out OfDocument? document)
            && document.Revisions.TryGetValue(before, out revision);
    }

    private void KeepCounters(string id, IReadOnlyCollection<string> names, DatabaseSnapshot snapshot)
    {
        if (names.Count > 0)
        {
            foreach (string name in names)
                if (HasRoom(1))
                    Of(id).Counters[name] = snapshot.Counter(id, name)?.Value;
            return;
        }

        CounterValue[] all = [.. snapshot.Counters(id)];
        if (!HasRoom(all.Length))
            return;
        OfDocument document = Of(id);
        document.Counters.Clear();
        document.HasAllCounters = true;
        foreach (CounterValue counter in all)
            document.Counters[counter.Name] = counter.Value;
    }

    private void KeepSeries(TimeSeriesInclude include, DatabaseSnapshot snapshot)
    {
        if (include.Name == TimeSeriesInclude.AllNames)
        {
            bool fits = true;
            foreach (TimeSeriesStatistics series in snapshot.TimeSeriesOf(include.DocumentId))
                fits &= TryKeepSeries(include with { Name = series.Name }, snapshot, series);
            Of(include.DocumentId).HasAllSeries |= fits && include is { From: null, To: null };
        }
        else
        {
            TryKeepSeries(
                include, snapshot,
                include.LastCount is null && include.LastTime is null
                    ? null
                    : snapshot.TimeSeriesOf(include.DocumentId)
                        .FirstOrDefault(one => string.Equals(one.Name, include.Name, StringComparison.OrdinalIgnoreCase)));
        }
    }

    /// <param name="include">The range.</param>
    /// <param name="snapshot">The snapshot to read from.</param>
    /// <param name="known">The statistics of the series, if it exists.</param>
    private bool TryKeepSeries(TimeSeriesInclude include, DatabaseSnapshot snapshot, TimeSeriesStatistics? known)
    {
        (DateTime from, DateTime to) = (include.From ?? DateTime.MinValue, include.To ?? DateTime.MaxValue);
        if (known is not null && include.LastTime is { } time)
            from = time.Before(known.Last);
        IEnumerable<TimeSeriesPoint> points = snapshot.TimeSeries(include.DocumentId, include.Name, from, to);
        long passed = known is not null && include.LastCount is { } last ? Math.Max(0, known.Count - last) : 0;
        TimeSeriesPoint[] kept =
            [.. (passed > 0 ? points.Skip((int)Math.Min(passed, int.MaxValue)) : points).Take(MaxValues + 1 - _count)];
        if (!HasRoom(kept.Length))
            return false;
        if (passed > 0)
            from = kept[0].Timestamp; // not empty: the series has more entries than requested
        OfDocument document = Of(include.DocumentId);
        if (!document.Series.TryGetValue(include.Name, out List<Range>? ranges))
            document.Series[include.Name] = ranges = [];
        ranges.Insert(0, new Range(from, to, kept)); // the newest range is found first
        return true;
    }

    private bool HasRoom(int values)
    {
        if (_count + values > MaxValues)
            return false;
        _count += values;
        return true;
    }

    private OfDocument Of(string id)
    {
        if (!_documents.TryGetValue(id, out OfDocument? document))
            _documents[id] = document = new OfDocument();
        return document;
    }

    private sealed class OfDocument
    {
        public Dictionary<string, long?> Counters { get; } = new(StringComparer.OrdinalIgnoreCase);

        public bool HasAllCounters { get; set; }

        public Dictionary<string, List<Range>> Series { get; } = new(StringComparer.OrdinalIgnoreCase);

        public bool HasAllSeries { get; set; }

        public Dictionary<DateTime, Revision?> Revisions { get; } = [];
    }

    private sealed record Range(DateTime From, DateTime To, TimeSeriesPoint[] Points);
}
