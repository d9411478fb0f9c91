using Treepie.Indexes;

namespace Treepie.Computing.Tests;

/// <summary>
/// Indexes whose maps compute: their entries are what the maps make of the documents, whatever happens to these.
/// </summary>
public sealed class ComputedIndexTests : IDisposable
{
    private readonly IndexRunner _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public async Task What_a_map_computes_can_be_searched_ordered_and_selected()
    {
        await OrderAsync(1, "Bern", 10);
        await OrderAsync(2, "Rome", 2);
        await OrderAsync(3, "Bern", 30);
        _run.Define(
            "Orders/Totals",
            "from o in docs.Orders select new { City = o.City.ToUpper(), Total = o.Lines.Sum(l => l.Price * l.Quantity), Words = "
                + "o.City + \" is fine\" }",
            """{"Total":{"Storage":"Yes"},"Words":{"Indexing":"Search"}}""");
        Assert.Equal(
            ["orders/3", "orders/1"],
            await _run.IdsAsync("from index 'Orders/Totals' where City = 'bern' order by Total as double desc"));
        Assert.Equal(["orders/3"], await _run.IdsAsync("from index 'Orders/Totals' where Total > 20"));
        Assert.Equal(2, (await _run.IdsAsync("from index 'Orders/Totals' where search(Words, 'bern')")).Count);
        Assert.Equal(
            ["""{"Total":20,"City":"Bern"}""", """{"Total":60,"City":"Bern"}"""],
            await _run.AskAsync("from index 'Orders/Totals' where City = 'BERN' order by Total as double select Total, City"));
        Assert.Equal(["""{"Total":4}"""], await _run.AskAsync("from index 'Orders/Totals' where City = 'rome' select Total"));
    }

    [Fact]
    public async Task Members_of_times_and_arrays_are_no_paths()
    {
        await _run.PutAsync("orders/1", """{"At":"2026-03-05T10:00:00Z","Lines":[1,2],"Size":{"Count":7}}""", "Orders");
        _run.Define("Times", "from o in docs.Orders select new { o.At.Year, Lines = o.Lines.Count, Size = o.Size.Count }");
        Assert.Equal(["orders/1"], await _run.IdsAsync("from index Times where Year = 2026 and Lines = 2 and Size = 7"));
    }

    [Fact]
    public async Task A_document_has_an_entry_for_each_result_and_all_change_with_it()
    {
        _run.Define(
            "Lines", "from o in docs.Orders from l in o.Lines select new { l.Product, l.Price }",
            """{"Product":{"Storage":"Yes"}}""");
        await _run.PutAsync(
            "orders/1", """{"Lines":[{"Product":"a","Price":1},{"Product":"b","Price":2},{"Product":"c","Price":3}]}""",
            "Orders");
        await _run.PutAsync("orders/2", """{"Lines":[{"Product":"b","Price":5}]}""", "Orders");
        Assert.Equal(4, await EntriesAsync());
        Assert.Equal(
            ["""{"Product":"a"}""", """{"Product":"b"}""", """{"Product":"c"}""", """{"Product":"b"}"""],
            await _run.AskAsync("from index Lines order by Price as double select Product"));
        await _run.PutAsync("orders/1", """{"Lines":[{"Product":"z","Price":9}]}""", "Orders");
        Assert.Equal(2, await EntriesAsync());
        Assert.Equal(["orders/2"], await _run.IdsAsync("from index Lines where Product = 'b'"));
        await _run.PutAsync("orders/1", """{"Lines":[{"Product":"y","Price":9},{"Product":"x","Price":8}]}""", "Orders");
        await _run.DeleteAsync("orders/2");
        Assert.Equal(
            ["""{"Product":"x"}""", """{"Product":"y"}"""],
            await _run.AskAsync("from index Lines order by Price as double select Product"));
        await _run.PutAsync("orders/1", """{"Lines":[]}""", "Orders");
        Assert.Equal(0, await EntriesAsync());
        await _run.PutAsync("orders/1", """{"Lines":[{"Product":"1"},{"Product":"2"}]}""", "Orders");
        _run.Reopen();
        await _run.DeleteAsync("orders/1");
        Assert.Equal(0, await EntriesAsync());

        async Task<long> EntriesAsync()
        {
            await _run.WaitAsync();
            return Assert.Single(_run.Database.Indexes.List()).EntryCount;
        }
    }

