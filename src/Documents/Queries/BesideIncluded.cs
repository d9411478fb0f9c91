using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// The related data that the results of a query include: counters, time series, compare-exchange values and revisions. Holds only
/// their names; the values are read when they are written. Not thread-safe.
/// </summary>
public sealed class BesideIncluded
{
    /// <summary>The maximum number of included values per query; their names are held until the results are written.</summary>
    public const int MaxIncludes = 1_000_000;

    /// <summary>More than any change vector has, in characters.</summary>
    private const int MostChangeVectorLength = 4096;

    private readonly Dictionary<string, CounterNames> _counters = new(StringComparer.OrdinalIgnoreCase);
    private readonly HashSet<TimeSeriesInclude> _series = [];
    private readonly HashSet<string> _keys = new(StringComparer.OrdinalIgnoreCase);
    private readonly HashSet<string> _revisions = new(StringComparer.Ordinal);
    private readonly HashSet<(string Id, DateTime Before)> _revisionsBefore = [];
    private int _count;

    /// <summary>Whether counters are included, even if no document has any.</summary>
    public bool HasCounters { get; init; }

    /// <summary>Whether time series are included, even if no document has any.</summary>
    public bool HasTimeSeries { get; init; }

    /// <summary>Whether compare-exchange values are included, even if there are none.</summary>
    public bool HasCompareExchange { get => field || _keys.Count > 0; init; }

    /// <summary>Whether revisions are included, even if no document has any.</summary>
    public bool HasRevisions { get => field || _revisions.Count > 0; init; }

    /// <summary>The names of included counters by document; an empty list means all of them.</summary>
    public IEnumerable<(string DocumentId, IReadOnlyCollection<string> Names)> Counters =>
        _counters.Select(static one => (one.Key, (IReadOnlyCollection<string>)(one.Value.IsAll ? [] : one.Value.Names)));

    /// <summary>The included ranges of time series.</summary>
    public IReadOnlyCollection<TimeSeriesInclude> TimeSeries => _series;

    /// <summary>The keys of included compare-exchange values.</summary>
    public IReadOnlyCollection<string> CompareExchangeKeys => _keys;

    /// <summary>The change vectors of included revisions.</summary>
    public IReadOnlyCollection<string> Revisions => _revisions;

    /// <summary>The documents whose revisions are included, with the point in time of each.</summary>
    public IReadOnlyCollection<(string DocumentId, DateTime Before)> RevisionsBefore => _revisionsBefore;

    /// <summary>Includes a counter of a document. Null: all of them.</summary>
    public void AddCounter(string documentId, string? name)
    {
        if (!_counters.TryGetValue(documentId, out CounterNames? names))
            _counters[documentId] = names = new CounterNames();
        names.IsAll |= name is null;
        Count(name is null || names.Names.Add(name));
    }

    /// <summary>Includes a range of a time series.</summary>
    public void Add(TimeSeriesInclude include) => Count(_series.Add(include));

    /// <summary>Includes a compare-exchange value.</summary>
    public void AddCompareExchange(string key)
    {
        if (key.Length <= KindNames.MaxBytes) // a longer one is nobody's
            Count(_keys.Add(key));
    }

    /// <summary>Includes the revision with the specified change vector.</summary>
    public void AddRevision(string changeVector)
    {
        if (changeVector.Length <= MostChangeVectorLength)
            Count(_revisions.Add(changeVector));
    }

    /// <summary>Includes the revision of a document that was current at a point in time.</summary>
    public void AddRevision(string documentId, DateTime before) => Count(_revisionsBefore.Add((documentId, before)));

    private void Count(bool isNew)
    {
        if (isNew && ++_count > MaxIncludes)
            throw new InvalidQueryException(
                $"The answer brings along more than {MaxIncludes:N0} counters, time series, revisions and compare-exchange "
                    + $"values. Ask for fewer results at a time.");
    }

    private sealed class CounterNames
    {
        public bool IsAll { get; set; }

        public HashSet<string> Names { get; } = new(StringComparer.OrdinalIgnoreCase);
    }
}
