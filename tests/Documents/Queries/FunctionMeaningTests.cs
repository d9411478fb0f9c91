namespace Treepie.Documents.Tests.Queries;

/// <summary>Functions mean the same where an index has their values as where documents are looked at.</summary>
public sealed class FunctionMeaningTests : IAsyncLifetime
{
    private readonly Database _database = Database.OpenInMemory();

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync("a", """{"Flag":true,"Name":"ab","At":"2024-05-01T01:00:00Z"}""", "Docs");
        await _database.PutAsync("BC", """{"Flag":false,"Name":"abc","At":"2024-05-01"}""", "Docs");
        await _database.PutAsync("def", """{"Flag":["x",true],"Name":5}""", "Docs");
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [InlineData("length(Flag) = 4", "")]
    [InlineData("length(Flag) = null", "BC a def")] // a boolean is no text
    [InlineData("length(Flag) = 1", "def")]
    [InlineData("length(id()) = 2", "BC")]
    [InlineData("length(id()) > 1 or Name = 'ab'", "BC a def")]
    [InlineData("exact(length(id()) between 2 and 3)", "BC def")]
    [InlineData("exists(length(id()))", "BC a def")]
    [InlineData("exists(length(date(At)))", "BC a")]
    [InlineData("year(id()) = null", "BC a def")]
    [InlineData("utc(id()) = null", "BC a def")]
    public async Task A_condition_means_the_same_in_an_index_and_behind_filter(string condition, string expected)
    {
        string[] ids = expected.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(ids, (await _database.AskAsync($"from Docs where {condition}")).Ids.Order(StringComparer.Ordinal));
        Assert.Equal(ids, (await _database.AskAsync($"from Docs filter {condition}")).Ids.Order(StringComparer.Ordinal));
        Assert.Equal(ids, (await _database.AskAsync($"from Docs where exists(id()) filter {condition}")).Ids.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Functions_of_the_id_are_fields_of_indexes()
    {
        Assert.Equal(
            ["def", "BC", "a"], (await _database.AskAsync("from Docs as d order by length(id(d)) desc")).Ids);
        Answer searched = await _database.AskAsync("from Docs where length(id()) = 3 or search(Name, 'abc')");
        Assert.Equal(["BC", "def"], searched.Ids.Order(StringComparer.Ordinal));
        Assert.Contains("Length(id())", searched.Index, StringComparison.Ordinal);
        Answer facet = await _database.AskAsync("from Docs select facet(length(id()))");
        Assert.Equal(["1", "2", "3"], facet.Rows[0]["Values"]!.AsArray().Select(static value => (string)value!["Range"]!));
    }

    [Fact]
    public async Task Booleans_have_no_length_where_it_is_selected() => Assert.Equal(
        ["{\"L\":null}", "{\"L\":null}", "{\"L\":[1,null]}"],
        (await _database.AskAsync("from Docs order by id() select length(Flag) as L")).Bodies);
}
