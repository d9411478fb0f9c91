using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Indexing.Queries;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Facets, plans, budgets, continuations and orders of one's own, as queries ask for them.</summary>
public sealed class FacetQueryTests : IAsyncLifetime
{
    private static readonly JsonSerializerOptions _readable = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public FacetQueryTests() => _database = Database.Open(
        _folder.Path,
        new DatabaseOptions { CustomOrders = new Dictionary<string, ICustomOrder> { ["ByLength"] = new ByLength() } });

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync("cars/1", """{"Make":"Tatra","Price":100,"Tags":["old","red"]}""", "Cars");
        await _database.PutAsync("cars/2", """{"Make":"Škoda","Price":250.5,"Tags":["red"]}""", "Cars");
        await _database.PutAsync("cars/3", """{"Make":"tatra","Price":900}""", "Cars");
        await _database.PutAsync("cars/4", """{"Make":null,"Price":400}""", "Cars");
        await _database.PutAsync(
            "facets/cars",
            """{"facets":[{"fieldName":"Make","displayFieldName":"Maker","options":{"termSortMode":"CountDesc"},"aggregations":{"Average":["Price"]}}],"RangeFacets":[{"Ranges":["Price < 300","Price >= 300 and Price < 1000"]}]}""",
            "Facets");
        await _database.PutAsync(
            "facets/all", """{"Facets":[{"DisplayFieldName":"All","Aggregations":{"Sum":"Price"}}]}""", "Facets");
    }

    public ValueTask DisposeAsync()
    {
        _database.Dispose();
        _folder.Dispose();
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData(
        "facet(Make)",
        """[{"Name":"Make","Values":[{"Range":"tatra","Count":2},{"Range":"škoda","Count":1}],"RemainingTerms":[],"RemainingTermsCount":0,"RemainingHits":0}]""")]
    [InlineData(
        "facet(Tags) as Kind",
        """[{"Name":"Kind","Values":[{"Range":"old","Count":1},{"Range":"red","Count":2}],"RemainingTerms":[],"RemainingTermsCount":0,"RemainingHits":0}]""")]
    [InlineData(
        "facet(Make, sum(Price), max(Price))",
        """[{"Name":"Make","Values":[{"Range":"tatra","Count":2,"Name":"Price","Sum":1000,"Max":900},{"Range":"škoda","Count":1,"Name":"Price","Sum":250.5,"Max":250.5}],"RemainingTerms":[],"RemainingTermsCount":0,"RemainingHits":0}]""")]
    [InlineData(
        "facet(Make, $options)",
        """[{"Name":"Make","Values":[{"Range":"škoda","Count":1}],"RemainingTerms":["tatra"],"RemainingTermsCount":1,"RemainingHits":2}]""")]
    [InlineData(
        "facet(Price < 200, Price between 200 and $most, Price > 800, avg(Price))",
        """[{"Name":"Price","Values":[{"Range":"Price < 200","Count":1,"Name":"Price","Average":100},{"Range":"Price between 200 and 400","Count":2,"Name":"Price","Average":325.25},{"Range":"Price > 800","Count":1,"Name":"Price","Average":900}],"RemainingTerms":[],"RemainingTermsCount":0,"RemainingHits":0}]""")]
    [InlineData(
        "facet(Price < 0, Price > 800.0, sum(Price), min(Price), max(Price), avg(Price))",
        """[{"Name":"Price","Values":[{"Range":"Price < 0","Count":0,"Name":"Price","Sum":0,"Min":null,"Max":null,"Average":null},{"Range":"Price > 800","Count":1,"Name":"Price","Sum":900,"Min":900,"Max":900,"Average":900}],"RemainingTerms":[],"RemainingTermsCount":0,"RemainingHits":0}]""")]
    [InlineData(
        "facet(avg(Price), max(Price))",
        """[{"Name":"@AllResults","Values":[{"Range":"@AllResults","Count":4,"Name":"Price","Max":900,"Average":412.625}],"RemainingTerms":[],"RemainingTermsCount":0,"RemainingHits":0}]""")]
    [InlineData(
        "facet(id('facets/all'))",
        """[{"Name":"All","Values":[{"Range":"@AllResults","Count":4,"Name":"Price","Sum":1650.5}],"RemainingTerms":[],"RemainingTermsCount":0,"RemainingHits":0}]""")]
    [InlineData(
        "facet(id('facets/cars'))",
        """[{"Name":"Maker","Values":[{"Range":"tatra","Count":2,"Name":"Price","Average":500},{"Range":"škoda","Count":1,"Name":"Price","Average":250.5}],"RemainingTerms":[],"RemainingTermsCount":0,"RemainingHits":0},{"Name":"Price","Values":[{"Range":"Price < 300","Count":2},{"Range":"Price >= 300 and Price < 1000","Count":2}],"RemainingTerms":[],"RemainingTermsCount":0,"RemainingHits":0}]""")]
    public async Task Facets_count_hits_by_terms_ranges_and_as_documents_say(string select, string rows)
    {
        Answer answer = await _database.AskAsync(
            $"from Cars select {select}",
            """{"most":400,"options":{"TermSortMode":"CountAsc","PageSize":1,"IncludeRemainingTerms":true}}""");
        // given above
        Assert.Equal(
            JsonNode.Parse(rows)!.ToJsonString(), new JsonArray([.. answer.Rows.Select(row => row.DeepClone())]).ToJsonString());
        Assert.Equal(answer.Rows.Count, answer.Total);
    }

    [Fact]
    public async Task Facets_are_of_the_hits_of_the_condition_and_of_nothing_where_there_is_no_document()
    {
        Answer answer = await _database.AskAsync("from Cars where Price < 300 select facet(Make), facet(Tags)");
        Assert.Equal([1, 1], answer.Rows[0]["Values"]!.AsArray().Select(value => value!["Count"]!.GetValue<int>()));
        Answer nothing = await _database.AskAsync("from Trucks select facet(Make), facet(Price < 1)");
        Assert.Equal("[]", nothing.Rows[0]["Values"]!.ToJsonString());
        Assert.Equal("""[{"Range":"Price \u003C 1","Count":0}]""", nothing.Rows[1]["Values"]!.ToJsonString());
    }

    [Theory]
    [InlineData("ValueAsc", "-3 9 10 100 1000000 2b x")]
    [InlineData("ValueDesc", "x 2b 1000000 100 10 9 -3")]
    [InlineData("CountDesc", "10 -3 9 100 1000000 2b x")]
    [InlineData("ValueAsc", "-3 9 10 100 1000000", false)]
    public async Task Numbers_come_as_numbers_sort_and_before_texts(string order, string expected, bool withTexts = true)
    {
        string[] values = ["10", "9", "100", "-3", "1e6", "10", .. withTexts ? (string[])["\"x\"", "\"2b\""] : []];
        for (int i = 0; i < values.Length; i++)
            await _database.PutAsync($"sizes/{i}", $"{{\"N\":{values[i]}}}", "Sizes");
        string options = $$$"""{"options":{"TermSortMode":"{{{order}}}"}}""";
        Assert.Equal(expected, await RangesAsync());
        _database.Indexes.Control.Pause();
        await _database.PutAsync("sizes/0", "{\"N\":10}", "Sizes");
        Assert.Equal(
            expected, await RangesAsync(static request => request with { NeverStale = true, WaitForNonStaleResults = false }));

        async Task<string> RangesAsync(Func<QueryRequest, QueryRequest>? change = null)
        {
            Answer answer = await _database.AskAsync("from Sizes select facet(N, $options)", options, change);
            return string.Join(' ', answer.Rows[0]["Values"]!.AsArray().Select(static value => (string)value!["Range"]!));
        }
    }

    [Fact]
    public async Task Texts_that_are_numbers_sort_as_texts_where_no_document_has_numbers()
    {
        foreach (string code in (string[])["9", "10", "100"])
            await _database.PutAsync($"codes/{code}", $"{{\"Code\":\"{code}\"}}", "Codes");
        Answer answer = await _database.AskAsync("from Codes select facet(Code)");
        Assert.Equal(
            ["10", "100", "9"], answer.Rows[0]["Values"]!.AsArray().Select(static value => (string)value!["Range"]!));
    }

    [Fact]
    public async Task Moments_are_spelled_with_capitals()
    {
        await _database.PutAsync("times/1", "{\"At\":\"2024-05-01T01:00:00+02:00\"}", "Times");
        await _database.PutAsync("facets/t", "{\"Facets\":[{\"FieldName\":\"utc(At)\"}]}", "Facets");
        Answer answer = await _database.AskAsync("from Times select facet(utc(At)), facet(id('facets/t')) ");
        Assert.All(
            answer.Rows, static row => Assert.Equal("2024-04-30T23:00:00.0000000", (string)row["Values"]![0]!["Range"]!));
        Assert.Equal(2, answer.Rows.Count);
    }

    [Fact]
    public async Task Facets_of_a_document_name_functions_of_fields_too()
    {
        await _database.PutAsync(
            "facets/f",
            """
            {
              "Facets": [{"FieldName":"length(Make)"},{"FieldName":"length('Make')"},{"FieldName":"Price (net)"}],
              "RangeFacets": [{"Ranges":["count(Tags) > 1"]}, {"Ranges":["'Make'='Tatra'"]}]
            }
            """,
            "Facets");
        Answer answer = await _database.AskAsync("from Cars select facet(id('facets/f'))");
        Assert.Equal("""[{"Range":"5","Count":3}]""", answer.Rows[0]["Values"]!.ToJsonString());
        Assert.Equal("""[{"Range":"5","Count":3}]""", answer.Rows[1]["Values"]!.ToJsonString());
        Assert.Equal("[]", answer.Rows[2]["Values"]!.ToJsonString());
        Assert.Equal(1, (int)answer.Rows[3]["Values"]![0]!["Count"]!);
        Assert.Equal("""[{"Range":"'Make'='Tatra'","Count":2}]""", answer.Rows[4]["Values"]!.ToJsonString(_readable));
    }

    [Theory]
    [InlineData("from Cars select facet(Make), Price", "beside other facets only")]
    [InlineData("from Cars select distinct facet(Make)", "'distinct'")]
    [InlineData("from Cars select facet()", "takes a field")]
    [InlineData("from Cars select facet(id('facets/none'))", "There is no document 'facets/none'")]
    [InlineData("from Cars select facet(id('cars/1'))", "has no facets")]
    [InlineData("from Cars select facet(Make, $bad)", "no option 'Colour'")]
    [InlineData("from Cars select facet(Make, $worse)", "TermSortMode is ValueAsc")]
    [InlineData("from Cars select facet(Make, $start)", "whole number from 0")]
    [InlineData("from Cars select facet(Make, sum(1))", "takes a field")]
    [InlineData("from Cars select facet(Price < 1, exists(Make))", "Expected a condition over a field")]
    [InlineData(
        "from Cars select facet(Price < 100, Year > 5)",
        "The ranges of a facet are of one field: this one is of 'Year', those before of 'Price'")]
    [InlineData("from Cars select facet(Price < 100 and Year > 5)", "this one is of 'Year'")]
    [InlineData("from Cars order by custom(Make, 'ByColour')", "There are: ByLength")]
    [InlineData("from Cars order by custom(Make)", "'custom()' takes a field")]
    public async Task What_is_no_facet_or_no_order_is_refused_by_name_and_place(string text, string problem)
    {
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(
            text, """{"bad":{"Colour":1},"worse":{"TermSortMode":"Best"},"start":{"Start":-1}}"""));
        Assert.Contains(problem, error.Message, StringComparison.Ordinal);
        Assert.True(error.Line > 0);
    }

    [Fact]
    public async Task An_order_of_ones_own_is_called_by_its_name()
    {
        Answer answer = await _database.AskAsync("from Cars order by custom(Make, 'ByLength') desc, Price as double desc");
        Assert.Equal("cars/2 cars/3 cars/1 cars/4", string.Join(' ', answer.Ids));
    }

    [Fact]
    public async Task Timings_name_the_parts_of_the_query_and_the_steps_of_its_plan()
    {
        await _database.AskAsync("from Cars where Make = 'tatra' order by Price as double");
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = "from Cars where Make = 'tatra' order by Price as double include timings()" },
            TestContext.Current.CancellationToken);
        while (results.MoveNext())
        {
        }

        Assert.True(results.HasTimings);
        var output = new ArrayBufferWriter<byte>();
        results.WriteTimings(output);
        JsonNode timings = JsonNode.Parse(output.WrittenSpan)!; // just written
        Assert.True(timings["DurationInMs"]!.GetValue<long>() >= 0);
        Assert.Equal(["Parse", "Bind", "Index", "Query", "Results"], timings["Timings"]!.AsObject().Select(part => part.Key));
        JsonNode plan = timings["QueryPlan"]!;
        Assert.Equal("term, short list", plan["Children"]![0]!["Operation"]!.GetValue<string>());
        Assert.Equal("tatra", plan["Children"]![0]!["Parameters"]!["Label"]!.GetValue<string>());
        Assert.Equal("how to find the first in order", plan["Decisions"]![0]!["Question"]!.GetValue<string>());
        Assert.Equal(2, plan["RowsOut"]!.GetValue<int>());

        output.ResetWrittenCount();
        Assert.True(results.TryWritePlanPicture(output));
        System.Xml.Linq.XDocument picture = System.Xml.Linq.XDocument.Parse(Encoding.UTF8.GetString(output.WrittenSpan));
        Assert.Equal("svg", picture.Root!.Name.LocalName); // a document has a root
    }

    [Fact]
    public async Task Pages_go_on_where_the_one_before_ended_also_when_documents_came_between()
    {
        for (int i = 0; i < 30; i++)
            await _database.PutAsync($"boats/{i}", $$"""{"Length":{{i / 3}},"Name":"b{{i:00}}"}""", "Boats");
        const string Text = "from Boats where Length >= 1 order by Length as long desc, Name limit 7";
        var seen = new List<string>();
        string? continuation = null;
        do
        {
            string? from = continuation;
            using QueryResults page = await _database.QueryAsync(
                new QueryRequest { Text = Text, WaitForNonStaleResults = true, Continuation = from, WithContinuation = true },
                TestContext.Current.CancellationToken);
            while (page.MoveNext())
                seen.Add(Encoding.UTF8.GetString(page.Current.Id));
            continuation = page.Continuation;
            if (from is null)
                // it belongs on the page that was given already
                await _database.PutAsync("boats/new", """{"Length":9,"Name":"a"}""", "Boats");
        }
        while (continuation is not null);
        Assert.Equal(27, seen.Distinct().Count());
        Assert.Equal(27, seen.Count);
        Assert.Equal(["boats/27", "boats/28", "boats/29", "boats/24"], seen.Take(4));
    }

    [Theory]
    [InlineData("from Cars where Price > 1 limit 1", "!!!", "not the end of a page")]
    [InlineData("from Cars where Price > 1 limit 1", "AQ", "not the end of a page")]
    [InlineData("from Cars limit 1", "AQ", "not the end of a page")]
    [InlineData("from Cars where Price > 1 select facet(Make)", null, "Facets and suggestions")]
    [InlineData("from Cars where Price > 1 select distinct Make", null, "'distinct'")]
    public async Task A_continuation_of_nothing_is_refused(string text, string? continuation, string problem)
    {
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(
                text, change: request => request with { Continuation = continuation, WithContinuation = true }));
        Assert.Contains(problem, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_continuation_of_another_query_is_refused()
    {
        await _database.AskAsync("from Cars where Price > 1 order by Make");
        using QueryResults page = await _database.QueryAsync(
            new QueryRequest { Text = "from Cars where Price > 1 order by Make limit 2", WithContinuation = true },
            TestContext.Current.CancellationToken);
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(
                "from Cars where Price > 2 order by Make limit 2",
                change: request => request with { Continuation = page.Continuation }));
        Assert.Contains("another query", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_budget_that_is_spent_ends_the_query_and_one_of_nothing_is_refused()
    {
        InvalidQueryException spent = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(
                "from Cars where endsWith(Make, 'a') or Price > 5", change: request => request with { MaxPages = 1 }));
        Assert.Contains("budget of 1 pages is spent", spent.Message, StringComparison.Ordinal);
        foreach (Func<QueryRequest, QueryRequest> change in new Func<QueryRequest, QueryRequest>[]
                 {
                     request => request with { MaxPages = 0 }, request => request with { MaxEntries = 0 },
                     request => request with { MaxTime = TimeSpan.Zero },
                 })
        {
            InvalidQueryException nothing = await Assert.ThrowsAsync<InvalidQueryException>(
                () => _database.AskAsync("from Cars where Price > 5", change: change));
            Assert.Contains("allows nothing", nothing.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Terms_of_an_index_come_in_pages_and_an_entry_shows_what_was_taken_from_its_document()
    {
        Answer answer = await _database.AskAsync("from Cars where Make = 'x' and Price > 1");
        IReadOnlyList<string> first = _database.LookInto(answer.Index).Terms("Price", null, 2, out long etag);
        Assert.Equal(["100", "250.5"], first);
        Assert.True(etag > 0);
        Assert.Equal(["400", "900"], _database.LookInto(answer.Index).Terms("Price", first[^1], 10, out _));
        Assert.Contains(
            "no field 'Colour'",
            Assert.Throws<InvalidQueryException>(() => _database.LookInto(answer.Index).Terms("Colour", null, 1, out _)).Message,
            StringComparison.Ordinal);
        Assert.Throws<IndexNotFoundException>(() => _database.LookInto("Auto/No"));
        IReadOnlyList<IndexedValues> entry = _database.LookInto(answer.Index).Entry("cars/4")!; // it is indexed
        Assert.Equal(("Make", true), (entry[0].Field, entry[0].HasNull));
        Assert.Equal([400d], entry[1].Numbers);
        Assert.Equal(["400"], entry[1].Terms);
        Assert.Null(_database.LookInto(answer.Index).Entry("cars/9"));
    }

    private sealed class ByLength : ICustomOrder
    {
        public string Name => "ByLength";

        public int WriteKey(SortValue value, Span<byte> key)
        {
            key[0] = (byte)value.Text.Length;
            return 1;
        }
    }
}
