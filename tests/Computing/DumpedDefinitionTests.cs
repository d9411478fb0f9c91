using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Backups;
using Treepie.Indexes;
using Treepie.Tests.Support;

namespace Treepie.Computing.Tests;

/// <summary>
/// Definitions of all kinds in dumps: they come in again as they were, also from the part that RavenDB reads, as far as that can
/// say it.
/// </summary>
public sealed class DumpedDefinitionTests : IDisposable
{
    private const string Summing =
        "from o in docs.Orders select new { o.Company, o.Total, At = o.At }";

    private const string Summed =
        "from r in results group r by new { r.Company, r.At } into g select new { g.Key.Company, Total = g.Sum(x => x.Total), "
            + "g.Key.At }";

    private readonly IndexRunner _run = new();
    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _run.Dispose();
        _files.Dispose();
    }

    /// <summary>Definitions, each with what must stand in RavenDB's form of it beside its maps.</summary>
    public static TheoryData<string, string> Definitions() => new()
    {
        { """{"Name":"A","Maps":["from o in docs.Orders select new { o.Company }"]}""", """{"Type":"Map","SourceType":"Documents"}""" },
        { """{"Name":"A","Maps":["map('Orders', o => ({ Company: o.Company }))"]}""", """{"Type":"JavaScriptMap"}""" },
        {
            """
            {"Name":"A","Maps":["from o in docs.Orders select new { o.Words, o.Code, o.Kept, o.Off, o.Hint }"],"Fields":{"Words":{"Indexing":"Search",
              "Analyzer":"StandardAnalyzer","Boost":2,"Sort":true},"Code":{"Indexing":"Exact"},"Kept":{"Storage":"Yes"},"Off":{"Indexing":"No","Storage":"Yes"},
              "Hint":{"Suggestions":true}},"ArchivedDataProcessingBehavior":"IncludeArchived","CompoundFields":[["Code","Kept"]]}
            """,
            """
            {"Fields":{"Words":{"Indexing":"Search","Analyzer":"StandardAnalyzer"},"Code":{"Indexing":"Exact"},"Kept":{"Storage":"Yes"},
              "Off":{"Indexing":"No","Storage":"Yes"},"Hint":{"Suggestions":true}},"ArchivedDataProcessingBehavior":"IncludeArchived","CompoundFields":[["Code","Kept"]]}
            """
        },
        {
            """
            {"Name":"A","Collections":["Orders","My 'own' \"ones\""],"Boost":"Rank","Fields":{"Company":{},"Ship-To":{"Path":"ShipTo.City"},"Line":{"Path":"Lines[].Product.Name"},
              "First":{"Path":"Tags[0]"},"Id":{"Path":"id()"},"Time":{"Path":"@metadata.@last-modified"},"Odd":{"Path":"'Odd member'.b"},
              "Where":{"Spatial":{"Latitude":"Lat","Longitude":"Lng"}},"Shape":{"Spatial":{"Wkt":"Area"}},"V":{"Path":"Vec","Vector":{"Dimensions":3,"Bytes":true}}}}
            """,
            """
            {"Type":"JavaScriptMap","Fields":{"Where":{"Spatial":{"Type":"Geography"}},"V":{"Vector":{"Dimensions":3,"SourceEmbeddingType":"Single","DestinationEmbeddingType":"Int8"}}}}
            """
        },
        { """{"Name":"A","Fields":{"Company":{},"City":{"Path":"ShipTo.City"}}}""", """{"Type":"JavaScriptMap"}""" },
        {
            $$"""
            {"Name":"A","Maps":["{{Summing}}"],"Reduce":"{{Summed}}","OutputReduceToCollection":"Sums",
              "PatternForOutputReduceToCollectionReferences":"sums/{Company}","PatternReferencesCollectionName":"Listed"}
            """,
            $$"""
            {"Type":"MapReduce","Reduce":"{{Summed}}","OutputReduceToCollection":"Sums","PatternForOutputReduceToCollectionReferences":"sums/{Company}",
              "PatternReferencesCollectionName":"Listed"}
            """
        },
        {
            """
            {"Name":"A","Maps":["map('Orders', o => ({ Company: o.Company, N: twice(o.N) }))"],
              "Reduce":"groupBy(r => r.Company).aggregate(g => ({ Company: g.key, N: g.values.reduce((n, v) => n + v.N, 0) }))",
              "AdditionalSources":{"twice":"function twice(n) { return 2 * n; }"}}
            """,
            """{"Type":"JavaScriptMapReduce","AdditionalSources":{"twice":"function twice(n) { return 2 * n; }"}}"""
        },
        {
            """{"Name":"A","Maps":["from o in docs.Orders select new { _ = CreateField(o.Key, o.Value) }"],"Fields":{"__all_fields":{"Storage":"Yes"}}}""",
            """{"Fields":{"__all_fields":{"Storage":"Yes"}}}"""
        },
        {
            """{"Name":"A","Maps":["from c in counters.Users select new { c.Name, c.Value, User = c.DocumentId }"]}""",
            """{"Type":"Map","SourceType":"Counters"}"""
        },
        {
            """{"Name":"A","Maps":["timeSeries.map('Users', 'Heart', ts => ts.Entries.map(e => ({ Beat: e.Value })))"]}""",
            """{"Type":"JavaScriptMap","SourceType":"TimeSeries"}"""
        },
    };

    [Theory]
    [MemberData(nameof(Definitions))]
    public async Task Definitions_stand_in_dumps_as_RavenDB_reads_them_and_come_in_as_they_were(string definition, string expected)
    {
        using JsonDocument json = JsonDocument.Parse(definition);
        _run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
        var settings = new IndexSettings
        {
            LockMode = IndexLockMode.LockedIgnore,
            Priority = IndexPriority.High,
            IsDisabled = true
        };
        _run.Database.Indexes.Control.Set("A", _ => settings);
        string written = Normal(_run.Database);
        JsonObject dump = await DumpAsync();
        JsonObject own = Assert.Single(dump["Indexes"]!.AsArray())!.AsObject();
        JsonObject form = own["IndexDefinition"]!.AsObject();
        Assert.Equal(own["Type"]!.GetValue<string>(), form["Type"]!.GetValue<string>());
        Assert.Equal(
            ("LockedIgnore", "High", "Disabled", "{}"),
            (Text(form["LockMode"]), Text(form["Priority"]), Text(form["State"]), form["Configuration"]!.ToJsonString()));
        AssertHas(JsonNode.Parse(expected)!, form);
        (string Definition, IndexSettings Settings) again = await ImportedAsync(dump, "whole");
        Assert.Equal((written, settings), again);

        Assert.True(own.Remove("TreepieIndex"));
        (string Definition, IndexSettings Settings) theirs = await ImportedAsync(dump, "theirs");
        Assert.Equal(settings, theirs.Settings);
        bool isByMap = !written.Contains("\"Maps\"", StringComparison.Ordinal);
        Assert.Equal(Sayable(written, isByMap), Sayable(theirs.Definition, isByMap));
    }

    [Theory]
    [InlineData("First = 'a'")]
    [InlineData("Line = 'tea'")]
    [InlineData("Inner = 3")]
    [InlineData("Odd = 7")]
    [InlineData("Id = 'orders/1'")]
    [InlineData("Kind = 'Orders'")]
    [InlineData("spatial.within(Place, spatial.circle(10, 50, 8))")]
    public async Task A_map_made_of_paths_finds_what_the_paths_find(string condition)
    {
        await _run.PutAsync(
            "orders/1",
            """
            {"Tags":["a","b"],"Lines":[{"Product":{"Name":"tea"}},null,{}],"Deep":[{"More":[{"N":3},{"N":4}]}],"Odd member":{"b":7},"Lat":50,"Lng":8}
            """.Trim(), "Orders");
        await _run.PutAsync("orders/2", """{"Tags":["b","a"],"Lines":null,"Deep":[]}""", "Orders");
        using JsonDocument json = JsonDocument.Parse(
            """
            {"Name":"A","Collections":["Orders"],"Fields":{"First":{"Path":"Tags[0]"},"Line":{"Path":"Lines[].Product.Name"},"Inner":{"Path":"Deep[].More[].N"},
              "Odd":{"Path":"'Odd member'.b"},"Id":{"Path":"id()"},"Kind":{"Path":"@metadata.@collection"},"Place":{"Spatial":{"Latitude":"Lat","Longitude":"Lng"}}}}
            """);
        _run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
        JsonObject form = (await DumpAsync())["Indexes"]![0]!["IndexDefinition"]!.AsObject();
        form["Name"] = "B";
        using JsonDocument made = JsonDocument.Parse(form.ToJsonString());
        _run.Database.Indexes.Put(IndexDefinition.FromJson(made.RootElement));
        Assert.True(_run.Database.Indexes.Definition("B")!.Computes);
        IReadOnlyList<string> byPath = await _run.AskAsync($"from index 'A' where {condition}");
        Assert.NotEmpty(byPath);
        Assert.Equal(byPath, await _run.AskAsync($"from index 'B' where {condition}"));
        Assert.Empty(_run.Database.Indexes.Errors("B"));
    }

    [Fact]
    public async Task An_enabled_index_says_that_nothing_is_set_of_it()
    {
        _run.Define("A", "from o in docs.Orders select new { o.Company }");
        JsonNode form = (await DumpAsync())["Indexes"]![0]!["IndexDefinition"]!;
        Assert.Equal(("Unlock", "Normal", "Normal"), (Text(form["LockMode"]), Text(form["Priority"]), Text(form["State"])));
    }

    private static string? Text(JsonNode? node) => node?.GetValue<string>();

    private static void AssertHas(JsonNode expected, JsonNode? found)
    {
        if (expected is not JsonObject members)
        {
            Assert.Equal(expected.ToJsonString(), found?.ToJsonString());
            return;
        }

        foreach ((string name, JsonNode? value) in members)
            AssertHas(value!, Assert.IsType<JsonObject>(found)[name]);
    }

    /// <summary>Returns the definition with the path of every field, however it was given.</summary>
    private static string Normal(Database database)
    {
        IndexDefinition definition = database.Indexes.Definition("A")!;
        if (!definition.Computes)
            definition = definition with
            {
                Fields = [.. definition.Fields.Select(
                    static field => field.Spatial is null ? field with { Path = field.Path ?? field.Name } : field)]
            };
        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer))
            definition.WriteTo(json);
        return Encoding.UTF8.GetString(buffer.ToArray());
    }

    /// <summary>
    /// Leaves out what RavenDB has no name for, and the maps that a definition by path has got; if these compute, also its paths.
    /// </summary>
    private static string Sayable(string definition, bool isByMap)
    {
        JsonObject json = JsonNode.Parse(definition)!.AsObject();
        json.Remove("Boost");
        if (isByMap)
            json.Remove("Maps");
        bool computes = isByMap && definition.Contains("Odd", StringComparison.Ordinal);
        if (computes)
            json.Remove("Computes");
        foreach ((_, JsonNode? field) in json["Fields"]!.AsObject())
        {
            field!.AsObject().Remove("Boost");
            field.AsObject().Remove("Sort");
            if (computes)
                field.AsObject().Remove("Path");
            if (computes && field["Spatial"] is JsonObject place)
                place.Clear();
        }

        return json.ToJsonString();
    }

    private async Task<JsonObject> DumpAsync()
    {
        using var output = new MemoryStream();
        await _run.Database.BackupAsync(output, new BackupOptions { Compression = BackupCompression.None }, null, Cancel);
        return JsonNode.Parse(output.ToArray())!.AsObject();
    }

    private async Task<(string Definition, IndexSettings Settings)> ImportedAsync(JsonObject dump, string folder)
    {
        // Without what makes it a dump of this program, which has a hash over all of it.
        JsonObject bare = new() { ["BuildVersion"] = 62014, ["Docs"] = new JsonArray(), ["Indexes"] = dump["Indexes"]!.DeepClone() };
        await using Database database = Database.Open(
            Path.Combine(_files.Path, folder), new DatabaseOptions { Computing = new TextComputingEngine() });
        BackupReport report = await database.ImportAsync(
            new MemoryStream(Encoding.UTF8.GetBytes(bare.ToJsonString())), null, null, Cancel);
        Assert.Empty(report.Skipped);
        return (Normal(database), database.Indexes.Control.Settings("A"));
    }
}
