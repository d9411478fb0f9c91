using System.Text.Json.Nodes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

public sealed class QueryTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public QueryTests() => _database = Database.Open(_folder.Path);

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync("companies/1", """{"Name":"Köln & Söhne"}""", "Companies");
        await _database.PutAsync("employees/1", """{"Name":"Anna"}""", "Employees");
        await _database.PutAsync("products/1", """{"Name":"Tea"}""", "Products");
        await _database.PutAsync("products/2", """{"Name":"Mate"}""", "Products");
        await _database.PutAsync(
            "orders/1",
            """{"Company":"companies/1","Employee":"employees/1","Freight":10.5,"Ship To":{"City":"Reims"},"Lines":[{"Product":"products/1","Qty":2},{"Product":"products/2","Qty":10}],"Rush":true}""",
            "Orders");
        await _database.PutAsync(
            "orders/2", """{"Company":"companies/1","Freight":9,"Lines":[{"Product":"products/2","Qty":1}],"order":"x"}""",
            "Orders");
        await _database.PutAsync("orders/3", """{"Company":"companies/404","Freight":100,"Ship To":null,"Lines":[]}""", "Orders");
    }

    public ValueTask DisposeAsync()
    {
        _database.Dispose();
        _folder.Dispose();
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData("from Orders", "orders/1 orders/2 orders/3", 3, "collection/Orders")]
    [InlineData("from orders where true", "orders/1 orders/2 orders/3", 3, "collection/Orders")]
    [InlineData("from Orders limit 1, 1", "orders/2", 3, "collection/Orders")]
    [InlineData("from Orders limit 0", "", 3, "collection/Orders")]
    [InlineData("from Orders offset 5", "", 3, "collection/Orders")]
    [InlineData("from Nothing", "", 0, "collection/Nothing")]
    [InlineData("from @all_docs limit 2", "companies/1 employees/1", 7, "AllDocs")]
    [InlineData("from Orders where id() = 'ORDERS/2'", "orders/2", 1, "collection/Orders")]
    [InlineData(
        "from Orders where id() in ('orders/3', 'orders/1', 'orders/1', 'companies/1', 'x')", "orders/3 orders/1", 2,
        "collection/Orders")]
    [InlineData("from Orders where id() in ()", "", 0, "collection/Orders")]
    [InlineData("from @all_docs where id() in ($ids) limit 1, 9", "orders/1", 2, "AllDocs")]
    [InlineData("from Orders where startsWith(id(), 'Orders/') limit 1, 1", "orders/2", 3, "collection/Orders")]
    [InlineData("from Orders where startsWith(id(), 'comp')", "", 0, "collection/Orders")]
    [InlineData("from @all_docs where startsWith(id(), 'PRODUCTS/')", "products/1 products/2", 2, "AllDocs")]
    public async Task The_store_answers_without_an_index(string text, string ids, long total, string index)
    {
        Answer answer = await _database.AskAsync(text, """{"ids":["companies/1","orders/1"]}""");
        Assert.Equal(ids, string.Join(' ', answer.Ids));
        Assert.Equal((total, index, false), (answer.Total, answer.Index, answer.IsStale));
        Assert.Empty(_database.Indexes.List());
    }

    [Theory]
    [InlineData("Freight > 9 order by Freight as double desc", "orders/3 orders/1")]
    [InlineData("Freight between 9 and 10.5 order by Freight as double", "orders/2 orders/1")]
    [InlineData("true order by Freight", "orders/1 orders/3 orders/2")]
    [InlineData("'Ship To'.City = 'REIMS'", "orders/1")]
    [InlineData("'Ship To' = null order by id()", "orders/2 orders/3")]
    [InlineData("exists('Ship To') order by id()", "orders/1 orders/3")]
    [InlineData("Lines[].Product = 'products/2' order by id() desc", "orders/2 orders/1")]
    [InlineData("Lines[].Product all in ('products/1', 'products/2')", "orders/1")]
    [InlineData("Lines[0].Qty = 1", "orders/2")]
    [InlineData("Lines[1].Qty = 10", "orders/1")]
    [InlineData("Rush = true", "orders/1")]
    [InlineData("Rush != true order by id()", "orders/2 orders/3")]
    [InlineData("startsWith(id(), 'ORD') and Freight < 100 order by id()", "orders/1 orders/2")]
    [InlineData("'order' = 'X'", "orders/2")]
    [InlineData("exact('order' = 'X')", "")]
    [InlineData("exact('order' = 'x')", "orders/2")]
    [InlineData("@metadata.@collection = 'orders' and Freight = 9", "orders/2")]
    [InlineData("@metadata.'@last-modified' > '2000' and Freight = 9", "orders/2")]
    [InlineData("Freight in ($list) order by id()", "orders/2 orders/3")]
    public async Task Conditions_find_documents(string where, string ids)
    {
        Answer answer = await _database.AskAsync($"from Orders where {where}", """{"list":[9,100]}""");
        Assert.Equal(ids, string.Join(' ', answer.Ids));
        Assert.Equal(answer.Rows.Count, answer.Total);
    }

    [Theory]
    [InlineData("Company, Freight as f", """{"Company":"companies/1","f":10.5}""")]
    [InlineData(
        "o.'Ship To'.City as City, o.Lines[].Product as Products", """{"City":"Reims","Products":["products/1","products/2"]}""")]
    [InlineData("Lines[].Qty", """{"Lines[].Qty":[2,10]}""")]
    [InlineData(
        "id() as Id, id(o), 1, 'x y', true as T, null as N, $p as P",
        """{"Id":"orders/1","id()":"orders/1","1":1,"x y":null,"T":true,"N":null,"P":{"a":[1]}}""")]
    [InlineData("Missing, Lines[1].Product as Second", """{"Missing":null,"Second":"products/2"}""")]
    [InlineData("@metadata.@collection as C, @metadata.@id", """{"C":"Orders","@metadata.@id":"orders/1"}""")]
    public async Task Select_makes_objects_of_fields(string select, string expected)
    {
        Answer answer = await _database.AskAsync($"from Orders as o where Freight = 10.5 select {select}", """{"p":{"a":[1]}}""");
        Assert.Equal(expected, Assert.Single(answer.Bodies));
        JsonNode metadata = answer.Rows[0]["@metadata"]!; // every result has it
        Assert.True(metadata["@projection"]!.GetValue<bool>());
        Assert.Equal("orders/1", metadata["@id"]!.GetValue<string>());
    }

    [Fact]
    public async Task Whole_documents_have_their_metadata()
    {
        JsonObject row = Assert.Single((await _database.AskAsync("from Orders where Freight = 9")).Rows);
        Assert.Equal("companies/1", row["Company"]!.GetValue<string>());
        Assert.Equal("Orders", row["@metadata"]!["@collection"]!.GetValue<string>());
        Assert.NotNull(row["@metadata"]!["@change-vector"]);
        Assert.Null(row["@metadata"]!["@index-score"]);
    }

    [Fact]
    public async Task Metadata_alone_can_be_asked_for()
    {
        JsonObject row = Assert.Single(
            (await _database.AskAsync(
                "from Orders where Freight = 9 select Freight", change: r => r with { MetadataOnly = true })).Rows);
        Assert.Equal(["@metadata"], row.Select(p => p.Key));
        Assert.NotNull(row["@metadata"]!["@change-vector"]);
    }

    [Fact]
    public async Task Distinct_gives_equal_rows_once_and_counts_the_others()
    {
        Answer answer = await _database.AskAsync("from Orders order by id() select distinct Company");
        Assert.Equal(["""{"Company":"companies/1"}""", """{"Company":"companies/404"}"""], answer.Bodies);
        Assert.Equal((3, 1), (answer.Total, answer.Skipped));

        Answer page = await _database.AskAsync("from Orders order by id() select distinct Company limit 0, 1");
        Assert.Equal(["""{"Company":"companies/1"}"""], page.Bodies);
        Answer next = await _database.AskAsync("from Orders order by id() select distinct Company limit 1, 1");
        Assert.Equal(["""{"Company":"companies/1"}"""], next.Bodies);
    }

    [Fact]
    public async Task Includes_are_what_the_results_refer_to_and_what_is_named()
    {
        Answer answer = await _database.AskAsync(
            "from Orders as o where Freight < 50 order by id() include o.Company, 'Lines[].Product', 'employees/1', Missing, "
                + "timings()");
        Assert.Equal(
            ["companies/1", "employees/1", "products/1", "products/2"],
            answer.Includes.Select(p => p.Key).Order(StringComparer.Ordinal));
        Assert.Equal("Tea", answer.Includes["products/1"]!["Name"]!.GetValue<string>());
        Assert.Equal("Products", answer.Includes["products/1"]!["@metadata"]!["@collection"]!.GetValue<string>());
    }

    [Fact]
    public async Task Includes_of_a_page_are_those_of_its_results()
    {
        Answer answer = await _database.AskAsync("from Orders order by id() include Lines[].Product limit 1, 2");
        Assert.Equal(["products/2"], answer.Includes.Select(p => p.Key));
    }

    [Fact]
    public async Task Search_gives_the_best_first_with_scores()
    {
        await _database.PutAsync("notes/1", """{"Text":"one fox among many other long words of a text"}""", "Notes");
        await _database.PutAsync("notes/2", """{"Text":"Fox, fox!"}""", "Notes");
        Answer answer = await _database.AskAsync("from Notes where search(Text, 'fox')");
        Assert.Equal(["notes/2", "notes/1"], answer.Ids);
        Assert.True(
            answer.Rows[0]["@metadata"]!["@index-score"]!.GetValue<double>()
                > answer.Rows[1]["@metadata"]!["@index-score"]!.GetValue<double>());
        Assert.Equal(
            ["notes/1", "notes/2"], (await _database.AskAsync("from Notes where search(Text, 'fox') order by score() desc")).Ids);
        Assert.Equal(
            ["notes/1", "notes/2"],
            (await _database.AskAsync(
                "from Notes where boost(Text = 'Fox, fox!', 0.1) or boost(startsWith(Text, 'one'), 5)")).Ids);
        Answer page = await _database.AskAsync(
            "from Notes where search(Text, 'fo* !!')", null, r => r with { Start = 1, PageSize = 5 });
        Assert.Equal((2, 1), (page.Total, page.Rows.Count));
    }

    [Theory]
    [InlineData("search(Text, '\"red fox\"')", "notes/1")]
    [InlineData("search(Text, 'red-fox')", "notes/1")]
    [InlineData("search(Text, '\"red fox\" quick')", "notes/1 notes/2")]
    [InlineData("proximity(search(Text, 'red fox'), 0)", "notes/1")]
    [InlineData("proximity(search(Text, 'red fox'), 1)", "notes/1 notes/2")]
    [InlineData("proximity(search(Text, 'fox red'), $far)", "notes/1 notes/2 notes/3")]
    [InlineData("proximity(search(Text, 'red fox'), 3) and Text != 'red fox'", "notes/2")]
    public async Task Words_stand_together_in_phrases_and_near_one_another_in_proximity(string where, string ids)
    {
        await _database.PutAsync("notes/1", """{"Text":"Red fox"}""", "Notes");
        await _database.PutAsync("notes/2", """{"Text":"the red quick fox"}""", "Notes");
        await _database.PutAsync("notes/3", """{"Text":"red, as seen long before any fox"}""", "Notes");
        Answer answer = await _database.AskAsync($"from Notes where {where} order by id()", """{"far":9}""");
        Assert.Equal(ids, string.Join(' ', answer.Ids));
    }

    [Fact]
    public async Task Search_of_an_object_looks_at_all_text_in_it()
    {
        Assert.Equal(["orders/1"], (await _database.AskAsync("from Orders where search('Ship To', 'reims')")).Ids);
        Assert.Equal(["orders/1"], (await _database.AskAsync("from Orders where search(Lines, 'products') and Rush = true")).Ids);
    }

    [Fact]
    public async Task Random_order_of_a_seed_is_the_same_on_every_page()
    {
        List<string> whole = [.. (await _database.AskAsync("from @all_docs order by random('seed')")).Ids];
        Assert.Equal(7, whole.Count);
        Assert.Equal(whole[2..5], (await _database.AskAsync("from @all_docs order by random('seed') limit 2, 3")).Ids);
    }

    [Fact]
    public async Task The_etag_is_that_of_the_answer()
    {
        const string Text = "from Orders where Freight = $f";
        long first = (await _database.AskAsync(Text, """{"f":9}""")).Etag;
        Assert.Equal(first, (await _database.AskAsync(Text, """{"f":9}""")).Etag);
        await _database.PutAsync("companies/2", "{}", "Companies");
        Assert.Equal(first, (await _database.AskAsync(Text, """{"f":9}""")).Etag);
        Assert.NotEqual(first, (await _database.AskAsync(Text, """{"f":10}""")).Etag);
        Assert.NotEqual(
            (await _database.AskAsync("from Orders order by random()")).Etag,
            (await _database.AskAsync("from Orders order by random()")).Etag);
        await _database.PutAsync("orders/4", "{}", "Orders");
        Assert.NotEqual(first, (await _database.AskAsync(Text, """{"f":9}""")).Etag);
    }

    [Fact]
    public async Task An_index_can_be_named_and_must_have_the_fields()
    {
        await _database.AskAsync("from Orders where Freight = 9");
        Assert.Equal(3, (await _database.AskAsync("from index 'auto/orders/byfreight'")).Total);
        Assert.Equal(
            ["orders/2"],
            (await _database.AskAsync("from index 'Auto/Orders/ByFreight' as o where o.Freight < 10 select o.Freight")).Ids);
        var error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync("from index 'Auto/Orders/ByFreight' where Company = 'x'"));
        Assert.Contains("has no field 'Company'; it has 'Freight'", error.Message, StringComparison.Ordinal);
        Assert.Equal((1, 42), (error.Line, error.Column));
        await Assert.ThrowsAsync<IndexNotFoundException>(() => _database.AskAsync("from index 'Orders/ByNothing'"));
    }

    [Fact]
    public async Task Results_stay_those_of_the_moment_they_were_asked_for()
    {
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = "from Orders" }, TestContext.Current.CancellationToken);
        await _database.DeleteAsync("orders/2");
        await _database.PutAsync("orders/9", "{}", "Orders");
        var ids = new List<string>();
        while (results.MoveNext())
            ids.Add(results.Current.IdText());
        Assert.Equal(["orders/1", "orders/2", "orders/3"], ids);
    }

    [Fact]
    public async Task A_cancelled_query_stops_while_results_are_read()
    {
        using var stop = new CancellationTokenSource();
        using QueryResults results = await _database.QueryAsync(new QueryRequest { Text = "from Orders" }, stop.Token);
        Assert.True(results.MoveNext());
        await stop.CancelAsync();
        Assert.Throws<OperationCanceledException>(() => results.MoveNext());
    }

    [Fact]
    public async Task A_wrong_query_changes_nothing()
    {
        await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync("from Orders where Freight ="));
        await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync("from Orders where Freight = $missing"));
        await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync("from Orders where Freight = 1 group by Company"));
        Assert.Empty(_database.Indexes.List());
    }

    [Fact]
    public async Task A_range_in_its_own_order_is_not_counted_where_nobody_asks_how_many()
    {
        for (int i = 0; i < 50; i++)
            await _database.PutAsync($"marks/{i}", $$"""{"Mark":{{i}}}""", "Marks");
        const string Text = "from Marks where Mark >= 10 order by Mark as long limit 3";
        Answer counted = await _database.AskAsync(Text),
            uncounted = await _database.AskAsync(Text, change: request => request with { CountsResults = false });
        Assert.Equal((40, true), (counted.Total, counted.IsTotalExact));
        Assert.Equal((3, false), (uncounted.Total, uncounted.IsTotalExact));
        Assert.Equal("marks/10 marks/11 marks/12", string.Join(' ', uncounted.Ids));
        Assert.Equal(counted.Ids, uncounted.Ids);
        Assert.NotEqual(counted.Etag, uncounted.Etag); // they say different things

        Answer number = await _database.AskAsync(
            "from Marks where Mark >= 10 limit 0", change: request => request with { CountsResults = false });
        Assert.Equal((40, true), (number.Total, number.IsTotalExact));
    }
}
