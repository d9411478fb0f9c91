using System.Globalization;
using System.Text.Json.Nodes;
using Treepie.Rql;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// Searches that give the best of all, by vector and by likeness, alone and among, beside and under random nested conditions and
/// orders, against a scan, while documents change; and as an answer that is never stale, of an index that is held back.
/// </summary>
public sealed class NearestDifferentialTests
{
    private const string Like =
        """{"Fields":["Notes"],"MinimumTermFrequency":1,"MinimumDocumentFrequency":2,"MaximumQueryTerms":2}""";

    private static readonly int _rounds = int.TryParse(Environment.GetEnvironmentVariable("TREEPIE_ROUNDS"), out int rounds)
        ? rounds
        : 3;

    [Fact]
    public async Task Nearest_and_most_like_documents_are_those_of_a_scan_under_any_condition()
    {
        var random = new Random(Seed.Next());
        var make = new RandomDocuments(random);
        using var folder = new TemporaryDirectory();
        using Database database = DifferentialQueryTests.Open(folder);
        var documents = new SortedDictionary<string, JsonObject>(StringComparer.Ordinal);
        for (int round = 0; round < _rounds; round++)
        {
            await ChangeAsync(database, documents, make, random, round == 0 ? 90 : 25);
            for (int i = 0; i < 30; i++)
                await CompareAsync(database, documents, make, random, neverStale: false);
            database.Indexes.Control.Pause();
            await ChangeAsync(database, documents, make, random, 15);
            for (int i = 0; i < 15; i++)
                await CompareAsync(database, documents, make, random, neverStale: true);
            database.Indexes.Control.Resume();
        }
    }

    private static async Task CompareAsync(
        Database database, SortedDictionary<string, JsonObject> documents, RandomDocuments make, Random random, bool neverStale)
    {
        string where = make.Where(), order = make.Order(), id = $"docs/{random.Next(80)}";
        var naive = new NaiveEvaluator(RqlParser.Parse($"from Docs as d where {where} order by {order}"), []);
        HashSet<string> left =
            [.. documents.Where(document => naive.Matches(document.Key, document.Value)).Select(document => document.Key)];
        double[] vector = Vector(random);
        int most = random.Next(1, 20);
        (string Id, double Similarity)[] ranked = [.. Ranked(documents, vector)],
            rankedLeft = [.. ranked.Where(one => left.Contains(one.Id))];
        if (IsClose(ranked, most) || IsClose(rankedLeft, most))
            return;
        HashSet<string> nearest = [.. ranked.Take(most).Select(static one => one.Id)],
            nearestLeft = [.. rankedLeft.Take(most).Select(static one => one.Id)],
            like = [.. MostLike(documents, id)];
        string search = random.Next(2) == 0
            ? $"vector.search(V, $v, null, {most})"
            : $"exact(vector.search(V, $v, null, {most}))";
        string likeness = $"moreLikeThis(id() = '{id}', $like)";
        (string Condition, IEnumerable<string> Expected) = random.Next(7) switch
        {
            0 => ($"({where}) and {search}", nearestLeft),
            1 => ($"boost({search}, 2) and ({where})", nearestLeft),
            2 => ($"({where}) or {search}", left.Union(nearest)),
            3 => ($"({where}) and not {search}", left.Except(nearest)),
            4 => ($"({where}) and {likeness}", left.Intersect(like)),
            5 => ($"{likeness} or not ({where})", like.Union(documents.Keys.Except(left))),
            _ => ($"{likeness} and not ({where}) or {search}", like.Except(left).Union(nearest)),
        };
        string text = $"from Docs as d where {Condition}{(random.Next(2) == 0 ? " order by " + order : "")}";
        string parameters =
            $$"""{"v":[{{string.Join(',', vector.Select(number => number.ToString("R", CultureInfo.InvariantCulture)))}}],"like":{{Like}}}""";
        Answer answer;
        try
        {
            answer = await database.AskAsync(
                text, parameters, request => neverStale ? DifferentialQueryTests.NotWaiting(request) : request);
        }
        catch (TimeoutException) when (neverStale)
        {
            return; // a field that a paused index is being given
        }

        Assert.False(answer.IsStale, $"{text}: {DifferentialQueryTests.Errors(database)}");
        List<string> found = [.. answer.Ids];
        string[] expected = [.. Expected.Order(StringComparer.Ordinal)];
        Assert.True(
            expected.SequenceEqual(found.Order(StringComparer.Ordinal)),
            $"{text}\n{parameters}\nexpected {string.Join(' ', expected)}\nfound    "
                + $"{string.Join(' ', found.Order(StringComparer.Ordinal))}");
        Assert.Equal(expected.Length, answer.Total);
        for (int i = 1; i < found.Count && text.Contains("order by", StringComparison.Ordinal); i++)
            Assert.True(
                naive.Compare((found[i - 1], documents[found[i - 1]]), (found[i], documents[found[i]])) <= 0,
                $"{text}: {found[i - 1]} stands before {found[i]}");
        Answer page = await database.AskAsync(
            $"{text} limit 3, 5", parameters, request => neverStale ? DifferentialQueryTests.NotWaiting(request) : request);
        Assert.Equal(found.Skip(3).Take(5), page.Ids);
    }

