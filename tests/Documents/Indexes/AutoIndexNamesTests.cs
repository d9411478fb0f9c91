using System.Text;
using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>
/// Whatever names fields and collections have, an index that a query made works, and opens again with its database.
/// </summary>
public sealed class AutoIndexNamesTests : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private Database _database;

    public AutoIndexNamesTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Theory]
    [InlineData("search(Notes, 'x')", "'search(Notes)' = 'x'", "search(Notes)")]
    [InlineData("exact(Notes = 'x')", "'exact(Notes)' = 'x'", "exact(Notes)")]
    [InlineData("utc(Notes) > '2020-01-01'", "'utc(Notes)' = 'x'", "utc(Notes)")]
    [InlineData(
        "spatial.within(spatial.point(Notes, Name), spatial.circle(1, 1, 1))", "'spatial.point(Notes, Name)' = 'x'",
        "spatial.point(Notes, Name)")]
    [InlineData("Notes = 'x'", "'@boost' = 'x'", "@boost")]
    public async Task A_field_named_as_a_call_is_another_than_that_of_the_call(string call, string quoted, string member)
    {
        await _database.PutAsync("docs/1", """{"Notes":"x","Name":"y"}""", "Docs");
        string before = $"{{\"{member.Replace(".", "\":{\"", StringComparison.Ordinal)}\":";
        string after = new('}', 1 + member.Count(sign => sign == '.'));
        await _database.PutAsync("docs/2", $"{before}\"x\"{after}", "Docs");
        foreach (string both in (string[])[$"{call} or {quoted}", call, quoted, $"{quoted} or {call}"])
            await _database.AskAsync($"from Docs where {both}");
        Assert.Equal(["docs/2"], (await _database.AskAsync($"from Docs where {quoted}")).Ids);
        await _database.AskAsync($"from Docs where {call} order by {quoted.Split(" = ")[0]}");

        _database.Dispose();
        _database = Database.Open(_folder.Path);
        await _database.PutAsync("docs/3", $"{before}\"X\"{after}", "Docs");
        Answer answer = await _database.AskAsync($"from Docs where {quoted}");
        Assert.Equal(["docs/2", "docs/3"], answer.Ids.Order());
        Assert.False(answer.IsStale);
        Assert.All(_database.Indexes.List(), index => Assert.Equal(IndexState.Normal, index.State));
    }

    [Fact]
    public void Fields_that_differ_in_path_or_kind_have_different_names()
    {
        string[] paths =
        [
            "a", "a, b", "b", "'a'", "search(a)", "'search(a)'", "search('search(a)')", "embedding.f32_i8(a)", "a)", "(", "@boost"
        ];
        AutoIndexField[] fields =
        [
            .. from path in paths
               from kind in Enum.GetValues<AutoIndexFieldKind>()
               where kind is not (AutoIndexFieldKind.Boost or AutoIndexFieldKind.Point)
               select new AutoIndexField(path, kind),
            .. from path in paths from other in paths select new AutoIndexField(path, AutoIndexFieldKind.Point, other)
        ];
        Assert.Equal(fields.Length, fields.Select(field => field.SchemaName).Distinct().Count());
    }

    [Theory]
    [InlineData("from AllDocs where Name = 'x'", "from @all_docs where Name = 'x'")]
    [InlineData("from 'A/ByX' where Y = 'x'", "from A where 'X/ByY' = 'x'")]
    [InlineData("from A group by X select key() as X", "from A where CountReducedByX = 'x'")]
    [InlineData("from A where CountReducedByX = 'x'", "from A group by X select key() as X")]
    public async Task Indexes_whose_names_would_be_equal_have_different_ones(string one, string other)
    {
        foreach (string collection in (string[])["AllDocs", "A", "A/ByX"])
            await _database.PutAsync($"{collection}/1", """{"Name":"x","X/ByY":"x","Y":"x","X":1}""", collection);
        string[] names = [(await _database.AskAsync(one)).Index, (await _database.AskAsync(other)).Index];
        Assert.Equal(2, names.Distinct(StringComparer.OrdinalIgnoreCase).Count());

        _database.Dispose();
        _database = Database.Open(_folder.Path);
        Assert.Equal(names.Order(), _database.Indexes.List().Select(index => index.Name).Order());
        Assert.Equal(names[0], (await _database.AskAsync(one)).Index);
        Assert.Equal(names[1], (await _database.AskAsync(other)).Index);
    }

    [Fact]
    public async Task A_name_that_is_no_text_is_refused_and_changes_nothing()
    {
        await _database.PutAsync("docs/1", """{"Name":"x"}""", "Docs");
        foreach (string before in (string[])["", "Name = 'x' or "])
            foreach (string name in (string[])["\ud800", "\ud801"])
                await Assert.ThrowsAsync<InvalidQueryException>(
                    () => _database.AskAsync($"from Docs where {before}'{name}' = 'x'"));
        Assert.Equal(["docs/1"], (await _database.AskAsync("from Docs where Name = 'x'")).Ids);
        await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync("from Docs where '\ud801' = 'x'"));

        _database.Dispose();
        _database = Database.Open(_folder.Path);
        Assert.Equal(["Auto/Docs/ByName"], _database.Indexes.List().Select(index => index.Name));
    }

    [Fact]
    public async Task Keys_of_groups_that_are_named_as_other_fields_are_refused()
    {
        await _database.PutAsync("docs/1", """{"City":"x"}""", "Docs");
        await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync("from Docs group by 'count()' select count()"));
        _database.Dispose();
        _database = Database.Open(_folder.Path);
        Assert.Empty(_database.Indexes.List());
    }

    [Theory]
    [InlineData("Name")]
    [InlineData("City")]
    public async Task A_database_with_a_definition_that_cannot_be_used_opens_and_names_it(string second)
    {
        await _database.PutAsync("docs/1", """{"Name":"x"}""", "Docs");
        await _database.AskAsync("from Docs where Name = 'x'");
        await _database.AskAsync("from Docs group by Name select key() as Name");
        string folder = Directory.EnumerateDirectories(Path.Combine(_folder.Path, "indexes"), "*Docs_ByName*").Single();
        string file = Path.Combine(folder, "definition.json");
        _database.Dispose();
        string twice = (await File.ReadAllTextAsync(file, TestContext.Current.CancellationToken)).Replace(
            "\"Fields\": [", $$"""
                "Fields": [ { "Path": "{{second}}", "Kind": "Value" }, { "Path": "{{second}}", "Kind": "Value" },
                """,
            StringComparison.Ordinal);
        await File.WriteAllBytesAsync(file, Encoding.UTF8.GetBytes(twice), TestContext.Current.CancellationToken);

        _database = Database.Open(_folder.Path);
        IndexStatistics broken = _database.Indexes.List().Single(index => index.Error is not null);
        Assert.Contains($"The schema has the field '{second}' twice", broken.Error, StringComparison.Ordinal);
        Assert.Contains("makes it anew", _database.Indexes.Errors(broken.Name).Single().Message, StringComparison.Ordinal);
        Assert.False(Directory.Exists(folder));
        Assert.Equal(["docs/1"], (await _database.AskAsync("from Docs where Name = 'x'")).Ids);

        Assert.True(_database.Indexes.Delete(broken.Name));
        Assert.All(_database.Indexes.List(), index => Assert.Null(index.Error));
        _database.Dispose();
        _database = Database.Open(_folder.Path);
        Assert.All(_database.Indexes.List(), index => Assert.Null(index.Error));
    }
}
