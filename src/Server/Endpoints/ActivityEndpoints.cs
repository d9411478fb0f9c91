using System.Text.Json;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Server.Telemetry;

namespace Treepie.Server.Endpoints;

/// <summary>
/// The activity of the server, for <c>treepie top</c>: counts what happens in the given number of seconds, then responds. It
/// counts only during such a request, so it needs no option and costs nothing otherwise.
/// </summary>
internal static class ActivityEndpoints
{
    private const int MostSeconds = 10;

    /// <summary>The maximum number of databases in a response: the busiest ones.</summary>
    private const int MostDatabases = 100;

    public static void Map(Routes routes) => routes.Server("GET", "/admin/activity", AccessLevel.Operator, Watch);

    private static async Task Watch(HttpServerRequest request)
    {
        long seconds = request.Number("seconds", 1);
        if (seconds is < 1 or > MostSeconds)
            throw WireException.BadRequest(
                $"The query string has 'seconds={seconds}', which must be a number from 1 to {MostSeconds}.");

        ServerContext server = request.Server;
        request.BecomeLong(server.Watchers);
        using var watch = new ActivityWatch(server.Telemetry, server.Clock);
        await Task.Delay(TimeSpan.FromSeconds(seconds), server.Clock, request.Aborted).ConfigureAwait(false);
        watch.Stop();
        request.SetHeader("Cache-Control", "no-store");
        await request.JsonAsync((server, watch), static (json, state) => Write(json, state.server, state.watch))
            .ConfigureAwait(false);
    }

    private static void Write(Utf8JsonWriter json, ServerContext server, ActivityWatch watch)
    {
        json.WriteStartObject();
        json.WriteString("Version", ProductVersion.Own);
        json.WriteNumber("Seconds", Math.Round(watch.Elapsed.TotalSeconds, 3));

        json.WriteStartObject("Process");
        json.WriteNumber("Processors", Environment.ProcessorCount);
        json.WriteNumber("ProcessorSeconds", Math.Round(watch.Cpu.TotalSeconds, 3));
        json.WriteNumber("PauseSeconds", Math.Round(watch.Pauses.TotalSeconds, 3));
        json.WriteNumber("ResidentBytes", Environment.WorkingSet);
        json.WriteNumber("HeapBytes", GC.GetTotalMemory(forceFullCollection: false));
        json.WriteEndObject();

        json.WriteStartObject("Requests");
        json.WriteNumber("Begun", watch.Requests);
        json.WriteNumber("Failed", watch.Failures);
        json.WriteNumber("Running", server.Requests.Taken);
        json.WriteNumber("Streams", server.Streams.Taken);
        json.WriteNumber("BulkInserts", server.BulkInserts.Taken);
        json.WriteNumber("BulkInserted", watch.BulkInserted);
        json.WriteNumber("BufferedBytes", server.Buffers.HeldBytes);
        json.WriteEndObject();

        json.WriteStartObject("Queries");
        json.WriteNumber("Running", server.Queries.Running);
        json.WriteNumber("Waiting", server.Queries.Queued);
        json.WriteEndObject();

        IReadOnlyList<(string Name, DatabaseActivity Activity)> busy = watch.Databases;
        json.WriteNumber("DatabaseCount", server.Databases.Names.Count);
        json.WriteNumber("BusyDatabaseCount", busy.Count);
        json.WriteStartArray("Databases");
        foreach ((string name, DatabaseActivity activity) in busy.Take(MostDatabases))
        {
            json.WriteStartObject();
            json.WriteString("Name", name);
            WriteDurations(json, "Writes", activity.Writes);
            WriteDurations(json, "Queries", activity.Queries);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteDurations(Utf8JsonWriter json, string name, DurationCounts durations)
    {
        json.WriteStartObject(name);
        json.WriteNumber("Count", durations.Count);
        json.WriteNumber("MedianMilliseconds", Math.Round(durations.Percentile(0.5) * 1e3, 3));
        json.WriteNumber("P99Milliseconds", Math.Round(durations.Percentile(0.99) * 1e3, 3));
        json.WriteEndObject();
    }
}
