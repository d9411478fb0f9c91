using System.Text.Json;
using Treepie.Kinds;
using Treepie.Server.Http;
using Treepie.Writes;

namespace Treepie.Server.BulkInsert;

/// <summary>
/// Reads operations on a time series:
/// <c>{"Name":…,"Appends":[{"Timestamp":…,"Values":[…],"Tag":…}],"Deletes":[{"From":…,"To":…}],"Increments":[…]}</c>, or
/// appends in the form of bulk inserts.
/// </summary>
internal static class TimeSeriesReader
{
    /// <summary>The maximum number of values of all entries in one command.</summary>
    private const int MaxValues = 1_000_000;

    /// <summary>Adds the operations to a batch.</summary>
    public static void Add(WriteBatch batch, string id, ReadOnlyMemory<byte> json)
    {
        if (json.IsEmpty)
            throw WireException.BadRequest(
                $"The time series of document '{id}' lacks 'TimeSeries', an object with 'Name'. Nothing was changed.");
        using var parsed = JsonDocument.Parse(json);
        Add(batch, id, parsed.RootElement);
    }

    /// <summary>Adds the operations to a batch.</summary>
    public static void Add(WriteBatch batch, string id, JsonElement json)
    {
        (string name, List<TimeSeriesPoint> points, List<(DateTime From, DateTime To)> deletes) = Read(id, json);
        batch.TimeSeries(id, name, points, deletes);
    }

    /// <summary>Reads the operations.</summary>
    public static (string Name, List<TimeSeriesPoint> Points, List<(DateTime From, DateTime To)> Deletes) Read(
        string id, JsonElement json)
    {
        if (json.ValueKind != JsonValueKind.Object)
            throw WireException.BadRequest(
                $"The operation on a time series of document '{id}' is a JSON {json.ValueKind}; expected is an object. Nothing "
                    + $"was changed.");
        string name = WireJson.Text(json, "Name", required: true) ?? "";
        var points = new List<TimeSeriesPoint>();
        bool isIncremental = name.StartsWith("INC:", StringComparison.OrdinalIgnoreCase);
        int values = 0;
        foreach ((string member, bool increments) in ((string, bool)[])[("Appends", false), ("Increments", true)])
        {
            foreach (JsonElement item in Items(json, member, id, name))
            {
                if (increments != isIncremental)
                    throw WireException.BadRequest(
                        $"'{member}' of the time series '{name}' of document '{id}': a series whose name begins with 'INC:' "
                            + $"takes increments, any other one appends. Nothing was changed.");
                TimeSeriesPoint point = item.ValueKind == JsonValueKind.Array
                    ? ReadShort(item, id, name)
                    : ReadLong(item, id, name);
                points.Add(point);
                if ((values += point.Values.Count) > MaxValues)
                    throw WireException.TooLarge(
                        $"The time series '{name}' of document '{id}' has more than {MaxValues:N0} values in one command, the "
                            + $"limit. Nothing was changed.");
            }
        }

        List<(DateTime, DateTime)> deletes = [
            .. Items(json, "Deletes", id, name)
                .Select(range => (Time(range, "From") ?? DateTime.MinValue, Time(range, "To") ?? DateTime.MaxValue))];
        return (name, points, deletes);
    }

    private static JsonElement.ArrayEnumerator Items(JsonElement json, string member, string id, string name)
    {
        if (!json.TryGetProperty(member, out JsonElement given) || given.ValueKind == JsonValueKind.Null)
            return default;
        return given.ValueKind == JsonValueKind.Array
            ? given.EnumerateArray()
            : throw WireException.BadRequest(
                $"'{member}' of the time series '{name}' of document '{id}' is a JSON {given.ValueKind}; expected is an array. "
                    + $"Nothing was changed.");
    }

    private static TimeSeriesPoint ReadLong(JsonElement item, string id, string name)
    {
        if (item.ValueKind != JsonValueKind.Object
            || Time(item, "Timestamp") is not { } time
            || !item.TryGetProperty("Values", out JsonElement values)
            || values.ValueKind != JsonValueKind.Array)
            throw WireException.BadRequest(
                $"An entry of the time series '{name}' of document '{id}' lacks 'Timestamp' or 'Values'. Nothing was changed.");
        return new TimeSeriesPoint(
            time, [.. values.EnumerateArray().Select(value => Number(value, id, name))],
            WireJson.Text(item, "Tag", required: false));
    }

    /// <summary>
    /// Reads an entry of a bulk insert: milliseconds since 1970, number of values, the values, and an optional tag.
    /// </summary>
    private static TimeSeriesPoint ReadShort(JsonElement item, string id, string name)
    {
        int length = item.GetArrayLength();
        if (length < 3
            || !item[0].TryGetInt64(out long milliseconds)
            || !item[1].TryGetInt32(out int count)
            || count < 1
            || length - 2 - count is not (0 or 1)
            || milliseconds < -62_135_596_800_000 || milliseconds > 253_402_300_799_999)
            throw WireException.BadRequest(
                $"An entry of the time series '{name}' of document '{id}' is {item.GetRawText()}; expected is [milliseconds, "
                    + $"count, values…, tag]. Nothing was changed.");
        double[] values = new double[count];
        for (int i = 0; i < count; i++)
            values[i] = Number(item[2 + i], id, name);
        return new TimeSeriesPoint(
            DateTime.UnixEpoch.AddMilliseconds(milliseconds), values,
            length == count + 3 ? WireJson.Text(item[length - 1], "Tag") : null);
    }

    private static double Number(JsonElement value, string id, string name) =>
        value.ValueKind == JsonValueKind.Number && value.TryGetDouble(out double number) && double.IsFinite(number)
            ? number
            : throw WireException.BadRequest(
                $"A value of the time series '{name}' of document '{id}' is {value.GetRawText()}; expected is a finite number. "
                    + $"Nothing was changed.");

    private static DateTime? Time(JsonElement json, string member)
    {
        if (json.ValueKind != JsonValueKind.Object
            || !json.TryGetProperty(member, out JsonElement given)
            || given.ValueKind == JsonValueKind.Null)
            return null;
        return given.ValueKind == JsonValueKind.String && WireTime.TryParseTime(given.GetString() ?? "", out DateTime time)
            ? time
            : throw WireException.BadRequest(
                $"'{member}' of a time series is {given.GetRawText()}; expected is a time like 2030-01-31T12:00:00.0000000Z. "
                    + $"Nothing was changed.");
    }
}