    [Fact]
    public async Task Results_change_with_the_documents_that_were_loaded()
    {
        _run.Define(
            "Orders/ByCompany",
            "from o in docs.Orders let c = LoadDocument(o.Company, \"Companies\") let boss = LoadDocument(c.Boss, \"People\") "
                + "select new { Name = c.Name, Boss = boss.Name, HasCompany = c != null }");
        await _run.PutAsync("orders/1", """{"Company":"companies/1"}""", "Orders");
        await _run.PutAsync("orders/2", """{"Company":"COMPANIES/1"}""", "Orders");
        await FoundAsync("HasCompany = false", "orders/1", "orders/2");
        await _run.PutAsync("companies/1", """{"Name":"Acme","Boss":"people/1"}""", "Companies");
        await FoundAsync("Name = 'Acme'", "orders/1", "orders/2");
        await _run.PutAsync("people/1", """{"Name":"Ann"}""", "People"); // through two documents
        await FoundAsync("Boss = 'Ann'", "orders/1", "orders/2");
        await _run.PutAsync("companies/1", """{"Name":"Bolt","Boss":"people/1"}""", "Companies");
        await FoundAsync("Name = 'Acme'");
        await FoundAsync("Name = 'Bolt' and Boss = 'Ann'", "orders/1", "orders/2");
        await _run.DeleteAsync("companies/1");
        await FoundAsync("HasCompany = false", "orders/1", "orders/2");
        await FoundAsync("Boss = 'Ann'");
        await _run.PutAsync("companies/1", """{"Name":"Acme"}""", "Companies");
        await _run.PutAsync("orders/1", """{"Company":"companies/2"}""", "Orders");
        await FoundAsync("Name = 'Acme'", "orders/2");
        await _run.DeleteAsync("companies/1");
        await _run.PutAsync("companies/1", """{"Name":"Other"}""", "Things"); // it is no company any more
        await FoundAsync("HasCompany = true");
    }

    [Theory]
    [InlineData("from o in docs.Orders select new { Share = 100 / o.Count }")]
    [InlineData("map('Orders', o => ({ Share: o.Count === 0 ? null.x : 100 / o.Count }))")]
    public async Task An_index_of_which_most_fails_says_so_in_every_answer_until_that_is_mended(string map)
    {
        _run.Define("Shares", map);
        var batch = new Writes.WriteBatch();
        for (int i = 0; i < 100; i++)
            Put(batch, i, count: i < 16 ? 0 : 1);
        await _run.Database.WriteAsync(batch, TestContext.Current.CancellationToken);
        await _run.WaitAsync();
        IndexStatistics index = Assert.Single(_run.Database.Indexes.List());
        Assert.Equal((IndexState.Error, 84, 16), (index.State, index.EntryCount, index.ErrorCount));
        Assert.Contains("16 of 100", index.Error, StringComparison.Ordinal);
        Assert.Contains("16 of 100", Assert.Single(await WarningsAsync()), StringComparison.Ordinal);

        batch = new Writes.WriteBatch();
        for (int i = 0; i < 16; i++)
            Put(batch, i, count: 1);
        await _run.Database.WriteAsync(batch, TestContext.Current.CancellationToken);
        await _run.WaitAsync();
        index = Assert.Single(_run.Database.Indexes.List());
        Assert.Equal((IndexState.Normal, 100, 0), (index.State, index.EntryCount, index.ErrorCount));
        Assert.Empty(await WarningsAsync());

        static void Put(Writes.WriteBatch batch, int order, int count) => batch.Put(
            $"orders/{order}",
            System.Text.Encoding.UTF8.GetBytes($$"""{"@metadata":{"@collection":"Orders"},"Count":{{count}} }"""));

        async Task<IReadOnlyList<string>> WarningsAsync()
        {
            using Queries.QueryResults results = await _run.Database.QueryAsync(
                new Queries.QueryRequest { Text = "from index Shares where Share > 0" }, TestContext.Current.CancellationToken);
            return results.Warnings;
        }
    }

