using System.Text;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Writes;

public sealed class HiLoTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Clock _clock = new();
    private readonly Database _database;

    public HiLoTests() => _database = Database.Open(_directory.Path, new DatabaseOptions { TimeProvider = _clock });

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Ranges_double_when_used_up_right_away_and_halve_when_not()
    {
        HiLoRange first = await Next(0, DateTime.UnixEpoch);
        Assert.Equal(new HiLoRange("users/", 1, 32, 32, "A", _clock.Now), first);
        _clock.Now += TimeSpan.FromSeconds(30);
        HiLoRange second = await Next(first.LastSize, first.LastRangeAt);
        Assert.Equal((33, 96, 64), (second.Low, second.High, second.LastSize));
        _clock.Now += TimeSpan.FromSeconds(31);
        HiLoRange third = await Next(second.LastSize, second.LastRangeAt);
        Assert.Equal((97, 128, 32), (third.Low, third.High, third.LastSize));
        Assert.Equal((129, 160), (await Next(1, DateTime.UnixEpoch)) is var fourth ? (fourth.Low, fourth.High) : default);
    }

    [Fact]
    public async Task A_range_has_a_greatest_size()
    {
        HiLoRange range = await Next(long.MaxValue, _clock.Now);

        Assert.Equal(1 << 20, range.LastSize);
    }

    [Fact]
    public async Task The_state_is_a_document_of_which_only_Max_changes()
    {
        await Write("""{"x":{"Max":7},"Max":64,"note":"kept","@metadata":{"@collection":"@hilo","Raven-Node-Type":"HiLo"}}""");

        Assert.Equal(65, (await Next(0, DateTime.UnixEpoch)).Low);

        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet("Raven/Hilo/users", out Document document));
        Assert.Equal("""{"x":{"Max":7},"Max":96,"note":"kept"}""", Encoding.UTF8.GetString(document.Body));
        Assert.Equal("""{"Raven-Node-Type":"HiLo"}""", Encoding.UTF8.GetString(document.Metadata));
        Assert.Equal("@hilo", document.CollectionName);
    }

    [Theory]
    [InlineData("{}", """{"Max":32}""")]
    [InlineData("""{"a":1}""", """{"Max":32,"a":1}""")]
    [InlineData("""{"Max":"text"}""", """{"Max":32}""")]
    [InlineData("""{"Max":null,"a":1}""", """{"Max":32,"a":1}""")]
    [InlineData("""{"Max":{"a":[1]},"b":1}""", """{"Max":32,"b":1}""")]
    public async Task A_document_without_a_usable_Max_counts_from_the_beginning(string before, string after)
    {
        await Write(before[..^1] + (before.Length > 2 ? "," : "") + "\"@metadata\":{\"@collection\":\"@hilo\"}}");

        await Next(0, DateTime.UnixEpoch);

        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet("Raven/Hilo/users", out Document document));
        Assert.Equal(after, Encoding.UTF8.GetString(document.Body));
    }

    [Fact]
    public async Task A_client_that_knows_greater_ids_gets_greater_ones_still()
    {
        HiLoRange range = await _database.NextHiLoRangeAsync(new HiLoRequest("users", 0, DateTime.UnixEpoch, 1000), Token);

        Assert.Equal((1001, 1032), (range.Low, range.High));
    }

    [Fact]
    public async Task What_is_returned_is_given_out_again_unless_a_later_range_was()
    {
        await Next(0, DateTime.UnixEpoch);
        await _database.ReturnHiLoRangeAsync("users", end: 32, last: 5, Token);
        HiLoRange again = await Next(0, DateTime.UnixEpoch);
        Assert.Equal((6, 37), (again.Low, again.High));
        await Next(0, DateTime.UnixEpoch);
        await _database.ReturnHiLoRangeAsync("users", end: 37, last: 6, Token);
        await _database.ReturnHiLoRangeAsync("users", end: 69, last: 70, Token);
        await _database.ReturnHiLoRangeAsync("nobody", end: 32, last: 1, Token);

        Assert.Equal(70, (await Next(0, DateTime.UnixEpoch)).Low);
        Assert.Equal(1, _database.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task Ranges_asked_for_at_once_do_not_overlap()
    {
        HiLoRange[] ranges = await Task.WhenAll(Enumerable.Range(0, 100).Select(_ => Next(32, _clock.Now)));

        long expected = 1;
        foreach (HiLoRange range in ranges.OrderBy(range => range.Low))
        {
            Assert.Equal(expected, range.Low);
            expected = range.High + 1;
        }
    }

    [Fact]
    public async Task A_tag_that_cannot_be_part_of_an_id_is_refused()
    {
        await Assert.ThrowsAsync<InvalidDocumentException>(
            () => _database.NextHiLoRangeAsync(new HiLoRequest("", 0, DateTime.UnixEpoch, 0), Token));
        await Assert.ThrowsAsync<InvalidDocumentException>(
            () => _database.NextHiLoRangeAsync(new HiLoRequest("a\n", 0, DateTime.UnixEpoch, 0), Token));
        Assert.Equal(0, _database.LastEtag);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private Task<HiLoRange> Next(long lastSize, DateTime lastAt) =>
        _database.NextHiLoRangeAsync(new HiLoRequest("users", lastSize, lastAt, 0), Token);

    private Task<IReadOnlyList<WriteResult>> Write(string json) =>
        _database.WriteAsync(new WriteBatch().Put("Raven/Hilo/users", Encoding.UTF8.GetBytes(json)), Token);

    private sealed class Clock : TimeProvider
    {
        public DateTime Now { get; set; } = new(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);

        public override DateTimeOffset GetUtcNow() => Now;
    }
}
