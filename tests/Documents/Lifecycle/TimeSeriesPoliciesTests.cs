using System.Text.Json;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Documents.Tests.Kinds;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Lifecycle;

public sealed class TimeSeriesPoliciesTests : IDisposable
{
    private static readonly DateTimeOffset _start = new(2024, 3, 1, 0, 0, 0, TimeSpan.Zero);

    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new() { Now = _start };

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task Hours_that_are_over_become_one_entry_each_and_days_come_from_hours()
    {
        await using Database database = await OpenAsync(Rules());
        TimeSeriesPoint[] points = [
            .. Enumerable.Range(0, 3 * 24 * 60).Select(static i => new TimeSeriesPoint(Time(i), [i % 100, -i]))];
        await AppendAsync(database, points);
        _clock.Now = _start.AddDays(2).AddMinutes(90);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(Expected(points, 1, 0, Time(2 * 1440 + 60)), Pairs(database, "Heart@By1Hour"), Same);
        Assert.Equal(Expected(points, 24, 0, Time(2 * 1440)), Pairs(database, "Heart@By1Day"), Same);
        Assert.Equal(points.Length, Read(database, "Heart").Length);
        Assert.Equal(0, await StepsThatWriteAsync(database));

        // Nothing is written meanwhile: the time alone makes hours be over.
        _clock.Now = _start.AddDays(3).AddMinutes(1);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(Expected(points, 1, 0, Time(3 * 1440)), Pairs(database, "Heart@By1Hour"), Same);
        Assert.Equal(Expected(points, 24, 0, Time(3 * 1440)), Pairs(database, "Heart@By1Day"), Same);
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task Entries_go_when_they_are_old_and_what_they_came_to_stays()
    {
        await using Database database = await OpenAsync(Rules(rawDays: 1, hourDays: 2));
        TimeSeriesPoint[] points = [
            .. Enumerable.Range(0, 5 * 24 * 60).Select(static i => new TimeSeriesPoint(Time(i), [i % 100]))];
        await AppendAsync(database, points);
        _clock.Now = _start.AddDays(5).AddMinutes(30);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(points.Where(static point => point.Timestamp >= Time(4 * 1440)).Select(static point => point.Timestamp),
            Read(database, "Heart").Select(static point => point.Timestamp));
        Assert.Equal(Expected(points, 1, Time(3 * 1440).Ticks, Time(5 * 1440)), Pairs(database, "Heart@By1Hour"), Same);
        Assert.Equal(Expected(points, 24, 0, Time(5 * 1440)), Pairs(database, "Heart@By1Day"), Same);

        // A clock that is set back, and entries that come later than they are kept, change nothing of what was rolled up.
        _clock.Now = _start.AddDays(1);
        await AppendAsync(database, [new TimeSeriesPoint(Time(10), [1e9])]);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(Expected(points, 24, 0, Time(5 * 1440)), Pairs(database, "Heart@By1Day"), Same);
        Assert.Equal(Expected(points, 1, Time(3 * 1440).Ticks, Time(5 * 1440)), Pairs(database, "Heart@By1Hour"), Same);

        // The late entry goes when the clock says that it is old.
        _clock.Now = _start.AddDays(5).AddMinutes(31);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(Expected(points, 24, 0, Time(5 * 1440)), Pairs(database, "Heart@By1Day"), Same);
        Assert.DoesNotContain(Read(database, "Heart"), static point => point.Values[0] > 100);
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_policy_that_takes_the_place_of_another_deletes_by_its_own_retention()
    {
        TimeSeriesRules rules = Rules(rawDays: 1, hourDays: 2);
        await using Database database = await OpenAsync(rules);
        TimeSeriesPoint[] points = [
            .. Enumerable.Range(0, 9 * 24).Select(static i => new TimeSeriesPoint(Time(i * 60), [i % 100]))];
        await AppendAsync(database, points);
        _clock.Now = _start.AddDays(9);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(48, Read(database, "Heart@By1Hour").Length);

        // That of days is the first now.
        await ConfigureAsync(database, rules with { Policies = [rules.Policies[1] with { Retention = Days(100) }] });
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(Expected(points, 24, 0, Time(9 * 1440)), Pairs(database, "Heart@By1Day"), Same);
    }

    [Fact]
    public async Task A_correction_in_time_is_rolled_up_before_its_entries_go_whatever_changed_before_it()
    {
        await using Database database = await OpenAsync(Rules(rawDays: 4));
        TimeSeriesPoint[] points = [
            .. Enumerable.Range(0, 3 * 24 * 60).Select(static i => new TimeSeriesPoint(Time(i), [i * 7_919 % 10_007]))];
        await AppendAsync(database, points);
        _clock.Now = _start.AddDays(3);
        await database.TimeSeriesPolicies.RunAsync(Cancel);

        var later = new TimeSeriesPoint(Time((3 * 1440) + 10), [5]);
        await AppendAsync(database, [later]);
        points[300] = new TimeSeriesPoint(Time(300), [1e6]);
        await AppendAsync(database, [points[300]]);
        _clock.Now = _start.AddDays(6);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(Expected([.. points, later], 1, 0, Time(6 * 1440)), Pairs(database, "Heart@By1Hour"), Same);
        Assert.Equal(Expected([.. points, later], 24, 0, Time(6 * 1440)), Pairs(database, "Heart@By1Day"), Same);
        Assert.Equal(Time(2 * 1440), Read(database, "Heart")[0].Timestamp);
        Assert.Equal(0, await StepsThatWriteAsync(database));
    }

    [Fact]
    public async Task Entries_that_are_kept_longer_now_stay()
    {
        await using Database database = await OpenAsync(new TimeSeriesRules { RawRetention = Days(1) });
        await AppendAsync(database, [new TimeSeriesPoint(Time(0), [1])]);
        _clock.Now = _start.AddDays(30);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Empty(Read(database, "Heart"));

        await ConfigureAsync(database, new TimeSeriesRules { RawRetention = Days(3_650) });
        await AppendAsync(database, [new TimeSeriesPoint(Time(0), [1]), new TimeSeriesPoint(Time(43_200), [2])]);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(2, Read(database, "Heart").Length);
    }

    [Theory]
    [InlineData(6)]
    [InlineData(30_000)]
    public async Task A_clock_that_was_ahead_once_deletes_nothing_later(int daysAhead)
    {
        await using Database database = await OpenAsync(Rules(rawDays: 5, hourDays: 5));
        _clock.Now = _start.AddDays(daysAhead);
        await AppendAsync(database, [new TimeSeriesPoint(Time(0), [1])]);
        await database.TimeSeriesPolicies.RunAsync(Cancel);

        _clock.Now = _start.AddHours(1);
        TimeSeriesPoint[] points = [.. Enumerable.Range(60, 60).Select(static i => new TimeSeriesPoint(Time(i), [i]))];
        await AppendAsync(database, points[..30]);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        await AppendAsync(database, points[30..]);
        _clock.Now = _start.AddHours(3);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(
            points.Select(static point => point.Timestamp),
            Read(database, "Heart").Select(static point => point.Timestamp).Except([Time(0)]));
        if (daysAhead > 7) // otherwise the hour counts as over and old until the clock is there again
            Assert.Contains(Pairs(database, "Heart@By1Hour"), pair => Same(Expected(points, 1, 0, Time(120)).Single(), pair));

        _clock.Now = _start.AddDays(daysAhead > 7 ? 7 : daysAhead + 1);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Empty(Read(database, "Heart"));
    }

    [Fact]
    public async Task What_comes_late_is_counted_and_what_is_deleted_is_not_however_often_a_run_is_stopped()
    {
        var random = new Random(Seed.Next());
        await using Database database = await OpenAsync(Rules(rawDays: 20));
        var model = new SortedDictionary<DateTime, TimeSeriesPoint>();
        for (int round = 0; round < 40; round++)
        {
            _clock.Now += TimeSpan.FromMinutes(random.Next(400));
            int minute = (int)(_clock.Now - _start).TotalMinutes, age = random.Next(4) == 0 ? 4_000 : 200;
            TimeSeriesPoint[] points = [
                .. Enumerable.Range(0, random.Next(300)).Select(
                    _ => new TimeSeriesPoint(Time(Math.Max(0, minute - random.Next(age))), [random.Next(1000)]))];
            await AppendAsync(database, points);
            foreach (TimeSeriesPoint point in points)
                model[point.Timestamp] = point;
            if (random.Next(5) == 0 && model.Count > 10)
            {
                DateTime one = model.Keys.ElementAt(random.Next(model.Count));
                await database.WriteAsync(new WriteBatch().TimeSeries("users/1", "Heart", [], [(one, one)]), Cancel);
                model.Remove(one);
            }

            using var stop = new CancellationTokenSource();
            Task run = database.TimeSeriesPolicies.RunAsync(stop.Token);
            for (int i = random.Next(200); i > 0; i--)
                Thread.Yield();
            await stop.CancelAsync();
            await run.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }

        await database.TimeSeriesPolicies.RunAsync(Cancel);
        DateTime hour = new(_clock.Now.UtcDateTime.Ticks / TimeSpan.TicksPerHour * TimeSpan.TicksPerHour, DateTimeKind.Utc);
        Assert.Equal(Expected(model.Values, 1, 0, hour), Pairs(database, "Heart@By1Hour"), Same);
        Assert.Equal(Expected(model.Values, 24, 0, hour.Date), Pairs(database, "Heart@By1Day"), Same);
        Assert.Equal(0, await StepsThatWriteAsync(database));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task More_series_than_are_held_at_once_are_rolled_up_and_a_run_goes_on_where_another_stopped()
    {
        const int Piece = TimeSeriesPolicies.SeriesPerPiece, Series = (2 * Piece) + 10;
        await using Database database = await OpenAsync(Rules());
        string[] names = [.. Enumerable.Range(0, Series).Select(static i => $"S{i:D4}")];
        var batch = new WriteBatch();
        foreach (string name in names)
            batch.TimeSeries("users/1", name, [new TimeSeriesPoint(Time(1), [7])]);
        await database.WriteAsync(batch, Cancel);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.All(names, name => Assert.Empty(Read(database, name + "@By1Hour")));

        _clock.Now = _start.AddMinutes(61); // the time alone makes the hour be over
        using var stop = new CancellationTokenSource();
        var host = new SteppingHost(database);
        host.StopAfter(Piece + 20, stop);
        using (var stopped = new TimeSeriesPolicies(host))
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => stopped.RunAsync(stop.Token));
        string[] done = [.. names.TakeWhile(name => Read(database, name + "@By1Hour").Length > 0)];
        Assert.InRange(done.Length, Piece, Piece + 20);

        // Of the first piece only the roll-ups are looked at, which changed; of the rest the series and then their roll-ups.
        long steps = await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.All(names, name => Assert.Single(Read(database, name + "@By1Hour")));
        Assert.InRange(steps, Series - Piece, (2 * Series) - Piece + 30);
        Assert.Equal(0, await StepsThatWriteAsync(database));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_step_of_short_stretches_writes_a_few_segments_at_most()
    {
        const int Seconds = 20_000;
        await using Database database = await OpenAsync(new TimeSeriesRules
        {
            Policies = [new TimeSeriesPolicy("BySecond", TimeSeriesPeriod.Of(TimeSpan.FromSeconds(1)))],
        });
        await AppendAsync(
            database,
            [.. Enumerable.Range(0, Seconds).Select(static i => new TimeSeriesPoint(_start.UtcDateTime.AddSeconds(i), [i, 1]))]);
        _clock.Now = _start.AddDays(1);
        var host = new SteppingHost(database);
        using (var policies = new TimeSeriesPolicies(host))
            await policies.RunAsync(Cancel);
        Assert.InRange(host.MostChangesInStep, 1, 64);
        TimeSeriesPoint[] seconds = Read(database, "Heart@BySecond");
        Assert.Equal(Enumerable.Range(0, Seconds).Select(static i => (double)i), seconds.Select(static point => point.Values[0]));
        Assert.Equal(0, await StepsThatWriteAsync(database));
    }

    [Fact]
    public async Task Months_go_by_the_calendar_and_long_stretches_are_read_from_heads()
    {
        await using Database database = await OpenAsync(new TimeSeriesRules
        {
            Policies = [new TimeSeriesPolicy("Monthly", TimeSeriesPeriod.OfMonths(1))],
        });
        TimeSeriesPoint[] points = [
            .. Enumerable.Range(0, 100_000).Select(static i => new TimeSeriesPoint(Time(i), [i % 17 + 0.5]))];
        await AppendAsync(database, points);
        _clock.Now = new DateTimeOffset(2024, 5, 1, 0, 0, 0, TimeSpan.Zero);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(
            [(3, 31 * 1440.0), (4, 30 * 1440.0)],
            Read(database, "Heart@Monthly").Select(static point => (point.Timestamp.Month, point.Values[5])));
    }

    [Fact]
    public async Task A_dump_that_is_restored_goes_on()
    {
        TimeSeriesPoint[] points = [.. Enumerable.Range(0, 3_000).Select(static i => new TimeSeriesPoint(Time(i), [i % 100]))];
        using var dump = new MemoryStream();
        await using (Database database = await OpenAsync(Rules(rawDays: 1)))
        {
            await AppendAsync(database, points);
            _clock.Now = _start.AddMinutes(2_990);
            await database.TimeSeriesPolicies.RunAsync(Cancel);
            await database.BackupAsync(dump, null, null, Cancel);
        }

        string target = Path.Combine(_files.Path, "restored");
        await Database.RestoreAsync(new MemoryStream(dump.ToArray()), target, null, null, Cancel);
        await using Database restored = Database.Open(target, new DatabaseOptions { TimeProvider = _clock });
        _clock.Now = _start.AddMinutes(3_005);
        await restored.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(Expected(points, 1, 0, Time(3_000)), Pairs(restored, "Heart@By1Hour"), Same);
    }

    [Theory]
    [InlineData("""{"Policies":[{"Name":"a@b","AggregationTime":{"Value":1,"Unit":"Second"}}]}""", "no '@'")]
    [InlineData("""{"Policies":[{"Name":"A","AggregationTime":{"Value":0,"Unit":"Second"}}]}""", "more than none")]
    [InlineData("""{"Policies":[{"Name":"A","AggregationTime":{"Value":-1,"Unit":"Month"}}]}""", "more than none")]
    [InlineData(
        """{"Policies":[{"Name":"A","AggregationTime":{"Value":7,"Unit":"Second"}},{"Name":"B","AggregationTime":{"Value":10,"Unit":"Second"}}]}""",
        "whole stretches")]
    [InlineData(
        """{"Policies":[{"Name":"A","AggregationTime":{"Value":7,"Unit":"Second"}},{"Name":"a","AggregationTime":{"Value":14,"Unit":"Second"}}]}""",
        "given once")]
    [InlineData(
        """{"RawPolicy":{"RetentionTime":{"Value":60,"Unit":"Second"}},"Policies":[{"Name":"A","AggregationTime":{"Value":1,"Unit":"Month"}}]}""",
        "shorter time")]
    public void Policies_that_do_not_go_together_are_refused(string json, string expected) => Assert.Contains(
        expected,
        Assert.Throws<InvalidDocumentException>(
            () => TimeSeriesConfiguration.Read(JsonDocument.Parse($"{{\"Collections\":{{\"Users\":{json}}}}}").RootElement)).Message,
        StringComparison.Ordinal);

    [Fact]
    public void A_configuration_is_read_as_it_is_written()
    {
        TimeSeriesConfiguration configuration = new TimeSeriesConfiguration { PolicyCheckFrequency = TimeSpan.FromSeconds(30) }
            .With("Users", Rules(rawDays: 1, hourDays: 2)).With("Users", "Heart", ["Beats", "Oxygen"]);
        byte[] json = configuration.ToJson();
        Assert.Equal(json, TimeSeriesConfiguration.FromJson(json).ToJson());
        Assert.Contains(
            "\"AggregationTime\":{\"Value\":3600,\"Unit\":\"Second\"}", System.Text.Encoding.UTF8.GetString(json),
            StringComparison.Ordinal);
    }

    private static TimeSeriesRules Rules(int? rawDays = null, int? hourDays = null) => new()
    {
        RawRetention = Days(rawDays),
        Policies =
        [
            new TimeSeriesPolicy("By1Hour", TimeSeriesPeriod.Of(TimeSpan.FromHours(1)), Days(hourDays)),
            new TimeSeriesPolicy("By1Day", TimeSeriesPeriod.Of(TimeSpan.FromDays(1))),
        ],
    };

    private static TimeSeriesPeriod? Days(int? days) => days is { } count ? TimeSeriesPeriod.Of(TimeSpan.FromDays(count)) : null;

    private static DateTime Time(int minute) => _start.UtcDateTime.AddMinutes(minute);

    private static (DateTime, double[])[] Expected(IEnumerable<TimeSeriesPoint> points, int hours, long from, DateTime to) =>
    [
        .. points.Where(point => point.Timestamp.Ticks >= from && point.Timestamp < to)
            .GroupBy(point => point.Timestamp.Ticks / (hours * TimeSpan.TicksPerHour))
            .Select(group => (
                new DateTime(group.Key * hours * TimeSpan.TicksPerHour, DateTimeKind.Utc),
                Enumerable.Range(0, group.First().Values.Count).SelectMany(i =>
                {
                    double[] values = [.. group.Select(point => point.Values[i])];
                    return (double[])[values[0], values[^1], values.Min(), values.Max(), values.Sum(), values.Length];
                }).ToArray())),
    ];

    private static bool Same((DateTime Time, double[] Values) expected, (DateTime Time, double[] Values) actual) =>
        expected.Time == actual.Time && expected.Values.SequenceEqual(actual.Values);

    private static (DateTime, double[])[] Pairs(Database database, string name) =>
        [.. Read(database, name).Select(static point => (point.Timestamp, (double[])[.. point.Values]))];

    private static TimeSeriesPoint[] Read(Database database, string name)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return [.. snapshot.TimeSeries("users/1", name)];
    }

    /// <summary>Runs again, and gives how many changes that makes.</summary>
    private static async Task<long> StepsThatWriteAsync(Database database)
    {
        long before = database.LastEtag;
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        return database.LastEtag - before;
    }

    private static async Task AppendAsync(Database database, IReadOnlyList<TimeSeriesPoint> points) =>
        await database.WriteAsync(new WriteBatch().TimeSeries("users/1", "Heart", points), Cancel);

    private static Task ConfigureAsync(Database database, TimeSeriesRules rules) =>
        database.TimeSeriesPolicies.ConfigureAsync(new TimeSeriesConfiguration().With("users", rules), Cancel);

    private async Task<Database> OpenAsync(TimeSeriesRules rules)
    {
        Database database = Database.Open(
            Path.Combine(_files.Path, "database"), new DatabaseOptions { TimeProvider = _clock });
        await database.WriteAsync(
            new WriteBatch().Put("users/1", """{"@metadata":{"@collection":"Users"}}"""u8), Cancel);
        await ConfigureAsync(database, rules);
        return database;
    }
}
