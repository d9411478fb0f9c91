using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// An object in a field of whole values is there, and equal to nothing: nothing that looks for texts comes across what stands for
/// it.
/// </summary>
public sealed class ObjectValueTests : IAsyncLifetime
{
    private static readonly (string Condition, string Ids)[] _conditions =
    [
        ("regex(F, '.')", "docs/2 docs/3"),
        ("exact(regex(F, '[^q]'))", "docs/2 docs/3"),
        ("regex(F, '^.?$')", "docs/2 docs/3"),
        ("fuzzy(F = 'c', 1)", "docs/2 docs/3"),
        ("startsWith(F, '')", "docs/2 docs/3"),
        ("endsWith(F, '')", "docs/2 docs/3"),
        ("lucene(F, '/.*/')", "docs/2 docs/3"),
        ("exact(lucene(F, '*'))", "docs/2 docs/3"),
        ("exact(lucene(F, '?'))", "docs/2 docs/3"),
        ("F > 'a'", "docs/2 docs/3"),
        ("F >= ''", "docs/2 docs/3"),
        ("F < 'z'", "docs/2"),
        ("F = '\U0010FFFF'", "docs/3"),
        ("F != 'b' and exists(F)", "docs/1 docs/3 docs/4"),
        ("exists(F)", "docs/1 docs/2 docs/3 docs/4"),
        ("F = null", "docs/4"),
        ("F != null", "docs/1 docs/2 docs/3"),
    ];

    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public ObjectValueTests() => _database = Database.Open(_folder.Path);

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync("docs/1", """{"F":{"a":1},"Text":"x"}""", "Docs");
        await _database.PutAsync("docs/2", """{"F":"b","Text":"x"}""", "Docs");
        await _database.PutAsync("docs/3", """{"F":[{"a":"b"},"\uDBFF\uDFFF"],"Text":"x"}""", "Docs");
        await _database.PutAsync("docs/4", """{"F":null,"Text":"x"}""", "Docs");
        await _database.AskAsync("from Docs where F = 'x' and exact(F = 'x')");
    }

    public ValueTask DisposeAsync()
    {
        _database.Dispose();
        _folder.Dispose();
        return ValueTask.CompletedTask;
    }

    [Fact]
    public async Task What_stands_for_it_is_found_by_no_text()
    {
        foreach ((string condition, string ids) in _conditions)
            Assert.Equal(
                (condition, ids),
                (condition, string.Join(' ', (await _database.AskAsync($"from Docs where {condition} order by id()")).Ids)));
    }

    [Fact]
    public async Task What_stands_for_it_is_no_group_no_suggestion_no_term_and_no_likeness()
    {
        string[] terms = ["b", "\U0010FFFF"];
        foreach (string where in (string[])["", " where id() <= 'docs/4'", " where F != 'zz' and Text = 'x'"])
        {
            Answer facets = await _database.AskAsync($"from Docs{where} select facet(F)");
            // as facets are
            Assert.Equal(terms, facets.Rows[0]["Values"]!.AsArray().Select(value => value!["Range"]!.GetValue<string>()));
        }

        Answer suggested = await _database.AskAsync(
            "from Docs select suggest(F, 'c', $options)", """{"options":{"Accuracy":0}}""");
        // as suggestions are
        Assert.Equal(
            terms,
            suggested.Rows[0]["Suggestions"]!.AsArray().Select(text => text!.GetValue<string>()).Order(StringComparer.Ordinal));
        string index = Assert.Single(_database.Indexes.List()).Name;
        Assert.Equal(terms, _database.LookInto(index).Terms("F", null, 10, out _));
        Assert.Equal([], _database.LookInto(index).Entry("DOCS/1")!.Single(field => field.Field == "F").Terms); // it is there
        Answer like = await _database.AskAsync(
            "from Docs where moreLikeThis(id() = 'docs/1', $like)",
            """{"like":{"Fields":["F"],"MinimumTermFrequency":1,"MinimumDocumentFrequency":1}}""");
        Assert.Empty(like.Ids);
        // behind all texts
        Assert.Equal(["docs/4", "docs/2", "docs/1", "docs/3"], (await _database.AskAsync("from Docs order by F, id()")).Ids);
    }
}
