using Treepie.Kinds;
using Treepie.Sessions;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>Time series whose values are properties of a class.</summary>
public sealed class TypedTimeSeriesTests : IDisposable
{
    private static readonly DateTime _start = new(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    private readonly Database _database = Database.OpenInMemory();
    private readonly DocumentSession _session;

    public TypedTimeSeriesTests()
    {
        _session = _database.OpenSession();
        _session.Store(new Company { Id = "companies/1" });
        _session.SaveChanges();
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _session.Dispose();
        _database.Dispose();
    }

    [Fact]
    public async Task Properties_are_values_in_the_order_of_their_marks()
    {
        TypedTimeSeries<StockPrice> prices = _session.TimeSeriesFor<StockPrice>("companies/1");
        prices.Append(_start, new StockPrice { Open = 1.5, Close = 2.5 }, "exchanges/1");
        prices.Append(new TimeSeriesEntry<StockPrice>(_start.AddDays(1), new StockPrice { Open = 3, Close = 4 }));
        Assert.Empty(prices.Get());
        await _session.SaveChangesAsync(Token);

        TimeSeriesPoint raw = _session.TimeSeriesFor("companies/1", "StockPrices").Get()[0];
        Assert.Equal([1.5, 2.5], raw.Values); // Close is declared first, and marked as the second
        IReadOnlyList<TimeSeriesEntry<StockPrice>> read = await prices.GetAsync(cancellationToken: Token);
        Assert.Equal([(1.5, 2.5), (3, 4)], read.Select(entry => (entry.Value.Open, entry.Value.Close)));
        Assert.Equal((_start, "exchanges/1"), (read[0].Timestamp, read[0].Tag));
        Assert.Equal(3, Assert.Single(prices.Get(from: _start.AddHours(1))).Value.Open);

        prices.Delete(to: _start);
        await _session.SaveChangesAsync(Token);
        Assert.Equal(4, Assert.Single(prices.Get()).Value.Close);
    }

    [Fact]
    public async Task Entries_with_fewer_or_more_values_are_read_as_far_as_they_go()
    {
        Company company = _session.Load<Company>("companies/1")!; // stored above
        SessionTimeSeries raw = _session.TimeSeriesFor(company, "other");
        raw.Append(_start, [7]);
        raw.Append(_start.AddDays(1), [1, 2, 3]);
        await _session.SaveChangesAsync(Token);
        Assert.Equal(
            [(7, 0), (1, 2)],
            _session.TimeSeriesFor<StockPrice>(company, "other").Get().Select(entry => (entry.Value.Open, entry.Value.Close)));
    }

    [Fact]
    public void Classes_that_do_not_say_which_property_is_which_value_are_refused()
    {
        Assert.Contains("[TimeSeriesValue(0)]", Refused<Company>(), StringComparison.Ordinal);
        Assert.Contains("Gap.B is [TimeSeriesValue(2)], and 1 is expected", Refused<Gap>(), StringComparison.Ordinal);
        Assert.Contains("Text.A cannot be a value", Refused<Text>(), StringComparison.Ordinal);
        TypedTimeSeries<StockPrice> prices = _session.TimeSeriesFor<StockPrice>("companies/1");
        Assert.Throws<InvalidDocumentException>(() => prices.Append(_start, new StockPrice { Open = double.NaN }));
        Assert.False(_session.HasChanges);
    }

    private string Refused<T>()
        where T : class, new() =>
        Assert.Throws<TreepieException>(() => _session.TimeSeriesFor<T>("companies/1")).Message;

    private sealed class Company
    {
        public string? Id { get; set; }
    }

    private sealed class StockPrice
    {
        [TimeSeriesValue(1)]
        public double Close { get; set; }

        [TimeSeriesValue(0)]
        public double Open { get; set; }

        public double Spread => Close - Open;
    }

    private sealed class Gap
    {
        [TimeSeriesValue(0)]
        public double A { get; set; }

        [TimeSeriesValue(2)]
        public double B { get; set; }
    }

    private sealed class Text
    {
        [TimeSeriesValue(0)]
        public string? A { get; set; }
    }
}
