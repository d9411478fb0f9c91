using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Grouping;

/// <summary>What <c>group by</c> answers, and what it refuses.</summary>
public sealed class GroupByTests : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private Database _database;

    public GroupByTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task Groups_are_counted_and_summed_up()
    {
        await PutOrdersAsync();
        Answer answer = await _database.AskAsync(
            "from Orders group by ShipTo.City where count() >= 1 order by count() as long desc, sum(Freight) as double select "
                + "ShipTo.City, count(), sum(Freight) as Total");
        Assert.Equal(
            ["""{"ShipTo.City":"Berlin","Count":2,"Total":1.6}""", """{"ShipTo.City":null,"Count":1,"Total":0}""", """{"ShipTo.City":"Bern","Count":1,"Total":2}"""],
            answer.Bodies);
        Assert.Equal("Auto/Orders/ByCountAndFreightReducedByShipTo.City", answer.Index);
        Assert.Equal((3, false), (answer.Total, answer.IsStale));
        Assert.All(answer.Rows, row => Assert.Null(row["@metadata"]!["@id"])); // each has metadata
    }

    [Theory]
    [InlineData(
        "from Orders group by ShipTo.City order by ShipTo.City",
        """{"ShipTo.City":null,"Count":1} {"ShipTo.City":"Berlin","Count":2} {"ShipTo.City":"Bern","Count":1}""")]
    [InlineData(
        "from Orders group by ShipTo.City as City order by City desc select City, count() as N limit 1",
        """{"City":"Bern","N":1}""")]
    [InlineData(
        "from Orders as o group by o.ShipTo.City where o.ShipTo.City = 'BERLIN' select o.ShipTo.City as c, key() as k, 7 as "
            + "seven",
        """{"c":"Berlin","k":"Berlin","seven":7}""")]
    [InlineData("from Orders group by ShipTo.City where exact(ShipTo.City = 'berlin') select count()", "")]
    [InlineData("from Orders group by ShipTo.City where search(ShipTo.City, 'bern') select key()", """{"ShipTo.City":"Bern"}""")]
    [InlineData(
        "from Orders group by ShipTo.City where startsWith(ShipTo.City, 'ber') and sum(Freight) < 2 select sum(Freight)",
        """{"Freight":1.6}""")]
    [InlineData(
        "from Orders group by ShipTo.City where ShipTo.City = null or count() between 2 and 3 order by count() as long select "
            + "count()",
        """{"Count":1} {"Count":2}""")]
    [InlineData(
        "from Orders group by ShipTo.City where ShipTo.City in ('Bern', 'x') and not sum(Freight) > 5 select count()",
        """{"Count":1}""")]
    [InlineData(
        "from Orders group by Kind, ShipTo.City where Kind = 'b' and ShipTo.City != null select key(), count()",
        """{"Key":{"Kind":"b","ShipTo.City":"Bern"},"Count":1}""")]
    [InlineData(
        "from Orders group by Lines[].Product order by key() select key() as p, count(), sum(Lines[].Quantity) as q, "
            + "sum(Freight) as f",
        """{"p":"salt","Count":1,"q":3,"f":1.5} {"p":"tea","Count":3,"q":7,"f":1.5}""")]
    [InlineData(
        "from Orders group by array(Lines[].Product) order by count() as long, key() desc select array(Lines[].Product) as ps, "
            + "count()",
        """{"ps":["tea","salt"],"Count":1} {"ps":["tea","tea"],"Count":1} {"ps":[],"Count":2}""")]
    [InlineData(
        "from Orders group by Lines[].Product, Lines[].Quantity order by Lines[].Quantity as long select Lines[].Product as p, "
            + "Lines[].Quantity as q",
        """{"p":"tea","q":1} {"p":"tea","q":2} {"p":"salt","q":3} {"p":"tea","q":4}""")]
    [InlineData(
        "from Orders group by array(Lines[].Product) where array(Lines[].Product) = 'salt' order by array(Lines[].Product) select "
            + "count()",
        """{"Count":1}""")]
    [InlineData("from Orders group by Kind select distinct count()", """{"Count":2}""")]
    [InlineData(
        "from @all_docs group by @metadata.@collection order by key() select key() as c, count()",
        """{"c":"Orders","Count":4} {"c":"Users","Count":1}""")]
    [InlineData("from Orders group by Kind order by Kind select Kind limit 1, 5", """{"Kind":"b"}""")]
    [InlineData("from Nothing group by Kind select Kind", "")]
    [InlineData(
        "from Orders group by ShipTo.City order by ShipTo.City filter count() = 1 select ShipTo.City as c",
        """{"c":null} {"c":"Bern"}""")]
    [InlineData(
        "from Orders as o group by o.ShipTo.City as City where City != null filter sum(o.Freight) < count() and City = 'BERLIN' or "
            + "startsWith(City, 'x') select City, sum(Freight) as f",
        """{"City":"Berlin","f":1.6}""")]
    [InlineData(
        "from Orders group by Kind, ShipTo.City order by Kind, ShipTo.City filter true and not ShipTo.City in ('bern') select Kind, "
            + "ShipTo.City as c limit 1 filter_limit 3",
        """{"Kind":"a","c":"Berlin"}""")]
    [InlineData(
        "from Orders group by array(Lines[].Product) filter array(Lines[].Product) = 'salt' select count()", """{"Count":1}""")]
    [InlineData(
        "from Orders group by array(Lines) where count(Lines) > 1 select count(Lines), count() as N", """{"count(Lines)":2,"N":1} {"count(Lines)":2,"N":1}""")]
    [InlineData(
        "from Orders group by array(Lines[]) where count(Lines) > 1 select count(Lines) as c", """{"c":2} {"c":2}""")]
    [InlineData(
        "from Orders group by array(Lines[].Product) where Lines[].Product = 'salt' select count()", """{"Count":1}""")]
    [InlineData(
        "from Orders group by array(Lines[]) filter count() < count(array(Lines[])) select count(Lines[]) as c", """{"c":2} {"c":2}""")]
    [InlineData("from Orders group by Lines order by count(Lines) desc select count(Lines) as c limit 1", """{"c":2}""")]
    [InlineData(
        "from Orders group by Kind, Lines order by Kind filter length(Kind) < count(Lines) select Kind, count(Lines) as c",
        """{"Kind":"a","c":2} {"Kind":"b","c":2}""")]
    [InlineData("from Orders group by Missing select Missing, count()", """{"Missing":null,"Count":4}""")]
    public async Task Every_clause_works_over_groups(string text, string expected)
    {
        await PutOrdersAsync();
        Assert.Equal(expected, string.Join(' ', (await _database.AskAsync(text)).Bodies));
        Assert.Equal(expected, string.Join(' ', (await _database.AskAsync(text)).Bodies)); // from the index that is there
    }

    [Theory]
    [InlineData("from Orders group by Kind select Freight", "'Freight' is no key of 'group by'")]
    [InlineData("from Orders group by Kind where Freight > 1 select Kind", "'Freight' is no key of 'group by'")]
    [InlineData("from Orders group by Kind order by Freight", "'Freight' is no key of 'group by'")]
    [InlineData("from Orders group by Kind order by count()", "order by count() as long")]
    [InlineData("from Orders group by Kind order by sum(Freight)", "as double")]
    [InlineData("from Orders group by Kind order by min(Freight)", "order by min(…) as double or string")]
    [InlineData("from Orders group by Kind select max()", "'max()' takes a field")]
    [InlineData("from Orders group by Kind, Kind", "given twice")]
    [InlineData("from Orders group by id()", "'id()' is no key")]
    [InlineData("from Orders group by Kind where id() = 'orders/1'", "Groups have no id")]
    [InlineData("from Orders group by Kind filter Freight > 1", "'Freight' is no key of 'group by'")]
    [InlineData("from Orders group by Kind filter count() > Freight", "'Freight' is no key of 'group by'")]
    [InlineData("from Orders group by Kind filter id() = 'orders/1'", "Groups have no id")]
    [InlineData("from Orders group by Kind select count(Freight)", "takes no field")]
    [InlineData("from Orders group by Kind select sum()", "'sum()' takes a field")]
    [InlineData("from Orders group by Kind select avg(Freight)", "'avg()' cannot be selected of a group")]
    [InlineData("from Orders group by Kind include explanations()", "do not go with 'group by'")]
    [InlineData("from index 'Orders' group by Kind", "goes with a collection")]
    [InlineData("from Orders group by 5", "Expected a field to group by")]
    [InlineData("from Orders group by array(Kind, Freight)", "is no key of 'group by'")]
    public async Task What_is_not_of_a_group_is_refused(string text, string message)
    {
        await PutOrdersAsync();
        await _database.IndexOrdersAsync();
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(text));
        Assert.Contains(message, error.Message, StringComparison.Ordinal);
        Assert.Single(_database.Indexes.List()); // the one that was put
    }

    [Fact]
    public async Task An_index_that_lacks_a_sum_gives_way_to_one_that_has_both()
    {
        await PutOrdersAsync();
        await _database.AskAsync("from Orders group by Kind select count(), sum(Freight)");
        Answer answer = await _database.AskAsync("from Orders group by Kind where search(Kind, 'a') select sum(Tax)");
        Assert.Equal("Auto/Orders/ByCountAndFreightAndTaxReducedByKindAndSearch(Kind)", answer.Index);
        await _database.Indexes.WaitForRemovalAsync("Auto/Orders/ByCountAndFreightReducedByKind");
        Assert.Equal(
            "Auto/Orders/ByCountAndFreightAndTaxReducedByKindAndSearch(Kind)", Assert.Single(_database.Indexes.List()).Name);
        Assert.Equal(answer.Index, (await _database.AskAsync("from Orders group by Kind select sum(Freight)")).Index);
        await _database.AskAsync("from Orders group by Kind, Freight select count()");
        Assert.Equal(2, _database.Indexes.List().Count);
    }

    [Fact]
    public async Task Groups_outlive_the_database_being_closed_with_their_statistics()
    {
        await PutOrdersAsync();
        await _database.AskAsync("from Orders group by array(Tags[]), Kind where exact(Kind = 'a') select count(), sum(Freight)");
        _database.Dispose();
        _database = Database.Open(_folder.Path);
        IndexStatistics index = Assert.Single(_database.Indexes.List());
        Assert.Equal(
            ("Auto/Orders/ByCountAndFreightReducedByarray(Tags[])AndKindAndExact(Kind)", true, 2L, 2L),
            (index.Name, index.IsMapReduce, index.EntryCount, index.ReduceAttempts));
        await _database.PutAsync("orders/9", """{"Kind":"c"}""", "Orders");
        Answer answer = await _database.AskAsync("from Orders group by array(Tags[]), Kind order by Kind select Kind, count()");
        Assert.Equal(["""{"Kind":"a","Count":2}""", """{"Kind":"b","Count":2}""", """{"Kind":"c","Count":1}"""], answer.Bodies);
        Assert.Equal(3, Assert.Single(_database.Indexes.List()).ReduceAttempts);
    }

    [Theory]
    [InlineData("City", "city")]
    [InlineData("City, Zip", "CityAndZip")]
    [InlineData("City", "CITY", "city", "cITY")]
    public async Task Keys_whose_indexes_would_have_the_same_name_have_an_index_each(params string[] keys)
    {
        await _database.PutAsync("orders/1", """{"City":"a","city":"b","CITY":"c","Zip":1,"CityAndZip":"d"}""", "Orders");
        for (int round = 0; round < 3; round++)
        {
            Answer[] answers = [.. await Task.WhenAll(keys.Select(AskAsync))];
            Assert.Equal(keys.Length, answers.Select(answer => answer.Bodies.Single()).Distinct().Count());
            Assert.Equal(keys.Length, answers.Select(answer => answer.Index).Distinct(StringComparer.OrdinalIgnoreCase).Count());
            Assert.Equal(keys.Length, _database.Indexes.List().Count);
            if (round == 1)
                _database.Indexes.Reset(answers[^1].Index);
            _database.Dispose();
            _database = Database.Open(_folder.Path);
        }

        Task<Answer> AskAsync(string key) => _database.AskAsync($"from Orders group by {key} select key() as k, count()");
    }

    [Fact]
    public async Task Keys_that_differ_at_their_end_alone_are_groups_of_their_own_however_long()
    {
        string start = new('x', 200_000);
        for (int i = 0; i < 6; i++)
            await _database.PutAsync($"orders/{i}", $$"""{"Kind":"{{start}}{{i % 2}}","Freight":{{i}}}""", "Orders");
        foreach (string order in (string[])["", "order by Kind", "order by sum(Freight) as long"])
        {
            Answer answer = await _database.AskAsync($"from Orders group by Kind {order} select Kind, count(), sum(Freight)");
            Assert.Equal(
                [$$"""{"Kind":"{{start}}0","Count":3,"Freight":6}""", $$"""{"Kind":"{{start}}1","Count":3,"Freight":9}"""],
                answer.Bodies.Order(StringComparer.Ordinal));
            Assert.Empty(_database.Indexes.Errors(answer.Index));
        }

        Answer one = await _database.AskAsync($"from Orders group by Kind where Kind = '{start}1' select count(), sum(Freight)");
        Assert.Equal(["""{"Count":3,"Freight":9}"""], one.Bodies);
        await _database.PutAsync("orders/1", $$"""{"Kind":"{{start}}0","Freight":1}""", "Orders");
        one = await _database.AskAsync($"from Orders group by Kind where Kind = '{start}1' select count(), sum(Freight)");
        Assert.Equal(["""{"Count":2,"Freight":8}"""], one.Bodies);
    }

    [Fact]
    public async Task A_document_that_cannot_be_grouped_is_told_and_left_out()
    {
        await PutOrdersAsync();
        await _database.PutAsync("orders/bad", $$"""{"Kind":"{{new string('x', 300_000)}}"}""", "Orders");
        Answer answer = await _database.AskAsync("from Orders group by Kind order by Kind select Kind, count(), sum(Freight)");
        Assert.Equal(["""{"Kind":"a","Count":2,"Freight":1.6}""", """{"Kind":"b","Count":2,"Freight":2}"""], answer.Bodies);
        Assert.Equal(["orders/bad"], _database.Indexes.Errors(answer.Index).Select(error => error.DocumentId));

        await _database.PutAsync("orders/bad", """{"Kind":"a"}""", "Orders");
        Assert.Equal(
            """{"Kind":"a","Count":3,"Freight":1.6}""",
            (await _database.AskAsync(
                "from Orders group by Kind order by Kind select Kind, count(), sum(Freight)")).Bodies.First());
        Assert.Empty(_database.Indexes.Errors(answer.Index));
    }

    /// <summary>An index that a later query has widened answers an earlier one as before.</summary>
    [Fact]
    public async Task Values_that_cannot_be_aggregated_leave_no_document_out()
    {
        await PutOrdersAsync();
        string text = new string('z', 32_767) + "ö", cut = new('z', 32_767); // the last character has two bytes
        await _database.PutAsync("orders/5", $$"""{"Kind":"a","Freight":1e5000,"Note":"{{text}}"}""", "Orders");
        await _database.PutAsync("orders/6", $$"""{"Kind":"b","Freight":1,"Note":{{new string('9', 33_000)}} }""", "Orders");
        await CheckAsync("count()", """{"Count":3} {"Count":3}""");
        await CheckAsync("sum(Freight)", """{"Freight":null} {"Freight":3}""");
        await CheckAsync("max(Note) as M, min(Note) as L", $$"""{"M":"{{cut}}","L":"{{cut}}"} {"M":null,"L":null}""");
        await CheckAsync("count()", """{"Count":3} {"Count":3}""");
        Answer answer = await _database.AskAsync("from Orders group by Kind where sum(Freight) = null select Kind");
        Assert.Equal(["""{"Kind":"a"}"""], answer.Bodies);
        Assert.Empty(_database.Indexes.Errors(answer.Index));

        await _database.PutAsync("orders/5", """{"Kind":"a","Freight":1e-1,"Note":"a"}""", "Orders");
        await _database.PutAsync("orders/7", $$"""{"Kind":"a","Note":"{{text}}{{text}}"}""", "Orders");
        await CheckAsync("sum(Freight), max(Note) as M, min(Note) as L",
            $$"""{"Freight":1.7,"M":"{{cut}}","L":"a"} {"Freight":3,"M":null,"L":null}""");

        async Task CheckAsync(string select, string expected) => Assert.Equal(
            expected,
            string.Join(' ', (await _database.AskAsync($"from Orders group by Kind order by Kind select {select}")).Bodies));
    }

    private async Task PutOrdersAsync()
    {
        await _database.PutAsync(
            "orders/1",
            """{"ShipTo":{"City":"Berlin"},"Kind":"a","Freight":1.5,"Lines":[{"Product":"tea","Quantity":2},{"Product":"salt","Quantity":3}]}""",
            "Orders");
        await _database.PutAsync("orders/2", """{"ShipTo":{"City":"Bern"},"Kind":"b","Freight":2,"Lines":[]}""", "Orders");
        await _database.PutAsync("orders/3", """{"ShipTo":{"City":"Berlin"},"Kind":"a","Freight":0.1}""", "Orders");
        await _database.PutAsync(
            "orders/4",
            """{"ShipTo":null,"Kind":"b","Freight":"none","Lines":[{"Product":"tea","Quantity":1},{"Product":"tea","Quantity":4}]}""",
            "Orders");
        await _database.PutAsync("users/1", """{"Kind":"user"}""", "Users");
    }
}

/// <summary>What tests of groups do beside asking.</summary>
internal static class GroupTestDatabase
{
    public static Task IndexOrdersAsync(this Database database)
    {
        database.Indexes.Put(
            new IndexDefinition
            {
                Name = "Orders",
                Collections = ["Orders"],
                Fields = [new IndexFieldDefinition { Name = "Kind" }]
            });
        return database.Indexes.WaitForNonStaleAsync(
            Eventually.Patience, cancellationToken: TestContext.Current.CancellationToken);
    }
}
