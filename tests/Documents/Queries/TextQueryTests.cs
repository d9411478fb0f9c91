using System.Buffers;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// What queries say about texts: patterns, nearness, the syntax of Lucene, likeness; and what answers say about them.
/// </summary>
public sealed class TextQueryTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public TextQueryTests() => _database = Database.Open(_folder.Path);

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync(
            "notes/1",
            """{"Title":"Anna","Text":"The quick red fox jumps over the lazy dog","Tags":["red","large"],"Stars":5,"Lines":["one fox","another dog"]}""",
            "Notes");
        await _database.PutAsync(
            "notes/2", """{"Title":"Hannah","Text":"A quick brown fox, and another fox","Tags":["brown"],"Stars":12}""", "Notes");
        await _database.PutAsync(
            "notes/3", """{"Title":"anne-Marie","Text":"Dogs and cats: lazy, lazy","Tags":["red","small"],"Stars":3.5}""",
            "Notes");
        await _database.PutAsync("notes/4", """{"Title":"ÄNNE","Text":"foxes in a box","Tags":[],"Stars":null}""", "Notes");
    }

    public ValueTask DisposeAsync()
    {
        _database.Dispose();
        _folder.Dispose();
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData("regex(Title, '^an')", "notes/1 notes/3")]
    [InlineData("regex(Title, 'N[AN]+.$')", "notes/1 notes/2 notes/4")]
    [InlineData("exact(regex(Title, '^[A-Z]'))", "notes/1 notes/2")]
    [InlineData("exact(regex(Title, '^\\p{Lu}'))", "notes/1 notes/2 notes/4")]
    [InlineData("regex(Title, '^ä')", "notes/4")]
    [InlineData("regex(Stars, '^[0-9.]{2,}$')", "notes/2 notes/3")]
    [InlineData("fuzzy(Title = 'ana', 1)", "notes/1")]
    [InlineData("fuzzy(Title = 'ANNO', 0.7)", "notes/1")]
    [InlineData("fuzzy(Title = 'anne', 2)", "notes/1 notes/4")]
    [InlineData("fuzzy(Title = 'hnanah', 0.8)", "notes/2")]
    [InlineData("fuzzy(Title = 'xxxx', 0.5)", "")]
    [InlineData("intersect(Tags = 'red', Tags = 'large')", "notes/1")]
    [InlineData("intersect(Tags = 'red', search(Text, 'lazy'), Stars < 4)", "notes/3")]
    [InlineData("search(Text, 'f*x')", "notes/1 notes/2")]
    [InlineData("search(Text, 'b*x br*n')", "notes/2 notes/4")]
    [InlineData("lucene(Text, 'fox')", "notes/1 notes/2")]
    [InlineData("lucene(Text, 'fox AND lazy')", "notes/1")]
    [InlineData("lucene(Text, 'fox -brown')", "notes/1")]
    [InlineData("lucene(Text, '+lazy cats')", "notes/1 notes/3")]
    [InlineData("lucene(Text, '\"quick fox\"')", "")]
    [InlineData("lucene(Text, '\"quick fox\"~1')", "notes/1 notes/2")]
    [InlineData("lucene(Text, 'fo?es OR brawn~1')", "notes/2 notes/4")]
    [InlineData("lucene(Text, '/fox|box/ && !quick')", "notes/4")]
    [InlineData("lucene(Text, 'Stars:[3 TO 5} OR Stars:12')", "notes/2 notes/3")]
    [InlineData("lucene(Text, '*:* NOT Tags:red')", "notes/2 notes/4")]
    [InlineData("lucene(Text, 'NOT fox')", "notes/3 notes/4")]
    [InlineData("lucene(Text, '(quick OR lazy) AND (dog^2 OR cats)')", "notes/1 notes/3")]
    [InlineData("lucene(Text, $text)", "notes/1 notes/2")]
    [InlineData("lucene(Lines, 'anoth*')", "notes/1")]
    [InlineData("lucene(Text, '')", "")]
    public async Task Conditions_about_texts_find_documents(string where, string ids)
    {
        Answer answer = await _database.AskAsync($"from Notes where {where} order by id()", """{"text":"fo\\x"}""");
        Assert.Equal(ids, string.Join(' ', answer.Ids));
        Assert.Equal(answer.Rows.Count, answer.Total);
    }

    [Theory]
    [InlineData("regex(Title, '(')", "a ')' is missing")]
    [InlineData("regex(Title, '(a{1000}){1000}')", "too complicated")]
    [InlineData("regex(Title, 5)", "Expected a regular expression: a string")]
    [InlineData("fuzzy(Title, 0.5)", "is a comparison with '='")]
    [InlineData("fuzzy(Title = 'x', 1.5)", "a similarity from 0")]
    [InlineData("fuzzy(Title = 'x', -1)", "a similarity from 0")]
    [InlineData("lucene(Text, 'a AND')", "a condition is missing at the end")]
    [InlineData("lucene(Text, '(a')", "a ')' is missing")]
    [InlineData("lucene(Text, 'a)')", "no '(' before")]
    [InlineData("lucene(Text, '\"a')", "the closing \" is missing")]
    [InlineData("lucene(Text, '[1 5]')", "'TO' is missing")]
    [InlineData("lucene(Text, 'a^x')", "a number is expected")]
    [InlineData("lucene(Text, 'OR a')", "belong between two conditions")]
    [InlineData("lucene(Text, $deep)", "nested in one another")]
    [InlineData("lucene(Text, $many)", "more than 16,384 conditions")]
    [InlineData("intersect(Title = 'x')", "takes other arguments")]
    [InlineData("moreLikeThis(id() = 'notes/1')", "which fields to compare")]
    [InlineData("moreLikeThis(5, '{\"Fields\":[\"Text\"]}')", "takes a document of the index")]
    [InlineData("moreLikeThis('{', '{\"Fields\":[\"Text\"]}')", "is no JSON")]
    [InlineData("moreLikeThis('notes/1', '{\"Fields\":[\"Text\"],\"Nothing\":1}')", "has no option 'Nothing'")]
    [InlineData("moreLikeThis('notes/1', '{\"Fields\":[\"Text\"],\"MaximumQueryTerms\":0}')", "from 1 to 1,024")]
    public async Task What_cannot_be_asked_is_refused_with_a_reason(string where, string reason)
    {
        string parameters = new JsonObject
        {
            ["deep"] = new string('(', 500),
            ["many"] = string.Join(' ', Enumerable.Range(0, 20_000))
        }.ToJsonString();
        var error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync($"from Notes where {where}", parameters));
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Documents_like_another_share_its_telling_words()
    {
        const string Options =
            """{"Fields":["Text"],"MinimumTermFrequency":1,"MinimumDocumentFrequency":1,"StopWords":["the","a","and"]}""";
        string parameters = $$"""{"options":{{Options}},"json":"{\"Text\":\"lazy lazy cats\"}"}""";
        Assert.Equal(
            ["notes/2", "notes/3"],
            (await _database.AskAsync("from Notes where moreLikeThis(id() = 'NOTES/1', $options)", parameters)).Ids.Order(
                StringComparer.Ordinal));
        Assert.Equal(
            ["notes/3", "notes/1"], (await _database.AskAsync("from Notes where moreLikeThis($json, $options)", parameters)).Ids);
        Assert.Equal(
            ["notes/3"],
            (await _database.AskAsync("from Notes where moreLikeThis($json, $options) and Tags = 'small'", parameters)).Ids);
        Assert.Empty((await _database.AskAsync("from Notes where moreLikeThis(id() = 'notes/404', $options)", parameters)).Ids);
        string index = (await _database.AskAsync("from Notes where search(Text, 'x')")).Index;
        Assert.Equal(
            ["notes/3", "notes/1"],
            (await _database.AskAsync(
                $"from index '{index}' where moreLikeThis($json, "
                    + $"'{{\"MinimumTermFrequency\":1,\"MinimumDocumentFrequency\":1}}')",
                parameters)).Ids);
    }

    [Fact]
    public async Task The_first_document_of_a_condition_stands_for_itself_and_stop_words_may_stand_in_a_document()
    {
        await _database.PutAsync("stop/1", """{"stopWords":["the","a","and","fox"]}""", "Stops");
        const string Options =
            """{"Fields":["Text"],"MinimumTermFrequency":1,"MinimumDocumentFrequency":1,"StopWords":["dog"],"StopWordsDocumentId":"stop/1"}""";
        const string Parameters = $$"""{"options":{{Options}}}""";
        Assert.Equal(
            ["notes/1"], (await _database.AskAsync("from Notes where moreLikeThis(Title = 'hannah', $options)", Parameters)).Ids);
        Assert.Equal(
            ["notes/2", "notes/3"],
            (await _database.AskAsync("from Notes where moreLikeThis(true, $options)", Parameters)).Ids.Order(
                StringComparer.Ordinal));
        Assert.Empty((await _database.AskAsync("from Notes where moreLikeThis(Title = 'nobody', $options)", Parameters)).Ids);
        foreach ((
            string options,
            string reason) in ((string, string)[])[("stop/2", "no document 'stop/2'"), ("notes/1", "has no stop words")])
        {
            var error = await Assert.ThrowsAsync<InvalidQueryException>(
                () => _database.AskAsync(
                    $$"""from Notes where moreLikeThis(true, '{"Fields":["Text"],"StopWordsDocumentId":"{{options}}"}')"""));
            Assert.Contains(reason, error.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Found_words_are_marked_in_fragments()
    {
        const string Tags = """{"o":{"PreTags":["<i>","<u>"],"PostTags":["</i>","</u>"]}}""";
        JsonObject found =
            (await NotesAsync(
                "from Notes where search(Text, 'fox laz*') include highlight(Text, 18, 2, $o)", Tags)).Highlightings;
        JsonObject text = found["Text"]!.AsObject(); // asked for
        Assert.Equal(
            ["<u>lazy</u>", "<i>fox</i>"],
            text["notes/1"]!.AsArray()
                .Select(f => f!.GetValue<string>())
                .Select(f => f[f.IndexOf('<', StringComparison.Ordinal)..(f.LastIndexOf('>') + 1)])
                .OrderDescending());
        Assert.Equal(
            "Dogs and cats: <u>lazy</u>, <u>lazy</u>",
            (await NotesAsync(
                "from Notes where search(Text, 'fox laz*') include highlight(Text, 128, 1, $o)",
                Tags)).Highlightings["Text"]!["notes/3"]![0]!.GetValue<string>());
        found =
            (await NotesAsync(
                "from Notes where search(Lines, 'fox') and startsWith(Title, 'an') include highlight('Lines', 128, 5), "
                    + "highlight(Title, 20, 1)",
                "{}")).Highlightings;
        Assert.Equal("""["one <b style=\"background:yellow\">fox</b>"]""", found["Lines"]!["notes/1"]!.ToJsonString(Relaxed));
        Assert.Equal("""["<b style=\"background:yellow\">Anna</b>"]""", found["Title"]!["notes/1"]!.ToJsonString(Relaxed));
        var error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync("from Notes where search(Text, 'fox') include highlight(Text, 5, 2)"));
        Assert.Contains("from 18 to", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("search(Text, 'red-fo*')", "The <red> <fox> says what the <red> whale says")]
    [InlineData("search(Text, '*ed-fox')", "The <red> <fox> says what the <red> whale says")]
    [InlineData("search(Text, 'wha?*')", "The red fox says <what> the red <whale> says")]
    [InlineData("search(Text, 'sa\\* f*x')", "The red <fox> <says> what the red whale <says>")]
    [InlineData("search(Text, '*ha*')", "The red fox says <what> the red <whale> says")]
    [InlineData("search(Text, 'w*t-x* whale', or)", "The red fox says what the red <whale> says")]
    [InlineData("search(Text, 'nothing-fo* \"says what\"')", "The red <fox> <says> <what> the red whale <says>")]
    [InlineData(
        "fusion.rrf(search(Text, 'red'), vector.search(V, $v))", "The <red> fox says what the <red> whale says")]
    [InlineData("moreLikeThis(id() = 'beasts/2', $like)", "The <red> fox says what the <red> whale says")]
    public async Task What_is_marked_and_explained_is_what_the_search_finds(string condition, string marked)
    {
        await _database.PutAsync(
            "beasts/1", """{"Text":"The red fox says what the red whale says","V":[1,0]}""", "Beasts");
        await _database.PutAsync("beasts/2", """{"Text":"A red fish","V":[0,1]}""", "Beasts");
        (Answer answer, JsonObject highlightings, JsonObject explanations) = await NotesAsync(
            $"from Beasts where {condition} include highlight(Text, 128, 1, $o), explanations()",
            """
            {
              "o": {"PreTags":["<"],"PostTags":[">"]}, "v": [1,0],
              "like": {"Fields":["Text"],"MinimumTermFrequency":1,"MinimumDocumentFrequency":2}
            }
            """);
        Assert.Equal(marked, highlightings["Text"]!["beasts/1"]![0]!.GetValue<string>());
        foreach ((string id, JsonObject row) in answer.Ids.Zip(answer.Rows))
        {
            float score = row["@metadata"]!["@index-score"]!.GetValue<float>();
            string explained = explanations[id]![0]!.GetValue<string>().Split(' ')[0];
            Assert.Equal(score, float.Parse(explained, System.Globalization.CultureInfo.InvariantCulture));
        }
    }

    [Fact]
    public async Task Explanations_say_where_a_score_comes_from()
    {
        (Answer answer, _, JsonObject explanations) = await NotesAsync(
            "from Notes where search(Text, 'fox quick') and boost(Tags = 'red', 3) include explanations()", "{}");
        string text = explanations["notes/1"]![0]!.GetValue<string>();
        Assert.Contains("word 'fox'", text, StringComparison.Ordinal);
        Assert.Contains("n = 2 entries have it of N = 4", text, StringComparison.Ordinal);
        Assert.Contains("boost by 3", text, StringComparison.Ordinal);
        float score = answer.Rows[0]["@metadata"]!["@index-score"]!.GetValue<float>();
        Assert.Equal(score, float.Parse(text.Split(' ')[0], System.Globalization.CultureInfo.InvariantCulture));
    }

    private static JsonSerializerOptions Relaxed { get; } = new()
    {
        Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping
    };

    private async Task<(Answer Answer, JsonObject Highlightings, JsonObject Explanations)> NotesAsync(
        string text, string parameters)
    {
        Answer answer = await _database.AskAsync(text, parameters);
        using JsonDocument json = JsonDocument.Parse(parameters);
        var request = new QueryRequest { Text = text, Parameters = json.RootElement, WaitForNonStaleResults = true };
        using QueryResults results = await _database.QueryAsync(request, TestContext.Current.CancellationToken);
        while (results.MoveNext())
        {
            // Notes are taken as results are read.
        }

        var highlightings = new ArrayBufferWriter<byte>();
        results.WriteHighlightings(highlightings);
        var explanations = new ArrayBufferWriter<byte>();
        results.WriteExplanations(explanations);
        // both are objects
        return (
            answer, JsonNode.Parse(highlightings.WrittenSpan)!.AsObject(), JsonNode.Parse(explanations.WrittenSpan)!.AsObject());
    }
}
