using Treepie.Kinds;
using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>What loads and queries bring along is read without another request.</summary>
public sealed class SessionIncludeTests : IAsyncLifetime
{
    private static readonly DateTime _start = new(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;
    private string _firstState = "";

    public SessionIncludeTests() => _database = Database.Open(_directory.Path);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        await _database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Token);
        using DocumentSession session = _database.OpenSession(options => options with { IsClusterWide = true });
        session.Advanced.ClusterTransaction.Create("emails/a", "rooms/1");
        await session.SaveChangesAsync(Token);
        using DocumentSession first = _database.OpenSession();
        var room = new Room { Id = "rooms/1", Name = "before", HouseId = "houses/1", Key = "emails/a" };
        first.Store(room);
        first.Store(new House { Id = "houses/1", City = "Reims" });
        await first.SaveChangesAsync(Token);
        _firstState = first.GetChangeVectorFor(room)!;
        room.Name = "after";
        room.Earlier = _firstState;
        first.CountersFor(room).Increment("likes", 3);
        first.CountersFor(room).Increment("visits", 5);
        first.CountersFor("houses/1").Increment("doors", 2);
        for (int minute = 0; minute < 10; minute++)
            first.TimeSeriesFor(room, "heat").Append(_start.AddMinutes(minute), minute);
        await first.SaveChangesAsync(Token);
    }

    public async ValueTask DisposeAsync()
    {
        await _database.DisposeAsync();
        _directory.Dispose();
    }

    [Fact]
    public async Task What_a_load_brings_along_takes_no_further_request()
    {
        using DocumentSession session = _database.OpenSession();
        Room? room = await session.LoadAsync<Room>("rooms/1", Everything, Token);
        Assert.Equal("after", room?.Name);
        await ReadsAll(session);
    }

    [Fact]
    public async Task What_a_query_brings_along_takes_no_further_request()
    {
        using DocumentSession session = _database.OpenSession();
        Assert.Single(await session.Query<Room>().Where(r => r.Name == "after").Include(Everything).ToListAsync(Token));
        await ReadsAll(session);
    }

    [Fact]
    public async Task A_raw_query_brings_along_too()
    {
        using DocumentSession session = _database.OpenSession();
        await session.RawQuery<Room>("from Rooms include counters('likes'), timeseries('heat', null, null)").ToListAsync(Token);
        Assert.Equal(3, session.CountersFor("rooms/1").Get("likes"));
        Assert.Equal(10, session.TimeSeriesFor("rooms/1", "heat").Get().Count);
        Assert.Equal(1, session.Advanced.NumberOfRequests);
    }

    [Fact]
    public void What_is_brought_along_is_what_was_asked_for()
    {
        using DocumentSession session = _database.OpenSession();
        session.Load<Room>(
            "rooms/1",
            includes => includes.IncludeCounter("none").IncludeAllCounters(room => room.HouseId).IncludeTimeSeries("heat", 3));
        Assert.Null(session.CountersFor("rooms/1").Get("none"));
        Assert.Equal(2, session.CountersFor("houses/1").GetAll()["doors"]);
        Assert.Null(session.CountersFor("HOUSES/1").Get("windows"));
        Assert.Equal(
            [7.0, 8.0, 9.0], session.TimeSeriesFor("rooms/1", "Heat").Get(_start.AddMinutes(7)).Select(p => p.Values[0]));
        Assert.Equal(1, session.Advanced.NumberOfRequests);

        // What was not asked for is read, and is right.
        Assert.Equal(3, session.CountersFor("rooms/1").Get("likes"));
        Assert.Equal(10, session.TimeSeriesFor("rooms/1", "heat").Get().Count);
        Assert.Equal(4, session.TimeSeriesFor("rooms/1", "heat").Get(_start.AddMinutes(6)).Count);
        Assert.Equal(4, session.Advanced.NumberOfRequests);

        using DocumentSession other = _database.OpenSession();
        other.Load<Room>(
            ["rooms/1", "rooms/2"],
            includes => includes.IncludeAllTimeSeries()
                .IncludeTimeSeries("cold", TimeSpan.FromMinutes(2))
                .IncludeCounters(["x", "likes"]));
        Assert.Equal(2, other.TimeSeriesFor("rooms/1", "heat").Get(start: 2, pageSize: 2).Count);
        Assert.Empty(other.TimeSeriesFor("rooms/1", "wind").Get());
        Assert.Equal([null, 3L], other.CountersFor("rooms/1").Get(["x", "likes"]).Values);
        Assert.Equal(1, other.Advanced.NumberOfRequests);
        Assert.Null(other.Load<Room>("rooms/2"));

        using DocumentSession last = _database.OpenSession();
        last.Load<Room>("rooms/1", includes => includes.IncludeTimeSeries("heat", TimeSpan.FromMinutes(2)));
        Assert.Equal(3, last.TimeSeriesFor("rooms/1", "heat").Get(_start.AddMinutes(7)).Count);
        Assert.Equal(1, last.Advanced.NumberOfRequests);
    }

    [Fact]
    public async Task What_is_saved_is_read_again()
    {
        using DocumentSession session = _database.OpenSession();
        Room room = session.Load<Room>("rooms/1", Everything)!;
        session.CountersFor(room).Increment("likes", 10);
        session.TimeSeriesFor(room, "heat").Append(_start.AddMinutes(10), 1);
        Assert.Equal(3, session.CountersFor(room).Get("likes"));
        await session.SaveChangesAsync(Token);
        Assert.Equal(13, session.CountersFor(room).Get("likes"));
        Assert.Equal(11, session.TimeSeriesFor(room, "heat").Get().Count);

        session.Load<Room>("rooms/1", Everything);
        session.Advanced.Evict(room);
        await Elsewhere();
        Assert.Equal(14, session.CountersFor("rooms/1").Get("likes"));
        session.Load<Room>("rooms/1", Everything);
        session.Advanced.Clear();
        await Elsewhere();
        Assert.Equal(15, session.CountersFor("rooms/1").Get("likes"));

        async Task Elsewhere()
        {
            using DocumentSession other = _database.OpenSession();
            other.CountersFor("rooms/1").Increment("likes");
            await other.SaveChangesAsync(Token);
        }
    }

    [Fact]
    public void What_cannot_be_asked_for_is_refused()
    {
        using DocumentSession session = _database.OpenSession();
        Assert.Throws<NotSupportedException>(() => session.Load<Room>("rooms/1", i => i.IncludeDocuments(r => r.Name + "x")));
        Assert.ThrowsAny<ArgumentException>(() => session.Load<Room>("rooms/1", i => i.IncludeCounter(" ")));
        Assert.ThrowsAny<ArgumentException>(() => session.Load<Room>("rooms/1", i => i.IncludeTimeSeries("heat", last: 0)));
        Assert.Throws<ArgumentException>(
            () => session.Load<Room>("rooms/1", i => i.IncludeTimeSeries("heat", _start, _start.AddDays(-1))));
        Assert.Equal(0, session.Advanced.NumberOfRequests);
    }

    private static void Everything(IncludeBuilder<Room> includes) => includes.IncludeDocuments(room => room.HouseId)
        .IncludeCounter("likes")
        .IncludeCounter(room => room.HouseId, "doors")
        .IncludeTimeSeries("heat", _start, _start.AddMinutes(5))
        .IncludeCompareExchangeValue(room => room.Key)
        .IncludeRevisions(room => room.Earlier)
        .IncludeRevisions(_start.AddYears(-30));

    private async Task ReadsAll(DocumentSession session)
    {
        Assert.Equal("Reims", (await session.LoadAsync<House>("houses/1", Token))?.City);
        Assert.Equal(3, await session.CountersFor("rooms/1").GetAsync("likes", Token));
        Assert.Equal(2, session.CountersFor("houses/1").Get("doors"));
        Assert.Equal(
            [1.0, 2.0],
            session.TimeSeriesFor("rooms/1", "heat").Get(_start.AddMinutes(1), _start.AddMinutes(2)).Select(p => p.Values[0]));
        Assert.Equal("rooms/1", session.Advanced.ClusterTransaction.Get<string>("emails/a")?.Value);
        Assert.Equal("before", session.Advanced.Revisions.Get<Room>(_firstState)?.Name);
        Assert.Null(session.Advanced.Revisions.Get<Room>("rooms/1", _start.AddYears(-30)));
        Assert.Equal("after", session.Load<Room>("rooms/1")?.Name);
        Assert.Equal(1, session.Advanced.NumberOfRequests);
    }

    private sealed class Room
    {
        public string? Id { get; set; }

        public string Name { get; set; } = "";

        public string? HouseId { get; set; }

        public string? Key { get; set; }

        public string? Earlier { get; set; }
    }

    private sealed class House
    {
        public string? Id { get; set; }

        public string City { get; set; } = "";
    }
}
