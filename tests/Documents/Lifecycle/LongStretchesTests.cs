using System.Text;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Documents.Tests.Kinds;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Lifecycle;

/// <summary>A stretch of more segments than a step reads takes several steps, and nothing of it is lost or stale.</summary>
public sealed class LongStretchesTests : IDisposable
{
    private const string Id = "users/1", Series = "Heart", Target = "Heart@ByDay";
    private const int Entries = 250_000, Values = 4, LeastSegments = 2_500;

    private static readonly DateTimeOffset _start = new(2024, 3, 1, 0, 0, 0, TimeSpan.Zero);

    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new() { Now = _start };
    private readonly Random _random = new(Seed.Next());
    private readonly SortedDictionary<DateTime, double[]> _model = [];

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private static byte[] Prefix => KindKey.TimeSeriesPrefix(Encoding.UTF8.GetBytes(Id), Encoding.UTF8.GetBytes(Series));

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task A_run_that_is_stopped_within_a_stretch_goes_on_there()
    {
        await using Database database = await OpenAsync();
        int stops = 0;
        long at = 0;
        for (; await StopBehindAStepAsync(database); stops++)
        {
            Assert.Empty(Read(database));
            RollUpPart part = Assert.IsType<RollUpPart>(Progress(database).Part);
            Assert.True(part.Next > at, "each step goes on behind the one before");
            at = part.Next;
        }

        Assert.InRange(stops, 2, 10);
        Assert.Null(Progress(database).Part);

        // The stretch is not rolled up once more for each of its segments.
        Assert.InRange(await database.TimeSeriesPolicies.RunAsync(Cancel), 0, 100);
        await ExpectAsync(database);
    }

    [Theory]
    [InlineData("an entry is replaced")]
    [InlineData("an entry is deleted")]
    [InlineData("an entry comes before all others")]
    [InlineData("whole segments are deleted")]
    [InlineData("whole segments are deleted and purged")]
    [InlineData("all is deleted and some comes again")]
    public async Task What_changes_within_a_stretch_between_two_steps_is_counted_as_it_is(string change)
    {
        await using Database database = await OpenAsync();
        Assert.True(await StopBehindAStepAsync(database));
        Assert.NotNull(Progress(database).Part);
        DateTime early = _model.Keys.ElementAt(_random.Next(1_000));
        switch (change)
        {
            case "an entry is replaced":
                await PutAsync(database, early, [-5, 1, 2, 3]);
                break;
            case "an entry is deleted":
                await DeleteAsync(database, early, early);
                break;
            case "an entry comes before all others":
                await PutAsync(database, _start.UtcDateTime.AddTicks(1), [1, 2, 3, 4]);
                break;
            case "all is deleted and some comes again":
                await DeleteAsync(database, DateTime.MinValue, DateTime.MaxValue);
                await PutAsync(database, early, [3, 4, 5, 6]);
                break;
            default:
                long[] starts = Starts(database);
                int first = _random.Next(100);
                await DeleteAsync(database, new DateTime(starts[first]), new DateTime(starts[first + 50] - 1));
                if (change.EndsWith("purged", StringComparison.Ordinal))
                    await database.PurgeTombstonesAsync(database.LastEtag, Cancel);
                break;
        }

        await ExpectAsync(database);
    }

    [Fact]
    public async Task Changes_between_any_two_steps_are_counted()
    {
        await using Database database = await OpenAsync();
        DateTime[] times = [.. _model.Keys];
        for (int i = 0; i < 12; i++)
        {
            await StopBehindAStepAsync(database);
            DateTime time = times[_random.Next(times.Length)];
            if (_random.Next(2) == 0)
                await PutAsync(database, time.AddTicks(_random.Next(2)), [_random.Next(1000), 7, 7, 7]);
            else
                await DeleteAsync(database, time, time.AddMilliseconds(_random.Next(100_000)));
        }

        // Whole segments that go behind the last step of a stretch stay in what it came to: an entry of it makes it anew.
        await PutAsync(database, times[^1], [9, 9, 9, 9]);
        await ExpectAsync(database);
    }

