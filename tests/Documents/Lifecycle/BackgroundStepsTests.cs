using System.Globalization;
using System.Text;
using Treepie.Documents.Tests.Kinds;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Revisions;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Lifecycle;

/// <summary>
/// Background work is done in short steps: it can be stopped behind each of them and goes on where it was, writers come between
/// any two, and a clock that is set back does no harm.
/// </summary>
public sealed class BackgroundStepsTests : IDisposable
{
    private const int Documents = 1_000, MostPerStep = 64;

    private readonly TemporaryDirectory _directory = new();
    private readonly SteppingClock _clock = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(LifecycleTask.Expiration, "@expires")]
    [InlineData(LifecycleTask.Refresh, "@refresh")]
    [InlineData(LifecycleTask.Archival, "@archive-at")]
    public async Task What_is_due_is_done_once_however_often_a_run_is_stopped_and_in_short_steps(
        LifecycleTask task, string member)
    {
        await using Database database = Open();
        DueAction action = DocumentLifecycle.ActionOf(task);
        await database.Lifecycle.SetAsync(task, new LifecycleSettings(), Cancel);
        await PutAllAsync(database, member);
        _clock.Now += TimeSpan.FromMinutes(5);
        long begin = database.LastEtag;
        var host = new SteppingHost(database);
        int stops = await StopBehindEachStepAsync(
            host, static _ => 1, token => new DueRun(host, action).RunAsync(long.MaxValue, token),
            () => Left(database, action) == 0);
        Assert.InRange(host.MostChangesInStep, 1, MostPerStep);
        Assert.True(stops >= Documents / MostPerStep, $"{stops} stops");
        Assert.Equal(Documents, database.LastEtag - begin); // each was written once
        Assert.Equal(0, await database.Lifecycle.RunAsync(Cancel));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task Values_expire_once_however_often_a_run_is_stopped()
    {
        await using Database database = Open();
        using (var batch = new WriteBatch())
        {
            for (int i = 0; i < Documents; i++)
                batch.PutCompareExchange($"v/{i}", """{"Object":1,"@metadata":{"@expires":"2020-01-01"}}"""u8, 0);
            await database.WriteAsync(batch, Cancel);
        }

        long begin = database.LastEtag;
        var host = new SteppingHost(database);
        await StopBehindEachStepAsync(
            host, static _ => 1, token => new DueRun(host, DueAction.ExpireValue).RunAsync(long.MaxValue, token),
            () => Left(database, DueAction.ExpireValue) == 0);
        Assert.InRange(host.MostChangesInStep, 1, MostPerStep);
        Assert.Equal(Documents, database.LastEtag - begin);
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_step_ends_when_it_has_held_writers_for_its_time()
    {
        await using Database database = Open();
        await PutAllAsync(database, "@expires");
        _clock.Now += TimeSpan.FromMinutes(5);
        _clock.PerLook = TimeSpan.FromMilliseconds(1); // what a document takes, by this clock
        var host = new SteppingHost(database);
        await new DueRun(host, DueAction.Expire).RunAsync(100, Cancel);
        Assert.InRange(host.MostChangesInStep, 1, 10);
        Assert.Equal(Documents - 100, database.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task Roll_ups_and_retention_can_be_stopped_behind_each_step_and_come_to_the_same()
    {
        var start = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        TimeSeriesPoint[] points = [
            .. Enumerable.Range(0, 40_000).Select(
                i => new TimeSeriesPoint(start.UtcDateTime.AddMinutes(i), [Math.Sin(i), i]))];
        var rules = new TimeSeriesRules
        {
            RawRetention = TimeSeriesPeriod.Of(TimeSpan.FromDays(2)),
            Policies =
            [
                new TimeSeriesPolicy("ByHour", TimeSeriesPeriod.Of(TimeSpan.FromHours(1))),
                new TimeSeriesPolicy("ByDay", TimeSeriesPeriod.Of(TimeSpan.FromDays(1))),
            ],
        };
        var read = new List<string[]>();
        foreach (bool isStopped in (bool[])[false, true])
        {
            await using Database database = Database.Open(
                Path.Combine(_directory.Path, $"{isStopped}"), new DatabaseOptions { TimeProvider = _clock });
            _clock.Now = start;
            await database.WriteAsync(
                new WriteBatch().Put("users/1", """{"@metadata":{"@collection":"Users"}}"""u8.ToArray()), Cancel);
            await database.TimeSeriesPolicies.ConfigureAsync(new TimeSeriesConfiguration().With("users", rules), Cancel);
            await database.WriteAsync(new WriteBatch().TimeSeries("users/1", "Heart", points), Cancel);
            _clock.Now = start.AddMinutes(points.Length);
            if (isStopped)
            {
                var host = new SteppingHost(database);
                using var policies = new TimeSeriesPolicies(host);
                int stops = await StopBehindEachStepAsync(host, static stop => 1 + stop, policies.RunAsync, static () => false);
                Assert.True(stops > 5, $"{stops} stops");
            }

            await database.TimeSeriesPolicies.RunAsync(Cancel);
            using DatabaseSnapshot snapshot = database.BeginRead();
            read.Add([
                .. ((string[])["Heart", "Heart@ByHour", "Heart@ByDay"]).SelectMany(name => snapshot.TimeSeries("users/1", name))
                    .Select(static point => $"{point.Timestamp:O} {string.Join(' ', point.Values)}")]);
            KindInvariants.Check(database);
        }

        Assert.Equal(read[0], read[1]);
        Assert.True(read[0].Length > 2 * 1440, "entries and what they were rolled up to are there");
    }

    [Theory]
    [InlineData(LifecycleTask.Refresh, "@refresh")]
    [InlineData(LifecycleTask.Archival, "@archive-at")]
    public async Task A_clock_that_is_set_back_makes_nothing_due_and_forgets_nothing(LifecycleTask task, string member)
    {
        await using Database database = Open();
        await database.Lifecycle.SetAsync(task, new LifecycleSettings(), Cancel);
        DateTimeOffset start = _clock.Now;
        await PutAllAsync(database, member);
        _clock.Now = start.AddDays(-400);
        Assert.Equal(0, await database.Lifecycle.RunAsync(Cancel));
        _clock.Now = start.AddMinutes(5);
        Assert.Equal(Documents, await database.Lifecycle.RunAsync(Cancel));
        long etag = database.LastEtag;
        _clock.Now = start.AddDays(-400);
        Assert.Equal(0, await database.Lifecycle.RunAsync(Cancel));
        _clock.Now = start.AddMinutes(5);
        Assert.Equal(0, await database.Lifecycle.RunAsync(Cancel));
        Assert.Equal(etag, database.LastEtag);
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task Enforcing_revisions_can_be_stopped_and_a_clock_that_is_set_back_deletes_none()
    {
        await using Database database = Open();
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        DateTimeOffset start = _clock.Now;
        for (int change = 0; change < 8; change++)
        {
            _clock.Now = start.AddDays(change);
            using var batch = new WriteBatch();
            for (int i = 0; i < 50; i++)
                batch.Put($"d/{i}", Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{{\"N\":{change}}}")));
            await database.WriteAsync(batch, Cancel);
        }

        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration { Default = new RevisionsRule { MinimumAgeToKeep = TimeSpan.FromDays(3.5) } }, Cancel);
        _clock.Now = start.AddDays(-400);
        Assert.Equal(0, await database.Revisions.EnforceAsync(Cancel));
        await database.WriteAsync(new WriteBatch().Put("d/0", "{\"N\":-1}"u8.ToArray()), Cancel); // writes enforce too
        Assert.Equal(401, Revisions(database));
        _clock.Now = start.AddDays(7);
        var host = new SteppingHost(database);
        await StopBehindEachStepAsync(host, static stop => 1 + stop, new DocumentRevisions(host).EnforceAsync, static () => false);
        await database.Revisions.EnforceAsync(Cancel);
        Assert.Equal(0, await database.Revisions.EnforceAsync(Cancel));
        KindInvariants.Check(database);
        using DatabaseSnapshot snapshot = database.BeginRead();
        for (int i = 1; i < 50; i++)
            Assert.Equal(4, snapshot.Revisions($"d/{i}").Count());
    }

    /// <summary>
    /// Stops runs, each behind as many steps as its number gives, until one comes to its end or nothing is left; gives how many
    /// were stopped.
    /// </summary>
    private static async Task<int> StopBehindEachStepAsync(
        SteppingHost host, Func<int, int> steps, Func<CancellationToken, Task> run, Func<bool> isDone)
    {
        const int Most = 500;
        int stops = 0;
        for (; !isDone(); stops++)
        {
            Assert.True(stops < Most, "a run that is stopped makes progress");
            using var stop = new CancellationTokenSource();
            host.StopAfter(steps(stops), stop);
            try
            {
                await run(stop.Token);
                return stops;
            }
            catch (OperationCanceledException)
            {
            }
        }

        return stops;
    }

    private static long Left(Database database, DueAction action)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.Due.Due(action, long.MaxValue, int.MaxValue).Count;
    }

    private static long Revisions(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.Kinds.Count(Kind.Revision);
    }

    private async Task PutAllAsync(Database database, string member)
    {
        using var batch = new WriteBatch();
        for (int i = 0; i < Documents; i++)
            batch.Put(
                $"d/{i}",
                Encoding.UTF8.GetBytes(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"{{\"@metadata\":{{\"{member}\":\"{_clock.Now.UtcDateTime.AddSeconds(i / 10):O}\"}}}}")));
        await database.WriteAsync(batch, Cancel);
    }

    private Database Open() => Database.Open(_directory.Path, new DatabaseOptions { TimeProvider = _clock });
}
