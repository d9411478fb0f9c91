using System.Buffers;
using System.Diagnostics;
using System.Text.Json;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Kinds;

/// <summary>A year of a time series: written in durable batches, its size, and its groups by hour and by month.</summary>
internal static class SeriesRows
{
    private const int BatchEntries = 1_000;

    public static async Task<IReadOnlyList<BenchRow>> MeasureAsync(
        MadeSeries series, int rounds, CancellationToken cancellationToken)
    {
        using var files = new Scratch();
        string folder = Path.Combine(files.Path, "treepie"), file = Path.Combine(files.Path, "sqlite");
        double ourAppends, ourBytes;
        List<double> ourHours, ourMonths;
        using (Database database = Database.Open(folder))
        {
            await database.WriteAsync(
                new WriteBatch().Put("sensors/1", """{"@metadata":{"@collection":"Sensors"}}"""u8), cancellationToken);
            long began = Stopwatch.GetTimestamp();
            for (int at = 0; at < series.Count; at += BatchEntries)
                await database.WriteAsync(
                    new WriteBatch().TimeSeries("sensors/1", "S", series.Points(at, Math.Min(BatchEntries, series.Count - at))),
                    cancellationToken);
            ourAppends = series.Count / Stopwatch.GetElapsedTime(began).TotalSeconds;
            ourHours = await TimeAsync(rounds, () => AskAsync(database, "1 hour", series, cancellationToken));
            ourMonths = await TimeAsync(rounds, () => AskAsync(database, "1 month", series, cancellationToken));
            database.Compact(cancellationToken: cancellationToken);
        }

        ourBytes = Scratch.SizeOf(folder) / (double)series.Count;
        BenchRow[] rows =
        [
            new($"{series.Name}, appends", "entries/s", true, ourAppends) { Goals = [new Goal(3)] },
            new($"{series.Name}, size", "bytes/entry", false, ourBytes) { Goals = [new Goal(8)] },
            BenchRow.Of($"{series.Name}, groups by hour", "ms", false, ourHours) with { Goals = [new Goal(10)] },
            BenchRow.Of($"{series.Name}, groups by month", "ms", false, ourMonths) with { Goals = [new Goal(10)] },
        ];
        if (!Sqlite.IsPresent)
            return rows;
        double[] peer = await Task.Run(() => MeasureSqlite(file, series, rounds), cancellationToken);
        string name = $"SQLite {Sqlite.Version}";
        return [.. rows.Zip(peer, (row, value) => row with { Peers = new Dictionary<string, double> { [name] = value } })];
    }

    private static double[] MeasureSqlite(string file, MadeSeries series, int rounds)
    {
        double appends;
        List<double> hours, months;
        using (var sqlite = new Sqlite(file, isShared: false))
        {
            sqlite.Execute(
                "create table point(series integer, time integer, value real, primary key(series, time)) without rowid");
            using Sqlite.Statement insert = sqlite.Prepare("insert into point values(1, ?1, ?2 / 1000.0)");
            long began = Stopwatch.GetTimestamp();
            for (int at = 0; at < series.Count; at += BatchEntries)
            {
                sqlite.Execute("begin");
                for (int i = at; i < Math.Min(series.Count, at + BatchEntries); i++)
                    insert.Bind(1, series.Seconds[i]).Bind(2, series.Thousandths[i]).Step();
                sqlite.Execute("commit");
            }

            appends = series.Count / Stopwatch.GetElapsedTime(began).TotalSeconds;
            const string Select = "select min(value), max(value), avg(value), count(*) from point where series = 1 group by ";
            using Sqlite.Statement byHour = sqlite.Prepare(Select + "time / 3600");
            using Sqlite.Statement byMonth = sqlite.Prepare(Select + "strftime('%Y-%m', time + 1704067200, 'unixepoch')");
            hours = TimeAsync(rounds, () => Ask(byHour, series)).GetAwaiter().GetResult();
            months = TimeAsync(rounds, () => Ask(byMonth, series)).GetAwaiter().GetResult();
            sqlite.Execute("vacuum");
            sqlite.Execute("pragma wal_checkpoint(truncate)");
        }

        return [appends, new FileInfo(file).Length / (double)series.Count, Statistics.Median(hours), Statistics.Median(months)];
    }

    private static Task Ask(Sqlite.Statement statement, MadeSeries series)
    {
        long entries = 0;
        while (statement.Step())
            entries += statement.Long(3);
        return entries == series.Count
            ? Task.CompletedTask
            : throw new InvalidOperationException($"SQLite groups {entries} entries of {series.Count}.");
    }

    private static async Task AskAsync(Database database, string period, MadeSeries series, CancellationToken cancellationToken)
    {
        using QueryResults results = await database.QueryAsync(
            new QueryRequest
            {
                Text = $"from Sensors select timeseries(from S group by '{period}' select min(), max(), avg(), count()) as R",
            },
            cancellationToken);
        var output = new ArrayBufferWriter<byte>();
        if (!results.MoveNext())
            throw new InvalidOperationException("The series is not there.");
        results.WriteCurrent(output);
        // The number of entries stands behind the groups.
        int at = output.WrittenSpan.LastIndexOf("\"Count\":"u8) + "\"Count\":"u8.Length;
        var reader = new Utf8JsonReader(output.WrittenSpan[at..], isFinalBlock: false, default);
        reader.Read();
        if (reader.GetInt64() != series.Count)
            throw new InvalidOperationException($"{reader.GetInt64()} entries of {series.Count} are grouped.");
    }

    private static async Task<List<double>> TimeAsync(int rounds, Func<Task> work)
    {
        var times = new List<double>();
        for (int round = -1; round < rounds; round++)
        {
            long began = Stopwatch.GetTimestamp();
            await work();
            if (round >= 0)
                times.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
        }

        return times;
    }
}
