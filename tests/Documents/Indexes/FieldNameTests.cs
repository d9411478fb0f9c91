using System.Buffers;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>
/// A field of an index defined by hand has a name of its own: it is that name which queries, answers, looks and errors know,
/// wherever in the document the value stands.
/// </summary>
public sealed class FieldNameTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public FieldNameTests() => _database = Database.Open(_folder.Path);

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync(
            "notes/1",
            """{"In":{"Text":"a quick brown fox, and another fox","Title":"Fox Tales"},"Size":3,"Code":"aB","At":{"Lat":1,"Lng":2}}""",
            "Notes");
        await _database.PutAsync("notes/2", """{"In":{"Text":"the lazy dog","Title":"Dogs"},"Size":30,"Code":"cD"}""", "Notes");
        await _database.PutAsync("Notes/10", """{"In":{"Text":"a fox again"},"Size":4}""", "Notes");
        _database.Indexes.Put(new IndexDefinition
        {
            Name = "N",
            Collections = ["Notes"],
            Fields =
            [
                new() { Name = "Words", Path = "In.Text", Indexing = FieldIndexing.Search, Analyzer = "EnglishAnalyzer" },
                new() { Name = "Name", Path = "In.Title", Indexing = FieldIndexing.Search, Sort = true },
                new() { Name = "Weight", Path = "Size" },
                new() { Name = "Key", Path = "Code", Indexing = FieldIndexing.Exact },
                new() { Name = "Secret", Path = "In.Title", Indexing = FieldIndexing.No, Stored = true },
                new() { Name = "Place", Spatial = new() { Latitude = "At.Lat", Longitude = "At.Lng" } },
            ],
        });
    }

    public ValueTask DisposeAsync()
    {
        _database.Dispose();
        _folder.Dispose();
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData(
        "search(Words, 'foxes')", "Words",
        """{"notes/1":["a quick brown <b style=\"background:yellow\">fox</b>, and another <b style=\"background:yellow\">fox</b>"]}""")]
    [InlineData("search(Name, 'tales')", "Name", """{"notes/1":["Fox <b style=\"background:yellow\">Tales</b>"]}""")]
    [InlineData("startsWith(Name, 'fox t')", "Name", """{"notes/1":["<b style=\"background:yellow\">Fox Tales</b>"]}""")]
    [InlineData("Key = 'aB'", "Key", """{"notes/1":["<b style=\"background:yellow\">aB</b>"]}""")]
    public async Task Found_words_are_marked_in_the_text_at_the_path_of_the_field(string condition, string field, string marked)
    {
        using QueryResults results = await RunAsync(
            $"from index N where {condition} and Weight = 3 include highlight({field}, 128, 2)");
        while (results.MoveNext())
            results.WriteCurrent(new ArrayBufferWriter<byte>());
        var output = new ArrayBufferWriter<byte>();
        results.WriteHighlightings(output);
        JsonNode found = JsonNode.Parse(output.WrittenSpan)!; // an object was written
        Assert.Equal([field], found.AsObject().Select(member => member.Key));
        Assert.True(JsonNode.DeepEquals(JsonNode.Parse(marked), found[field]), found.ToJsonString());
    }

    [Fact]
    public async Task Facets_sums_and_ranges_are_called_as_the_query_calls_them()
    {
        Answer words = await _database.AskAsync(
            "from index N select facet(Words, sum(Weight)), facet(Key), facet(Weight < 10, Weight >= 10)");
        // every facet has a name
        Assert.Equal(["Words", "Key", "Weight"], words.Rows.Select(row => row["Name"]!.GetValue<string>()));
        // as above
        JsonObject fox = words.Rows[0]["Values"]!
            .AsArray()
            .Select(value => value!.AsObject())
            .Single(value => value["Range"]!.GetValue<string>() == "fox");
        Assert.Equal(("Weight", 7), (fox["Name"]!.GetValue<string>(), fox["Sum"]!.GetValue<double>()));
        Assert.Equal(
            ["Weight < 10", "Weight >= 10"],
            words.Rows[2]["Values"]!.AsArray().Select(value => value!["Range"]!.GetValue<string>()));

        await _database.PutAsync(
            "facets/1",
            """{"Facets":[{"FieldName":"Words","Aggregations":{"Max":["Weight"]}}],"RangeFacets":[{"Ranges":["Weight < 10"]}]}""",
            "Facets");
        Answer setup = await _database.AskAsync("from index N select facet(id('facets/1'))");
        Assert.Equal(["Words", "Weight"], setup.Rows.Select(row => row["Name"]!.GetValue<string>()));
        Assert.Equal("Weight", setup.Rows[0]["Values"]![0]!["Name"]!.GetValue<string>());
        Assert.Equal("Weight < 10", setup.Rows[1]["Values"]![0]!["Range"]!.GetValue<string>());
    }

    [Fact]
    public async Task Terms_are_looked_up_by_the_name_of_the_definition()
    {
        Assert.Equal(3, (await _database.AskAsync("from index N")).Total);
        IndexContent content = _database.LookInto("N");
        Assert.Equal(["a", "again", "and", "anoth", "brown"], content.Terms("Words", null, 5, out _));
        Assert.Equal(["dogs", "fox tales"], content.Terms("Name", null, 5, out _));
        Assert.Equal(["dogs", "fox", "tales"], content.Terms("search(Name)", null, 5, out _));
        Assert.Equal(["aB", "cD"], content.Terms("Key", null, 5, out _));
        Assert.Contains(
            "no field 'Nope'", Assert.Throws<InvalidQueryException>(() => content.Terms("Nope", null, 5, out _)).Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("where Nope = 1", "has no field 'Nope'; it has 'Words', 'Name', 'Weight', 'Key', 'Secret', 'Place'.")]
    [InlineData("where search(Nope, 'x')", "has no field 'Nope'; it has")]
    [InlineData("order by Place", "The field 'Place' of the index 'N' does not answer this: it holds places")]
    [InlineData(
        "where exact(Weight = 3)",
        "The field 'Weight' of the index 'N' does not answer this: it holds whole values without case")]
    [InlineData(
        "where spatial.within(Key, spatial.circle(1, 1, 1))",
        "The field 'Key' of the index 'N' does not answer this: it holds whole values with case")]
    [InlineData(
        "where vector.search(Words, 'AAAAAA==')", "The field 'Words' of the index 'N' does not answer this: it holds words")]
    [InlineData("where Secret = 'x'", "it holds what can be selected and not looked for")]
    [InlineData("order by Secret", "it holds what can be selected and not looked for")]
    [InlineData("order by id() as long", "write 'id() as alphaNumeric'")]
    public async Task Errors_name_the_fields_of_the_definition_and_what_they_are_for(string query, string problem) =>
        Assert.Contains(
            problem, (await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync($"from index N {query}"))).Message,
            StringComparison.Ordinal);

    [Fact]
    public async Task A_field_that_is_not_indexed_is_selected_from_the_index()
    {
        using QueryResults results = await RunAsync("from index N where Weight = 3 select Secret");
        Assert.True(results.MoveNext());
        var row = new ArrayBufferWriter<byte>();
        results.WriteCurrent(row);
        Assert.StartsWith(
            "{\"Secret\":\"Fox Tales\"", System.Text.Encoding.UTF8.GetString(row.WrittenSpan), StringComparison.Ordinal);
    }

    /// <summary>Such an index keeps what is selected, and knows its documents by their ids.</summary>
    [Fact]
    public async Task An_index_may_have_fields_that_are_selected_alone()
    {
        _database.Indexes.Put(new IndexDefinition
        {
            Name = "Kept",
            Collections = ["Notes"],
            Fields = [new() { Name = "Secret", Path = "In.Title", Indexing = FieldIndexing.No, Stored = true }],
        });
        foreach (string query in (string[])["order by id() as alphaNumeric", "where id() >= 'n' order by id() as alphaNumeric"])
            Assert.Equal(
                ["""{"Secret":"Fox Tales"}""", """{"Secret":"Dogs"}""", """{"Secret":null}"""],
                (await _database.AskAsync($"from index Kept {query} select Secret")).Bodies);
        await _database.PutAsync("notes/2", """{"In":{"Title":"Cats"}}""", "Notes");
        await _database.DeleteAsync("notes/1");
        Answer answer = await _database.AskAsync("from index Kept order by id() as alphaNumeric select Secret");
        Assert.Equal(["""{"Secret":"Cats"}""", """{"Secret":null}"""], answer.Bodies);
        Assert.Equal(2, answer.Total);
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync("from index Kept where Secret = 'x'"));
        Assert.Contains("not looked for", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("order by id()", "notes/1 Notes/10 notes/2")]
    [InlineData("order by id() desc limit 2", "notes/2 Notes/10")]
    [InlineData("order by id() desc limit 1, 1", "Notes/10")]
    [InlineData("order by id() as alphaNumeric", "notes/1 notes/2 Notes/10")]
    [InlineData("order by id() as alphaNumeric desc", "Notes/10 notes/2 notes/1")]
    [InlineData("as n where n.Weight < 30 order by id(n) desc", "Notes/10 notes/1")]
    [InlineData("where Weight > 3 order by id(), Weight as long", "Notes/10 notes/2")]
    public async Task Documents_are_in_the_order_of_ids_without_a_field_of_ids(string query, string ids)
    {
        Assert.Equal(ids, string.Join(' ', (await _database.AskAsync($"from index N {query}")).Ids));

        // The same order where some of the documents are not yet in the index.
        _database.Indexes.Control.Pause("N");
        await _database.PutAsync("notes/2", """{"In":{"Text":"the lazy dog"},"Size":30}""", "Notes");
        Answer answer = await _database.AskAsync(
            $"from index N {query}", change: request => request with { WaitForNonStaleResults = false, NeverStale = true });
        Assert.Equal(ids, string.Join(' ', answer.Ids));
    }

    [Theory]
    [InlineData("id() = 'NOTES/1'", "notes/1")]
    [InlineData("id() != 'notes/1'", "Notes/10 notes/2")]
    [InlineData("id() in ('notes/2', 'notes/10', 'notes/10', 'x', null)", "Notes/10 notes/2")]
    [InlineData("id() all in ('notes/2', 'NOTES/2')", "notes/2")]
    [InlineData("id() all in ('notes/2', 'notes/1')", "")]
    [InlineData("id() all in ()", "Notes/10 notes/1 notes/2")]
    [InlineData("id() in ()", "")]
    [InlineData("id() = null", "")]
    [InlineData("id() = ''", "")]
    [InlineData("exists(id())", "Notes/10 notes/1 notes/2")]
    [InlineData("startsWith(id(), 'nOtes/1')", "Notes/10 notes/1")]
    [InlineData("startsWith(id(), '')", "Notes/10 notes/1 notes/2")]
    [InlineData("startsWith(id(), 'other')", "")]
    [InlineData("endsWith(id(), 'S/1')", "notes/1")]
    [InlineData("endsWith(id(), '')", "Notes/10 notes/1 notes/2")]
    [InlineData("true and not endsWith(id(), '0')", "notes/1 notes/2")]
    [InlineData("regex(id(), '^NOTES/1')", "Notes/10 notes/1")]
    [InlineData("regex(id(), '/[2-9]$') or endsWith(id(), '10')", "Notes/10 notes/2")]
    [InlineData("regex(id(), 'x')", "")]
    [InlineData("search(Words, 'fox') and not id() = 'notes/1'", "Notes/10")]
    [InlineData("Weight > 3 or startsWith(id(), 'notes/1') and Weight = 3", "Notes/10 notes/1 notes/2")]
    [InlineData("boost(id() = 'notes/2', 5) or search(Words, 'fox')", "Notes/10 notes/1 notes/2")]
    public async Task Documents_are_found_by_id_without_a_field_of_ids(string condition, string ids)
    {
        Assert.Equal(ids, await IdsAsync(condition, neverStale: false));

        // Also in what the index has not seen: an answer that is never stale is of both.
        _database.Indexes.Control.Pause("N");
        await _database.DeleteAsync("notes/1");
        await _database.PutAsync("notes/1", """{"In":{"Text":"a fox","Title":"New"},"Size":3}""", "Notes");
        await _database.PutAsync("notes/3", """{"Size":1}""", "Notes");
        await _database.DeleteAsync("notes/3");
        Assert.Equal(ids, await IdsAsync(condition, neverStale: true));
    }

    private async Task<string> IdsAsync(string condition, bool neverStale)
    {
        Answer answer = await _database.AskAsync(
            $"from index N where {condition}",
            change: request => request with { WaitForNonStaleResults = !neverStale, NeverStale = neverStale });
        return string.Join(' ', answer.Ids.Order(StringComparer.Ordinal));
    }

    private async Task<QueryResults> RunAsync(string text)
    {
        using JsonDocument parameters = JsonDocument.Parse("{}");
        return await _database.QueryAsync(
            new QueryRequest
            {
                Text = text,
                Parameters = parameters.RootElement.Clone(),
                WaitForNonStaleResults = true,
                WaitTimeout = TimeSpan.FromMinutes(1)
            }, TestContext.Current.CancellationToken);
    }
}
