using System.Text.Json;
using Treepie.Computations;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Directories;
using Treepie.Indexing.Analysis;
using Treepie.Store;
using Treepie.Tests.Support;

namespace Treepie.Computing.Tests;

/// <summary>Results in JavaScript that are no literal: their fields are read from the text, or learned from documents.</summary>
public sealed class OpenResultTests : IDisposable
{
    private readonly IndexRunner _run = new();

    public void Dispose() => _run.Dispose();

    [Theory]
    [InlineData("map('U', u => { const r = { A: u.a }; r.B = 1; r['C'] = 2; return r; })", "A B C")]
    [InlineData("map('U', u => { let r; if (u.a) r = { A: 1 }; else r = { B: 1 }; return r; })", "A B")]
    [InlineData("map('U', u => { const r = []; u.L.forEach(l => { r.push({ A: l }); r.unshift({ B: l }); }); return r; })", "A B")]
    [InlineData("map('U', u => { const r = []; r.splice(0, 0, { A: 1 }); return r; })", "…")]
    [InlineData("map('U', u => { const r = { A: 1 }; ({ b: r.B } = u); return r; })", "A …")]
    [InlineData("map('U', u => { const r = {}; [1].forEach(n => { r.A = n; }); Object.assign(r, { B: 1 }); return r; })", "A B")]
    [InlineData("map('U', u => Object.assign({ A: 1 }, u.a ? { B: 1 } : null))", "A B")]
    [InlineData("const base = { A: 1 }; map('U', u => ({ ...base, B: 2 }))", "A B")]
    [InlineData("map('U', u => [{ A: 1 }, ...u.L.map(l => ({ B: l }))].concat([{ C: 1 }]))", "A B C")]
    [InlineData("map('U', u => u.L?.flatMap(l => [{ A: l }, l.x && { B: l }]))", "A B")]
    [InlineData("map('U', u => { const one = l => ({ A: l }); return u.L.map(one); })", "A")]
    [InlineData("function one(u) { return u.more ? one(u.more) : { A: 1 }; } map('U', one)", "A")]
    [InlineData("map('U', u => { const p = createSpatialField(u.x, u.y); return { A: p, B: u.x ? createVector(u.v) : null }; })", "A:S B:V")]
    [InlineData("map('U', u => ({ A: u.L.map(l => createSpatialField(l.x, l.y)) }))", "A:S")]
    [InlineData("map('U', u => ({ A: 1, ...u }))", "A …")]
    [InlineData("map('U', u => u)", "…")]
    [InlineData("map('U', u => ({ [u.a]: 1, B: 2 }))", "B …")]
    [InlineData("map('U', u => { const r = { A: 1 }; fill(r); return r; }); function fill(r) { r.B = 1; }", "A …")]
    [InlineData("map('U', u => { const r = { A: 1 }, s = r; s.B = 1; return r; })", "A …")]
    [InlineData("map('U', u => { const r = { A: 1 }; for (const k of Object.keys(u)) r[k] = u[k]; return r; })", "A …")]
    [InlineData("map('U', u => u.L.reduce((all, l) => { all.push({ A: l }); return all; }, []))", "…")]
    [InlineData("var f = f; map('U', u => [{ A: 1 }, f(u)])", "A")]
    [InlineData("const f = u => g(u), g = u => u.A ? f(u) : { A: 1 }; map('U', f)", "A")]
    [InlineData("map('U', u => { let a = b, b = a; return a; })", "…")]
    [InlineData("const n = 1; map('U', u => (function () { for (const r of u.L) return r; })())", "…")]
    [InlineData("map('U', u => { const r = [{ A: 1 }]; r.forEach(x => { x.B = u.B; }); return r; })", "A B")]
    [InlineData("map('U', u => { const r = [{ A: 1 }]; for (const x of r) x.B = u.B; return r; })", "A B")]
    [InlineData("map('U', u => { const r = [{ A: 1 }]; r.forEach(x => { fill(x); }); return r; }); function fill(x) { x.B = 1; }", "A …")]
    [InlineData("map('U', u => { const r = [{ A: 1 }]; r.forEach((x, i) => { r[i].B = 1; }); return r; })", "A …")]
    [InlineData("map('U', u => { const r = [{ A: 1 }]; r[0].B = 1; return r; })", "A …")]
    [InlineData("map('U', u => { const r = [{ A: 1 }]; r.find(x => x.A).B = 1; return r; })", "A …")]
    [InlineData("map('U', u => { const r = [{ A: 1 }]; const get = () => r; get()[0].B = 1; return r; })", "A …")]
    [InlineData("map('U', u => { const r = [{ A: 1 }], all = [...r]; all[0].B = 1; return r; })", "A …")]
    [InlineData("map('U', u => { const r = [{ A: 1 }]; Object.values(r).forEach(x => { x.B = 1; }); return r; })", "A …")]
    [InlineData("map('U', u => { const r = [{ A: 1 }]; for (r[0].B of u.L) break; return r; })", "…")]
    [InlineData("map('U', u => { const r = { A: 1 }; r.N++; if (r && r.A == null) delete r.A; return u.x ? [r] : r; })", "A N")]
    [InlineData("map('U', u => { let r = [{ A: 1 }]; r = r.concat({ B: 1 }); r.sort((x, y) => x.A - y.A); return r.filter(x => x.A); })", "A B")]
    [InlineData("map('U', u => { const all = []; for (const l of u.L) { const r = { A: l }; r.B = 1; all.push(r); } return all; })", "A B")]
    [InlineData("map('U', u => { const r = [{ A: 1 }]; for (const x of r) for (const y of x) for (const x of y) for (const y of x) y.B = 1; return r; })", "A B …")]
    public void Fields_are_read_as_far_as_the_text_leads(string text, string fields)
    {
        IndexMap map = new TextComputingEngine().CompileMap(new IndexTexts("Test", new Dictionary<string, string>()), text);
        IEnumerable<string> found = map.Fields.Select(static field => field.Kind switch
        {
            MappedFieldKind.Spatial => $"{field.Name}:S",
            MappedFieldKind.Vector => $"{field.Name}:V",
            _ => field.Name,
        });
        Assert.Equal(fields, string.Join(' ', map.IsOpen ? found.Append("…") : found));
    }

