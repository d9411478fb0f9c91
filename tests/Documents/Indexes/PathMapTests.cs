using System.Text;
using System.Text.Json;
using Treepie.Indexes;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>Maps that only name paths are definitions by path; maps that compute are refused where they begin to.</summary>
public sealed class PathMapTests
{
    [Theory]
    [InlineData(
        "from o in docs.Orders select new { o.Company, City = o.ShipTo.City }", "Orders: Company=Company City=ShipTo.City")]
    [InlineData(" from o in docs.Orders\n select new\n {\n o.ShipTo?.City, Id = o.Id, }; ", "Orders: City=ShipTo.City Id=id()")]
    [InlineData("from o in docs select new { o.Name }", ": Name=Name")]
    [InlineData("from o in docs[\"@empty x\"] select new { o.Name }", "@empty x: Name=Name")]
    [InlineData(
        "docs.Orders.Select(order => new { order.Company, Product = order.Lines.Select(l => l.Product.Name) })",
        "Orders: Company=Company Product=Lines[].Product.Name")]
    [InlineData("docs.Select(d => new { d.Name })", ": Name=Name")]
    [InlineData("map('Orders', o => ({ Company: o.Company, 'Id of it': id(o) }))", "Orders: Company=Company Id of it=id()")]
    [InlineData("map(\"Orders\", (o) => { return { P: o.Lines.map(l => l.Product) }; });", "Orders: P=Lines[].Product")]
    [InlineData("map('Orders', function (o) { return { A: o.a_1 }; })", "Orders: A=a_1")]
    [InlineData(
        "docs.Orders.Select(o => new { N = (double?)o.A.B, I = Id(o), C = this.MetadataFor(o)[\"@collection\"] })",
        "Orders: N=A.B I=id() C=@metadata.@collection")]
    [InlineData(
        "map('Orders', o => ({ c: getMetadata(o)['@last-modified'], i: id(o) }))", "Orders: c=@metadata.@last-modified i=id()")]
    [InlineData("map('Orders', o => ({ v: createVector(o.V.E) }))", "Orders: v=V.E")]
    public void Maps_of_paths_are_read(string map, string expected)
    {
        IndexDefinition definition = Read(map);
        Assert.Equal(
            expected,
            $"{string.Join(',', definition.Collections)}: "
                + $"{string.Join(' ', definition.Fields.Select(f => $"{f.Name}={f.Path}"))}");
    }

