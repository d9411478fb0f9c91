using System.Globalization;
using System.Text.Json;
using Microsoft.Extensions.Primitives;
using Treepie.Kinds;
using Treepie.Queries;
using Treepie.Server.Http;
using Treepie.Store;

namespace Treepie.Server.Endpoints;

/// <summary>
/// The related data that a load of documents includes: counters, revisions, time series, compare-exchange values, and atomic
/// guards of missing documents.
/// </summary>
internal sealed class BesideIncludes(ServerRequest request, DatabaseSnapshot snapshot, IReadOnlyList<string> ids)
{
    private const string AllCounters = "@all_counters";

    private readonly StringValues _counters = request.Parameters("counter");
    private readonly StringValues _keys = request.Parameters("cmpxchg");
    private readonly StringValues _series = request.Parameters("timeseries");
    private readonly StringValues _seriesTime = request.Parameters("timeseriestime");
    private readonly StringValues _seriesCount = request.Parameters("timeseriescount");
    private readonly StringValues _revisions = request.Parameters("revisions");
    private readonly StringValues _revisionsBefore = request.Parameters("revisionsBefore");

    /// <summary>Whether the session is cluster-wide and needs the indexes of atomic guards.</summary>
    public bool IsClusterWide { get; } = string.Equals(
        request.Parameter("txMode"), "ClusterWide", StringComparison.OrdinalIgnoreCase);

    /// <summary>Whether nothing is to be included.</summary>
    public bool IsEmpty =>
        _counters.Count == 0 && _keys.Count == 0 && _revisions.Count == 0 && _revisionsBefore.Count == 0
        && !HasTimeSeries && !IsClusterWide;

    private bool HasTimeSeries => _series.Count + _seriesTime.Count + _seriesCount.Count > 0;

    /// <summary>
    /// Whether a missing document has a guard, as one that was deleted by a batch that was not cluster-wide.
    /// </summary>
    public bool HasGuardOfMissing => IsClusterWide && MissingGuards().Any();

    /// <summary>Writes the result of <see cref="Read"/> as further members of the response.</summary>
    public Task WriteAsync(BesideIncluded included) =>
        BesideWire.WriteAsync(request, snapshot, included, IsClusterWide ? MissingGuards() : []);

    /// <summary>
    /// Reads the parameters and data; called before the response is started, so that errors can still be returned.
    /// </summary>
    /// <exception cref="WireException">A time or number is not valid.</exception>
    public BesideIncluded Read()
    {
        var included = new BesideIncluded
        {
            HasCounters = _counters.Count > 0,
            HasTimeSeries = HasTimeSeries,
            HasRevisions = _revisions.Count > 0 || _revisionsBefore.Count > 0,
        };
        bool all = _counters.Contains(AllCounters);
        foreach (string id in ids)
        {
            foreach (string? name in _counters)
                included.AddCounter(id, all ? null : name ?? "");
            AddTimeSeries(id, included);
            foreach (string? path in _revisions)
                foreach (string vector in VectorsAt(id, path ?? ""))
                    included.AddRevision(vector);
            foreach (string? text in _revisionsBefore)
                included.AddRevision(id, RevisionsEndpoints.TimeOf(text ?? ""));
        }

        foreach (string? key in _keys)
            included.AddCompareExchange(key ?? "");
        return included;
    }

    private void AddTimeSeries(string id, BesideIncluded included)
    {
        StringValues from = request.Parameters("from"), to = request.Parameters("to");
        for (int i = 0; i < _series.Count; i++)
            included.Add(new TimeSeriesInclude(id, _series[i] ?? "", TimeAt(from, i), TimeAt(to, i)));
        StringValues values = request.Parameters("timeValue"), units = request.Parameters("timeUnit");
        for (int i = 0; i < _seriesTime.Count; i++)
            included.Add(
                new TimeSeriesInclude(
                    id, _seriesTime[i] ?? "",
                    LastTime: TimeSeriesTime.Read(values.ElementAtOrDefault(i), units.ElementAtOrDefault(i))));
        StringValues counts = request.Parameters("countValue");
        for (int i = 0; i < _seriesCount.Count; i++)
            included.Add(
                new TimeSeriesInclude(
                    id, _seriesCount[i] ?? "",
                    LastCount: int.TryParse(
                        counts.ElementAtOrDefault(i), NumberStyles.None, CultureInfo.InvariantCulture, out int count)
                        ? count
                        : throw WireException.BadRequest("Each 'timeseriescount' needs a 'countValue', a whole number.")));
    }

    private static DateTime? TimeAt(StringValues texts, int index) =>
        texts.ElementAtOrDefault(index) is { Length: > 0 } text ? RevisionsEndpoints.TimeOf(text) : null;

    /// <summary>Returns the change vectors in a member of a document: a string or an array of strings.</summary>
    private List<string> VectorsAt(string id, string path)
    {
        if (!snapshot.TryGet(id, out Document document))
            return [];
        using var json = JsonDocument.Parse(
            document.Body.ToArray(), new JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 });
        JsonElement at = json.RootElement;
        foreach (string name in path.Split('.'))
            if (at.ValueKind != JsonValueKind.Object || !at.TryGetProperty(name, out at))
                return [];
        return at.ValueKind switch
        {
            JsonValueKind.String => [at.GetString() ?? ""],
            JsonValueKind.Array => [
                .. at.EnumerateArray()
                    .Where(static item => item.ValueKind == JsonValueKind.String)
                    .Select(static item => item.GetString() ?? "")],
            _ => [],
        };
    }

    private IEnumerable<CompareExchangeValue> MissingGuards() => ids
        .Where(id => !snapshot.TryGet(id, out Document _))
        .Select(id => snapshot.CompareExchange(CompareExchangeValue.AtomicGuardPrefix + id))
        .OfType<CompareExchangeValue>();
}