    [Theory]
    [InlineData("map('Users', u => { const r = { Name: u.name }; for (const k of Object.keys(u.more)) r[k] = u.more[k]; return r; })")]
    [InlineData("map('Users', u => ({ Name: u.name, ...u.more }))")]
    [InlineData("map('Users', u => Object.assign({ Name: u.name }, u.more))")]
    [InlineData("map('Users', u => [u].map(one => named(one)))", "function named(u) { const r = { ...u.more }; r.Name = u.name; return r; }")]
    public async Task What_the_text_does_not_name_is_a_field_once_a_document_gives_it(string map, string? source = null)
    {
        Define("Users", [map], null, """{"Note":{"Indexing":"Search","Storage":"Yes"}}""", source);
        await PutAsync(1, """{"City":"Bern","Age":30,"Note":"some words"}""");
        await PutAsync(2, """{"City":"Rome","Tags":["x","y"]}""");
        Assert.Equal(["users/1"], await _run.IdsAsync("from index Users where City = 'bern'"));
        Assert.Equal(["users/1"], await _run.IdsAsync("from index Users where Age > 20 and Name = 'N1'"));
        Assert.Equal(["users/2"], await _run.IdsAsync("from index Users where Tags = 'y'"));
        Assert.Equal(["users/1"], await _run.IdsAsync("from index Users where search(Note, 'words')"));
        Assert.Equal(["""{"Note":"some words"}"""], await _run.AskAsync("from index Users where City = 'Bern' select Note"));
        Assert.Equal(["users/2", "users/1"], await _run.IdsAsync("from index Users order by City desc"));
        Assert.Equal(
            ["Name", "search(Note)", "City", "Age", "Tags"],
            Assert.Single(_run.Database.Indexes.List()).Fields
                .OrderBy(static name => "NsCAT".IndexOf(name[0], StringComparison.Ordinal)));
        Assert.Empty(_run.Database.Indexes.Errors("Users"));
        await PutAsync(1, """{"Weight":3}""");
        Assert.Equal(["users/1"], await _run.IdsAsync("from index Users where Weight = 3", neverStale: true));
        _run.Reopen();
        Assert.Equal(["users/1"], await _run.IdsAsync("from index Users where Weight = 3"));
        Assert.Empty(await _run.IdsAsync("from index Users where City = 'Bern'"));
    }

    [Fact]
    public async Task A_whole_document_is_a_result()
    {
        Define("Users", ["map('Users', u => u)"], null, "{}");
        await PutAsync(1, "1");
        Assert.Equal(["users/1"], await _run.IdsAsync("from index Users where name = 'n1' and more = 1"));
        Assert.Empty(_run.Database.Indexes.Errors("Users"));
    }

    [Fact]
    public async Task Options_of_all_fields_are_those_of_fields_that_are_learned()
    {
        Define("Users", ["map('Users', u => ({ ...u.more }))"], null, """{"__all_fields":{"Indexing":"Exact","Storage":"Yes"}}""");
        await PutAsync(1, """{"Code":"aB"}""");
        Assert.Equal(["users/1"], await _run.IdsAsync("from index Users where exact(Code = 'aB')"));
        Assert.Equal(["""{"Code":"aB"}"""], await _run.AskAsync("from index Users select Code"));
    }

