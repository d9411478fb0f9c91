using Treepie.Indexes;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// Elements of what is no array, paths in quotes, numbers among words, budgets of scans, names that are nearly right.
/// </summary>
public sealed class EdgeQueryTests : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public EdgeQueryTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task An_element_of_what_is_no_array_is_missing()
    {
        await _database.PutAsync("docs/1", """{"T":"x"}""", "Docs");
        await _database.PutAsync("docs/2", """{"T":["x","y"]}""", "Docs");
        await _database.PutAsync("docs/3", """{"T":{"A":"x"}}""", "Docs");
        Assert.Equal(["docs/2"], (await _database.AskAsync("from Docs where T[0] = 'x'")).Ids);
        Assert.Empty((await _database.AskAsync("from Docs where T[7] = 'x'")).Ids);
        Assert.Empty((await _database.AskAsync("from Docs where T[0].A = 'x'")).Ids);
        Assert.Equal(["docs/1", "docs/2"], (await _database.AskAsync("from Docs where T = 'x'")).Ids.Order());
        Assert.Equal(
            ["""{"T[0]":null}""", """{"T[0]":"x"}""", """{"T[0]":null}"""],
            (await _database.AskAsync("from Docs select T[0]")).Bodies);
    }

    [Fact]
    public async Task A_path_of_a_definition_may_be_in_quotes()
    {
        await _database.PutAsync("docs/1", """{"Ship To":{"City":"Reims"},"Weight":2}""", "Docs");
        _database.Indexes.Put(new IndexDefinition
        {
            Name = "Docs",
            Collections = ["Docs"],
            Fields =
            [
                new() { Name = "City", Path = "'Ship To'.City", Stored = true },
                new() { Name = "Whole", Path = "\"Ship To.City\"" }
            ],
        });
        Answer answer = await _database.AskAsync("from index Docs where City = 'reims' and Whole = 'reims' select City");
        Assert.Equal(["""{"City":"Reims"}"""], answer.Bodies);
        Refuse("'unclosed", "the quote at character 1 is not closed");
        Refuse("Address.\"City", "the quote at character 9 is not closed");
        Refuse("'Ship To'City", "at character 10 '.' or '[' is expected behind the quotes");

        void Refuse(string path, string problem)
        {
            var definition = new IndexDefinition
            {
                Name = "Bad",
                Collections = ["Docs"],
                Fields = [new() { Name = "City", Path = path }]
            };
            Assert.Contains(
                problem, Assert.Throws<InvalidIndexDefinitionException>(() => _database.Indexes.Put(definition)).Message,
                StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_number_is_searched_as_its_text_however_it_is_spelt()
    {
        await _database.PutAsync("docs/1", """{"N":50e-1}""", "Docs");
        Assert.Equal(1, (await _database.AskAsync("from Docs where search(N, '5')")).Total);
        Assert.Equal(0, (await _database.AskAsync("from Docs where search(N, '1')")).Total);
        Assert.Equal(1, (await _database.AskAsync("from Docs where N = '5'")).Total);
    }

    [Theory]
    [InlineData("from Docs", 9)]
    [InlineData("from @all_docs", 9)]
    [InlineData("from Docs limit 9, 1", 9)]
    [InlineData("from Docs where startsWith(id(), 'docs/')", 9)]
    [InlineData("from Docs where id() in ('docs/0', 'docs/1', 'docs/2')", 2)]
    public async Task A_budget_holds_for_queries_that_no_index_answers(string text, int entries)
    {
        for (int i = 0; i < 10; i++)
            await _database.PutAsync($"docs/{i}", "{}", "Docs");
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(text, change: request => request with { MaxEntries = entries }));
        Assert.Contains($"its budget of {entries} entries is spent", error.Message, StringComparison.Ordinal);
        error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(text, change: request => request with { MaxPages = 1 }));
        Assert.Contains("its budget of 1 pages is spent", error.Message, StringComparison.Ordinal);
        error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(text, change: request => request with { MaxTime = TimeSpan.FromTicks(1) }));
        Assert.Contains("ms is spent", error.Message, StringComparison.Ordinal);
        Assert.NotEmpty(
            (await _database.AskAsync(text, change: request => request with { MaxEntries = 20, MaxPages = 1_000 })).Ids);
        Assert.Equal(
            2, (await _database.AskAsync("from Docs limit 2", change: request => request with { MaxEntries = 2 })).Rows.Count);
    }

    [Theory]
    [InlineData("from Docs where startWith(Name, 'a')", 17, "Did you mean 'startsWith'?")]
    [InlineData("from Docs where exsits(Name)", 17, "Did you mean 'exists'?")]
    [InlineData("from index Docs where Citty = 'a'", 23, "Did you mean 'City'?")]
    [InlineData("from index Docs where city = 'a'", 23, "Did you mean 'City'?")]
    public async Task A_name_that_is_nearly_right_is_asked_for(string text, int column, string question)
    {
        _database.Indexes.Put(
            new IndexDefinition
            {
                Name = "Docs",
                Collections = ["Docs"],
                Fields = [new() { Name = "City" }, new() { Name = "Weight" }]
            });
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(text));
        Assert.Contains(question, error.Message, StringComparison.Ordinal);
        Assert.Equal((1, column), (error.Line, error.Column));
        error = await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync("from index Docs where Quite = 'a'"));
        Assert.DoesNotContain("Did you mean", error.Message, StringComparison.Ordinal);
    }
}
