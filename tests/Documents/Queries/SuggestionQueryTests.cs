using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary><c>select suggest(…)</c>: over collections and named indexes, with texts and options as clients send them.</summary>
public sealed class SuggestionQueryTests(SuggestionQueryTests.Products products) : IClassFixture<SuggestionQueryTests.Products>
{
    private readonly Database _database = products.Database;

    [Theory]
    [InlineData("from Products select suggest(Name, 'chaig')", """[{"Name":"Name","Suggestions":["chai","chang","chaos"]}]""")]
    [InlineData(
        "from Products as p select suggest(p.Name, $one) as Meant",
        """[{"Name":"Meant","Suggestions":["chai","chang","chaos"]}]""")]
    [InlineData(
        "from Products select suggest('Name', $several)", """[{"Name":"Name","Suggestions":["chai","chang","chaos","tofu"]}]""")]
    [InlineData("from Products select suggest(Name, 'chaig', $options)", """[{"Name":"Name","Suggestions":["chai"]}]""")]
    [InlineData("from Products select suggest(Name, 'chai')", """[{"Name":"Name","Suggestions":["chang","chaos"]}]""")]
    [InlineData("from Products select suggest(search(Notes), 'botle')", """[{"Name":"Notes","Suggestions":["bottle"]}]""")]
    [InlineData(
        "from index 'Products/Search' select suggest(Notes, 'vertes'), suggest(Notes, 'botle') as Second",
        """[{"Name":"Notes","Suggestions":["verte"]},{"Name":"Second","Suggestions":["bottle"]}]""")]
    [InlineData(
        "from index 'Products/Search' select suggest(Name, 'Chag')", """[{"Name":"Name","Suggestions":["Chai","Chang"]}]""")]
    [InlineData("from Nobodies select suggest(Name, 'x')", """[{"Name":"Name","Suggestions":[]}]""")]
    public async Task Terms_that_may_have_been_meant_are_suggested(string query, string rows)
    {
        Answer answer = await _database.AskAsync(
            query,
            """{"one":"chaig","several":["chaig","tofo"],"options":{"Accuracy":0.7,"PageSize":1,"Distance":"Levenshtein","SortMode":"None"}}""");
        // given above
        Assert.Equal(
            JsonNode.Parse(rows)!.ToJsonString(), new JsonArray([.. answer.Rows.Select(row => row.DeepClone())]).ToJsonString());
    }

    [Fact]
    public async Task Programs_get_suggestions_with_their_counts()
    {
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = "from Products select suggest(Name, 'chaj')", WaitForNonStaleResults = true },
            TestContext.Current.CancellationToken);
        SuggestionResult found = Assert.Single(results.Suggestions);
        Assert.Equal(("Name", "chai", 2L), (found.Name, found.Suggestions[0].Term, found.Suggestions[0].EntryCount));
        Assert.True(results.IsComputed);

        using var session = _database.OpenSession();
        Row row = Assert.Single(
            await session.QueryAsync<Row>(
                "from Products select suggest(Name, 'chaj')", cancellationToken: TestContext.Current.CancellationToken));
        Assert.Equal("chai", row.Suggestions[0]);
    }

    [Theory]
    [InlineData("from Products where Name = 'x' select suggest(Name, 'y')", "leave out 'where'")]
    [InlineData("from Products select suggest(Name, 'y'), Name", "beside other suggestions")]
    [InlineData("from Products select suggest(Name)", "a field and a text")]
    [InlineData("from Products select suggest(Name, 5)", "a string")]
    [InlineData("from Products order by Name select suggest(Name, 'y')", "SortMode")]
    [InlineData("from Products select suggest(Name, 'y', $wrong)", "from 0 to 1")]
    [InlineData("from Products select suggest(Name, 'y', $unknown)", "Jaro")]
    [InlineData("from index 'Products/Search' select suggest(Nothing, 'y')", "no field 'Nothing'")]
    public async Task What_makes_no_sense_is_refused_with_a_word_of_help(string query, string hint)
    {
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(
                query,
                """{"wrong":{"Accuracy":"NaN"},"unknown":{"Jaro":1}}""".Replace("\"NaN\"", "7", StringComparison.Ordinal)));
        Assert.Contains(hint, error.Message, StringComparison.Ordinal);
    }

    /// <summary>The documents that all tests here ask.</summary>
    public sealed class Products : IAsyncLifetime
    {
        private readonly TemporaryDirectory _folder = new();

        public Products() => Database = Database.Open(_folder.Path);

        internal Database Database { get; }

        public async ValueTask InitializeAsync()
        {
            string[] names = ["Chai", "Chang", "Chartreuse verte", "Chai", "Tofu", "chaos"];
            for (int i = 0; i < names.Length; i++)
                await Database.PutAsync(
                    $"products/{i}", $$"""{"Name":"{{names[i]}}","Notes":"a bottle of {{names[i]}}"}""", "Products");
            Database.Indexes.Put(new IndexDefinition
            {
                Name = "Products/Search",
                Collections = ["Products"],
                Fields =
                [
                    new() { Name = "Notes", Indexing = FieldIndexing.Search, Suggestions = true },
                    new() { Name = "Name", Indexing = FieldIndexing.Exact }
                ],
            });
        }

        public ValueTask DisposeAsync()
        {
            Database.Dispose();
            _folder.Dispose();
            return ValueTask.CompletedTask;
        }
    }

    private sealed class Row
    {
        public string Name { get; set; } = "";

        public string[] Suggestions { get; set; } = [];
    }
}
