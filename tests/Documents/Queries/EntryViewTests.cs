using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// What an index has of a document, for people who wonder: words and where they stand, places, vectors; by id, and for every hit
/// of a query. And which index a query takes.
/// </summary>
public sealed class EntryViewTests : IAsyncLifetime
{
    private const string Definition =
        """
        {"Name":"Things","Collections":["Things"],"Fields":{"Text":{"Indexing":"Search"},"Name":{},"At":{"Spatial":{"Latitude":"Lat","Longitude":"Lng"}},"Area":{"Spatial":{"Wkt":"Wkt"}},
         "V":{"Vector":{"Dimensions":2}},"B":{"Path":"V","Vector":{"Dimensions":2,"Bytes":true}}}}
        """;

    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public EntryViewTests() => _database = Database.Open(_folder.Path);

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync(
            "things/1",
            """{"Text":"red fox, the red one","Name":["b","A"],"Lat":49.5,"Lng":-4.25,"Wkt":["LINESTRING (0 0, 1 2)","CIRCLE (5 6 d=7.5)"],"V":[[3,0.5],[0,1]]}""",
            "Things");
        await _database.PutAsync(
            "things/2", """{"Text":null,"Name":7,"Wkt":"POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 1 2, 2 2, 1 1))"}""", "Things");
        for (int i = 3; i < 700; i++)
            await _database.PutAsync($"things/{i}", """{"Text":"x red"}""", "Things"); // so that the word has a long list
        _database.Indexes.Put(IndexDefinition.FromJson(System.Text.Json.JsonDocument.Parse(Definition).RootElement));
    }

    public ValueTask DisposeAsync()
    {
        _database.Dispose();
        _folder.Dispose();
        return ValueTask.CompletedTask;
    }

    [Fact]
    public async Task An_entry_shows_words_with_their_places_shapes_and_vectors()
    {
        await _database.AskAsync("from index 'Things' where Name = 'a'");
        // it is indexed
        Dictionary<string, IndexedValues> first = _database.LookInto("Things")
            .Entry("things/1")!
            .ToDictionary(field => field.Field);
        IndexedValues text = first["search(Text)"];
        Assert.Equal(
            ["red 0,3", "fox 1", "the 2", "one 4"],
            text.Terms.Zip(text.Positions, (term, positions) => $"{term} {string.Join(',', positions)}"));
        Assert.Equal(["a", "b"], first["Name"].Terms.Order(StringComparer.Ordinal));
        Assert.Empty(first["Name"].Positions);
        Assert.StartsWith("POINT (-4.2", Assert.Single(first["At"].Places), StringComparison.Ordinal);
        Assert.Equal(["CIRCLE (5 6 d=7.5)", "LINESTRING (0 0, 1 2)"], first["Area"].Places.Order(StringComparer.Ordinal));
        Assert.Equal([[3f, 0.5f], [0f, 1f]], first["V"].Vectors);
        Assert.Equal(2, first["B"].Vectors.Count);
        Assert.Equal(
            1,
            first["B"].Vectors[0][0]
                / Math.Sqrt(
                    (first["B"].Vectors[0][0] * first["B"].Vectors[0][0])
                        + (first["B"].Vectors[0][1] * first["B"].Vectors[0][1])),
            0.02);

        // it is indexed
        Dictionary<string, IndexedValues> second = _database.LookInto("Things")
            .Entry("things/2")!
            .ToDictionary(field => field.Field);
        Assert.Equal(["POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 1 2, 2 2, 1 1))"], second["Area"].Places);
        Assert.Equal(["7"], second["Name"].Terms);
        Assert.DoesNotContain("V", second.Keys);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Results_of_a_query_may_be_entries_of_the_index(bool isInTail)
    {
        await _database.AskAsync("from index 'Things' where Name = 'a'");
        if (isInTail)
            _database.Indexes.Control.Pause("Things");
        await _database.PutAsync("things/9000", """{"Text":"blue fox","Name":"Z"}""", "Things");
        Answer entries = await _database.AskAsync(
            "from index 'Things' where search(Text, 'fox') order by Name select Name include highlight(Text, 20, 1)",
            change: request => request with { IndexEntries = true, NeverStale = isInTail, WaitForNonStaleResults = !isInTail });
        Assert.Equal(["things/1", "things/9000"], entries.Ids);
        Assert.Equal("""{"id()":"things/9000","search(Text)":["blue","fox"],"Name":"z"}""", entries.Bodies.Last());
        Assert.Contains("\"@vector\":[3,0.5]", entries.Bodies.First(), StringComparison.Ordinal);
        Assert.Contains("POINT (-4.2", entries.Bodies.First(), StringComparison.Ordinal);
        Answer other = await _database.AskAsync(
            "from index 'Things' where Name = 7",
            change: request => request with { IndexEntries = true, WaitForNonStaleResults = false });
        Assert.StartsWith(
            "{\"id()\":\"things/2\",\"Name\":\"7\",\"Area\":\"POLYGON ((0 0, ", other.Bodies.Single(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("from Things", "No index answers")]
    [InlineData("from Things where id() = 'things/1'", "No index answers")]
    [InlineData("from Things select facet(Name)", "are no entries")]
    public async Task What_no_index_finds_has_no_entries(string query, string reason)
    {
        var error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(query, change: request => request with { IndexEntries = true }));
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Which_index_answers_is_told_without_asking_it()
    {
        string[] Choices(string query) =>
            [.. _database.IndexChoices(new QueryRequest { Text = query }).Select(choice => $"{choice.Index}: {choice.Reason}")];
        Assert.Equal(["Auto/Things/ByName: It does not exist: the query makes it."], Choices("from things where Name = 'a'"));
        Assert.Equal(["Things"], _database.Indexes.List().Select(index => index.Name));
        await _database.AskAsync("from Things where Name = 'a'");
        Assert.Equal(
            ["Auto/Things/ByName: It has all fields of the query."], Choices("from Things where Name = 'a' order by Name"));
        Assert.Equal(
            ["Auto/Things/ByName: It lacks 'search(Text)': the query gives it these fields."],
            Choices("from Things where Name = 'a' and search(Text, 'fox')"));
        Assert.StartsWith(
            "Auto/AllDocs/ByName: It does not exist", Choices("from @all_docs where Name = 'a'")[0], StringComparison.Ordinal);
        Assert.StartsWith("Things: The query names it", Choices("from index 'Things'")[0], StringComparison.Ordinal);
        Assert.StartsWith(
            "collection/Things: The documents themselves", Choices("from Things where id() = 'things/1'")[0],
            StringComparison.Ordinal);
        Assert.StartsWith(
            "collection/Nothings: The collection has no documents", Choices("from Nothings where a = 1")[0],
            StringComparison.Ordinal);
        Assert.Throws<IndexNotFoundException>(() => Choices("from index 'Nothing'"));
    }
}
