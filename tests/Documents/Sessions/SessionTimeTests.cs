using Treepie.Kinds;
using Treepie.Sessions;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>Times that sessions are given, in a process whose local time is far from UTC.</summary>
[Collection(nameof(SessionTimeTests))]
[CollectionDefinition(nameof(SessionTimeTests), DisableParallelization = true)] // the zone is that of the process
public sealed class SessionTimeTests : IDisposable
{
    private readonly string? _zone = Environment.GetEnvironmentVariable("TZ");

    public SessionTimeTests() => SetZone("Pacific/Auckland");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => SetZone(_zone);

    [Fact]
    public void Local_times_are_converted_and_times_that_do_not_say_are_utc()
    {
        var utc = new DateTime(2026, 1, 2, 3, 4, 5, DateTimeKind.Utc);
        Assert.NotEqual(utc.Ticks, utc.ToLocalTime().Ticks);
        foreach (DateTime given in new[] { utc, utc.ToLocalTime(), DateTime.SpecifyKind(utc, DateTimeKind.Unspecified) })
            Assert.Equal((utc, DateTimeKind.Utc), (SessionTime.Utc(given), SessionTime.Utc(given).Kind));
        Assert.Null(SessionTime.Utc((DateTime?)null));
    }

    [Fact]
    public async Task Revisions_and_time_series_take_the_same_time_for_the_same_moment()
    {
        using Database database = Database.OpenInMemory();
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Token);
        using DocumentSession session = database.OpenSession();
        session.Store(new Sensor { Id = "sensors/1", Name = "first" });
        DateTime soon = DateTime.UtcNow.AddMinutes(10);
        session.TimeSeriesFor("sensors/1", "heat").Append(DateTime.UtcNow, 1);
        await session.SaveChangesAsync(Token);
        foreach ((DateTime time, DateTime before) in WithTheHourBefore(soon))
        {
            Assert.Equal("first", session.Advanced.Revisions.Get<Sensor>("sensors/1", time)?.Name);
            Assert.Null(session.Advanced.Revisions.Get<Sensor>("sensors/1", before));
            Assert.Single(session.TimeSeriesFor("sensors/1", "heat").Get(to: time));
            Assert.Empty(session.TimeSeriesFor("sensors/1", "heat").Get(to: before));
        }
    }

    [Fact]
    public async Task Included_revisions_and_time_series_are_those_that_the_session_reads_at_the_same_time()
    {
        using Database database = Database.OpenInMemory();
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Token);
        using (DocumentSession first = database.OpenSession())
        {
            first.Store(new Sensor { Id = "sensors/1", Name = "first" });
            first.TimeSeriesFor("sensors/1", "heat").Append(DateTime.UtcNow, 1);
            await first.SaveChangesAsync(Token);
        }

        DateTime soon = DateTime.UtcNow.AddMinutes(10);
        foreach ((DateTime time, DateTime before) in WithTheHourBefore(soon))
        {
            using DocumentSession session = database.OpenSession();
            session.Load<Sensor>(
                "sensors/1",
                includes => includes.IncludeRevisions(time).IncludeTimeSeries("heat", before, time));
            Assert.Equal("first", session.Advanced.Revisions.Get<Sensor>("sensors/1", time)?.Name);
            Assert.Single(session.TimeSeriesFor("sensors/1", "heat").Get(before, time));
            Assert.Equal(1, session.Advanced.NumberOfRequests);
        }
    }

    /// <summary>
    /// A moment in each kind of time, with that of an hour before. The hour is subtracted in UTC: local clocks skip one in
    /// spring.
    /// </summary>
    private static IEnumerable<(DateTime Time, DateTime Before)> WithTheHourBefore(DateTime utc)
    {
        DateTime before = utc.AddHours(-1);
        return
        [
            (utc, before),
            (utc.ToLocalTime(), before.ToLocalTime()),
            (DateTime.SpecifyKind(utc, DateTimeKind.Unspecified), DateTime.SpecifyKind(before, DateTimeKind.Unspecified)),
        ];
    }

    private sealed class Sensor
    {
        public string? Id { get; set; }

        public string? Name { get; set; }
    }

    private static void SetZone(string? zone)
    {
        Environment.SetEnvironmentVariable("TZ", zone);
        TimeZoneInfo.ClearCachedData();
    }
}
