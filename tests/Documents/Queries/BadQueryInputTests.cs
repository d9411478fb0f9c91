using System.Text;
using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// What nobody should send and somebody does: a clear error or the right answer, within bounds, and the index goes on.
/// </summary>
public sealed class BadQueryInputTests : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public BadQueryInputTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task Expressions_that_explode_elsewhere_cost_a_step_for_each_character()
    {
        string text = new('a', 480);
        for (int i = 0; i < 200; i++)
            await _database.PutAsync($"docs/{i}", $$"""{"Name":"{{text}}{{i}}"}""", "Docs");
        await _database.AskAsync("from Docs where Name = 'x'");
        Assert.Equal(0, (await _database.AskAsync("from Docs where regex(Name, '^(a+)+$')")).Total); // others would not end
        Assert.Equal(200, (await _database.AskAsync("from Docs where regex(Name, '^(a|aa)+[0-9]+$')")).Total);
        Assert.Equal(0, (await _database.AskAsync("from Docs where regex(Name, '(a*)*b')")).Total);
        Assert.Equal(0, (await _database.AskAsync("from Docs where regex(Name, '(.*.*.*.*x.*){3}')")).Total);
        await RefusedAsync($"from Docs where regex(Name, '{new string('a', 5_000)}')", "characters");
        await RefusedAsync("from Docs where regex(Name, '((((a{1000}){1000}){1000}){1000})')", "");
        await RefusedAsync("from Docs where regex(Name, '(a')", "");
        await RefusedAsync("from Docs where regex(Name, '(?=a)')", "");
        await RefusedAsync($"from Docs where fuzzy(Name = '{new string('a', 300)}', 0.5)", "characters");
        await RefusedAsync("from Docs where fuzzy(Name = 'a', 7)", "similarity");
    }

    [Fact]
    public async Task Values_that_are_not_what_their_field_is_of_are_told_and_the_index_goes_on()
    {
        _database.Indexes.Put(new IndexDefinition
        {
            Name = "Things",
            Collections = ["Docs"],
            Fields =
            [
                new() { Name = "V", Vector = new(3) }, new() { Name = "W", Spatial = new() { Wkt = "Wkt" } },
                new() { Name = "P", Spatial = new() { Latitude = "Lat", Longitude = "Lng" } }, new() { Name = "Name" }
            ],
        });
        string[] bad =
        [
            """{"V":[1,2]}""", """{"V":[1e300,0,0]}""", """{"V":["a","b","c"]}""", """{"V":"not base64!"}""", """{"V":true}""",
            """{"Wkt":"POLYGON((0 0, 1 1"}""", """{"Wkt":"POINT(500 500)"}""",
            """{"Wkt":"POLYGON((0 0, 10 10, 10 0, 0 10, 0 0))"}""", """{"Wkt":7}""", """{"Lat":91,"Lng":0}""",
            """{"Lat":"x","Lng":0}""", """{"Lat":[1,2],"Lng":[1]}""",
        ];
        for (int i = 0; i < bad.Length; i++)
            await _database.PutAsync($"docs/bad{i}", bad[i][..^1] + ""","Name":"bad"}""", "Docs");
        await _database.PutAsync("docs/good", """{"V":[1,2,3],"Wkt":"POINT(2 48)","Lat":48,"Lng":2,"Name":"good"}""", "Docs");
        Assert.Equal(
            ["docs/good"],
            (await _database.AskAsync(
                "from index Things where Name = 'good' and spatial.within(W, spatial.circle(10, 48, 2)) and vector.search(V, $v)",
                """{"v":[1,2,3]}""")).Ids);
        Assert.Equal(bad.Length, (await _database.AskAsync("from index Things where Name = 'bad'")).Total);
        Assert.Equal(bad.Length, _database.Indexes.Errors("Things").Count);
        Assert.Equal(["docs/good"], (await _database.AskAsync("from index Things where P != null")).Ids);
        Assert.Equal(IndexState.Normal, Assert.Single(_database.Indexes.List()).State);

        await RefusedAsync("from index Things where vector.search(V, $v)", "2", """{"v":[1,2]}""");
        await RefusedAsync("from index Things where vector.search(V, $v)", "", """{"v":[1e300,2,3]}""");
        await RefusedAsync("from index Things where vector.search(V, $v)", "no vector", """{"v":["NaN",2,3]}""");
        await RefusedAsync("from index Things where spatial.within(W, spatial.wkt('POLYGON((0 0, 1 1'))", "");
        await RefusedAsync("from index Things where spatial.within(W, spatial.circle(-1, 0, 0))", "");
        await RefusedAsync("from index Things where spatial.within(W, spatial.circle(1, 100, 0))", "");
        await RefusedAsync("from index Things where vector.search(Name, $v)", "Name", """{"v":[1,2,3]}""");
        await RefusedAsync("from index Things where spatial.within(Name, spatial.circle(1, 0, 0))", "Name");
        await RefusedAsync("from index Things where Nothing = 1", "no field 'Nothing'");
        await RefusedAsync("from index Things where Name > true", "order");
        await Assert.ThrowsAsync<IndexNotFoundException>(() => _database.AskAsync("from index Nowhere"));
    }

    [Fact]
    public async Task A_long_text_is_in_nobodys_way_when_its_document_is_gone()
    {
        const string Starts = "from Docs where startsWith(Name, $start)";
        string parameters = new JsonObject { ["start"] = new string('p', 450) }.ToJsonString();
        await _database.PutAsync("docs/small", """{"Name":"p"}""", "Docs");
        await _database.PutAsync("docs/long", new JsonObject { ["Name"] = new string('p', 600) }.ToJsonString(), "Docs");
        string index = (await _database.AskAsync("from Docs where startsWith(Name, 'p')")).Index;
        var refused = await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(Starts, parameters));
        Assert.Contains("at most 384 bytes", refused.Message, StringComparison.Ordinal);
        Assert.Equal((1, 17), (refused.Line, refused.Column));
        _database.Indexes.Control.Pause(index);
        await _database.DeleteAsync("docs/long");
        Assert.Empty(
            (await _database.AskAsync(
                Starts, parameters, request => request with { WaitForNonStaleResults = false, NeverStale = true })).Ids);
        _database.Indexes.Control.Resume(index);
        Assert.Empty((await _database.AskAsync(Starts, parameters)).Ids);
    }

    [Fact]
    public async Task Huge_terms_wide_documents_and_a_million_values_are_answered()
    {
        string huge = new string('x', 1_000_000) + "end";
        await _database.PutAsync("docs/huge", $$"""{"Name":"{{huge}}","Notes":"{{huge}}"}""", "Docs");
        var wide = new JsonObject();
        for (int i = 0; i < 100_000; i++)
            wide[$"f{i}"] = i;
        wide["Name"] = "wide";
        await _database.PutAsync("docs/wide", wide.ToJsonString(), "Docs");
        await _database.PutAsync("docs/small", """{"Name":"small","Notes":"a fox"}""", "Docs");

        string parameters = new JsonObject { ["huge"] = huge, ["other"] = huge[..^1] }.ToJsonString();
        Assert.Equal(
            ["docs/huge"], (await _database.AskAsync("from Docs where Name = $huge and search(Notes, $huge)", parameters)).Ids);
        Assert.Equal(0, (await _database.AskAsync("from Docs where Name = $other", parameters)).Total);
        Assert.Equal(
            ["docs/huge"], (await _database.AskAsync("from Docs where startsWith(Name, 'xxxx') and endsWith(Name, 'xend')")).Ids);
        Assert.Equal(["docs/small", "docs/wide", "docs/huge"], (await _database.AskAsync("from Docs order by Name")).Ids);
        Assert.Equal(["docs/wide"], (await _database.AskAsync("from Docs where f99999 = 99999")).Ids);

        var values = new StringBuilder("{\"v\":[\"small\"");
        for (int i = 0; i < 1_000_000; i++)
            values.Append(",\"n").Append(i).Append('"');
        Assert.Equal(
            ["docs/small"], (await _database.AskAsync("from Docs where Name in ($v)", values.Append("]}").ToString())).Ids);
        await RefusedAsync(
            "from Docs where " + string.Join(" or ", Enumerable.Range(0, 20_000).Select(i => $"Name = 'n{i}'")), "conditions");
        await RefusedAsync(
            "from Docs where " + string.Join(" or ", Enumerable.Range(0, 100_000).Select(i => $"Name = 'n{i}'")), "");
        await RefusedAsync("from Docs where " + new string('(', 5_000) + "Name = 'a'" + new string(')', 5_000), "");
        Assert.Equal(1, (await _database.AskAsync("from Docs where search(Notes, 'fox')")).Total);
        Assert.Equal(IndexState.Normal, Assert.Single(_database.Indexes.List()).State);
    }

    [Fact]
    public async Task A_swap_that_is_cut_off_goes_on_at_the_next_start()
    {
        using var folder = new TemporaryDirectory();
        var before = new IndexDefinition { Name = "Docs", Collections = ["Docs"], Fields = [new() { Name = "Name" }] };
        IndexDefinition after = before with { Fields = [new() { Name = "Name", Path = "Age" }] };
        string[] directories;
        using (Database database = Database.Open(folder.Path))
        {
            await database.PutAsync("docs/1", """{"Name":"a","Age":5}""", "Docs");
            database.Indexes.Put(before);
            Assert.Equal(1, (await database.AskAsync("from index Docs where Name = 'a'")).Total);
            database.Indexes.Control.Pause();
            database.Indexes.Put(after); // it cannot catch up
            Assert.Equal(
                1,
                (await database.AskAsync(
                    "from index Docs where Name = 'a'", change: static r => r with { WaitForNonStaleResults = false })).Total);
            Assert.Equal(["Docs", "ReplacementOf/Docs"], database.Indexes.List().Select(index => index.Name));
            directories = Directory.GetDirectories(Path.Combine(folder.Path, "indexes"));
        }

        // As a kill leaves it: both there, and what was begun of a third without its definition.
        Assert.Equal(2, directories.Length);
        Directory.CreateDirectory(Path.Combine(folder.Path, "indexes", "Docs-00000000.99"));
        using (Database database = Database.Open(folder.Path))
        {
            await Eventually.TrueAsync(() => database.Indexes.List().Count == 1, "the one has taken the place of the other");
            Assert.Equal(1, (await database.AskAsync("from index Docs where Name = 5")).Total);
            Assert.Equal(0, (await database.AskAsync("from index Docs where Name = 'a'")).Total);
        }

        Assert.Single(Directory.GetDirectories(Path.Combine(folder.Path, "indexes")));
    }

    private async Task RefusedAsync(string query, string hint, string? parameters = null)
    {
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(query, parameters));
        Assert.Contains(hint, error.Message, StringComparison.Ordinal);
        Assert.True(error.Message.Length < 4_000, "an error is something to read");
    }
}
