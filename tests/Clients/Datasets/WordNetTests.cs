using System.Text.Json;

namespace Treepie.Clients.Tests.Datasets;

/// <summary>Some 30,000 synsets, which refer to each other: arrays of words, includes, many results.</summary>
[Collection(ImportedDataSets.Collection)]
public sealed class WordNetTests(ImportedDataSets data)
{
    private static readonly Lazy<List<Synset>> _synsets = new(RawData.Synsets);
    private static readonly Lazy<Dictionary<string, Synset>> _byId = new(() => _synsets.Value.ToDictionary(s => s.Id));

    [Fact]
    public Task One_word_of_an_array() =>
        SameAsync(
            "from Synsets where members = 'DOG'", s => s.Members.Any(m => m.Equals("dog", StringComparison.OrdinalIgnoreCase)));

    [Fact]
    public Task Words_of_a_definition_and_a_part_of_speech() =>
        SameAsync(
            "from Synsets where partOfSpeech = 'v' and search(definition, 'quickly')",
            s => s.PartOfSpeech == "v" && s.Definition.Any(d => Words.Contains(d, "quickly")));

    [Fact]
    public Task Thousands_of_results_at_once() =>
        SameAsync("from Synsets where topic = 'noun.animal'", s => s.Topic == "noun.animal");

    [Fact]
    public Task Either_of_two_topics_but_not_of_a_kind() =>
        SameAsync(
            "from Synsets where topic in ('noun.food', 'noun.plant') and not search(definition, 'tree') and startsWith(members, "
                + "'sw')",
            s => s.Topic is "noun.food" or "noun.plant" && !s.Definition.Any(d => Words.Contains(d, "tree"))
                && s.Members.Any(m => m.StartsWith("sw", StringComparison.OrdinalIgnoreCase)));

    [Fact]
    public async Task Includes_bring_the_documents_that_are_referred_to()
    {
        QueryAnswer answer = await data.AskAsync("from Synsets where members = 'dog' include hypernym");

        List<Synset> found = [.. answer.Ids.Select(id => _byId.Value[id])];
        string[] expected = [.. found.SelectMany(s => s.Hypernym).Distinct().Except(answer.Ids)];
        string[] included = [.. answer.Includes.EnumerateObject().Select(p => p.Name)];
        Expect.SameIds(expected, [.. included.Except(answer.Ids)], answer.Query + " (includes)");
        foreach (JsonProperty include in answer.Includes.EnumerateObject())
            Assert.Equal(
                _byId.Value[include.Name].Definition,
                include.Value.GetProperty("definition").EnumerateArray().Select(d => d.GetString() ?? ""));
    }

    [Fact]
    public async Task Pages_of_a_sort_with_few_keys_hold_every_document_once()
    {
        List<Synset> expected =
            [.. _synsets.Value.Where(s => s.PartOfSpeech == "r").OrderBy(s => s.Topic, StringComparer.Ordinal)];
        List<JsonElement> found = await data.AskInPagesAsync("from Synsets where partOfSpeech = 'r' order by topic", 333);

        Expect.SameIds(expected.Select(s => s.Id), [.. found.Select(QueryAnswer.IdOf)], "adverbs");
        Expect.SameOrder(
            [.. expected.Select(s => s.Topic)], [.. found.Select(r => r.GetProperty("topic").GetString() ?? "")],
            "adverbs by topic");
    }

    [Fact]
    public async Task Pages_without_an_order_hold_every_document_once()
    {
        List<JsonElement> found = await data.AskInPagesAsync("from Synsets where topic = 'verb.motion'", 250);
        Expect.SameIds(
            _synsets.Value.Where(s => s.Topic == "verb.motion").Select(s => s.Id), [.. found.Select(QueryAnswer.IdOf)],
            "verbs of motion");
    }

    private async Task SameAsync(string query, Func<Synset, bool> expected)
    {
        QueryAnswer answer = await data.AskAsync(query);
        Expect.SameIds(_synsets.Value.Where(expected).Select(s => s.Id), answer);
    }
}
