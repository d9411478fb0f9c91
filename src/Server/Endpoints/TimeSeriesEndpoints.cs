using System.Buffers;
using System.Text.Json;
using Microsoft.Extensions.Primitives;
using Treepie.Kinds;
using Treepie.Server.BulkInsert;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>Time series of documents: reading a range of one, ranges of several, or statistics, and changing one.</summary>
internal static class TimeSeriesEndpoints
{
    /// <summary>The beginning of the names of incremental series.</summary>
    private const string IncrementalPrefix = "INC:";

    private const int EntriesPerStep = 128;

    /// <summary>Answers with more entries count as streams.</summary>
    private const int LongEntries = 20_000;

    public static void Map(Routes routes)
    {
        routes.Database("GET", "/timeseries", AccessLevel.DatabaseRead, Get);
        routes.Database("GET", "/timeseries/ranges", AccessLevel.DatabaseRead, Ranges);
        routes.Database("GET", "/timeseries/stats", AccessLevel.DatabaseRead, Statistics);
        routes.Database("POST", "/timeseries", AccessLevel.DatabaseReadWrite, Post);
    }

    private static async Task Get(HttpServerRequest request, Database database)
    {
        (string id, string name) = (request.RequiredParameter("docId"), request.RequiredParameter("name"));
        TimeSeriesRange range = RangeOf(request, request.Parameter("from"), request.Parameter("to"), name);
        using DatabaseSnapshot snapshot = database.BeginRead();
        if (snapshot.TimeSeriesOf(id).FirstOrDefault(series => IsNamed(series, name)) is not { } known)
        {
            request.EndEmpty(StatusCodes.Status404NotFound);
            return;
        }

        BecomeStreamIfLong(request, [known], [range]);
        request.BeginJsonBody();
        await WriteAsync(request, snapshot, id, range).ConfigureAwait(false);
    }

    private static async Task Ranges(HttpServerRequest request, Database database)
    {
        string id = request.RequiredParameter("docId");
        StringValues names = request.Parameters("name"), from = request.Parameters("from"), to = request.Parameters("to");
        if (names.Count != from.Count || names.Count != to.Count)
            throw WireException.BadRequest("Each 'name' needs a 'from' and a 'to', which may be empty.");
        List<TimeSeriesRange> ranges = [
            .. Enumerable.Range(0, names.Count).Select(i => RangeOf(request, from[i], to[i], names[i] ?? ""))];
        using DatabaseSnapshot snapshot = database.BeginRead();
        BecomeStreamIfLong(request, snapshot.TimeSeriesOf(id), ranges);
        ResponseBody output = request.BeginJsonBody();
        output.Write("{\"Id\":"u8);
        output.WriteString(id);
        output.Write(",\"Values\":"u8);
        await WriteAsync(request, snapshot, id, ranges.GroupBy(static range => range.Name, StringComparer.OrdinalIgnoreCase))
            .ConfigureAwait(false);
        output.Write("}"u8);
    }

    /// <summary>Counts long answers as streams, which have limits of their own.</summary>
    private static void BecomeStreamIfLong(
        HttpServerRequest request, IReadOnlyList<TimeSeriesStatistics> known, IReadOnlyList<TimeSeriesRange> ranges)
    {
        long entries = ranges.Sum(
            range => Math.Min(range.Size, known.FirstOrDefault(one => IsNamed(one, range.Name))?.Count ?? 0));
        if (entries > LongEntries)
            request.BecomeStream();
    }

    private static bool IsNamed(TimeSeriesStatistics series, string name) =>
        string.Equals(series.Name, name, StringComparison.OrdinalIgnoreCase);

