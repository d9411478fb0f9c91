using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Orders and facets of values that no index has: each hit is examined, and the answer says so.</summary>
public sealed class ExaminedOrderTests : IAsyncLifetime
{
    private readonly Database _database = Database.OpenInMemory();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        string[] bodies =
        [
            """{"Name":"Ada","City":"Bonn","At":"1997-05-01T23:30:15","Lines":[{"P":"x","N":3},{"P":"y","N":9}],"Ref":"refs/1"}""",
            """{"Name":"Bo","City":"Aden","At":"2024-02-29T01:00:00","Lines":[{"P":"x","N":1}],"Ref":"refs/2"}""",
            """{"Name":"Constantine","City":"Aden","At":"1997-12-31","Lines":[],"Ref":"refs/1"}""",
            """{"Name":null,"City":"Bonn","At":null,"Lines":[{"N":7},{"N":8},{"N":9}]}""",
            """{"Name":"Eve","City":"Bonn","At":"soon","Ref":"refs/none"}""",
        ];
        for (int i = 0; i < bodies.Length; i++)
            await _database.PutAsync($"d/{i + 1}", bodies[i], "Docs");
        await _database.PutAsync("refs/1", """{"Title":"Zed","Rank":10}""", "Refs");
        await _database.PutAsync("facets/1", """{"Facets":[{"FieldName":"counter('Likes')"}]}""", "Setups");
        await _database.PutAsync("refs/2", """{"Title":"amy","Rank":9}""", "Refs");
        await _database.WriteAsync(
            new WriteBatch().IncrementCounter("d/1", "Likes", 9).IncrementCounter("d/2", "Likes", 10)
                .IncrementCounter("d/4", "Likes", -1).IncrementCounter("d/5", "Likes", 10).IncrementCounter("refs/1", "Likes", 3)
                .IncrementCounter("refs/2", "Likes", 2),
            Cancel);
        _database.Indexes.Put(new IndexDefinition
        {
            Name = "Named",
            Collections = ["Docs"],
            Fields = [new() { Name = "City" }, new() { Name = "When", Path = "At", Stored = true }, new() { Name = "Name" }],
        });
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [InlineData("from Docs order by counter('Likes'), id()", "3,4,1,2,5")] // as numbers, null first
    [InlineData("from Docs as d order by counter(d, 'Likes') desc, id()", "2,5,1,4,3")]
    [InlineData("from Docs order by counter('Likes') as string, id()", "3,4,2,5,1")]
    [InlineData("from Docs order by counter('Likes') nulls last, id() desc", "4,1,5,2,3")]
    [InlineData("from Docs order by City, counter('Likes') desc", "2,3,5,1,4")]
    [InlineData("from Docs where City = 'Bonn' order by counter('Likes') desc", "5,1,4")]
    [InlineData("from Docs order by counter('Likes') desc, id() limit 1, 2", "5,1")]
    [InlineData("from Docs order by counter('Likes') desc, id() filter City = 'Bonn' and Name != null", "5,1")]
    [InlineData("from Docs as d order by counter(c, 'Likes') desc, d.Name load d.Ref as c", "1,3,2,4,5")]
    [InlineData("from Docs as d order by c.Title, id() load d.Ref as c", "4,5,2,1,3")]
    [InlineData("from Docs as d order by c.Rank, id() load d.Ref as c", "4,5,1,3,2")] // as text, like any field
    [InlineData("from Docs as d order by c.Rank as long desc, id() load d.Ref as c", "1,3,2,4,5")]
    [InlineData("from Docs as d order by id(c) desc, id() load d.Ref as c", "2,1,3,4,5")] // none is null
    [InlineData("from Docs as d order by length(c.Title), id() load d.Ref as c limit 3", "4,5,1")]
    [InlineData("from Docs order by count(Lines as l, l.N > 5) desc, id()", "4,1,2,3,5")]
    [InlineData("from Docs order by length(date(At)) desc, Name", "1,2,3,4,5")]
    [InlineData("from index Named order by year(When) desc, month(When), Name", "2,1,3,4,5")]
    [InlineData("from index Named order by length(Name)", "4,2,1,5,3")]
    [InlineData("from index Named where City = 'Bonn' order by count(Lines) desc, Name", "4,1,5")]
    [InlineData("from index Named order by counter('Likes') desc, Name desc", "5,2,1,4,3")]
    [InlineData("from index Named order by utc(When), Name", "4,5,1,3,2")]
    public async Task Results_come_in_their_order(string query, string expected)
    {
        foreach (string end in (string[])["", " include neverStale()"])
        {
            using QueryResults results = await QueryAsync(query.Contains(" limit", StringComparison.Ordinal)
                ? query.Replace(" limit", end + " limit", StringComparison.Ordinal)
                : query + end);
            Assert.StartsWith(
                "No index has this of 'order by' or 'facet()': '", Assert.Single(results.Warnings), StringComparison.Ordinal);
            var ids = new List<string>();
            while (results.MoveNext())
                ids.Add(results.Current.IdText()[2..]);
            Assert.Equal(expected, string.Join(',', ids));
            if (!query.Contains("limit", StringComparison.Ordinal))
                Assert.Equal(ids.Count, results.TotalResults);
            Assert.Contains("examine [", results.DescribePlan(), StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Values_of_all_kinds_are_ordered_and_counted_as_an_index_has_them()
    {
        string[] values =
        [
            "9", "\"9\"", "{\"x\":1}", "\"z\"", "null", "4611686018427387904", "4.611686018427387904e18", "\"10\"", "0.5", "true",
            "[3,\"A\"]", "[{\"x\":1},4]", "[1,\"1\",1]", "1e300", "\"I\"", "9007199254740992.0", "-0.0", "0",
        ];
        for (int i = 0; i < values.Length; i++)
            await _database.PutAsync($"v/{i:00}", $$"""{"V":{{values[i]}},"Self":"v/{{i:00}}"}""", "Values");
        foreach (string type in (string[])["", " desc", " as string", " as alphaNumeric desc", " nulls last"])
            Assert.Equal(
                (await _database.AskAsync($"from Values as d order by d.V{type}, id()")).Ids,
                (await _database.AskAsync($"from Values as d order by s.V{type}, id() load d.Self as s")).Ids);
        foreach (string mode in (string[])["ValueAsc", "ValueDesc", "CountDesc", "CountAsc"])
        {
            string options = $$"""{"o":{"TermSortMode":"{{mode}}","Start":1,"PageSize":6,"IncludeRemainingTerms":true} }""";
            Answer of = await _database.AskAsync("from Values as d select facet(d.V, $o) as F", options);
            Answer examined = await _database.AskAsync("from Values as d load d.Self as s select facet(s.V, $o) as F", options);
            Assert.Equal(Assert.Single(of.Bodies), Assert.Single(examined.Bodies));
        }
    }

    [Fact]
    public async Task Changes_of_counters_and_of_loaded_documents_change_the_order_and_the_etag()
    {
        const string Query = "from Docs as d order by counter('Likes') desc, c.Title load d.Ref as c limit 1";
        Answer before = await _database.AskAsync(Query);
        await _database.WriteAsync(new WriteBatch().IncrementCounter("d/3", "Likes", 99), Cancel);
        Answer after = await _database.AskAsync(Query);
        Assert.Equal(("d/3", 5), (Assert.Single(after.Ids), after.Total));
        Assert.NotEqual(before.Etag, after.Etag);
    }

    [Fact]
    public async Task They_go_with_selections_scores_and_what_the_index_does_not_have_yet()
    {
        Answer answer = await _database.AskAsync(
            "from Docs as d order by counter('Likes') desc, d.Name load d.Ref as c select d.Name, c.Title as T, counter('Likes') as L limit 2");
        Assert.Equal(["""{"Name":"Bo","T":"amy","L":10}""", """{"Name":"Eve","T":null,"L":10}"""], answer.Bodies);
        answer = await _database.AskAsync(
            "from Docs where boost(City = 'Aden', 3) or City = 'Bonn' order by score(), counter('Likes') desc");
        Assert.Equal(["d/2", "d/3", "d/5", "d/1", "d/4"], answer.Ids);
        answer = await _database.AskAsync("from Docs order by counter('Likes') desc, id() select distinct City");
        Assert.Equal(["""{"City":"Aden"}""", """{"City":"Bonn"}"""], answer.Bodies);

        _database.Indexes.Control.Set("Named", settings => settings with { IsDisabled = true });
        await _database.PutAsync("d/6", """{"Name":"Fay","At":"2030-01-01"}""", "Docs");
        await _database.PutAsync("d/2", """{"Name":"Bo","At":"1900-01-01"}""", "Docs");
        answer = await _database.AskAsync(
            "from index Named order by year(When) desc nulls last, Name include neverStale()", change: static request => request with
            {
                WaitForNonStaleResults = false
            });
        Assert.Equal(["d/6", "d/1", "d/3", "d/2", "d/4", "d/5"], answer.Ids);
        answer = await _database.AskAsync(
            "from index Named select facet(year(When)) include neverStale()", change: static request => request with
            {
                WaitForNonStaleResults = false
            });
        Assert.Equal(["1900 1", "1997 2", "2030 1"], Values(answer.Rows[0]));
    }

    [Theory]
    [InlineData("from index Named select facet(year(When))", "year(When)", "1997 2|2024 1")]
    [InlineData("from index Named where City = 'Bonn' select facet(year(When)) as Y", "Y", "1997 1")]
    [InlineData("from index Named select facet(length(Name))", "length(Name)", "2 1|3 2|11 1")]
    [InlineData("from index Named select facet(count(Lines))", "count(Lines)", "0 2|1 1|2 1|3 1")]
    [InlineData("from index Named select facet(Lines[].N)", null, "")]
    [InlineData("from index Named select facet(utc(When))", "utc(When)", "1997-05-01T23:30:15.0000000 1|1997-12-31T00:00:00.0000000 1|2024-02-29T01:00:00.0000000 1")]
    [InlineData("from index Named select facet(year(When) < 2000, year(When) >= 2000)", "year(When)", "year(When) < 2000 2|year(When) >= 2000 1")]
    [InlineData("from index Named select facet(year(When) between 1990 and 2000, year(When) in (2024, 2025))", "year(When)", "year(When) between 1990 and 2000 2|year(When) in (2024, 2025) 1")]
    [InlineData("from index Named select facet(year(When)) filter Name != 'Ada'", null, "")]
    [InlineData("from index Named filter Name != 'Ada' select facet(year(When))", "year(When)", "1997 1|2024 1")]
    [InlineData("from Docs select facet(counter('Likes'))", "Likes", "-1 1|9 1|10 2")]
    [InlineData("from Docs as d load d.Ref as c select facet(c.Title)", "Title", "amy 1|zed 2")]
    [InlineData("from Docs select facet(count(Lines as l, l.N > 5)) as Large", "Large", "0 3|1 1|3 1")]
    [InlineData("from Docs select facet(counter('Likes'), $o)", "Likes", "10 2|-1 1", "counts")]
    [InlineData("from Docs select facet(length(date(At)) > 5, length(date(At)) < 5)", "length(date(At))", "length(date(At)) > 5 3|length(date(At)) < 5 0")]
    [InlineData("from Docs as d load d.Ref as c select facet(id(c))", "id()", "refs/1 2|refs/2 1")]
    [InlineData("from Docs select facet(id('facets/1'))", "counter('Likes')", "-1 1|9 1|10 2")]
    public async Task They_are_counted(string query, string? name, string expected, string? options = null)
    {
        string parameters = options is null ? "{}" : """{"o":{"TermSortMode":"CountDesc","PageSize":2,"IncludeRemainingTerms":true}}""";
        if (name is null)
        {
            await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(query, parameters));
            return;
        }

        JsonObject facet = Assert.Single((await _database.AskAsync(query, parameters)).Rows);
        Assert.Equal(name, (string?)facet["Name"]);
        Assert.Equal(expected, string.Join('|', Values(facet)));
        Assert.Equal(options is null ? "[] 0 0" : """["9"] 1 1""", $"{facet["RemainingTerms"]!.ToJsonString()} {facet["RemainingTermsCount"]} {facet["RemainingHits"]}");
    }

    [Theory]
    [InlineData("from index Named order by »year(Missing.Of.It)", null)]
    [InlineData("from index Named order by »frob(City)", "There is no function 'frob()'.")]
    [InlineData("from Docs order by counter(»Likes)", "A name is written in quotes: 'Likes'.")]
    [InlineData("from Docs select facet(counter('Likes') »> 3)", "count the values: facet(counter('Likes'))")]
    [InlineData("from Docs select facet(»count(Lines as l, l.N > 5))", "Name what is counted with 'as'")]
    public async Task What_cannot_be_is_refused(string marked, string? reason)
    {
        int position = marked.IndexOf('»', StringComparison.Ordinal);
        string query = marked.Remove(position, 1);
        if (reason is null)
        {
            Assert.Equal(5, (await _database.AskAsync(query)).Total);
            return;
        }

        InvalidQueryException refused = await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(query));
        Assert.Contains(reason, refused.Message, StringComparison.Ordinal);
        Assert.Equal(position + 1, refused.Column);
    }

    [Fact]
    public async Task Requests_that_examine_nothing_or_go_on_refuse_them_and_memory_is_limited()
    {
        InvalidQueryException refused = await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(
            "from Docs order by counter('Likes')", change: static request => request with { ExaminesDocuments = false }));
        Assert.Contains("Counters and time series are no fields of documents", refused.Message, StringComparison.Ordinal);
        refused = await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(
            "from Docs order by counter('Likes')", change: static request => request with { WithContinuation = true }));
        Assert.Contains("page with limit and offset", refused.Message, StringComparison.Ordinal);