    [Fact]
    public async Task Maps_give_different_fields_where_the_definition_names_those()
    {
        const string Fields = """{"City":{},"Age":{}}""";
        string[] maps = [
            "map('Users', u => { const r = { City: u.more.City, Age: u.more.Age }; return r; })",
            "map('Pets', p => { const r = { City: p.city }; return r; })"];
        Define("All", maps, null, Fields);
        await PutAsync(1, """{"City":"Bern","Age":3}""");
        await _run.PutAsync("pets/1", """{"city":"Bern"}""", "Pets");
        Assert.Equal(["pets/1", "users/1"], (await _run.IdsAsync("from index All where City = 'Bern'")).Order());
        Assert.Equal(["users/1"], await _run.IdsAsync("from index All where Age = 3"));
        Assert.Throws<InvalidIndexDefinitionException>(() => Define("Other", maps, null, "{}"));
    }

    [Theory]
    [InlineData("map('Users', u => ({ City: u.more.City + '' }))", null)]
    [InlineData("map('Users', u => ({ City: u.more.City, N: 1 }))", "groupBy(r => r.City).aggregate(g => ({ City: g.key }))")]
    public async Task A_definition_that_was_accepted_once_is_not_refused_for_its_fields(string map, string? reduce)
    {
        await PutAsync(1, """{"City":"Bern"}""");
        IndexDefinition definition = DefinitionOf("Users", [map], reduce, """{"City":{},"Left":{}}""", null);
        Assert.Throws<InvalidIndexDefinitionException>(() => _run.Database.Indexes.Put(definition));
        _run.Database.Indexes.Ensure(new StaticIndexMapping(definition));
        for (int i = 0; i < 2; i++)
        {
            Assert.Single(await _run.AskAsync("from index Users where City = 'Bern'"));
            Assert.Empty(await _run.AskAsync("from index Users where Left = 1"));
            _run.Reopen();
        }
    }

    [Theory]
    [InlineData("map('Users', u => ({ Name: u.name }))", false)]
    [InlineData("map('Users', u => ({ Name: u.name, ...u.more }))", true)]
    [InlineData("map('Users', u => { const r = { Name: u.name }; r.City = u.more.City; return r; })", true)]
    public async Task An_index_whose_entries_lack_fields_of_its_text_is_built_anew(string map, bool lacksFields)
    {
        await PutAsync(1, """{"City":"Bern"}""");
        using DatabaseSnapshot documents = _run.Database.BeginRead();
        using var folder = new TemporaryDirectory();
        // As a version made it that found the name only.
        var old = new StaticIndexMapping(
            new IndexDefinition { Name = "Users", Collections = ["Users"], Fields = [new IndexFieldDefinition { Name = "Name" }] });
        IndexDirectory directory = IndexDirectory.Create(folder.Path, old, 1);
        DocumentIndex built = DocumentIndex.Create(old, directory, AnalyzerSet.BuiltIn, documents);
        built.Writer.Commit(built.Writer.BeginBatch(), documents.LastEtag, TestContext.Current.CancellationToken);
        built.Close(deleteFiles: false);

        StaticIndexMapping now = ComputedDefinition.Compile(
            DefinitionOf("Users", [map], null, "{}", null), new TextComputingEngine());
        DocumentIndex opened = DocumentIndex.Open(now, directory, AnalyzerSet.BuiltIn, documents);
        Assert.Equal(lacksFields ? 0 : documents.LastEtag, opened.Writer.LastEtag);
        opened.Close(deleteFiles: false);
    }

    [Fact]
    public async Task An_index_gets_a_field_that_was_noted_before_a_crash()
    {
        await PutAsync(1, "{}");
        using DatabaseSnapshot documents = _run.Database.BeginRead();
        using var folder = new TemporaryDirectory();
        StaticIndexMapping open = ComputedDefinition.Compile(
            DefinitionOf("Users", ["map('Users', u => u)"], null, "{}", null), new TextComputingEngine());
        IndexDirectory directory = IndexDirectory.Create(folder.Path, open, 1);
        DocumentIndex built = DocumentIndex.Create(open, directory, AnalyzerSet.BuiltIn, documents);
        built.Writer.Commit(built.Writer.BeginBatch(), documents.LastEtag, TestContext.Current.CancellationToken);
        built.Close(deleteFiles: false);

        StaticIndexMapping wider = open.With([new DynamicField("City", DynamicFieldUse.Value)]);
        DocumentIndex opened = DocumentIndex.Open(wider, directory, AnalyzerSet.BuiltIn, documents);
        Assert.Equal((documents.LastEtag, 2), (opened.Writer.LastEtag, opened.Writer.Schema.Fields.Count));
        opened.Close(deleteFiles: false);
    }