    [Theory]
    [InlineData("from o in docs.Orders where o.Freight > 3 select new { o.Company }", "where")]
    [InlineData("from o in docs.Orders select new { Upper = o.Company.ToUpper() }", "(")]
    [InlineData("from o in docs.Orders select new { Total = o.A + o.B }", "+ o.B")]
    [InlineData("from o in docs.Orders let x = o.A select new { x }", "let x")]
    [InlineData("from o in docs.Orders from l in o.Lines select new { l.Product }", "from l")]
    [InlineData("from o in docs.Orders select new { o }", "whole document")]
    [InlineData("from o in docs.Orders select new { A = 5 }", "5")]
    [InlineData("from o in docs.Orders select new { A = LoadDocument(o.B).C }", "LoadDocument")]
    [InlineData("from o in docs.Orders select new { }", "no fields")]
    [InlineData("map('Orders', o => ({ A: o.a || 1 }))", "||")]
    [InlineData("map('Orders', o => { if (o.a) return { A: o.a }; })", "if (o.a)")]
    [InlineData("map('Orders'", "','")]
    [InlineData("map('Orders', o => ({ '': o.a }))", "without a name")]
    [InlineData("timeSeries.map('x')", "timeSeries")]
    [InlineData("", "its end")]
    public void Maps_that_compute_are_refused_with_the_place(string map, string place)
    {
        var error = Assert.Throws<InvalidIndexDefinitionException>(() => Read(map));
        Assert.Equal("Maps", error.Property);
        Assert.Contains(place, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Cut_anywhere_a_map_is_refused_or_read_and_never_breaks()
    {
        const string Map =
            "docs.Orders.Select(order => new { order.Company, Where = CreateSpatialField(order.A, order.B), Product = "
                + "order.Lines.Select(l => l.Product) })";
        for (int length = 0; length < Map.Length; length++)
            Assert.Throws<InvalidIndexDefinitionException>(() => Read(Map[..length]));
        Assert.Equal(3, Read(Map).Fields.Count);
    }

    [Theory]
    [InlineData(".a", "")]
    [InlineData(".a.map(x => x", ")")]
    public void Paths_without_end_are_refused_at_once(string member, string end)
    {
        const int Members = 100_000; // as deep, it would be more than a stack; as long, minutes
        string path = "o" + string.Concat(Enumerable.Repeat(member, Members)) + ".b"
            + string.Concat(Enumerable.Repeat(end, Members));
        var error = Assert.Throws<InvalidIndexDefinitionException>(() => Read($"map('Orders', o => ({{ A: {path} }}))"));
        Assert.Contains("members", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Options_of_fields_belong_to_fields_of_the_map_and_unknown_ones_are_refused()
    {
        IndexDefinition definition = Read(
            """{"Name":"X","Maps":["from o in docs.Orders select new { o.Notes }"],"Fields":{"Notes":{"Indexing":"Search","Storage":"No","TermVector":null}},"Type":"Map","Reduce":null,"Configuration":{}}""",
            isWhole: true);
        Assert.Equal((FieldIndexing.Search, "Notes"), (Assert.Single(definition.Fields).Indexing, definition.Fields[0].Path));
        foreach (string wrong in (string[])
                 [
                     """{"Name":"X","Maps":["from o in docs.Orders select new { o.Notes }"],"Fields":{"Other":{}}}""",
                     """{"Name":"X","Maps":["from o in docs.Orders select new { o.Notes }","from o in docs.Users select new { o.Other }"]}""",
                     """{"Name":"X","Reduce":"from r in results","Fields":{"A":{}}}""",
                     """{"Name":"X","AdditionalSources":{"a":"b"},"Fields":{"A":{}}}""",
                     """{"Name":"X","Configuration":{"a":"b"},"Fields":{"A":{}}}""",
                     """{"Name":"X","Surprise":1,"Fields":{"A":{}}}""",
                     """{"Name":"X","Fields":{"A":{"Surprise":1}}}""",
                     """{"Name":"X","Fields":{"A":{"Storage":"Perhaps"}}}""",
                     """{"Name":"X","Fields":{"A":{"Boost":"much"}}}""",
                     """{"Name":"X","Fields":["A"]}""",
                     """{"Name":"X","Collections":"Orders","Fields":{"A":{}}}""",
                     """{"Name":5}""",
                     """{"Fields":{}}""",
                     "5",
                 ])
            Assert.Throws<InvalidIndexDefinitionException>(() => Read(wrong, isWhole: true));
    }

    [Fact]
    public void Places_and_vectors_are_said_as_clients_say_them()
    {
        IndexDefinition places = Read(
            "docs.Orders.Select(o => new { A = this.CreateSpatialField((double?)o.Lat, (double)o.Lng), B = "
                + "CreateSpatialField(o.Wkt), V = CreateVector(o.V) })");
        Assert.Equal(new SpatialFieldDefinition { Latitude = "Lat", Longitude = "Lng" }, places.Fields[0].Spatial);
        Assert.Equal(new SpatialFieldDefinition { Wkt = "Wkt" }, places.Fields[1].Spatial);
        Assert.Equal(new VectorFieldDefinition(0), places.Fields[2].Vector);
        foreach ((string options, VectorFieldDefinition expected) in ((string, VectorFieldDefinition)[])
                 [
                     ("""{"Dimensions":3,"SourceEmbeddingType":"Single","DestinationEmbeddingType":"Single","NumberOfEdges":12,"NumberOfCandidatesForIndexing":16}""", new(3)),
                     ("""{"Dimensions":null,"SourceEmbeddingType":"Int8","DestinationEmbeddingType":"Int8"}""", new(
                         0, Bytes: true)),
                     ("""{"Dimensions":3,"SourceEmbeddingType":"Single","DestinationEmbeddingType":"Binary"}""", new(
                         3, Bits: true)),
                     ("""{"Bytes":true,"Dimensions":7}""", new(7, Bytes: true)),
                 ])
        {
            IndexDefinition definition = Read(
                $$$$"""{"Name":"X","Maps":["map('Orders', o => ({ v: o.v }))"],"Fields":{"v":{"Vector":{{{{options}}}}}}}""",
                isWhole: true);
            Assert.Equal(expected, definition.Fields[0].Vector);
            using JsonDocument written = JsonDocument.Parse(JsonOf(definition));
            Assert.Equal(expected, IndexDefinition.FromJson(written.RootElement).Fields[0].Vector);
        }

        foreach (string wrong in (string[])
        [
            """{"Dimensions":0}""", """{"Dimensions":"3"}""", """{"SourceEmbeddingType":"Text"}""",
            """{"SourceEmbeddingType":"Binary"}""", """{"Metric":"Dot"}""", "5"
        ])
            Assert.Throws<InvalidIndexDefinitionException>(
                () => Read($$$$"""{"Name":"X","Fields":{"v":{"Vector":{{{{wrong}}}}}}}""", isWhole: true));
    }

    [Fact]
    public void Settings_are_kept_and_those_that_this_program_does_not_do_are_refused()
    {
        const string Begin =
            """{"Name":"X","Collections":["A"],"Fields":{"a":{},"b":{"Indexing":"Search"},"c":{"Indexing":"Search","Analyzer":"SimpleAnalyzer"}},"Configuration":{""";
        IndexDefinition definition = Read(
            Begin + "\"Indexing.MapBatchSize\":10,\"indexing.corax.x\":\"1\",\"Indexing.IndexEmptyEntries\":true,\"Indexing.New\":null}}",
            isWhole: true);
        Assert.Equal(
            ["Indexing.IndexEmptyEntries=true", "Indexing.MapBatchSize=10", "indexing.corax.x=1"],
            definition.Configuration.Select(static one => $"{one.Key}={one.Value}").Order(StringComparer.Ordinal));
        Assert.Contains(
            """
            "Configuration":{"Indexing.IndexEmptyEntries":"true","Indexing.MapBatchSize":"10","indexing.corax.x":"1"},
            """,
            Encoding.UTF8.GetString(JsonOf(definition)), StringComparison.Ordinal);
        Assert.True(Read(Encoding.UTF8.GetString(JsonOf(definition)), isWhole: true).IsSameAs(definition));
        Assert.False((definition with { Configuration = new Dictionary<string, string>() }).IsSameAs(definition));
        foreach ((string setting, string value, string advice) in new[]
        {
            ("Indexing.Analyzers.Default", "StandardAnalyzer", "__all_fields"),
            ("Indexing.IndexMissingFieldsAsNull", "false", "Leave it out"),
            ("indexing.indexemptyentries", "False", "answers as with 'true'"),
            ("a", "b", "begin with 'Indexing.'"),
        })
            Assert.Contains(
                advice,
                Assert.Throws<InvalidIndexDefinitionException>(
                    () => Read(Begin + $"\"{setting}\":\"{value}\"}}}}", isWhole: true)).Message,
                StringComparison.Ordinal);
        foreach (string wrong in (string[])["\"Indexing.A\":{}", "\"Indexing.A\":[1]"])
            Assert.Throws<InvalidIndexDefinitionException>(() => Read(Begin + wrong + "}}", isWhole: true));
    }

    [Fact]
    public void The_setting_of_an_analyzer_is_that_of_fields_of_words_without_one()
    {
        const string Settings =
            ""","Configuration":{"Indexing.Analyzers.Search.Default":"EnglishAnalyzer","Indexing.Analyzers.Default":"Raven.LowerCaseKeywordAnalyzer"}}""",
            Fields = ""","Fields":{"b":{"Indexing":"Search"},"c":{"Indexing":"Search","Analyzer":"SimpleAnalyzer"}}""";
        foreach (string begin in (string[])
        [
            """{"Name":"X","Collections":["A"],"Fields":{"a":{},"b":{"Indexing":"Search"},"c":{"Indexing":"Search","Analyzer":"SimpleAnalyzer"}}""",
            """{"Name":"X","Maps":["from o in docs.A select new { o.a, o.b, o.c }"]""" + Fields,
        ])
            Assert.Equal(
                [null, "EnglishAnalyzer", "SimpleAnalyzer"],
                Read(begin + Settings, isWhole: true).Fields.Select(static field => field.Analyzer));

        // the fields of a map that computes are known when it is compiled
        using JsonDocument computed = JsonDocument.Parse(
            """{"Name":"X","Maps":["from o in docs.A select new { a = o.a + 1 }"]""" + Settings);
        Assert.Equal("EnglishAnalyzer", IndexDefinition.FromJson(computed.RootElement).AllFields?.Analyzer);
    }

    [Fact]
    public void Options_of_all_fields_hold_where_a_field_has_none_of_its_own()
    {
        const string Text =
            """
            {"Name":"X","Maps":["map('Orders', o => ({ a: o.a, b: o.b, at: createSpatialField(o.lat, o.lng) }))"],"Configuration":{"Indexing.Static.SearchEngineType":"Corax"},
             "Fields":{"__all_fields":{"Indexing":"Search","Analyzer":"SimpleAnalyzer","Storage":"Yes","Suggestions":true},"B":{"Indexing":"Exact"}}}
            """;
        IndexDefinition definition = Read(Text, isWhole: true);
        Assert.Equal(
            new IndexFieldDefinition
            {
                Name = "a",
                Path = "a",
                Indexing = FieldIndexing.Search,
                Analyzer = "SimpleAnalyzer",
                Stored = true,
                Suggestions = true
            },
            definition.Fields[0]);
        Assert.Equal(
            new IndexFieldDefinition
            {
                Name = "b",
                Path = "b",
                Indexing = FieldIndexing.Exact,
                Stored = true,
                Suggestions = true
            },
            definition.Fields[1]);
        Assert.Equal(
            new IndexFieldDefinition
            {
                Name = "at",
                Spatial = new SpatialFieldDefinition { Latitude = "lat", Longitude = "lng" }
            },
            definition.Fields[2]);
    }

    [Fact]
    public void Maps_are_kept_as_they_were_and_make_no_other_index()
    {
        IndexDefinition first = Read("from o in docs.Orders select new { o.Company }"),
            second = Read("map('Orders', o => ({ Company: o.Company }))");
        Assert.Equal(["from o in docs.Orders select new { o.Company }"], first.Maps);
        Assert.True(first.IsSameAs(second));
        Assert.False(first.IsSameAs(Read("map('Orders', o => ({ Company: o.Other }))")));
        using JsonDocument written = JsonDocument.Parse(JsonOf(first));
        IndexDefinition again = IndexDefinition.FromJson(written.RootElement);
        Assert.Equal(first.Maps, again.Maps);
        Assert.True(again.IsSameAs(first));
    }

    private static byte[] JsonOf(IndexDefinition definition)
    {
        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer))
            definition.WriteTo(json);
        return buffer.ToArray();
    }

    private static IndexDefinition Read(string text, bool isWhole = false)
    {
        string json = isWhole
            ? text
            : JsonSerializer.Serialize(new Dictionary<string, object> { ["Name"] = "X", ["Maps"] = new[] { text } });
        using JsonDocument document = JsonDocument.Parse(json);
        return Treepie.Indexes.ComputedDefinition.Compile(
            IndexDefinition.FromJson(document.RootElement), engine: null).Definition;
    }
}
