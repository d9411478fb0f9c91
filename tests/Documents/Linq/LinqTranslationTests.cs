using System.Globalization;
using System.Linq.Expressions;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.RegularExpressions;
using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Linq;

/// <summary>Which RQL an expression becomes, and what is said about those that become none.</summary>
public sealed class LinqTranslationTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;
    private readonly DocumentSession _session;

    public LinqTranslationTests()
    {
        _database = Database.Open(_directory.Path);
        _session = _database.OpenSession();
    }

    public static TheoryData<string, string, Expression<Func<Order, bool>>> Conditions
    {
        get
        {
            string city = "Reims";
            string[] cities = ["Reims", "Lyon"];
            List<int> numbers = [1, 2];
            var holder = new { Inner = new { Least = 5 } };
            string? nothing = null;
            Dictionary<string, int> counts = new() { ["x"] = 1, ["y"] = 2 };
            return new TheoryData<string, string, Expression<Func<Order, bool>>>
            {
                { "City = $p0", """{"p0":"Reims"}""", o => o.City == city },
                { "City = $p0", """{"p0":"Reims"}""", o => "Reims" == o.City },
                { "City = $p0", """{"p0":null}""", o => o.City == nothing },
                { "City != $p0", """{"p0":null}""", o => o.City != null },
                { "Number > $p0", """{"p0":5}""", o => o.Number > holder.Inner.Least },
                { "Number < $p0", """{"p0":6}""", o => holder.Inner.Least + 1 > o.Number },
                { "Number >= $p0 and Freight <= $p1", """{"p0":1,"p1":2.5}""", o => o.Number >= 1 && o.Freight <= 2.5 },
                { "Number = $p0 or City = $p1", """{"p0":1,"p1":"x"}""", o => o.Number == 1 || o.City == "x" },
                { "(Number = $p0 or Number = $p1) and City = $p2", """{"p0":1,"p1":2,"p2":"x"}""", o => (o.Number == 1
                    || o.Number == 2) && o.City == "x" },
                { "true and not (Number = $p0 or Number = $p1)", """{"p0":1,"p1":2}""", o => !(o.Number == 1 || o.Number == 2) },
                { "IsPaid = $p0 and not IsPaid = $p1", """{"p0":true,"p1":true}""", o => o.IsPaid && !o.IsPaid },
                { "Rating != $p0", """{"p0":null}""", o => o.Rating.HasValue },
                { "Rating > $p0", """{"p0":3}""", o => o.Rating > 3 },
                { "Rating = $p0", """{"p0":3}""", o => o.Rating!.Value == 3 },
                { "Status = $p0", """{"p0":"Sent"}""", o => o.Status == OrderStatus.Sent },
                {
                    "Status in ($p1) or Status > $p0", """{"p0":1,"p1":["Done","Back"]}""", o => o.Status > OrderStatus.Sent
                },
                { "OrderedAt >= $p0", """{"p0":"2024-05-01T00:00:00.0000000"}""", o => o.OrderedAt >= new DateTime(2024, 5, 1) },
                { "OrderedAt >= $p0 and OrderedAt < $p2", """{"p0":"2024-01-01T00:00:00.0000000","p1":"2024-01-01T00:00:00.0000000","p2":"2025-01-01T00:00:00.0000000"}""", o => o.OrderedAt.Year == 2024 },
                { "note = $p0", """{"p0":"x"}""", o => o.Comment == "x" },
                { "ShipTo.City = $p0", """{"p0":"x"}""", o => o.ShipTo!.City == "x" },
                { "id() = $p0", """{"p0":"orders/1"}""", o => o.Id == "orders/1" },
                { "id() in ($p0)", """{"p0":["Reims","Lyon"]}""", o => cities.Contains(o.Id) },
                { "startsWith(id(), $p0)", """{"p0":"orders/"}""", o => o.Id!.StartsWith("orders/") },
                { "City in ($p0)", """{"p0":["Reims","Lyon"]}""", o => cities.Contains(o.City) },
                { "City in ($p0)", """{"p0":["Reims","Lyon"]}""", o => o.City.In("Reims", "Lyon") },
                { "Number in ($p0)", """{"p0":[1,2]}""", o => numbers.Contains(o.Number) },
                { "true and not Number in ($p0)", """{"p0":[1,2]}""", o => !numbers.Contains(o.Number) },
                { "Tags = $p0", """{"p0":"red"}""", o => o.Tags.Contains("red") },
                { "Marks = $p0", """{"p0":3}""", o => o.Marks.Contains(3) },
                { "Tags in ($p0)", """{"p0":["Reims","Lyon"]}""", o => o.Tags.ContainsAny(cities) },
                { "Tags all in ($p0)", """{"p0":["Reims","Lyon"]}""", o => o.Tags.ContainsAll(cities) },
                { "Lines[].Sku = $p0", """{"p0":"a"}""", o => o.Lines.Any(l => l.Sku == "a") },
                { "Lines[].Sku = $p0", """{"p0":"a"}""", o => o.Lines.Select(l => l.Sku).Contains("a") },
                { "Lines[].Colors = $p0", """{"p0":"red"}""", o => o.Lines.Any(l => l.Colors.Contains("red")) },
                { "Lines[].Amount between $p0 and $p1", """{"p0":2,"p1":4}""", o => o.Lines.Any(
                    l => l.Amount > 1 && l.Amount <= 4) },
                { "true and not Lines[].Amount < $p0", """{"p0":3}""", o => o.Lines.All(l => l.Amount >= 3) },
                { "Lines[0].Sku = $p0", """{"p0":"a"}""", o => o.Lines[0].Sku == "a" },
                { "exists(Lines[0])", "{}", o => o.Lines.Any() },
                { "exists(Lines[2])", "{}", o => o.Lines.Count > 2 },
                { "exists(Tags[0]) and not exists(Tags[1])", "{}", o => o.Tags.Length == 1 },
                { "Counts.red > $p0", """{"p0":2}""", o => o.Counts["red"] > 2 },
                { "exists(Counts.'light blue')", "{}", o => o.Counts.ContainsKey("light blue") },
                { "startsWith(City, $p0)", """{"p0":"Re"}""", o => o.City!.StartsWith("Re") },
                { "exact(endsWith(City, $p0))", """{"p0":"ms"}""", o => o.City!.EndsWith("ms", StringComparison.Ordinal) },
                { "regex(City, $p0)", """{"p0":"e\\.i"}""", o => o.City!.Contains("e.i") },
                { "exact(City = $p0)", """{"p0":"Reims"}""", o => string.Equals(o.City, "Reims", StringComparison.Ordinal) },
#pragma warning disable CA1309, CA1862 // it is what people write
                { "City = $p0", """{"p0":"reims"}""", o => o.City!.ToLowerInvariant() == "reims" },
                { "City > $p0", """{"p0":"m"}""", o => o.City!.CompareTo("m") > 0 },
                { "City > $p0", """{"p0":"m"}""", o => string.Compare(o.City, "m", true, CultureInfo.InvariantCulture) > 0 },
#pragma warning restore CA1309, CA1862
                { "City in ($p0)", """{"p0":["x","y"]}""", o => counts.Keys.Contains(o.City!) },
                { "City = null or City = $p0", """{"p0":""}""", o => string.IsNullOrEmpty(o.City) },
                { "exact(regex(City, $p0))", """{"p0":"^R.*s$"}""", o => Regex.IsMatch(o.City!, "^R.*s$") },
                { "search(note, $p0) or Number > $p1", """{"p0":"red fox","p1":5}""", o => RqlMethods.Search(
                    o.Comment, "red fox", false) || o.Number > 5 },
                { "boost(City = $p0, $p1)", """{"p0":"x","p1":2}""", o => RqlMethods.Boost(o.City == "x", 2) },
                { "spatial.within(spatial.point(ShipTo.Lat, ShipTo.Lng), spatial.circle($p0, $p1, $p2))", """{"p0":10,"p1":49,"p2":4}""", o => RqlMethods.Spatial(o.ShipTo!.Lat, o.ShipTo.Lng, SpatialCriteria.WithinRadius(10, 49, 4, false)) },
                { "true and not true", "{}", o => numbers.Count > 5 },
            };
        }
    }

    public static TheoryData<string, Expression<Func<Order, bool>>> Refused => new()
    {
        { "numbers, texts and times are compared", o => o.Flags > o.Wishes },
        { "counted of one array", o => o.Lines.Select(l => l.Sku).Any() },
        { "counted of one array", o => o.Lines.SelectMany(l => l.Colors).Count() == 2 },
        { "not what is computed of them", o => o.Lines.Any(l => l.Sku == "a" && l.Amount * 2 > 1) },
        { "is evaluated on documents", o => o.Lines.Any(l => l.Amount > 1 && RqlMethods.Search(l.Sku, "a", false)) },
        { "not what is computed of them", o => o.Number * 2 > 5 },
        { "not what is computed of them", o => o.City!.Trim() == "a" },
        { "Write a range of times", o => o.OrderedAt.Ticks == 5 },
        { "Write a range of times", o => o.OrderedAt.TimeOfDay > TimeSpan.FromHours(12) },
        { "Of strings, conditions call", o => o.City!.IsNormalized() },
        { "Ids are compared with '=='", o => o.Id!.CompareTo("orders/5") > 0 },
        { "not what is computed of them", o => o.Lines.Sum(l => l.Amount) > 3 },
        { "filter the rest", o => Check(o) },
    };

    private static bool Check(Order order) => order.Number > 5;

    public void Dispose()
    {
        _session.Dispose();
        _database.Dispose();
        _directory.Dispose();
    }

    [Theory]
    [MemberData(nameof(Conditions), DisableDiscoveryEnumeration = true)]
    public void A_condition_becomes_the_RQL_of_the_same_meaning(
        string text, string parameters, Expression<Func<Order, bool>> condition)
    {
        RqlStatement rql = _session.Query<Order>().Where(condition).ToRql();
        Assert.Equal("from Orders where " + text, rql.Text);
        Assert.Equal(parameters, rql.Parameters.GetRawText());
    }

    [Theory]
    [MemberData(nameof(Refused), DisableDiscoveryEnumeration = true)]
    public void What_has_no_RQL_is_refused_with_the_expression_and_what_to_write(
        string says, Expression<Func<Order, bool>> condition)
    {
        var error = Assert.Throws<NotSupportedException>(() => _session.Query<Order>().Where(condition).ToRql());
        Assert.Contains(says, error.Message, StringComparison.Ordinal);
        Assert.StartsWith("The query cannot translate '", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void What_an_index_does_not_know_of_one_element_is_looked_at_in_documents()
    {
        Assert.Equal(
            "from Orders where Number = $p0 and Lines[].Sku = $p1 and Lines[].Amount > $p2 order by Number as long "
                + "filter any(Lines as _e0, _e0.Sku = $p3 and _e0.Amount > $p4) limit $skip, $take",
            _session.Query<Order>().Where(o => o.Number == 3).Where(o => o.Lines.Any(l => l.Sku == "a" && l.Amount > 1))
                .OrderBy(o => o.Number).Take(5).ToRql().Text);
        Assert.Equal(
            "from Orders filter any(Lines as _e0, true and not _e0.Colors = $p0)",
            _session.Query<Order>().Where(o => o.Lines.Any(l => !l.Colors.Contains("red"))).ToRql().Text);
        Assert.Equal(
            "from Orders where (Lines[].Amount > $p0 and Lines[].Colors[] = $p1) or Number = $p4 "
                + "filter any(Lines as _e0, _e0.Amount > $p2 and any(_e0.Colors as _e1, _e1 = $p3)) or Number = $p4",
            _session.Query<Order>()
                .Where(o => o.Lines.Any(l => l.Amount > 1 && l.Colors.Any(c => c == "red")) || o.Number == 1)
                .ToRql().Text);
        Assert.Equal(
            "from Orders where exact(Lines[].Sku = $p0 and Lines[].Amount > $p1) filter "
                + "exact(any(Lines as _e0, _e0.Sku = $p2 and _e0.Amount > $p3))",
            _session.Query<Order>().Where(o => o.Lines.Any(l => l.Sku == "a" && l.Amount > 1), exact: true).ToRql().Text);
    }

    [Fact]
    public void What_is_computed_of_a_member_is_a_field_or_looked_at_in_documents()
    {
        Assert.Equal(
            "from Orders where Number = $p0 and length(City) > $p1",
            _session.Query<Order>().Where(o => o.Number == 3 && o.City!.Length > 5).ToRql().Text);
        Assert.Equal(
            "from Orders where month(OrderedAt) = $p0 and dayOfWeek(OrderedAt) in ($p1)",
            _session.Query<Order>().Where(o => o.OrderedAt.Month == 5)
                .Where(o => new[] { DayOfWeek.Monday }.AsEnumerable().Contains(o.OrderedAt.DayOfWeek)).ToRql().Text);
        Assert.Equal(
            "from Orders where year(SeenAt) = $p0",
            _session.Query<Order>().Where(o => o.SeenAt.Year == 2024).ToRql().Text);
        Assert.Equal(
            "from index 'Orders' where utc(SeenAt) >= $p0 and utc(SeenAt) < $p1 filter year(SeenAt) = $p2",
            _session.Query<Order>("Orders").Where(o => o.SeenAt.Year == 2024).ToRql().Text);
        Assert.Equal(
            "from Orders order by length(City) desc, month(OrderedAt), count(Lines)",
            _session.Query<Order>().OrderByDescending(o => o.City!.Length).ThenBy(o => o.OrderedAt.Month)
                .ThenBy(o => o.Lines.Count).ToRql().Text);
        Assert.Equal(
            "from Orders where Marks > $p0 filter count(Marks as _e0, _e0 > $p1) >= $p2",
            _session.Query<Order>().Where(o => o.Marks.Count(m => m > 3) >= 2).ToRql().Text
                .Replace("Marks[]", "Marks", StringComparison.Ordinal));
        Assert.Equal(
            "from Orders where count(Lines) > $p0",
            _session.Query<Order>().Where(o => o.Lines.Count > 100).ToRql().Text);
        Assert.Equal(
            "from Orders filter length(City) > day(OrderedAt)",
            _session.Query<Order>().Filter(o => o.City!.Length > o.OrderedAt.Day).ToRql().Text);
        RqlStatement flags = _session.Query<Order>().Where(o => o.Flags.HasFlag(OrderFlags.GiftExpress)).ToRql();
        Assert.Equal("from Orders where Flags in ($p0)", flags.Text);
        Assert.Equal("""{"p0":["GiftExpress","GiftExpress, Fragile"]}""", flags.Parameters.GetRawText());
    }

    [Fact]
    public void Filters_stand_behind_the_order_and_have_a_limit()
    {
        Assert.Equal(
            "from Orders where City = $p0 order by Number as long filter Number > Rating and Freight < $p1 select City limit "
                + "$skip, $take filter_limit $filterLimit",
            _session.Query<Order>().Filter(o => o.Number > o.Rating, 100).Where(o => o.City == "x").Filter(o => o.Freight < 2)
                .OrderBy(o => o.Number).Select(o => new { o.City }).Take(3).ToRql().Text);
        IDocumentQueryable<Order> filtered = _session.Query<Order>().Filter(o => o.Number > 1);
        Refuses("GroupBy has conditions", () => filtered.GroupBy(o => o.City).Select(g => g.Key).ToRql());
        Refuses("facets and suggestions", () => filtered.AggregateBy(o => o.City!).ToRql());
        Refuses("in a separate Where", () => _session.Query<Order>().Filter(o => RqlMethods.Search(o.City, "x", false)).ToRql());
        Refuses(
            "Write it in a separate Where",
            () => _session.Query<Order>()
                .Where(o => RqlMethods.Search(o.City, "x", false) || o.Lines.Any(l => l.Sku == "a" && l.Amount > 1)).ToRql());
        Refuses(
            "the values counted here come from an index",
            () => _session.Query<Order>().AggregateBy(o => o.City!)
                .AndAggregateBy(o => o.Lines.Any(l => l.Sku == "a" && l.Amount > 1)).ToRql());
        Assert.Equal(
            "from Orders where City = $p0 filter Number > Rating",
            _session.Query<Order>().Where(o => o.City == "x" && o.Number > o.Rating).ToRql().Text);
        Assert.Equal(
            "from Orders filter City > ShipTo.City",
            _session.Query<Order>().Where(o => string.Compare(o.City, o.ShipTo!.City, StringComparison.OrdinalIgnoreCase) > 0).ToRql().Text);

        static void Refuses(string says, Func<object> query) =>
            Assert.Contains(
                says, Assert.Throws<NotSupportedException>(query).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Clauses_stand_in_their_order()
    {
        var query = from o in _session.Query<Order>()
                    where o.Number > 1
                    orderby o.Freight descending, o.City
                    select new { o.City, Total = o.Freight * 2, o.Id };
        Assert.Equal(
            "from Orders where Number > $p0 order by Freight as double desc, City select City, Freight as 'c1', id() as 'Id' "
                + "limit $skip, $take",
            query.Skip(1).Take(2).ToRql().Text);
        Assert.Equal(
            "from index 'Orders/ByCity' where City = $p0 select distinct City as 'Value'",
            _session.Query<Order>("Orders/ByCity").Where(o => o.City == "x").Select(o => o.City).Distinct().ToRql().Text);
    }

    [Fact]
    public void Conditions_behind_a_projection_are_about_the_document()
    {
        var query = from o in _session.Query<Order>()
                    let to = o.ShipTo
                    where to.City == "x"
                    orderby to.Lat
                    select to.City;
        Assert.Equal(
            "from Orders where ShipTo.City = $p0 order by ShipTo.Lat as double select ShipTo.City as 'Value'",
            query.ToRql().Text);
        Assert.Equal(
            "from Orders where Number = $p0 select City, Number",
            _session.Query<Order>().Select(o => new OrderRow(o.City, o.Number)).Where(r => r.Number == 3).ToRql().Text);
    }

    [Fact]
    public void Groups_become_group_by()
    {
        var groups = _session.Query<Order>()
            .GroupBy(o => new { o.City, o.Status })
            .Select(g => new { g.Key.City, Count = g.Count(), Sum = g.Sum(o => o.Freight) });
        Assert.Equal(
            "from Orders group by City, Status where count() > $p0 order by sum(Freight) as double desc select City, count() as "
                + "'Count', sum(Freight) as 'Sum'",
            groups.Where(g => g.Count > 1).OrderByDescending(g => g.Sum).ToRql().Text);
        Assert.Equal(
            "from Orders group by City order by max(OrderedAt) as string, min(Number) as long select min(Number) as 'Least', "
                + "max(OrderedAt) as 'Last'",
            _session.Query<Order>()
                .GroupBy(o => o.City)
                .Select(g => new { Least = g.Min(o => o.Number), Last = g.Max(o => o.OrderedAt) })
                .OrderBy(g => g.Last)
                .ThenBy(g => g.Least)
                .ToRql()
                .Text);
        var error = Assert.Throws<NotSupportedException>(
            () => _session.Query<Order>().GroupBy(o => o.City).Select(g => g.First()).ToRql());
        Assert.Contains("Min(…) and Max(…) of numbers and times", error.Message, StringComparison.Ordinal);
        Assert.Equal(
            "from Orders group by City select sum(Number) as 'c0', count() as 'c1'",
            _session.Query<Order>().GroupBy(o => o.City).Select(g => g.Average(o => o.Number)).ToRql().Text);
        error = Assert.Throws<NotSupportedException>(
            () => _session.Query<Order>().GroupBy(o => o.City).Select(g => g.Average(o => o.Rating)).ToRql());
        Assert.Contains("cannot be null", error.Message, StringComparison.Ordinal);
        error = Assert.Throws<NotSupportedException>(
            () => _session.Query<Order>().GroupBy(o => o.OrderedAt.Year).Select(g => new { g.Key, Count = g.Count() }).ToRql());
        Assert.Contains("Groups are by members as they are stored", error.Message, StringComparison.Ordinal);
        Assert.Contains("OrderedAt.Year", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Collections_with_a_converter_of_their_own_are_asked_for_all_values()
    {
        string[] words = ["a", "b"];
        Assert.Equal(
            "from Markeds where Words all in ($p0)",
            _session.Query<Marked>().Where(m => m.Words.ContainsAll(words)).ToRql().Text);
        Assert.Equal(
            "from Markeds where Words in ($p0)",
            _session.Query<Marked>().Where(m => m.Words.ContainsAny(words)).ToRql().Text);
    }

    [Fact]
    public void Captured_variables_count_as_they_are_when_the_query_runs()
    {
        int least = 1;
        IDocumentQueryable<Order> query = _session.Query<Order>().Where(o => o.Number > least);
        least = 7;
        Assert.Equal("""{"p0":7}""", query.ToRql().Parameters.GetRawText());
    }

    [Fact]
    public void Operators_that_cannot_follow_are_refused_with_what_to_write()
    {
        IDocumentQueryable<Order> query = _session.Query<Order>();
        Assert.Contains(
            "before Skip and Take", Assert.Throws<NotSupportedException>(() => query.Take(3).Where(o => o.Number > 1)).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "AggregateBy", Assert.Throws<NotSupportedException>(() => Queryable.GroupBy(query, o => o.City)).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "Call OrderBy before Last", Assert.Throws<NotSupportedException>(() => query.Last()).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "by name", Assert.Throws<NotSupportedException>(() => query.OrderBy(o => o.Status).ToRql()).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "runs functions that LINQ takes for one element",
            Assert.Throws<NotSupportedException>(() => query.Select(o => o.Lines.Aggregate(0, (a, l) => a + l.Amount)).ToRql())
                .Message,
            StringComparison.Ordinal);
    }

    private sealed class Marked
    {
        public string? Id { get; set; }

        public WordList Words { get; set; } = [];
    }

    [JsonConverter(typeof(WordListJson))]
    private sealed class WordList : List<string>;

    private sealed class WordListJson : JsonConverter<WordList>
    {
        public override WordList Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
            [.. JsonSerializer.Deserialize<string[]>(ref reader, options) ?? []];

        public override void Write(Utf8JsonWriter writer, WordList value, JsonSerializerOptions options) =>
            JsonSerializer.Serialize(writer, value.ToArray(), options);
    }
}