    [Theory]
    [InlineData(
        "map('Users', u => ({ ...u.more, City: u.city, N: 1 }))",
        "groupBy(r => r.City).aggregate(g => ({ City: g.key, N: g.values.reduce((s, r) => s + r.N, 0) }))", false)]
    [InlineData(
        "map('Users', u => ({ City: u.city, N: 1 }))",
        "groupBy(r => r.City).aggregate(g => g.values.reduce((s, r) => ({ ...s, N: s.N + r.N })))", false)]
    [InlineData(
        "map('Users', u => ({ City: u.city, N: 1, ...u.more }))",
        "groupBy(r => r.City).aggregate(g => g.values.reduce((s, r) => ({ ...s, ...r, N: s.N + r.N })))", true)]
    public async Task Groups_have_fields_that_the_text_does_not_name(string map, string reduce, bool learns)
    {
        await _run.PutAsync("users/1", """{"city":"Bern","more":{"Zip":3000}}""", "Users");
        await _run.PutAsync("users/2", """{"city":"Bern"}""", "Users");
        await _run.PutAsync("users/3", """{"city":"Rome"}""", "Users");
        Define("Cities", [map], reduce, "{}");
        Assert.Equal(["Bern", "Rome"], await CitiesAsync("order by City"));
        Assert.Equal(["Bern"], await CitiesAsync("where N = 2"));
        Assert.Equal(learns ? ["Bern"] : [], await CitiesAsync("where Zip = 3000", mayFail: !learns));
        await _run.PutAsync("users/3", """{"city":"Rome","more":{"Mayor":"m"}}""", "Users");
        Assert.Equal(learns ? ["Rome"] : [], await CitiesAsync("where Mayor = 'M'", mayFail: !learns));
        Assert.Empty(_run.Database.Indexes.Errors("Cities"));
    }

    [Theory]
    [InlineData("groupBy(r => r.City).aggregate(g => Object.assign({}, g.values[0], { N: g.values.length }))", "a second time")]
    [InlineData("groupBy(r => r.City).aggregate(g => { const r = { City: g.key, Sum: 1 }; return r; })", "same fields")]
    public void A_reduce_that_does_not_take_its_own_results_is_refused(string reduce, string message) => Assert.Contains(
        message,
        Assert.Throws<InvalidIndexDefinitionException>(
            () => Define(
                "Cities", ["map('Users', u => { const r = { City: u.city }; r.N = 1; return r; })"], reduce, "{}")).Message,
        StringComparison.Ordinal);

    [Fact]
    public async Task Maps_whose_fields_are_learned_stand_beside_others()
    {
        Define("All", ["map('Users', u => ({ ...u.more }))", "map('Pets', p => ({ City: p.city, Legs: 4 }))"], null, "{}");
        await PutAsync(1, """{"City":"Bern","Age":3}""");
        await _run.PutAsync("pets/1", """{"city":"Bern"}""", "Pets");
        Assert.Equal(["pets/1", "users/1"], (await _run.IdsAsync("from index All where City = 'Bern'")).Order());
        Assert.Equal(["users/1"], await _run.IdsAsync("from index All where Age = 3"));
        Assert.Equal(["pets/1"], await _run.IdsAsync("from index All where Legs = 4"));
    }

    private async Task<IEnumerable<string>> CitiesAsync(string rest, bool mayFail = false)
    {
        try
        {
            return (await _run.AskAsync($"from index Cities {rest}"))
                .Select(static row => JsonDocument.Parse(row).RootElement.GetProperty("City").GetString()!); // each group has it
        }
        catch (InvalidQueryException) when (mayFail)
        {
            return []; // the index has no such field
        }
    }

    private Task PutAsync(int user, string more) =>
        _run.PutAsync($"users/{user}", $$"""{"name":"N{{user}}","more":{{more}}}""", "Users");

    private void Define(string name, string[] maps, string? reduce, string fields, string? source = null) =>
        _run.Database.Indexes.Put(DefinitionOf(name, maps, reduce, fields, source));

    private static IndexDefinition DefinitionOf(string name, string[] maps, string? reduce, string fields, string? source)
    {
        string sources = source is null ? "{}" : JsonSerializer.Serialize(new Dictionary<string, string> { ["more"] = source });
        using JsonDocument json = JsonDocument.Parse(
            $$"""
            {"Name":"{{name}}","Maps":{{JsonSerializer.Serialize(maps)}},"Reduce":{{JsonSerializer.Serialize(reduce)}},
             "Fields":{{fields}},"AdditionalSources":{{sources}}}
            """);
        return IndexDefinition.FromJson(json.RootElement);
    }
}
