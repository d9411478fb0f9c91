namespace Treepie.Queries;

/// <summary>
/// What results bring along that lies beside documents, by what was asked for; the values themselves are read when they are
/// written. Not thread-safe.
/// </summary>
public sealed class BesideIncluded
{
    /// <summary>Most values that an answer brings along: what they are called is kept until the results are written.</summary>
    public const int MaxIncludes = 1_000_000;

    private readonly Dictionary<string, CounterNames> _counters = new(StringComparer.OrdinalIgnoreCase);
    private readonly HashSet<TimeSeriesInclude> _series = [];
    private readonly HashSet<string> _keys = new(StringComparer.OrdinalIgnoreCase);
    private readonly HashSet<string> _revisions = new(StringComparer.Ordinal);
    private readonly HashSet<(string Id, DateTime Before)> _revisionsBefore = [];
    private int _count;

    /// <summary>Whether counters are asked for, be it of no document.</summary>
    public bool HasCounters { get; init; }

    /// <summary>Whether time series are asked for, be it of no document.</summary>
    public bool HasTimeSeries { get; init; }

    /// <summary>Whether compare-exchange values are asked for, be it none.</summary>
    public bool HasCompareExchange { get; init; }

    /// <summary>Whether revisions are asked for, be it of no document.</summary>
    public bool HasRevisions { get; init; }

    /// <summary>Names of counters by document; none: all it has.</summary>
    public IEnumerable<(string DocumentId, IReadOnlyCollection<string> Names)> Counters =>
        _counters.Select(static one => (one.Key, (IReadOnlyCollection<string>)(one.Value.IsAll ? [] : one.Value.Names)));

    /// <summary>Ranges of time series.</summary>
    public IReadOnlyCollection<TimeSeriesInclude> TimeSeries => _series;

    /// <summary>Keys of compare-exchange values.</summary>
    public IReadOnlyCollection<string> CompareExchangeKeys => _keys;

    /// <summary>Change vectors of revisions.</summary>
    public IReadOnlyCollection<string> Revisions => _revisions;

    /// <summary>Documents, and times at which their revisions are wanted.</summary>
    public IReadOnlyCollection<(string DocumentId, DateTime Before)> RevisionsBefore => _revisionsBefore;

    /// <summary>Asks for a counter of a document; null: for all of them.</summary>
    public void AddCounter(string documentId, string? name)
    {
        if (!_counters.TryGetValue(documentId, out CounterNames? names))
            _counters[documentId] = names = new CounterNames();
        names.IsAll |= name is null;
        Count(name is null || names.Names.Add(name));
    }

    /// <summary>Asks for a range of a time series.</summary>
    public void Add(TimeSeriesInclude include) => Count(_series.Add(include));

    /// <summary>Asks for a compare-exchange value.</summary>
    public void AddCompareExchange(string key) => Count(_keys.Add(key));

    /// <summary>Asks for the revision of a change vector.</summary>
    public void AddRevision(string changeVector) => Count(_revisions.Add(changeVector));

    /// <summary>Asks for the revision that a document had at a time.</summary>
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
