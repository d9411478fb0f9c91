using Treepie.Kinds;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>
/// What sessions do with what lies beside documents: attachments, counters, time series, revisions, compare-exchange.
/// </summary>
public sealed class SessionBesideTests : IDisposable
{
    private static readonly DateTime _start = new(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;
    private readonly DocumentSession _session;

    public SessionBesideTests()
    {
        _database = Database.Open(_directory.Path);
        _session = _database.OpenSession(options => options with { UseOptimisticConcurrency = true });
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _session.Dispose();
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Time_series_are_appended_read_in_ranges_and_deleted()
    {
        var sensor = new Sensor { Id = "sensors/1", Name = "a" };
        _session.Store(sensor);
        SessionTimeSeries heat = _session.TimeSeriesFor(sensor, "heat");
        for (int minute = 0; minute < 10; minute++)
            heat.Append(_start.AddMinutes(minute), [minute, -minute], "sensors/1");
        Assert.Empty(heat.Get());
        await _session.SaveChangesAsync(Token);

        Assert.Equal(10, (await heat.GetAsync(cancellationToken: Token)).Count);
        IReadOnlyList<TimeSeriesPoint> some = heat.Get(_start.AddMinutes(3), _start.AddMinutes(6), start: 1, pageSize: 2);
        Assert.Equal([4.0, 5.0], some.Select(point => point.Values[0]));
        Assert.Equal([-4.0, -5.0], some.Select(point => point.Values[1]));
        Assert.Equal("sensors/1", some[0].Tag);
        Assert.Equal(_start.AddMinutes(9), Assert.Single(_session.Advanced.GetTimeSeriesFor("sensors/1")).Last);

        heat.Delete(to: _start.AddMinutes(7));
        heat.Append(_start.AddMinutes(9), 90);
        await _session.SaveChangesAsync(Token);
        Assert.Equal([8.0, 90.0], heat.Get().Select(point => point.Values[0]));

        sensor.Name = "b"; // at the change vector that the series gave the document
        await _session.SaveChangesAsync(Token);
    }

    [Fact]
    public async Task Values_of_incremental_series_add_up()
    {
        _session.Store(new Sensor { Id = "sensors/1" });
        SessionTimeSeries series = _session.TimeSeriesFor("sensors/1", "INC:visits");
        for (int i = 0; i < 3; i++)
        {
            series.Increment(_start, 2);
            await _session.SaveChangesAsync(Token);
        }

        Assert.Equal(6, Assert.Single(series.Get()).Values[0]);
        var error = Assert.Throws<InvalidOperationException>(
            () => _session.TimeSeriesFor("sensors/1", "heat").Increment(_start, 1));
        Assert.Contains("INC:heat", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void What_cannot_be_an_entry_is_refused_at_once()
    {
        SessionTimeSeries heat = _session.TimeSeriesFor("sensors/1", "heat");
        Assert.Throws<InvalidDocumentException>(() => heat.Append(_start, double.NaN));
        Assert.Throws<InvalidDocumentException>(() => heat.Append(_start, []));
        Assert.Throws<InvalidDocumentException>(() => heat.Delete(_start.AddDays(1), _start));
        Assert.Throws<InvalidDocumentException>(() => _session.TimeSeriesFor("sensors/1", ""));
        Assert.False(_session.HasChanges);
    }

    [Fact]
    public async Task Revisions_are_read_as_objects_and_as_metadata()
    {
        await _database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Token);
        var sensor = new Sensor { Id = "sensors/1", Name = "0" };
        _session.Store(sensor);
        await _session.SaveChangesAsync(Token);
        for (int i = 1; i < 5; i++)
        {
            sensor.Name = $"{i}";
            await _session.SaveChangesAsync(Token);
        }

        SessionRevisions revisions = _session.Advanced.Revisions;
        Assert.Equal(5, revisions.GetCountFor("sensors/1"));
        Assert.Equal(["3", "2"], revisions.GetFor<Sensor>("sensors/1", start: 1, pageSize: 2).Select(one => one.Name));
        Assert.Equal("sensors/1", revisions.GetFor<Sensor>("sensors/1")[0].Id);
        string oldest = (string)revisions.GetMetadataFor("sensors/1")[4]["@change-vector"]!; // revisions have one
        Assert.Equal("0", revisions.Get<Sensor>(oldest)?.Name);
        Assert.Equal("4", revisions.Get<Sensor>("sensors/1", DateTime.UtcNow.AddDays(1))?.Name);
        Assert.Null(revisions.Get<Sensor>("sensors/1", _start.AddYears(-50)));
        Assert.Null(revisions.Get<Sensor>("nonsense"));
        Assert.False(_session.HasChanges);

        _session.Delete(sensor);
        await _session.SaveChangesAsync(Token);
        Assert.Equal("4", (await revisions.GetForAsync<Sensor>("sensors/1", cancellationToken: Token))[0].Name);
        Assert.Contains("Delete", (string?)revisions.GetMetadataFor("sensors/1")[0]["@flags"], StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_forced_revision_is_what_the_document_was_before_the_save(bool changes)
    {
        var sensor = new Sensor { Id = "sensors/1", Name = "before" };
        _session.Store(sensor);
        await _session.SaveChangesAsync(Token);
        Assert.Equal(0, _session.Advanced.Revisions.GetCountFor("sensors/1"));

        _session.Advanced.Revisions.ForceRevisionCreationFor(sensor);
        sensor.Name = changes ? "after" : "before";
        await _session.SaveChangesAsync(Token);
        Assert.Equal("before", _session.Advanced.Revisions.GetFor<Sensor>("sensors/1")[^1].Name);
        sensor.Name = "last";
        await _session.SaveChangesAsync(Token); // no conflict with its own revision
    }

    [Fact]
    public async Task Attachments_are_copied_moved_renamed_and_read_as_streams()
    {
        byte[] content = new byte[300_000];
        new Random(1).NextBytes(content);
        _session.Store(new Sensor { Id = "sensors/1" });
        _session.Store(new Sensor { Id = "sensors/2" });
        SessionAttachments attachments = _session.Advanced.Attachments;
        attachments.Store("sensors/1", "a", new MemoryStream(content), "image/png");
        await _session.SaveChangesAsync(Token);
        attachments.Copy("sensors/1", "a", "sensors/2", "b");
        attachments.Rename("sensors/1", "a", "c");
        await _session.SaveChangesAsync(Token);
        attachments.Move("sensors/1", "c", "sensors/2", "d");
        await _session.SaveChangesAsync(Token);

        Assert.Empty(attachments.List("sensors/1"));
        Assert.Equal(["b", "d"], attachments.List("sensors/2").Select(one => one.Name));
        using AttachmentContent found = (await attachments.GetAsync("sensors/2", "d", Token))!; // listed above
        Assert.Equal(("image/png", content.Length), (found.Details.ContentType, found.Stream.Length));
        using (DocumentSession other = _database.OpenSession())
        {
            other.Advanced.Attachments.Delete("sensors/2", "b");
            other.Advanced.Attachments.Delete("sensors/2", "d");
            await other.SaveChangesAsync(Token);
        }

        Assert.Null(attachments.Get("sensors/2", "d"));
        using var read = new MemoryStream();
        await found.Stream.CopyToAsync(read, Token); // its snapshot has it still
        Assert.Equal(content, read.ToArray());
        found.Stream.Seek(-2, SeekOrigin.End);
        Assert.Equal([content[^2], content[^1], -1], [found.Stream.ReadByte(), found.Stream.ReadByte(), found.Stream.ReadByte()]);
        found.Dispose();
        Assert.Throws<ObjectDisposedException>(() => found.Stream.ReadByte());
    }

    [Fact]
    public async Task Counters_are_read_together()
    {
        _session.Store(new Sensor { Id = "sensors/1" });
        _session.CountersFor("sensors/1").Increment("up", 5);
        _session.CountersFor("sensors/1").Increment("down", -2);
        await _session.SaveChangesAsync(Token);
        IReadOnlyDictionary<string, long?> some = _session.CountersFor("sensors/1").Get(["up", "down", "side"]);
        Assert.Equal([5, -2, null], [some["up"], some["down"], some["side"]]);
        Assert.Equal(5, await _session.CountersFor("sensors/1").GetAsync("UP", Token));
        Assert.Equal(2, (await _session.CountersFor("sensors/1").GetAllAsync(Token)).Count);
    }

    [Fact]
    public async Task Compare_exchange_values_are_listed_by_prefix_without_guards()
    {
        using DocumentSession wide = _database.OpenSession(options => options with { IsClusterWide = true });
        for (int i = 0; i < 5; i++)
            wide.Advanced.ClusterTransaction.Create($"names/{i}", i);
        wide.Store(new Sensor { Id = "sensors/1" });
        await wide.SaveChangesAsync(Token);
        Assert.Equal(
            [1, 2], wide.Advanced.ClusterTransaction.GetStartingWith<int>("names/", 1, 2).Select(value => value.Value));
        Assert.Equal(5, wide.Advanced.ClusterTransaction.GetStartingWith<int>("").Count);
        Assert.Equal(3, (await wide.Advanced.ClusterTransaction.GetAsync<int>("names/3", Token))?.Value);
    }

    [Fact]
    public async Task A_document_is_loaded_only_if_it_changed_since()
    {
        _session.Store(new Sensor { Id = "sensors/1", Name = "a" });
        await _session.SaveChangesAsync(Token);
        using DocumentSession other = _database.OpenSession();
        Assert.Equal((null, null), await other.Advanced.ConditionalLoadAsync<Sensor>("sensors/2", "", Token));
        (Sensor? first, string? vector) = other.Advanced.ConditionalLoad<Sensor>("sensors/1", "");
        Assert.Equal("a", first?.Name);
        other.Clear();
        Assert.Equal((null, vector), other.Advanced.ConditionalLoad<Sensor>("sensors/1", vector!)); // it exists
        Assert.False(other.IsLoaded("sensors/1"));
        _session.CountersFor("sensors/1").Increment("x");
        await _session.SaveChangesAsync(Token);
        Assert.NotNull(other.Advanced.ConditionalLoad<Sensor>("sensors/1", vector!).Entity); // as above
    }

    [Fact]
    public async Task Both_interfaces_have_the_same()
    {
        using IDocumentStore store = Database.OpenInMemory();
        await using (IAsyncDocumentSession session = store.OpenAsyncSession())
        {
            await session.StoreAsync(new Sensor { Id = "sensors/7", Name = "a" }, cancellationToken: Token);
            session.CountersFor("sensors/7").Increment("x");
            session.TimeSeriesFor("sensors/7", "heat").Append(_start, 1);
            await session.SaveChangesAsync(Token);
            Assert.Same(
                await session.LoadAsync<Sensor>(7, Token),
                Assert.Single(await session.LoadStartingWithAsync<Sensor>("sensors/", cancellationToken: Token)));
        }

        using IDocumentSession other = store.OpenSession(options => options with { AllowStale = true });
        Assert.Equal(1, other.CountersFor("sensors/7").Get("x"));
        Assert.Equal("a", Assert.Single(other.LoadStartingWith<Sensor>("sensors/")).Name);
        Assert.Single(other.TimeSeriesFor("sensors/7", "heat").Get());
        Assert.True(await other.Advanced.ExistsAsync("sensors/7", Token));
    }

    private sealed class Sensor
    {
        public string? Id { get; set; }

        public string? Name { get; set; }
    }
}