    private static Task Statistics(HttpServerRequest request, Database database)
    {
        string id = request.RequiredParameter("docId");
        using DatabaseSnapshot snapshot = database.BeginRead();
        if (!snapshot.TryGet(id, out Document _))
        {
            request.EndEmpty(StatusCodes.Status404NotFound);
            return Task.CompletedTask;
        }

        return request.JsonAsync((id, Series: snapshot.TimeSeriesOf(id)), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteString("DocumentId", state.id);
            json.WriteStartArray("TimeSeries");
            foreach (TimeSeriesStatistics series in state.Series)
            {
                json.WriteStartObject();
                json.WriteString("Name", series.Name);
                json.WriteNumber("NumberOfEntries", series.Count);
                json.WriteString("StartDate", WireTime.ToWire(series.First));
                json.WriteString("EndDate", WireTime.ToWire(series.Last));
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    private static async Task Post(HttpServerRequest request, Database database)
    {
        string id = request.RequiredParameter("docId");
        using var batch = new WriteBatch(database.Options);
        using (RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "{\"Name\":…,\"Appends\":[…]}"))
            TimeSeriesReader.Add(batch, id, json.RootElement);
        await database.WriteAsync(batch, request.Aborted).ConfigureAwait(false);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static TimeSeriesRange RangeOf(HttpServerRequest request, string? from, string? to, string name)
    {
        var range = new TimeSeriesRange(
            name, string.IsNullOrEmpty(from) ? DateTime.MinValue : RevisionsEndpoints.TimeOf(from),
            string.IsNullOrEmpty(to) ? DateTime.MaxValue : RevisionsEndpoints.TimeOf(to),
            (int)Math.Clamp(request.Number("start", 0), 0, int.MaxValue),
            (int)Math.Clamp(request.Number("pageSize", int.MaxValue), 0, int.MaxValue),
            (request.Flag("includeDocument") ? TimeSeriesExtras.Document : TimeSeriesExtras.None)
                | (request.Flag("includeTags") ? TimeSeriesExtras.Tags : TimeSeriesExtras.None)
                | (request.Flag("full") ? TimeSeriesExtras.NodeValues : TimeSeriesExtras.None));
        return range.From <= range.To
            ? range
            : throw WireException.BadRequest($"The range of the time series '{name}' ends before it begins.");
    }

    /// <summary>Writes ranges of a document by the names of their series.</summary>
    public static async Task WriteAsync(
        ServerRequest request, DatabaseSnapshot snapshot, string id, IEnumerable<IGrouping<string, TimeSeriesRange>> ranges)
    {
        ResponseBody output = request.Output;
        output.Write("{"u8);
        bool isFirst = true;
        foreach (IGrouping<string, TimeSeriesRange> series in ranges)
        {
            output.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            output.WriteString(series.Key);
            bool isBegun = false;
            foreach (TimeSeriesRange range in series)
            {
                output.Write(isBegun ? ","u8 : ":["u8);
                isBegun = true;
                await WriteAsync(request, snapshot, id, range).ConfigureAwait(false);
            }

            output.Write("]"u8);
        }

        output.Write("}"u8);
    }

    /// <summary>Writes a range, a few entries at a time: a series may be longer than memory.</summary>
    private static async Task WriteAsync(ServerRequest request, DatabaseSnapshot snapshot, string id, TimeSeriesRange range)
    {
        bool isWhole = range.From == DateTime.MinValue && range.To == DateTime.MaxValue;
        using var json = new Utf8JsonWriter((IBufferWriter<byte>)request.Output);
        json.WriteStartObject();
        json.WriteString("From", WireTime.ToWire(range.From));
        json.WriteString("To", WireTime.ToWire(range.To));
        if (isWhole)
            json.WriteNumber(
                "TotalResults", snapshot.TimeSeriesOf(id).FirstOrDefault(series => IsNamed(series, range.Name))?.Count ?? 0);
        bool isRollUp = range.Name.Contains(TimeSeriesPolicy.Separator, StringComparison.Ordinal),
            hasNodes = range.Extras.HasFlag(TimeSeriesExtras.NodeValues)
                && range.Name.StartsWith(IncrementalPrefix, StringComparison.OrdinalIgnoreCase);
        HashSet<string>? tags = range.Extras.HasFlag(TimeSeriesExtras.Tags)
            ? new HashSet<string>(StringComparer.OrdinalIgnoreCase)
            : null;
        json.WriteStartArray("Entries");
        int written = 0;
        foreach (TimeSeriesPoint point in snapshot.TimeSeries(id, range.Name, range.From, range.To)
            .Skip(range.Start)
            .Take(range.Size))
        {
            json.WriteStartObject();
            json.WriteString("Timestamp", WireTime.ToWire(point.Timestamp));
            json.WriteString("Tag", point.Tag);
            WriteValues(json, "Values", point);
            json.WriteBoolean("IsRollup", isRollUp);
            if (hasNodes)
            {
                json.WriteStartObject("NodeValues");
                WriteValues(json, TopologyEndpoints.NodeTag, point); // the only node has added up all of them
                json.WriteEndObject();
            }

            json.WriteEndObject();
            if (point.Tag is { Length: > 0 } tag && tags?.Count < request.Server.Limits.MaxCommandsPerRequest)
                tags.Add(tag);
            if (++written % EntriesPerStep != 0)
                continue;
            json.Flush(); // to the output, which flushes to the client
            await request.PauseAsync().ConfigureAwait(false);
        }

        json.WriteEndArray();
        json.Flush();
        if (range.Extras.HasFlag(TimeSeriesExtras.Document) || tags is not null)
            await WriteIncludesAsync(
                request, snapshot, range.Extras.HasFlag(TimeSeriesExtras.Document) ? [id, .. tags ?? []] : tags ?? [])
                .ConfigureAwait(false);
        request.Output.Write("}"u8);
    }

    private static void WriteValues(Utf8JsonWriter json, string name, TimeSeriesPoint point)
    {
        json.WriteStartArray(name);
        foreach (double value in point.Values)
            json.WriteNumberValue(value);
        json.WriteEndArray();
    }

    /// <summary>Writes those of the documents that exist: a tag need not be an id.</summary>
    private static async Task WriteIncludesAsync(ServerRequest request, DatabaseSnapshot snapshot, IEnumerable<string> ids)
    {
        ResponseBody output = request.Output;
        output.Write(",\"Includes\":{"u8);
        bool isFirst = true;
        foreach (string id in ids)
        {
            if (!snapshot.TryGet(id, out Document document))
                continue;
            output.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            output.WriteString(id);
            output.Write(":"u8);
            document.WriteTo(output);
            await request.PauseAsync().ConfigureAwait(false);
        }

        output.Write("}"u8);
    }
}
