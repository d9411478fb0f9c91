using System.Text;
using System.Text.Json;
using Treepie.Computations;

namespace Treepie.Computing.Tests;

/// <summary>The same map in C# and in JavaScript gives the same objects.</summary>
public sealed class LanguagesTests
{
    private static readonly string[] _documents =
    [
        """{"Company":"companies/1","City":"Bern","Zip":null,"Count":7,"Rate":0.5,"Flag":true,"At":"2024-02-29T13:45:06Z","Lines":[{"Product":"a","Price":2.5,"Quantity":2},{"Product":"b","Price":4,"Quantity":1}],"Tags":["x","y"],"Address":{"Street":"Hill"}}""",
        """{"City":"","Count":0,"Rate":-1.25,"Flag":false,"Lines":[],"Tags":[],"Address":{}}""",
        """{"Company":"x/9","City":"Zürich \"1\"","Count":-3,"Rate":10,"Lines":[{"Product":"ü","Price":1,"Quantity":3}],"Tags":["y","y"],"Address":{"Street":null}}""",
    ];

    [Theory]
    [InlineData(
        "from o in docs.Orders select new { o.City, o.Zip, S = o.Address.Street }",
        "map('Orders', o => ({ City: o.City, Zip: o.Zip, S: o.Address.Street }))")]
    [InlineData(
        "from o in docs.Orders select new { N = o.Count + 1, M = o.Count * 2.5, U = o.City.ToUpper(), L = o.City.Length }",
        "map('Orders', o => ({ N: o.Count + 1, M: o.Count * 2.5, U: o.City.toUpperCase(), L: o.City.length }))")]
    [InlineData(
        "from o in docs.Orders where o.Count > 0 select new { o.City }",
        "map('Orders', o => { if (o.Count > 0) return { City: o.City }; })")]
    [InlineData(
        "from o in docs.Orders from l in o.Lines select new { l.Product, T = l.Price * l.Quantity }",
        "map('Orders', o => o.Lines.map(l => ({ Product: l.Product, T: l.Price * l.Quantity })))")]
    [InlineData(
        "from o in docs.Orders select new { T = o.Lines.Sum(l => l.Price * l.Quantity), P = o.Lines.Where(l => l.Price > "
            + "2).Select(l => l.Product) }",
        "map('Orders', function (o) { return { T: o.Lines.reduce((s, l) => s + l.Price * l.Quantity, 0), P: o.Lines.filter(l => "
            + "l.Price > 2).map(l => l.Product) }; })")]
    [InlineData(
        "from o in docs.Orders let c = LoadDocument(o.Company, \"Companies\") select new { Name = c == null ? \"none\" : c.Name "
            + "}",
        "map('Orders', o => { const c = load(o.Company, 'Companies'); return { Name: c ? c.Name : 'none' }; })")]
    [InlineData(
        "from o in docs.Orders select new { K = Id(o), C = MetadataFor(o)[\"@collection\"], X = "
            + "LoadCompareExchangeValue(\"rate\").R }",
        "map('Orders', o => ({ K: id(o), C: getMetadata(o)['@collection'], X: cmpxchg('rate').R }))")]
    [InlineData(
        "from o in docs.Orders select new { P = CreateSpatialField(o.Count, o.Rate), V = CreateVector(new[] { 1, 2 }) }.Boost(2)",
        "map('Orders', o => boost({ P: createSpatialField(o.Count, o.Rate), V: createVector([1, 2]) }, 2))")]
    [InlineData("from o in docs.Orders select o.Flag ? new { A = 1 } : null", "map('Orders', o => o.Flag ? { A: 1 } : null)")]
    [InlineData(
        "from o in docs.Orders select new { Y = o.At == null ? 0 : o.At.Year, D = o.Tags.Distinct().Count(), J = "
            + "string.Join(\"-\", o.Tags) }",
        "map('Orders', o => ({ Y: o.At ? new Date(o.At).getUTCFullYear() : 0, D: new Set(o.Tags).size, J: o.Tags.join('-') }))")]
    [InlineData(
        "from o in docs.Orders from l in o.Lines from t in o.Tags where l.Price > 1 select new { l.Product, T = t, N = o.Tags.Count() "
            + "}",
        "map('Orders', o => o.Lines.flatMap(l => o.Tags.filter(t => l.Price > 1).map(t => ({ Product: l.Product, T: t, N: "
            + "o.Tags.length }))))")]
    [InlineData(
        "from o in docs.Orders select new { _ = o.Tags.Select(t => CreateField(t, o.Count, new CreateFieldOptions { Indexing = "
            + "FieldIndexing.Search, Storage = FieldStorage.No })), K = CreateField(\"k\", new[] { 1, 2 }) }",
        "map('Orders', o => ({ _: o.Tags.map(t => createField(t, o.Count, { Indexing: 'Search', storage: 'No' })), K: "
            + "createField('k', [1, 2]) }))")]
    public void Both_languages_give_the_same_objects(string csharp, string javaScript)
    {
        IndexMap left = Compile(csharp), right = Compile(javaScript);
        Assert.Equal(left.Collections, right.Collections);
        Assert.Equal(left.Fields, right.Fields);
        Assert.Equal(left.LoadedCollections, right.LoadedCollections);
        Assert.Equal((left.HasBoost, left.LoadsCompareExchange), (right.HasBoost, right.LoadsCompareExchange));
        foreach (string document in _documents)
            Assert.Equal(Map(left, document), Map(right, document));
    }