        refused = await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(
            "from Docs where fusion.rrf(search(City, 'bonn'), startsWith(Name, 'A'), 10) order by score(), counter('Likes') "
                + "filter Lines != null"));
        Assert.Contains("Write the condition after 'where'", refused.Message, StringComparison.Ordinal);

        await using Database small = Database.OpenInMemory(new DatabaseOptions { MaxDistinctResults = 2 });
        for (int i = 0; i < 3; i++)
            await small.PutAsync($"d/{i}", "{}", "Docs");
        refused = await Assert.ThrowsAsync<InvalidQueryException>(() => small.AskAsync("from Docs order by counter('Likes')"));
        Assert.Contains("More than 2 results (MaxDistinctResults)", refused.Message, StringComparison.Ordinal);
        Assert.Equal(["d/1", "d/2"], (await small.AskAsync("from Docs order by counter('Likes'), id() filter id() != 'd/0'")).Ids);
    }

    private static IEnumerable<string> Values(JsonObject facet) =>
        facet["Values"]!.AsArray().Select(static value => $"{value!["Range"]} {value["Count"]}");

    private Task<QueryResults> QueryAsync(string query) => _database.QueryAsync(
        new QueryRequest { Text = query, WaitForNonStaleResults = true, WaitTimeout = Eventually.Patience, WithPlan = true }, Cancel);
}