    [Theory]
    [InlineData("order by id(), Size desc", "orders/1:9 orders/1:5 orders/10:7 orders/2:8 orders/2:6")]
    [InlineData("order by id() as alphaNumeric desc, Size", "orders/10:7 orders/2:6 orders/2:8 orders/1:5 orders/1:9")]
    public async Task Results_of_one_document_are_equal_in_the_order_of_ids(string order, string expected)
    {
        _run.Define(
            "Lines", "from o in docs.Orders from l in o.Lines select new { Size = l }", """{"Size":{"Storage":"Yes"}}""");
        await _run.PutAsync("orders/2", """{"Lines":[6,8]}""", "Orders");
        await _run.PutAsync("orders/10", """{"Lines":[7]}""", "Orders");
        await _run.PutAsync("orders/1", """{"Lines":[5,9]}""", "Orders");
        IReadOnlyList<string> rows = await _run.AskAsync(
            $"from index Lines {order.Replace("Size", "Size as long", StringComparison.Ordinal)} select id() as Id, Size");
        Assert.Equal(
            expected,
            string.Join(' ', rows).Replace("{\"Id\":\"", "", StringComparison.Ordinal)
                .Replace("\",\"Size\":", ":", StringComparison.Ordinal).Replace("}", "", StringComparison.Ordinal));
    }

    /// <summary>Every result of a document is found by its id, also by ids that others begin with.</summary>
    [Fact]
    public async Task Results_are_found_by_the_ids_of_their_documents()
    {
        _run.Define("Lines", "from o in docs.Orders from l in o.Lines select new { Size = l }");
        string[] ids = ["a", "a1", "A11", "a2", "ab", "b", "b1", "ö", "öx"];
        for (int i = 0; i < ids.Length; i++)
            await _run.PutAsync(ids[i], $$"""{"Lines":[{{string.Join(',', Enumerable.Range(0, i % 4))}}]}""", "Orders");
        foreach (string bound in (string[])["", .. ids, "a1x", "AB", "zz", new string('b', 600), "Ö"])
        {
            string low = bound.ToLowerInvariant();
            await CheckAsync($"id() = '{bound}'", id => Compare(id, low) == 0);
            await CheckAsync($"id() != '{bound}'", id => Compare(id, low) != 0);
            await CheckAsync($"id() < '{bound}'", id => Compare(id, low) < 0);
            await CheckAsync($"id() <= '{bound}'", id => Compare(id, low) <= 0);
            await CheckAsync($"id() > '{bound}'", id => Compare(id, low) > 0);
            await CheckAsync($"id() >= '{bound}'", id => Compare(id, low) >= 0);
            await CheckAsync($"startsWith(id(), '{bound}')", id => id.StartsWith(low, StringComparison.Ordinal));
            await CheckAsync($"id() between '{bound}' and 'B'", id => Compare(id, low) >= 0 && Compare(id, "b") <= 0);
            await CheckAsync($"id() in ('b', '{bound}') and Size > 0", id => id == "b" || Compare(id, low) == 0, from: 1);
            await CheckAsync($"true and not id() > '{bound}'", id => Compare(id, low) <= 0);
        }

        foreach (string nothing in (string[])["id() > null", "id() < 5", "id() between 'a' and null", "id() between 1 and 2"])
            await CheckAsync(nothing, static _ => false);
        await Assert.ThrowsAsync<InvalidQueryException>(() => _run.AskAsync("from index Lines where id() > true"));

        async Task CheckAsync(string condition, Func<string, bool> wants, int from = 0)
        {
            IEnumerable<string> wanted = ids.SelectMany((id, i) => Enumerable.Repeat(id, Math.Max(0, (i % 4) - from)))
                .Where(id => wants(id.ToLowerInvariant())).Select(static id => $$"""{"Id":"{{id}}"}""");
            Assert.Equal(
                wanted.Order(StringComparer.Ordinal),
                (await _run.AskAsync($"from index Lines where {condition} select id() as Id")).Order(StringComparer.Ordinal));
        }

        static int Compare(string left, string right) => string.CompareOrdinal(left, right);
    }

