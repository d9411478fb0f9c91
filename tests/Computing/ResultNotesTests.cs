using System.Buffers;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Computing.Tests;

/// <summary>Highlights and explanations of results that are no documents and so have no id to file them under.</summary>
public sealed class ResultNotesTests : IAsyncLifetime
{
    private readonly IndexRunner _run = new();

    public async ValueTask InitializeAsync()
    {
        using JsonDocument json = JsonDocument.Parse(
            """
            {"Name":"Cities",
             "Maps":["from o in docs.Orders select new { o.City, o.Year, o.Text, Count = 1 }"],
             "Reduce":"from r in results group r by new { r.City, r.Year } into g select new { City = g.Key.City, Year = g.Key.Year, Text = g.First().Text, Count = g.Sum(x => x.Count) }",
             "Fields":{"Text":{"Indexing":"Search"}}}
            """);
        _run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
        await _run.PutAsync("orders/1", """{"City":"Bern","Year":2024,"Text":"red fox"}""", "Orders");
        await _run.PutAsync("orders/2", """{"City":"Rome","Year":2024,"Text":"blue fox"}""", "Orders");
        await _run.PutAsync("orders/3", """{"City":"Rome","Year":2025,"Text":"grey fox"}""", "Orders");
    }

    public ValueTask DisposeAsync()
    {
        _run.Dispose();
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData("highlight(Text, 20, 1)", "highlight")]
    [InlineData("highlight(Text, 20, 1, $tags)", "highlight")]
    [InlineData("explanations()", "explanations")]
    [InlineData("explanations($tags)", "explanations")]
    public async Task Notes_of_groups_without_a_key_are_refused(string note, string name)
    {
        var error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => NotesAsync($"from index Cities where search(Text, 'fox') include {note}", """{"tags":{"PreTags":["<b>"]}}"""));
        Assert.Contains("'Cities' are no documents", error.Message, StringComparison.Ordinal);
        Assert.Contains("GroupKey", error.Message, StringComparison.Ordinal);
        Assert.Contains(name, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Notes_of_groups_are_filed_under_the_key_that_the_query_names()
    {
        (JsonElement highlights, JsonElement explanations) = await NotesAsync(
            "from index Cities where search(Text, 'fox') include highlight(Text, 20, 1, $o), explanations($o)",
            """{"o":{"PreTags":["<"],"PostTags":[">"],"GroupKey":"City"}}""");
        Assert.Equal(
            ["Bern: red <fox>", "Rome: blue <fox>, grey <fox>"],
            highlights.GetProperty("Text").EnumerateObject().Select(
                key => $"{key.Name}: {string.Join(", ", key.Value.EnumerateArray().Select(text => text.GetString()).Order())}")
                .Order());
        Assert.Equal(
            ["Bern 1", "Rome 2"],
            explanations.EnumerateObject().Select(key => $"{key.Name} {key.Value.GetArrayLength()}").Order());
    }

    [Fact]
    public async Task A_key_may_be_a_number()
    {
        (JsonElement highlights, JsonElement explanations) = await NotesAsync(
            "from index Cities where search(Text, 'fox') include highlight(Text, 20, 1, $o), explanations($o)",
            """{"o":{"GroupKey":"Year"}}""");
        foreach (JsonElement notes in new[] { highlights.GetProperty("Text"), explanations })
            Assert.Equal(
                ["2024 2", "2025 1"],
                notes.EnumerateObject().Select(key => $"{key.Name} {key.Value.GetArrayLength()}").Order());
    }

    private async Task<(JsonElement Highlights, JsonElement Explanations)> NotesAsync(string text, string parameters)
    {
        using JsonDocument json = JsonDocument.Parse(parameters);
        using QueryResults results = await _run.Database.QueryAsync(
            new QueryRequest
            {
                Text = text,
                Parameters = json.RootElement,
                WaitForNonStaleResults = true,
                WaitTimeout = Eventually.Patience,
            },
            TestContext.Current.CancellationToken);
        while (results.MoveNext())
        {
            // Notes are taken as results are read.
        }

        return (Written(results.WriteHighlightings), Written(results.WriteExplanations));
    }

    private static JsonElement Written(Action<IBufferWriter<byte>> write)
    {
        var output = new ArrayBufferWriter<byte>();
        write(output);
        using var json = JsonDocument.Parse(output.WrittenMemory, new JsonDocumentOptions { AllowDuplicateProperties = false });
        return json.RootElement.Clone();
    }
}
