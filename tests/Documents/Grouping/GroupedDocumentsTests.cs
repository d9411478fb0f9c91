using System.Text.Encodings.Web;
using System.Text.Json;
using Treepie.Documents.Tests.Queries;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Grouping;

/// <summary>Groups of the documents that a condition leaves: <c>from Orders (Freight > 3) group by City</c>.</summary>
public sealed class GroupedDocumentsTests : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private Database _database;

    public GroupedDocumentsTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Theory]
    [InlineData(
        "from Orders (Freight > 1) group by City order by City select City, count(), sum(Freight) as F",
        """{"City":"Bern","Count":1,"F":2} {"City":"Rome","Count":2,"F":10.5}""")]
    [InlineData(
        "from Orders (o.Freight > $least and search(o.City, 'rome')) as o group by o.City select key() as K, max(o.Freight) as M",
        """{"K":"Rome","M":7}""")]
    [InlineData(
        "from Orders (Freight > 1) group by City where count() > 1 and search(City, 'rome') order by sum(Freight) as double",
        """{"City":"Rome","Count":2,"Freight":10.5}""")]
    [InlineData(
        "from Orders (Freight > 1) group by City order by sum(Freight) as double desc select City limit 1, 1",
        """{"City":"Bern"}""")]
    [InlineData("from Orders (Freight > 1) group by City filter sum(Freight) < 3 select City", """{"City":"Bern"}""")]
    [InlineData(
        "from Orders (id() in ('orders/1', 'orders/4')) group by City order by City select City",
        """{"City":"Bern"} {"City":"Rome"}""")]
    [InlineData("from Orders (Freight > 100) group by City", "")]
    [InlineData("from Nothing (Freight > 1) group by City", "")]
    [InlineData("from @all_docs (exists(Freight)) group by @metadata.@collection select count()", """{"Count":4}""")]
    [InlineData("from Orders (Freight > 1) group by Missing select Missing, count()", """{"Missing":null,"Count":3}""")]
    [InlineData("from Orders (City = cmpxchg('none')) group by City select City", "")]
    public async Task Only_documents_that_meet_the_condition_are_grouped(string text, string expected)
    {
        await PutAsync();
        Assert.Equal(expected, string.Join(' ', (await _database.AskAsync(text, """{"least":1}""")).Bodies));
    }

    [Fact]
    public async Task A_condition_makes_no_index_of_groups()
    {
        await PutAsync();
        Answer answer = await _database.AskAsync("from Orders (Freight > 1) group by City");
        Assert.Equal(("Auto/Orders/ByFreight", 2, false), (answer.Index, answer.Total, answer.IsStale));
        Assert.Equal("Auto/Orders/ByFreight", Assert.Single(_database.Indexes.List()).Name);
        Assert.Equal("collection/Orders", (await _database.AskAsync("from Orders (true) group by City")).Index);
        Assert.Equal(
            "Auto/Orders/ByFreight",
            _database.IndexChoices(
                new QueryRequest { Text = "from Orders (Freight > 1) group by City" },
                TestContext.Current.CancellationToken)[0].Index);
    }

    [Fact]
    public async Task An_answer_changes_with_its_documents_and_never_without()
    {
        await PutAsync();
        const string Text = "from Orders (Freight > 1) group by City order by City select City, sum(Freight) as F";
        Answer first = await _database.AskAsync(Text), again = await _database.AskAsync(Text);
        Assert.Equal(first.Etag, again.Etag);
        await _database.PutAsync("orders/2", """{"City":"Bern","Freight":0}""", "Orders");
        Answer changed = await _database.AskAsync(Text);
        Assert.NotEqual(first.Etag, changed.Etag);
        Assert.Equal(["""{"City":"Rome","F":10.5}"""], changed.Bodies);
    }

    [Fact]
    public async Task Changes_that_no_index_has_are_grouped_where_asked()
    {
        await PutAsync();
        await _database.AskAsync("from Orders (Freight > 1) group by City");
        _database.Indexes.Control.Pause();
        await _database.PutAsync("orders/9", """{"City":"Oslo","Freight":5}""", "Orders");
        Answer answer = await _database.AskAsync(
            "from Orders (Freight > 1) group by City where City = 'Oslo'", null,
            static request => request with { NeverStale = true, WaitForNonStaleResults = false });
        Assert.Equal(("""{"City":"Oslo","Count":1}""", false), (Assert.Single(answer.Bodies), answer.IsStale));
    }

    [Fact]
    public async Task Facets_count_groups()
    {
        await PutAsync();
        Answer answer = await _database.AskAsync(
            "from Orders (Freight > 1) group by City select facet(count() <= 1, count() > 1)");
        Assert.Equal(
            """[{"Range":"count() <= 1","Count":1},{"Range":"count() > 1","Count":1}]""",
            Assert.Single(answer.Rows)["Values"]!.ToJsonString(
                new JsonSerializerOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping })); // facets have values
    }

    [Fact]
    public async Task Documents_that_cannot_be_grouped_are_told()
    {
        await PutAsync();
        await _database.PutAsync("orders/bad", $$"""{"City":"{{new string('x', 300_000)}}","Freight":5}""", "Orders");
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest
            {
                Text = "from Orders (Freight > 1) group by City",
                WaitForNonStaleResults = true,
                WaitTimeout = Eventually.Patience
            },
            TestContext.Current.CancellationToken);
        int rows = 0;
        while (results.MoveNext())
            rows++;
        Assert.Equal(2, rows);
        Assert.Contains("orders/bad", Assert.Single(results.Warnings), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Groups_are_bounded_and_gone_on_with_by_offsets_only()
    {
        _database.Dispose();
        _database = Database.Open(_folder.Path, new DatabaseOptions { MaxDistinctResults = 1 });
        await PutAsync();
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync("from Orders (Freight > 1) group by City"));
        Assert.Contains("more than 1 groups", error.Message, StringComparison.Ordinal);
        error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(
                "from Orders (Freight > 1) group by City", null, static request => request with { WithContinuation = true }));
        Assert.Contains("limit and offset", error.Message, StringComparison.Ordinal);
        Assert.Single((await _database.AskAsync("from Orders (Freight = 2) group by City")).Rows); // nothing is left open
    }

    private async Task PutAsync()
    {
        await _database.PutAsync("orders/1", """{"City":"Rome","Freight":3.5}""", "Orders");
        await _database.PutAsync("orders/2", """{"City":"Bern","Freight":2}""", "Orders");
        await _database.PutAsync("orders/3", """{"City":"Rome","Freight":7}""", "Orders");
        await _database.PutAsync("orders/4", """{"City":"Bern","Freight":1}""", "Orders");
        await _database.PutAsync("users/1", """{"City":"Rome"}""", "Users");
    }
}
