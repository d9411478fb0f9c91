using System.Globalization;
using System.Text.Json;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace Treepie.CommandLine.Activity;

/// <summary>
/// Renders one response of <c>GET admin/activity</c>: the process, its requests, and a row for each busy database.
/// </summary>
internal static class ActivityView
{
    private const double Megabyte = 1e6;

    /// <summary>Maximum number of rows, so that the table fits a terminal window.</summary>
    private const int MostRows = 30;

    /// <summary>Renders the response.</summary>
    /// <param name="activity">The response.</param>
    /// <param name="url">Address of the server.</param>
    /// <param name="time">When the server responded.</param>
    public static IRenderable Of(JsonElement activity, Uri url, DateTimeOffset time) => new Rows(
        new Text(string.Create(
            CultureInfo.InvariantCulture, $"Treepie {Text(activity, "Version")} at {url}, {time:yyyy-MM-dd HH:mm:ss}")),
        Server(activity),
        Databases(activity));

    private static Grid Server(JsonElement activity)
    {
        double seconds = Number(activity, "Seconds");
        JsonElement process = activity.GetProperty("Process");
        JsonElement requests = activity.GetProperty("Requests");
        JsonElement queries = activity.GetProperty("Queries");
        double processors = Number(process, "Processors");
        var grid = new Grid();
        grid.AddColumn(new GridColumn().NoWrap());
        grid.AddColumn(new GridColumn());
        Add("Process", string.Create(
            CultureInfo.InvariantCulture,
            $"{100 * Number(process, "ProcessorSeconds") / seconds / processors:N0} % of {processors:N0} processors, "
                + $"{Number(process, "ResidentBytes") / Megabyte:N0} MB resident, {Number(process, "HeapBytes") / Megabyte:N0} "
                + $"MB heap, "
                + $"{100 * Number(process, "PauseSeconds") / seconds:N1} % in garbage collection"));
        Add("Requests", string.Create(
            CultureInfo.InvariantCulture,
            $"{Number(requests, "Begun") / seconds:N0}/s, {Number(requests, "Running"):N0} running, "
                + $"{Number(requests, "Failed") / seconds:N0}/s failed, {Number(requests, "BufferedBytes") / Megabyte:N0} MB "
                + $"buffered"));
        Add("Streams", string.Create(
            CultureInfo.InvariantCulture,
            $"{Number(requests, "Streams"):N0} out, {Number(requests, "BulkInserts"):N0} in, "
                + $"{Number(requests, "BulkInserted") / seconds:N0}/s documents inserted in bulk"));
        Add("Queries", string.Create(
            CultureInfo.InvariantCulture, $"{Number(queries, "Running"):N0} running, {Number(queries, "Waiting"):N0} waiting"));
        Add("Databases", string.Create(
            CultureInfo.InvariantCulture,
            $"{Number(activity, "DatabaseCount"):N0}, {Number(activity, "BusyDatabaseCount"):N0} busy"));
        return grid;

        void Add(string name, string text) => grid.AddRow(new Text(name), new Text(text));
    }

    private static IRenderable Databases(JsonElement activity)
    {
        JsonElement databases = activity.GetProperty("Databases");
        if (databases.GetArrayLength() == 0)
            return Spectre.Console.Text.Empty;

        double seconds = Number(activity, "Seconds");
        var table = new Table { Border = TableBorder.Simple };
        table.AddColumn("Database");
        foreach (string name in (string[])["Writes/s", "p50 ms", "p99 ms", "Queries/s", "p50 ms", "p99 ms"])
            table.AddColumn(new TableColumn(name).RightAligned().NoWrap());
        foreach (JsonElement database in databases.EnumerateArray().Take(MostRows))
            table.AddRow([
                new Text(Text(database, "Name")), .. Durations(database.GetProperty("Writes"), seconds),
                .. Durations(database.GetProperty("Queries"), seconds)]);
        return table;
    }

    private static Text[] Durations(JsonElement durations, double seconds)
    {
        double count = Number(durations, "Count");
        return count == 0
            ? [new Text("0"), new Text(""), new Text("")]
            : [Cell(count / seconds, "N0"), Cell(Number(durations, "MedianMilliseconds"), "N3"),
                Cell(Number(durations, "P99Milliseconds"), "N3")];
    }

    private static Text Cell(double value, string format) => new(value.ToString(format, CultureInfo.InvariantCulture));

    private static double Number(JsonElement json, string name) => json.GetProperty(name).GetDouble();

    private static string Text(JsonElement json, string name) => json.GetProperty(name).GetString() ?? "";
}
