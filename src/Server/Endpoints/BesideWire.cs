using System.Text.Json;
using Treepie.Kinds;
using Treepie.Queries;
using Treepie.Server.Http;
using Treepie.Store;

namespace Treepie.Server.Endpoints;

/// <summary>Writes the related data included with documents, as further members of a response.</summary>
internal static class BesideWire
{
    /// <summary>Writes the included data: only the requested members.</summary>
    /// <param name="request">The request.</param>
    /// <param name="snapshot">The snapshot to read from.</param>
    /// <param name="included">The data to include.</param>
    /// <param name="guards">Atomic guards to write with the compare-exchange values.</param>
    public static async Task WriteAsync(
        ServerRequest request, DatabaseSnapshot snapshot, BesideIncluded included, IEnumerable<CompareExchangeValue> guards)
    {
        if (included.HasCounters)
            await WriteCountersAsync(request, snapshot, included).ConfigureAwait(false);
        if (included.HasTimeSeries)
            await WriteTimeSeriesAsync(request, snapshot, included).ConfigureAwait(false);
        if (included.HasRevisions)
            await WriteRevisionsAsync(request, snapshot, included).ConfigureAwait(false);
        List<(string Key, CompareExchangeValue? Value)> values =
            [.. included.CompareExchangeKeys.Select(key => (key, snapshot.CompareExchange(key)))];
        values.AddRange(guards.Select(static guard => (guard.Key, (CompareExchangeValue?)guard)));
        if (included.HasCompareExchange || values.Count > 0)
            await WriteCompareExchangeAsync(request, values).ConfigureAwait(false);
    }

    private static async Task WriteCompareExchangeAsync(
        ServerRequest request, List<(string Key, CompareExchangeValue? Value)> values)
    {
        ResponseBody output = request.Output;
        output.Write(",\"CompareExchangeValueIncludes\":{"u8);
        for (int i = 0; i < values.Count; i++)
        {
            if (i > 0)
                output.Write(","u8);
            output.WriteString(values[i].Key);
            output.Write(":"u8);
            KindWire.WriteCompareExchange(output, values[i].Key, values[i].Value);
            await request.PauseAsync().ConfigureAwait(false);
        }

        output.Write("}"u8);
    }

    private static async Task WriteRevisionsAsync(ServerRequest request, DatabaseSnapshot snapshot, BesideIncluded included)
    {
        ResponseBody output = request.Output;
        output.Write(",\"RevisionIncludes\":["u8);
        bool first = true;
        IEnumerable<(Revision? Revision, DateTime? Before)> revisions =
        [
            .. included.Revisions.Select(vector => (snapshot.RevisionOf(vector), (DateTime?)null)),
            .. included.RevisionsBefore.Select(
                one => (snapshot.RevisionBefore(one.DocumentId, one.Before), (DateTime?)one.Before)),
        ];
        foreach ((Revision? revision, DateTime? before) in revisions)
        {
            if (revision is null)
                continue;
            output.Write(first ? "{\"Id\":"u8 : ",{\"Id\":"u8);
            first = false;
            output.WriteString(revision.Id);
            output.Write(",\"ChangeVector\":"u8);
            output.WriteString(revision.ChangeVector);
            output.Write(",\"Before\":"u8);
            if (before is { } time)
                output.WriteString(WireTime.ToWire(time));
            else
                output.Write("null"u8);
            output.Write(",\"Revision\":"u8);
            revision.WriteTo(output);
            output.Write("}"u8);
            await request.PauseAsync().ConfigureAwait(false);
        }

        output.Write("]"u8);
    }

    private static async Task WriteCountersAsync(ServerRequest request, DatabaseSnapshot snapshot, BesideIncluded included)
    {
        ResponseBody output = request.Output;
        output.Write(",\"CounterIncludes\":{"u8);
        bool first = true;
        foreach ((string id, IReadOnlyCollection<string> names) in included.Counters)
        {
            output.Write(first ? ""u8 : ","u8);
            first = false;
            output.WriteString(id);
            output.Write(":"u8);
            using (var json = new Utf8JsonWriter(output))
                WriteCounters(
                    json, names.Count == 0 ? snapshot.Counters(id) : names.Select(name => snapshot.Counter(id, name)));
            await request.PauseAsync().ConfigureAwait(false);
        }

        output.Write("},\"IncludedCounterNames\":"u8);
        using (var json = new Utf8JsonWriter(output))
        {
            json.WriteStartObject();
            foreach ((string id, IReadOnlyCollection<string> names) in included.Counters)
                json.WriteTexts(id, [.. names]);
            json.WriteEndObject();
        }
    }

    private static void WriteCounters(Utf8JsonWriter json, IEnumerable<CounterValue?> counters)
    {
        json.WriteStartArray();
        foreach (CounterValue? counter in counters)
        {
            if (counter is null)
                json.WriteNullValue();
            else
                KindWire.WriteCounter(json, counter, full: false);
        }

        json.WriteEndArray();
    }

    private static async Task WriteTimeSeriesAsync(ServerRequest request, DatabaseSnapshot snapshot, BesideIncluded included)
    {
        ResponseBody output = request.Output;
        output.Write(",\"TimeSeriesIncludes\":{"u8);
        bool first = true;
        foreach (IGrouping<string, TimeSeriesInclude> document in included.TimeSeries.GroupBy(
            static include => include.DocumentId, StringComparer.OrdinalIgnoreCase))
        {
            output.Write(first ? ""u8 : ","u8);
            first = false;
            output.WriteString(document.Key);
            output.Write(":"u8);
            await TimeSeriesEndpoints.WriteAsync(request, snapshot, document.Key, RangesOf(snapshot, document))
                .ConfigureAwait(false);
            await request.PauseAsync().ConfigureAwait(false);
        }

        output.Write("}"u8);
    }

    /// <summary>Returns the ranges of a document that are included, by the names of their series.</summary>
    private static IEnumerable<IGrouping<string, TimeSeriesRange>> RangesOf(
        DatabaseSnapshot snapshot, IGrouping<string, TimeSeriesInclude> document)
    {
        IReadOnlyList<TimeSeriesStatistics> known = snapshot.TimeSeriesOf(document.Key);
        return document
            .SelectMany(
                include => include.Name == TimeSeriesInclude.AllNames
                    ? known.Select(one => include with { Name = one.Name })
                    : [include])
            .Select(
                include => RangeOf(
                    snapshot, include,
                    known.FirstOrDefault(one => string.Equals(one.Name, include.Name, StringComparison.OrdinalIgnoreCase))))
            .GroupBy(static range => range.Name, StringComparer.OrdinalIgnoreCase);
    }

    private static TimeSeriesRange RangeOf(DatabaseSnapshot snapshot, TimeSeriesInclude include, TimeSeriesStatistics? known)
    {
        var range = new TimeSeriesRange(
            include.Name, include.From ?? DateTime.MinValue, include.To ?? DateTime.MaxValue, 0, int.MaxValue);
        if (known is null)
            return range;
        if (include.LastTime is { } time)
            return range with { From = time.Before(known.Last) };
        if (include.LastCount is not { } count || count >= known.Count)
            return range;

        // Clients take a range for all that there is between its ends, so it begins with its first entry.
        IEnumerable<TimeSeriesPoint> kept = count > 0
            ? snapshot.TimeSeries(include.DocumentId, include.Name).Skip((int)Math.Min(known.Count - count, int.MaxValue))
            : [];
        return range with { From = kept.Select(static point => point.Timestamp).FirstOrDefault(DateTime.MaxValue) };
    }
}
