using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Indexing.Analysis;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>
/// Indexes defined by hand: what their fields answer, how a changed definition takes the place of the old, what survives.
/// </summary>
public sealed class StaticIndexTests : IDisposable
{
    private static readonly IndexDefinition _byCity = Define(
        "Orders/By/City", ["Orders"], new() { Name = "City", Path = "ShipTo.City" },
        new() { Name = "Product", Path = "Lines[].Product" });

    private readonly TemporaryDirectory _folder = new();
    private Database _database;

    public StaticIndexTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task Fields_take_the_values_of_their_paths_through_objects_and_arrays()
    {
        await PutOrdersAsync(40);
        _database.Indexes.Put(_byCity);
        Answer answer = await AskAsync("from index 'Orders/By/City' where City = 'city 3' and Product = 'products/3'");
        Assert.Equal((2, "Orders/By/City"), (answer.Total, answer.Index));
        Assert.Equal(["orders/23", "orders/3"], answer.Ids.Order());
        Assert.Equal(40, (await AskAsync("FROM INDEX \"orders/by/CITY\" order by City desc")).Total);
        Assert.Equal(4, (await AskAsync("from index 'Orders/By/City' as o where o.City = 'city 3'")).Total);
    }

    [Fact]
    public async Task A_field_of_words_answers_words_equality_and_order_as_it_was_defined()
    {
        await _database.PutAsync("notes/1", """{"Text":"The running foxes","Code":"aB"}""", "Notes");
        await _database.PutAsync("notes/2", """{"Text":"A fox","Code":"AB"}""", "Notes");
        _database.Indexes.Put(Define(
            "Notes",
            ["Notes"],
            new() { Name = "Text", Indexing = FieldIndexing.Search, Analyzer = "EnglishAnalyzer" },
            new() { Name = "Sorted", Path = "Text", Indexing = FieldIndexing.Search, Sort = true },
            new() { Name = "Code", Indexing = FieldIndexing.Exact },
            new() { Name = "Loose", Path = "Code" }));
        Assert.Equal(2, (await AskAsync("from index Notes where search(Text, 'fox')")).Total);
        Assert.Equal(1, (await AskAsync("from index Notes where search(Text, 'run')")).Total);
        Assert.Equal(1, (await AskAsync("from index Notes where search(Sorted, 'fox')")).Total);
        Assert.Equal(["notes/2", "notes/1"], (await AskAsync("from index Notes order by Sorted")).Ids);
        Assert.Equal(1, (await AskAsync("from index Notes where Sorted = 'a FOX'")).Total);
        Assert.Equal(["notes/1"], (await AskAsync("from index Notes where Code = 'aB'")).Ids);
        Assert.Equal(["notes/1"], (await AskAsync("from index Notes where exact(Code = 'aB')")).Ids);
        Assert.Equal(2, (await AskAsync("from index Notes where Loose = 'ab'")).Total);
        Assert.Contains(
            "'Loose' of the index 'Notes' does not answer this: it holds whole values without case",
            (await Assert.ThrowsAsync<InvalidQueryException>(
                () => AskAsync("from index Notes where exact(Loose = 'ab')"))).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_boost_of_a_field_weighs_its_words()
    {
        for (int i = 0; i < 4; i++)
            await _database.PutAsync(
                $"pages/{i}", $$"""{"Title":"{{(i == 2 ? "whale" : "fish")}}","Body":"{{(i == 1 ? "whale" : "fish")}}"}""",
                "Pages");
        _database.Indexes.Put(Define(
            "Pages", ["Pages"], new() { Name = "Title", Indexing = FieldIndexing.Search, Boost = 5 },
            new() { Name = "Body", Indexing = FieldIndexing.Search }));
        Assert.Equal(
            ["pages/2", "pages/1"],
            (await AskAsync("from index Pages where search(Title, 'whale') or search(Body, 'whale')")).Ids);
        _database.Indexes.Put(Define(
            "Pages", ["Pages"], new() { Name = "Title", Indexing = FieldIndexing.Search },
            new() { Name = "Body", Indexing = FieldIndexing.Search, Boost = 5 }));
        await SwappedAsync();
        Assert.Equal(
            ["pages/1", "pages/2"],
            (await AskAsync("from index Pages where search(Title, 'whale') or search(Body, 'whale')")).Ids);
    }

    [Fact]
    public async Task Several_collections_are_one_index_and_a_document_that_leaves_them_leaves_it()
    {
        await PutOrdersAsync(5);
        await _database.PutAsync("invoices/1", """{"ShipTo":{"City":"city 1"}}""", "Invoices");
        await _database.PutAsync("others/1", """{"ShipTo":{"City":"city 1"}}""", "Others");
        _database.Indexes.Put(_byCity with { Collections = ["Orders", "invoices", "ORDERS"] });
        Assert.Equal(
            ["invoices/1", "orders/1"], (await AskAsync("from index 'Orders/By/City' where City = 'city 1'")).Ids.Order());

        await _database.DeleteAsync("orders/1");
        await _database.PutAsync("orders/1", """{"ShipTo":{"City":"city 1"}}""", "Others");
        Assert.Equal(["invoices/1"], (await AskAsync("from index 'Orders/By/City' where City = 'city 1'")).Ids);
        await _database.DeleteAsync("orders/1");
        await _database.PutAsync("orders/1", """{"ShipTo":{"City":"city 1"}}""", "Invoices");
        Assert.Equal(
            ["invoices/1", "orders/1"], (await AskAsync("from index 'Orders/By/City' where City = 'city 1'")).Ids.Order());

        _database.Indexes.Put(_byCity with { Name = "All", Collections = ["@all_docs"] });
        Assert.Equal(3, (await AskAsync("from index All where City = 'city 1'")).Total);
    }

    [Fact]
    public async Task A_changed_definition_is_built_beside_and_takes_the_place()
    {
        await PutOrdersAsync(30);
        _database.Indexes.Put(_byCity);
        await AskAsync("from index 'Orders/By/City'");
        Task gone = _database.Indexes.WaitForRemovalAsync("Orders/By/City");
        _database.Indexes.Put(_byCity with { Fields = [.. _byCity.Fields, new() { Name = "Freight" }] });

        // Whichever of them answers: all of the old fields are there all the time.
        Assert.Equal(3, (await AskAsync("from index 'Orders/By/City' where City = 'city 3'")).Total);
        await SwappedAsync();
        Assert.Equal(1, (await AskAsync("from index 'Orders/By/City' where Freight = 7")).Total);
        Assert.Equal(["Orders/By/City"], _database.Indexes.List().Select(i => i.Name));
        await gone;
        Assert.Single(Directory.EnumerateDirectories(Path.Combine(_folder.Path, "indexes")));
    }

    [Fact]
    public async Task What_was_half_built_when_it_ended_goes_on_and_the_old_index_answers_meanwhile()
    {
        await PutOrdersAsync(30);
        _database.Indexes.Put(_byCity);
        await AskAsync("from index 'Orders/By/City'");
        IndexDefinition changed = _byCity with { Fields = [.. _byCity.Fields, new() { Name = "Freight" }] };
        for (int i = 0; i < 3; i++)
        {
            // Closed as soon as it is acknowledged, wherever the new index is by then.
            _database.Indexes.Put(i % 2 == 0 ? changed : _byCity);
            Reopen();
            Assert.Equal(3, (await AskAsync("from index 'Orders/By/City' where City = 'city 3'")).Total);
        }

        await SwappedAsync();
        Assert.Equal(1, (await AskAsync("from index 'Orders/By/City' where Freight = 7")).Total);
        Assert.True(changed.IsSameAs(_database.Indexes.Definition("orders/by/city")!)); // it was put
    }

    [Fact]
    public async Task Definitions_survive_even_where_all_that_was_built_is_lost()
    {
        await PutOrdersAsync(10);
        _database.Indexes.Put(_byCity);
        _database.Indexes.Put(_byCity with { Name = "Gone" });
        Assert.True(_database.Indexes.Delete("GONE"));
        Assert.False(_database.Indexes.Delete("Gone"));
        _database.Dispose();
        Directory.Delete(Path.Combine(_folder.Path, "indexes"), recursive: true);
        _database = Database.Open(_folder.Path);
        Assert.Equal(["Orders/By/City"], _database.Indexes.List().Select(i => i.Name));
        Assert.Equal(1, (await AskAsync("from index 'Orders/By/City' where City = 'city 3'")).Total);
    }

    [Fact]
    public async Task A_backup_has_the_definitions_and_a_restored_database_builds_them()
    {
        await PutOrdersAsync(10);
        _database.Indexes.Put(_byCity);
        await _database.AskAsync("from Orders where Freight = 3");
        using var backup = new MemoryStream();
        await _database.BackupAsync(backup, cancellationToken: TestContext.Current.CancellationToken);
        backup.Position = 0;
        using var folder = new TemporaryDirectory();
        string path = Path.Combine(folder.Path, "restored");
        await Database.RestoreAsync(backup, path, cancellationToken: TestContext.Current.CancellationToken);
        using var restored = Database.Open(path);
        Assert.Equal(["Auto/Orders/ByFreight", "Orders/By/City"], restored.Indexes.List().Select(i => i.Name));
        Assert.True(
            await restored.Indexes.WaitForNonStaleAsync(TimeSpan.FromMinutes(1), null, TestContext.Current.CancellationToken));
        Assert.Equal(1, (await restored.AskAsync("from index 'Orders/By/City' where City = 'city 3'")).Total);
    }

    [Fact]
    public async Task The_same_definition_again_changes_nothing_and_reset_builds_anew()
    {
        await PutOrdersAsync(10);
        _database.Indexes.Put(_byCity);
        await AskAsync("from index 'Orders/By/City'");
        DateTime? before = Assert.Single(_database.Indexes.List()).LastIndexingTime;
        _database.Indexes.Put(_byCity with { Fields = [.. _byCity.Fields] });
        Assert.Equal(before, Assert.Single(_database.Indexes.List()).LastIndexingTime);
        _database.Indexes.Reset("Orders/By/City");
        Assert.Equal(10, (await AskAsync("from index 'Orders/By/City'")).Total);
    }

    [Fact]
    public async Task An_analyzer_of_ones_own_is_used_and_missing_stops_its_index_alone()
    {
        var own = new DatabaseOptions { Analyzers = AnalyzerSet.BuiltIn.With("Halves", new HalvingAnalyzer()) };
        _database.Dispose();
        _database = Database.Open(_folder.Path, own);
        await PutOrdersAsync(3);
        _database.Indexes.Put(
            Define(
                "Halves", ["Orders"],
                new IndexFieldDefinition
                {
                    Name = "City",
                    Path = "ShipTo.City",
                    Indexing = FieldIndexing.Search,
                    Analyzer = "Halves"
                }));
        Assert.Equal(1, (await AskAsync("from index Halves where search(City, '\"y 2\"')")).Total);

        Reopen();
        IndexStatistics stopped = Assert.Single(_database.Indexes.List());
        Assert.Equal(IndexState.Error, stopped.State);
        Assert.Contains("Halves", Assert.Single(_database.Indexes.Errors("Halves")).Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<TreepieException>(() => AskAsync("from index Halves"));
        Assert.Equal(1, (await _database.AskAsync("from Orders where Freight = 2")).Total);

        _database.Dispose();
        _database = Database.Open(_folder.Path, own);
        Assert.Equal(3, (await AskAsync("from index Halves")).Total);
    }

    [Fact]
    public void What_cannot_be_built_is_refused_and_changes_nothing()
    {
        _database.Indexes.Put(_byCity);
        IndexFieldDefinition city = new() { Name = "City" };
        Refused("analyzer", _byCity with { Fields = [city with { Analyzer = "EnglishAnalyzer" }] });
        Refused(
            "NoSuchAnalyzer",
            _byCity with { Fields = [city with { Indexing = FieldIndexing.Search, Analyzer = "NoSuchAnalyzer" }] });
        Refused("twice", _byCity with { Fields = [city, city] });
        Refused("not a path", _byCity with { Fields = [city with { Path = "a..b" }] });
        Refused("not a path", _byCity with { Fields = [city with { Path = "a[x]" }] });
        Refused("metadata", _byCity with { Fields = [city with { Path = "@metadata" }] });
        Refused("boost", _byCity with { Fields = [city with { Indexing = FieldIndexing.Search, Boost = float.NaN }] });
        Refused("1E-06 to 1000000", _byCity with { Fields = [city with { Indexing = FieldIndexing.Search, Boost = 1e30f }] });
        Refused("1E-06 to 1000000", _byCity with { Fields = [city with { Indexing = FieldIndexing.Search, Boost = 1e-40f }] });
        Refused("boost", _byCity with { Fields = [city with { Boost = 2 }] });
        Refused("unknown way", _byCity with { Fields = [city with { Indexing = (FieldIndexing)9 }] });
        Refused("0 fields", _byCity with { Fields = [] });
        Refused(
            "513 fields",
            _byCity with { Fields = [.. Enumerable.Range(0, 513).Select(i => new IndexFieldDefinition { Name = $"F{i}" })] });
        Refused(
            "bytes as JSON",
            _byCity with
            {
                Fields = [
                    .. Enumerable.Range(0, 512)
                        .Select(
                            i => new IndexFieldDefinition { Name = $"{new string('n', 500)}{i}", Path = new string('p', 500) })]
            });
        Refused("control character", _byCity with { Fields = [city with { Name = "a\nb" }] });
        Refused("Auto/", _byCity with { Name = "auto/Orders/ByX" });
        Refused("ReplacementOf/", _byCity with { Name = "ReplacementOf/X" });
        Refused("1 to 256 bytes", _byCity with { Name = new string('ü', 129) });
        Refused("1 to 256 bytes", _byCity with { Name = " " });
        Refused("@all_docs", _byCity with { Collections = ["Orders", "@all_docs"] });
        Refused("collections", _byCity with { Collections = [.. Enumerable.Range(0, 129).Select(i => $"C{i}")] });
        Assert.True(_byCity.IsSameAs(Assert.Single(_database.Indexes.List()).Definition!)); // it is one defined by hand

        void Refused(string problem, IndexDefinition definition) =>
            Assert.Contains(
                problem, Assert.Throws<InvalidIndexDefinitionException>(() => _database.Indexes.Put(definition)).Message,
                StringComparison.Ordinal);
    }

    [Fact]
    public async Task Places_and_vectors_are_found_by_the_names_of_their_fields()
    {
        await _database.PutAsync(
            "orders/1", """{"Where":{"Lat":49.25,"Lng":4.03},"Shape":"POINT (4.03 49.25)","Like":[1,0]}""", "Orders");
        await _database.PutAsync(
            "orders/2", """{"Where":{"Lat":-33.9,"Lng":151.2},"Shape":"POINT (151.2 -33.9)","Like":[0,1]}""", "Orders");
        await _database.PutAsync("orders/3", """{"Shape":"nowhere","Like":[1,1]}""", "Orders");
        _database.Indexes.Put(Define(
            "Places",
            ["Orders"],
            new() { Name = "Place", Spatial = new() { Latitude = "Where.Lat", Longitude = "Where.Lng" } },
            new() { Name = "Shape", Spatial = new() { Wkt = "Shape" } },
            new() { Name = "Near", Path = "Like", Vector = new(2) }));
        Assert.Equal(
            ["orders/1"],
            (await AskAsync("from index Places where spatial.within(Place, spatial.circle(10, 49.255, 4.154, 'miles'))")).Ids);
        Assert.Equal(
            ["orders/2"],
            (await AskAsync("from index Places where spatial.within(Shape, spatial.circle(10, -33.9, 151.2))")).Ids);
        Assert.Equal(
            "orders/2",
            (await _database.AskAsync("from index Places where vector.search(Near, $v)", """{"v":[0.1,1]}""")).Ids.First());
        Assert.Equal("orders/3", Assert.Single(_database.Indexes.Errors("Places")).DocumentId);
        Assert.Equal(3, (await AskAsync("from index Places")).Total);
        Assert.Contains("dimensions", Assert.Throws<InvalidIndexDefinitionException>(
            () => _database.Indexes.Put(
                Define("V", ["Orders"], new IndexFieldDefinition { Name = "V", Vector = new(5_000) }))).Message,
                StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Kilometers", 10, false)]
    [InlineData("Kilometers", 13, true)]
    [InlineData("Miles", 7, false)]
    [InlineData("Miles", 8, true)]
    public async Task Circles_without_a_unit_have_that_of_the_field(string units, int radius, bool isWithin)
    {
        await _database.PutAsync("orders/1", """{"Lat":49.25,"Lng":4.03,"Shape":"POINT (4.03 49.25)"}""", "Orders"); // 12.4 km away
        IndexDefinition definition = Read(
            """
            {"Name":"Places","Collections":["Orders"],"Fields":{
            "Place":{"Spatial":{"Latitude":"Lat","Longitude":"Lng","Units":"?"}},
            "Shape":{"Spatial":{"Wkt":"Shape","Units":"?"}}}}
            """.Replace("?", units, StringComparison.Ordinal));
        _database.Indexes.Put(definition);
        string[] expected = isWithin ? ["orders/1"] : [];
        foreach (string field in (string[])["Place", "Shape"])
        {
            Assert.Equal(
                expected,
                (await AskAsync($"from index Places where spatial.within({field}, spatial.circle({radius}, 49.255, 4.2))")).Ids);
            Assert.Equal(
                ["orders/1"],
                (await AskAsync($"from index Places where spatial.within({field}, spatial.circle(8, 49.255, 4.2, 'miles'))")).Ids);
        }

        Assert.Equal(units == "Miles", _database.Indexes.Definition("Places")!.Fields[0].Spatial!.IsInMiles);
        Assert.Throws<InvalidIndexDefinitionException>(
            () => Read("""{"Name":"P","Collections":["O"],"Fields":{"P":{"Spatial":{"Wkt":"W","Units":"Leagues"}}}}"""));
        InvalidIndexDefinitionException plane = Assert.Throws<InvalidIndexDefinitionException>(
            () => Read("""{"Name":"P","Collections":["O"],"Fields":{"P":{"Spatial":{"Wkt":"W","Type":"Cartesian"}}}}"""));
        Assert.Contains("ask for X between", plane.Message, StringComparison.Ordinal);
        Assert.Equal(
            "W",
            Read("""{"Name":"P","Collections":["O"],"Fields":{"P":{"Spatial":{"Wkt":"W","Type":"Geography"}}}}""")
                .Fields[0].Spatial!.Wkt);

        static IndexDefinition Read(string text)
        {
            using var json = System.Text.Json.JsonDocument.Parse(text);
            return IndexDefinition.FromJson(json.RootElement);
        }
    }

    [Fact]
    public async Task Unknown_indexes_and_fields_are_errors_with_their_place()
    {
        await PutOrdersAsync(1);
        _database.Indexes.Put(_byCity);
        await Assert.ThrowsAsync<IndexNotFoundException>(() => AskAsync("from index 'Orders/ByTown'"));
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => AskAsync("from index 'Orders/By/City' where Town = 'x'"));
        Assert.Contains("no field 'Town'; it has 'City', 'Product'", error.Message, StringComparison.Ordinal);
        Assert.Equal((1, 35), (error.Line, error.Column));
        await Assert.ThrowsAsync<InvalidQueryException>(() => AskAsync("from index 'Orders/By/City' order by ShipTo.City"));
    }

    private static IndexDefinition Define(string name, string[] collections, params IndexFieldDefinition[] fields) =>
        new() { Name = name, Collections = collections, Fields = fields };

    private async Task<Answer> AskAsync(string query)
    {
        Answer answer = await _database.AskAsync(query);
        Assert.False(answer.IsStale);
        return answer;
    }

    private async Task SwappedAsync()
    {
        Assert.True(
            await _database.Indexes.WaitForNonStaleAsync(TimeSpan.FromMinutes(1), null, TestContext.Current.CancellationToken));
        while (_database.Indexes.List()
            .Any(index => index.Name.StartsWith(IndexCatalogue.ReplacementPrefix, StringComparison.Ordinal)))
            await Task.Yield(); // the thread that indexes is about to swap
    }

    private void Reopen()
    {
        _database.Dispose();
        _database = Database.Open(_folder.Path);
    }

    private async Task PutOrdersAsync(int count)
    {
        for (int i = 0; i < count; i++)
            await _database.PutAsync(
                $"orders/{i}",
                $$"""{"ShipTo":{"City":"city {{i % 10}}"},"Freight":{{i}},"Lines":[{"Product":"products/{{i % 20}}"},{"Product":"x"}]}""",
                "Orders");
    }

    /// <summary>Cuts a text in two.</summary>
    private sealed class HalvingAnalyzer : Analyzer
    {
        public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
        {
            int half = text.Length / 2;
            sink.Add(text[..half], 0, half);
            sink.Add(text[half..], half, text.Length);
        }

        public override Analyzer ForQueries => new WholeAnalyzer();

        private sealed class WholeAnalyzer : Analyzer
        {
            public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink) => sink.Add(text, 0, text.Length);
        }
    }
}
