using System.Text;
using System.Text.Json.Nodes;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// Random nested queries over parts of real data sets against <see cref="NaiveEvaluator"/>, while documents are updated and
/// deleted. <c>TREEPIE_ROUNDS</c> makes it longer, and takes more documents.
/// </summary>
public sealed class RandomDataSetTests
{
    private static readonly int _rounds = int.TryParse(Environment.GetEnvironmentVariable("TREEPIE_ROUNDS"), out int rounds)
        ? rounds
        : 2;

    [Fact]
    public Task Movies_are_found_as_a_scan_finds_them_while_they_change() =>
        CompareAsync("movies.ndjson.gz", "Movies", ["title", "genres", "cast", "href"], ["year"], ["extract"], hasPlace: false);

    [Fact]
    public Task Cities_are_found_as_a_scan_finds_them_while_they_change() =>
        CompareAsync(
            "cities.ndjson.gz", "Cities", ["name", "country", "timezone", "feature"], ["population", "dem", "location.lat"], [],
            hasPlace: true);

    [Fact]
    public Task Words_of_wordnet_are_found_as_a_scan_finds_them_while_they_change() =>
        CompareAsync(
            "wordnet.ndjson.gz", "Synsets", ["members", "partOfSpeech", "topic"], [], ["definition", "example"], hasPlace: false);

    private static async Task CompareAsync(
        string file, string collection, string[] texts, string[] numbers, string[] words, bool hasPlace)
    {
        var random = new Random(Seed.Next());
        int count = 500 * _rounds, skip = random.Next(2_000);
        // a line is an object
        JsonObject[] lines = [
            .. DataSets.Lines(DataSets.PathOf(file))
                .Skip(skip)
                .Take(count)
                .Select(line => Cleaned(JsonNode.Parse(line)!.AsObject(), words))];
        using var folder = new TemporaryDirectory();
        using Database database = Database.Open(folder.Path);
        var documents = new SortedDictionary<string, JsonObject>(StringComparer.Ordinal);
        // each has an id
        await ChangeAsync(
            database, documents, collection, lines.Select(line => (line["id"]!.GetValue<string>(), (JsonObject?)line)));
        var make = new DataSetQueries(random, lines, texts, numbers, words, hasPlace);
        await DifferentialQueryTests.CompareAsync(database, documents, $"from {collection} {make.Everything}", random);
        for (int round = 0; round < _rounds; round++)
        {
            for (int i = 0; i < 15; i++)
                await DifferentialQueryTests.CompareAsync(database, documents, $"from {collection} {make.Query()}", random);

            // Some are deleted, some come back, some become what others are.
            await ChangeAsync(
                database, documents, collection,
                Enumerable.Range(0, 60).Select(_ => lines[random.Next(lines.Length)]["id"]!.GetValue<string>()).Distinct()
                    .Select(id => (id, random.Next(3) == 0 ? null : lines[random.Next(lines.Length)].DeepClone().AsObject())));
        }
    }

    private static async Task ChangeAsync(
        Database database, SortedDictionary<string, JsonObject> documents, string collection,
        IEnumerable<(string Id, JsonObject? Document)> changes)
    {
        var batch = new WriteBatch();
        foreach ((string id, JsonObject? document) in changes)
        {
            documents.Remove(id);
            if (document is null)
            {
                batch.Delete(id);
                continue;
            }

            documents.Add(id, document);
            JsonObject stored = document.DeepClone().AsObject();
            stored["@metadata"] = new JsonObject { ["@collection"] = collection };
            batch.Put(id, Encoding.UTF8.GetBytes(stored.ToJsonString()));
        }

        await database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    /// <summary>Fields of words have letters and blanks alone, so that what a word is, is said by the blanks.</summary>
    private static JsonObject Cleaned(JsonObject document, string[] fields)
    {
        foreach (string field in fields)
        {
            if (document[field] is JsonArray array)
                document[field] = new JsonArray([.. array.Select(text => (JsonNode)Letters(text?.ToString() ?? ""))]);
            else if (document[field] is { } text)
                document[field] = Letters(text.ToString());
        }

        return document;
    }

    private static string Letters(string text) => string.Concat(text.Select(c => char.IsAsciiLetter(c) ? c : ' '));
}