    /// <summary>As clients write what is kept in an index and not looked for.</summary>
    [Theory]
    [InlineData("from o in docs.Orders select new { o.City, Upper = o.City.ToUpper() }")]
    [InlineData("map('Orders', o => ({ City: o.City, Upper: o.City.toUpperCase() }))")]
    public async Task What_is_computed_may_be_stored_and_not_indexed(string map)
    {
        _run.Define("Cities", map, """{"Upper":{"Storage":"Yes","Indexing":"No"}}""");
        await _run.PutAsync("orders/1", """{"City":"Bern"}""", "Orders");
        Assert.Equal(["""{"Upper":"BERN"}"""], await _run.AskAsync("from index Cities where City = 'bern' select Upper"));
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _run.AskAsync("from index Cities where Upper = 'bern'"));
        Assert.Contains("not looked for", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_setting_gives_computed_fields_of_words_their_analyzer()
    {
        using var json = System.Text.Json.JsonDocument.Parse(
            """
            {"Name":"Words","Maps":["map('Orders', o => ({ A: o.A + 's', B: o.A, C: createField('D', o.A + 's', { indexing: 'Search' }) }))"],
             "Fields":{"A":{"Indexing":"Search"}},"Configuration":{"Indexing.Analyzers.Search.Default":"EnglishAnalyzer"}}
            """);
        _run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
        await _run.PutAsync("orders/1", """{"A":"fox"}""", "Orders");
        foreach (string condition in (string[])["search(A, 'fox')", "B = 'fox'", "search(D, 'fox')"])
            Assert.Single(await _run.AskAsync($"from index Words where {condition} select id() as Id"));
    }

    [Fact]
    public async Task Groups_have_no_order_of_ids()
    {
        using var json = System.Text.Json.JsonDocument.Parse(
            """
            {"Name":"Cities","Maps":["map('Orders', o => ({ City: o.City, N: 1 }))"],
             "Reduce":"groupBy(o => ({ City: o.City })).aggregate(g => ({ City: g.key.City, N: g.values.reduce((n, o) => n + o.N, 0) }))"}
            """);
        _run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
        await _run.PutAsync("orders/1", """{"City":"Bern"}""", "Orders");
        Assert.Single(await _run.AskAsync("from index Cities where N > 0"));
        Assert.Empty(await _run.AskAsync("from index Cities where id() >= 'a' or id() between 'a' and 'z' or id() < 'z'"));
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _run.AskAsync("from index Cities order by id()"));
        Assert.Contains("has no field 'id()'", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Documents_that_load_each_other_are_mapped_again_without_end()
    {
        _run.Define(
            "People",
            "from p in docs.People let f = LoadDocument(p.Friend, \"People\") select new { p.Name, Friend = f.Name, Own = "
                + "LoadDocument(Id(p), \"People\").Name }");
        await _run.PutAsync("people/1", """{"Name":"Ann","Friend":"people/2"}""", "People");
        await _run.PutAsync("people/2", """{"Name":"Bob","Friend":"people/1"}""", "People");
        await FoundInAsync("People", "Friend = 'Ann' and Own = 'Bob'", "people/2");
        await _run.PutAsync("people/1", """{"Name":"Amy","Friend":"people/2"}""", "People");
        await FoundInAsync("People", "Friend = 'Amy'", "people/2");
        await FoundInAsync("People", "Own = 'Amy'", "people/1");
    }

    [Fact]
    public async Task A_change_that_concerns_very_many_documents_is_taken_in_steps()
    {
        const int Count = 20_000;
        await _run.PutManyAsync("orders", Count, """{"Company":"companies/1"}""", "Orders");
        await _run.PutAsync("companies/1", """{"Name":"Acme"}""", "Companies");
        _run.Define("ByName", "from o in docs.Orders select new { Name = LoadDocument(o.Company, \"Companies\").Name }");
        Assert.Equal(Count, (await _run.IdsAsync("from index ByName where Name = 'Acme'")).Count);
        await _run.PutAsync("companies/1", """{"Name":"Bolt"}""", "Companies");
        Assert.Equal(Count, (await _run.IdsAsync("from index ByName where Name = 'Bolt'")).Count);
        Assert.Empty(await _run.IdsAsync("from index ByName where Name = 'Acme'"));
    }

    [Fact]
    public async Task Very_many_documents_that_are_gone_do_not_hold_up_an_index_that_loads_what_changed()
    {
        const int Count = 40_000;
        _run.Define("ByName", "from o in docs.Orders select new { Name = LoadDocument(o.Company, \"Companies\").Name }");
        await _run.PutManyAsync("orders", Count, """{"Company":"companies/1"}""", "Orders");
        await _run.WaitAsync();
        _run.Database.Indexes.Control.Pause();
        await _run.PutAsync("companies/1", """{"Name":"Acme"}""", "Companies");
        await _run.DeleteManyAsync("orders", Count);
        _run.Database.Indexes.Control.Resume();
        Assert.True(
            await _run.Database.Indexes.WaitForNonStaleAsync(
                TimeSpan.FromMinutes(2), null, TestContext.Current.CancellationToken));
        Assert.Equal(0, Assert.Single(_run.Database.Indexes.List()).EntryCount);
    }

    [Fact]
    public async Task Results_change_with_compare_exchange_values()
    {
        _run.Define(
            "Prices",
            "from p in docs.Products select new { Price = p.Price * (LoadCompareExchangeValue(\"Rate\").Factor ?? 1) }");
        await _run.PutAsync("products/1", """{"Price":10}""", "Products");
        await FoundInAsync("Prices", "Price = 10", "products/1");
        await _run.Database.WriteAsync(
            new Writes.WriteBatch().PutCompareExchange("rate", """{"Object":{"Factor":3}}"""u8, 0),
            TestContext.Current.CancellationToken);
        await FoundInAsync("Prices", "Price = 30", "products/1");
    }

    [Fact]
    public async Task An_error_concerns_its_document_alone_and_goes_with_it()
    {
        _run.Define("Ratios", "from o in docs.Orders select new { Ratio = o.A / o.B }");
        await _run.PutAsync("orders/1", """{"A":6,"B":3}""", "Orders");
        await _run.PutAsync("orders/2", """{"A":6,"B":0}""", "Orders");
        await FoundInAsync("Ratios", "Ratio = 2", "orders/1");
        IndexError error = Assert.Single(_run.Database.Indexes.Errors("Ratios"));
        Assert.Equal("orders/2", error.DocumentId);
        Assert.Contains("divides by zero", error.Message, StringComparison.Ordinal);
        await _run.PutAsync("orders/2", """{"A":6,"B":2}""", "Orders");
        await FoundInAsync("Ratios", "Ratio = 3", "orders/2");
        Assert.Empty(_run.Database.Indexes.Errors("Ratios"));
    }

    [Fact]
    public async Task Several_maps_fill_one_index()
    {
        _run.Define(
            "Names",
            ["from u in docs.Users select new { Name = u.First + \" \" + u.Last, Kind = \"user\" }", "from c in docs.Companies "
                + "select new { c.Name, Kind = \"company\" }"]);
        await _run.PutAsync("users/1", """{"First":"Ann","Last":"Lee"}""", "Users");
        await _run.PutAsync("companies/1", """{"Name":"Ann Lee"}""", "Companies");
        Assert.Equal(["companies/1", "users/1"], await _run.IdsAsync("from index Names where Name = 'ann lee' order by Kind"));
    }

    [Theory]
    [InlineData("from s in docs.Shops select new { Places = s.At.Select(p => CreateSpatialField(p.Lat, p.Lng)) }")]
    [InlineData("map('Shops', s => ({ Places: s.At.map(p => createSpatialField(p.Lat, p.Lng)) }))")]
    [InlineData("map('Shops', s => { const places = s.At.map(p => createSpatialField(p.Lat, p.Lng)); return { Places: places }; })")]
    public async Task Several_places_are_one_field(string map)
    {
        _run.Define("Shops", map);
        await _run.PutAsync("shops/1", """{"At":[{"Lat":47,"Lng":7},{"Lat":60,"Lng":10}]}""", "Shops");
        await _run.PutAsync("shops/2", """{"At":[{"Lat":0,"Lng":0}]}""", "Shops");
        foreach (string place in (string[])["47, 7", "60, 10"])
            Assert.Equal(
                ["shops/1"], await _run.IdsAsync($"from index Shops where spatial.within(Places, spatial.circle(5, {place}))"));
    }

    [Fact]
    public async Task Places_and_weights_are_computed()
    {
        _run.Define(
            "Shops",
            "from s in docs.Shops select new { s.Name, Place = CreateSpatialField((double)s.Where.Lat, (double)s.Where.Lng) "
                + "}.Boost((float)s.Weight)",
            """{"Name":{"Indexing":"Search"}}""");
        await _run.PutAsync("shops/1", """{"Name":"tea house","Where":{"Lat":"47","Lng":8},"Weight":1}""", "Shops");
        await _run.PutAsync("shops/2", """{"Name":"tea house","Where":{"Lat":"10","Lng":8},"Weight":5}""", "Shops");
        await FoundInAsync("Shops", "spatial.within(Place, spatial.circle(50, 47.1, 8.1))", "shops/1");
        Assert.Equal(["shops/2", "shops/1"], await _run.IdsAsync("from index Shops where search(Name, 'tea') order by score()"));
    }

    [Fact]
    public async Task A_changed_map_takes_the_place_of_the_old_one_and_the_same_one_changes_nothing()
    {
        const string Before = "from o in docs.Orders select new { X = o.A + 1 }",
            After = "from o in docs.Orders select new { X = o.A + 2 }";
        await _run.PutAsync("orders/1", """{"A":1}""", "Orders");
        _run.Define("Plus", Before);
        await FoundInAsync("Plus", "X = 2", "orders/1");
        IndexDefinition known = Assert.IsType<IndexDefinition>(_run.Database.Indexes.Definition("Plus"));
        Assert.True(known.Computes);
        Assert.True(_run.Database.Indexes.Complete(known).IsSameAs(known));
        _run.Define("Plus", Before);
        Assert.Single(_run.Database.Indexes.List());
        _run.Define("Plus", After);
        await _run.WaitAsync();
        while (_run.Database.Indexes.List().Count > 1)
            await Task.Yield(); // the thread that indexes is about to swap
        await FoundInAsync("Plus", "X = 3", "orders/1");
        _run.Reopen();
        await FoundInAsync("Plus", "X = 3", "orders/1");
    }

    [Fact]
    public async Task A_database_without_an_engine_keeps_the_definition_and_says_what_is_missing()
    {
        await _run.PutAsync("orders/1", """{"A":1}""", "Orders");
        _run.Define("Plus", "from o in docs.Orders select new { X = o.A + 1 }");
        _run.Reopen(new DatabaseOptions());
        TreepieException error = await Assert.ThrowsAnyAsync<TreepieException>(
            () => _run.IdsAsync("from index Plus where X = 2"));
        Assert.Contains("Plus", error.Message, StringComparison.Ordinal);
        _run.Reopen();
        await FoundInAsync("Plus", "X = 2", "orders/1");
    }

    [Fact]
    public async Task What_is_not_indexed_yet_is_computed_for_an_answer_that_is_never_stale()
    {
        _run.Define(
            "Lines",
            "from o in docs.Orders let c = LoadDocument(o.Company, \"Companies\") from l in o.Lines select new { Product = l, "
                + "c.Name }");
        await _run.PutAsync("companies/1", """{"Name":"Acme"}""", "Companies");
        await _run.PutAsync("orders/1", """{"Company":"companies/1","Lines":["a","b","c"]}""", "Orders");
        await _run.WaitAsync();
        _run.Database.Indexes.Control.Pause();
        await _run.PutAsync("orders/1", """{"Company":"companies/1","Lines":["d"]}""", "Orders");
        await _run.PutAsync("companies/1", """{"Name":"Bolt"}""", "Companies");
        Assert.Equal(["orders/1"], await _run.IdsAsync("from index Lines where Name = 'Bolt'", neverStale: true));
        Assert.Empty(await _run.IdsAsync("from index Lines where Product = 'b'", neverStale: true));
    }

    private Task OrderAsync(int number, string city, int price) =>
        _run.PutAsync($"orders/{number}", $$"""{"City":"{{city}}","Lines":[{"Price":{{price}},"Quantity":2}]}""", "Orders");

    private Task FoundAsync(string condition, params string[] ids) => FoundInAsync("Orders/ByCompany", condition, ids);

    private async Task FoundInAsync(string index, string condition, params string[] ids) =>
        Assert.Equal(ids, (await _run.IdsAsync($"from index '{index}' where {condition}")).Order());
}