    /// <summary>Runs up to behind the next step of a roll-up, as after an interruption; false where it came to its end.</summary>
    private static async Task<bool> StopBehindAStepAsync(Database database)
    {
        using var stop = new CancellationTokenSource();
        var host = new SteppingHost(database);
        host.StopAfter(2, stop); // the first is that of the time
        using var policies = new TimeSeriesPolicies(host);
        try
        {
            await policies.RunAsync(stop.Token);
            return false;
        }
        catch (OperationCanceledException)
        {
            return Read(database).Length == 0;
        }
    }

    private static RollUpProgress Progress(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return RollUpProgress.Read(snapshot.Due.RollUps);
    }

    private static long[] Starts(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return [.. snapshot.Kinds.Segments(Prefix).Select(static key => TreeNames.EtagOfKey(key))];
    }

    private static TimeSeriesPoint[] Read(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return [.. snapshot.TimeSeries(Id, Target)];
    }

    /// <summary>Runs to the end, and expects what all entries come to, whose sums are exact.</summary>
    private async Task ExpectAsync(Database database)
    {
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        TimeSeriesPoint day = Assert.Single(Read(database));
        Assert.Equal(_start.UtcDateTime, day.Timestamp);
        Assert.Equal(
            Enumerable.Range(0, Values).SelectMany(i =>
            {
                double[] values = [.. _model.Values.Select(all => all[i])];
                return (double[])[values[0], values[^1], values.Min(), values.Max(), values.Sum(), values.Length];
            }),
            day.Values);
        Assert.Null(Progress(database).Part);
        KindInvariants.Check(database);
    }

    private async Task PutAsync(Database database, DateTime time, double[] values)
    {
        await database.WriteAsync(new WriteBatch().TimeSeries(Id, Series, [new TimeSeriesPoint(time, values)]), Cancel);
        _model[time] = values;
    }

    private async Task DeleteAsync(Database database, DateTime from, DateTime to)
    {
        (from, to) = (DateTime.SpecifyKind(from, DateTimeKind.Utc), DateTime.SpecifyKind(to, DateTimeKind.Utc));
        await database.WriteAsync(new WriteBatch().TimeSeries(Id, Series, [], [(from, to)]), Cancel);
        foreach (DateTime time in _model.Keys.Where(time => time >= from && time <= to).ToArray())
            _model.Remove(time);
    }

    /// <summary>A database with a day of many segments, which is over.</summary>
    private async Task<Database> OpenAsync()
    {
        Database database = Database.Open(_files.Path, new DatabaseOptions { TimeProvider = _clock });
        await database.WriteAsync(new WriteBatch().Put(Id, """{"@metadata":{"@collection":"Users"}}"""u8), Cancel);
        await database.TimeSeriesPolicies.ConfigureAsync(
            new TimeSeriesConfiguration().With(
                "Users",
                new TimeSeriesRules { Policies = [new TimeSeriesPolicy("ByDay", TimeSeriesPeriod.Of(TimeSpan.FromDays(1)))] }),
            Cancel);
        TimeSeriesPoint[] points = [
            .. Enumerable.Range(0, Entries).Select(i => new TimeSeriesPoint(
                _start.UtcDateTime.AddMilliseconds(10 + (i * 300L)),
                [.. Enumerable.Range(0, Values).Select(_ => (double)_random.Next(1 << 30))]))];
        foreach (TimeSeriesPoint point in points)
            _model[point.Timestamp] = [.. point.Values];
        foreach (TimeSeriesPoint[] some in points.Chunk(100_000))
            await database.WriteAsync(new WriteBatch().TimeSeries(Id, Series, some), Cancel);
        Assert.True(Starts(database).Length >= LeastSegments, "more segments than some steps read");
        _clock.Now = _start.AddDays(1).AddMinutes(1);
        return database;
    }
}