    [Theory]
    [InlineData("map('Orders', o => { while (true) { } })", "statements")]
    [InlineData("map('Orders', o => { const f = n => f(n + 1); return { A: f(1) }; })", "within each other")]
    [InlineData("map('Orders', o => ({ A: 'a'.repeat(1 << 28) }))", "'repeat' would make")]
    [InlineData("map('Orders', o => ({ A: Array(1000).fill('x'.repeat(1000000)).join('') }))", "would make")]
    [InlineData("map('Orders', o => ({ A: 'a'.padStart(1e9) }))", "'padStart' would make")]
    [InlineData("map('Orders', o => ({ A: new Array(1e9) }))", "limit")]
    [InlineData(
        "map('Orders', o => { let s = 'aaaaaaaa'; for (let i = 0; i < 40; i++) s += s; return { A: s.length }; })", "memory")]
    [InlineData("map('Orders', o => ({ A: new Function('return 1')() }))", "compilation")]
    [InlineData("map('Orders', o => ({ A: eval('1') }))", "compilation")]
    [InlineData("map('Orders', o => ({ A: Math.random() }))", "function of its document")]
    [InlineData("map('Orders', o => ({ A: new Date() }))", "function of its document")]
    [InlineData("map('Orders', o => ({ A: Date.now() }))", "function of its document")]
    [InlineData("map('Orders', o => { Object.prototype.x = 1; return { A: 1 }; })", "")]
    [InlineData("map('Orders', o => ({ A: o.a.b.c }))", "")]
    [InlineData("map('Orders', o => ({ get A() { throw new Error('no'); } }))", "no")]
    [InlineData("map('Orders', o => 5)", "no object")]
    [InlineData("map('Orders', o => Array(40000).fill({ A: 1 }))", "more than 32,768 results")]
    public void A_hostile_script_is_an_error_of_its_document(string text, string message) =>
        Assert.Contains(
            message, Assert.Throws<ComputationException>(() => Map(Compile(text), _documents[0])).Message,
            StringComparison.OrdinalIgnoreCase);

    [Theory]
    [InlineData("map('Orders', o => ({ A: 1 })", "line 1, column")]
    [InlineData("map('Orders')", "a function")]
    [InlineData("var map = 1; (0)", "map")]
    [InlineData("map('Orders', o => ({ A: load(o.C, o.D) }))", "line 1, column 26")]
    [InlineData("map('Orders', o => ({ A: 1 })); map('Users', o => ({ A: 1 }))", "twice")]
    [InlineData("while (true) { map }; (1)", "statements")]
    public void A_script_that_is_no_map_is_refused(string text, string message) =>
        Assert.Contains(
            message, Assert.Throws<InvalidIndexDefinitionException>(() => Compile(text)).Message, StringComparison.Ordinal);

    [Fact]
    public void Further_sources_are_functions_that_maps_call()
    {
        var index = new IndexTexts(
            "Test", new Dictionary<string, string> { ["names"] = "function full(o) { return o.City + '!'; }" });
        Assert.Equal(
            """{"N":"Bern!"}""",
            Map(new TextComputingEngine().CompileMap(index, "map('Orders', o => ({ N: full(o) }))"), _documents[0]));
        Assert.Contains(
            "AdditionalSources",
            Assert.Throws<InvalidIndexDefinitionException>(
                () => new TextComputingEngine().CompileMap(index, "from o in docs.Orders select new { o.City }")).Message,
            StringComparison.Ordinal);
    }

    private static IndexMap Compile(string text) =>
        new TextComputingEngine().CompileMap(new IndexTexts("Test", new Dictionary<string, string>()), text);

    private static string Map(IndexMap map, string document)
    {
        var output = new MapOutput();
        MappedDocuments.Map(map, "orders/1", "Orders", document, output);
        return string.Concat(Enumerable.Range(0, output.Count).Select(place =>
        {
            using JsonDocument json = JsonDocument.Parse(output[place]);
            // escapes are written alike
            return Encoding.UTF8.GetString(JsonSerializer.SerializeToUtf8Bytes(json.RootElement, _plain));
        }));
    }

    private static readonly JsonSerializerOptions _plain = new()
    {
        Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping
    };
}