    private static async Task ChangeAsync(
        Database database, SortedDictionary<string, JsonObject> documents, RandomDocuments make, Random random, int changes)
    {
        for (; changes > 0; changes--)
        {
            string id = $"docs/{random.Next(80)}";
            if (random.Next(5) == 0)
            {
                await database.DeleteAsync(id);
                documents.Remove(id);
                continue;
            }

            JsonObject document = make.Document();
            if (random.Next(4) != 0)
                document["V"] = new JsonArray([.. Vector(random).Select(number => (JsonNode)number)]);
            documents[id] = document;
            await database.PutAsync(id, document.ToJsonString(), "Docs");
        }
    }

    private static double[] Vector(Random random) => [.. Enumerable.Range(0, 4).Select(_ => random.NextDouble() - 0.4)];

    /// <summary>The documents that have a vector, the nearest first.</summary>
    private static IEnumerable<(string Id, double Similarity)> Ranked(
        IEnumerable<KeyValuePair<string, JsonObject>> documents, double[] wanted) => documents
        .Where(document => document.Value["V"] is JsonArray) // of numbers
        .Select(document => (
            document.Key,
            Similarity: Cosine(wanted, [.. document.Value["V"]!.AsArray().Select(number => number!.GetValue<double>())])))
        .OrderByDescending(static one => one.Similarity);

    /// <summary>
    /// Whether the last of the nearest and the first of the others are too close to be told apart by an index, which compares
    /// numbers of single precision.
    /// </summary>
    private static bool IsClose((string Id, double Similarity)[] ranked, int most) =>
        most < ranked.Length && ranked[most - 1].Similarity - ranked[most].Similarity < 1e-6;

    private static double Cosine(double[] x, double[] y)
    {
        double Dot(double[] left, double[] right) => left.Zip(right, (a, b) => a * b).Sum();
        return Dot(x, y) / Math.Sqrt(Dot(x, x) * Dot(y, y));
    }

    /// <summary>Documents that have one of the two words of a document that tell most: often there, seldom elsewhere.</summary>
    private static IEnumerable<string> MostLike(SortedDictionary<string, JsonObject> documents, string id)
    {
        Dictionary<string, List<string>> words = documents.ToDictionary(
            document => document.Key,
            document => NaiveValue.SearchedAt(document.Value, ["Notes"]).SelectMany(NaiveMethods.WordsOf).ToList());
        if (!words.TryGetValue(id, out List<string>? own))
            return [];
        double Having(string word) => words.Values.Count(other => other.Contains(word));
        double Weight(string word) =>
            own.Count(other => other == word) * Math.Log(1 + ((words.Count - Having(word) + 0.5) / (Having(word) + 0.5)));
        string[] telling = [
            .. own.Distinct()
                .Where(word => Having(word) >= 2)
                .OrderByDescending(Weight)
                .ThenBy(word => word, Comparer<string>.Create(NaiveValue.Compare))
                .Take(2)];
        return words.Where(other => other.Key != id && other.Value.Exists(telling.Contains)).Select(other => other.Key);
    }
}
