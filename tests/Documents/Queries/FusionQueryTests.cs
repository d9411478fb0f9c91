using System.Globalization;
using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// Several searches in one list, boosts that documents have of their own, and places and vectors that are there or not.
/// </summary>
public sealed class FusionQueryTests : IDisposable
{
    private const string Vector = """{"v":[1,0,0],"n":2}""";

    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public FusionQueryTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task Fused_lists_are_those_of_the_searches_put_together_by_hand()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 120; i++)
            await PutAsync(i, random);
        // makes the index, with all fields
        await _database.AskAsync("from Docs where search(Text, 'fox') and vector.search(V, $v) and Age > 1", Vector);
        foreach (string filter in (string[])["", " and Age < 7"])
        {
            const int Window = 20;
            List<(string Id, double Score)> words = await ScoredAsync(
                $"from Docs where search(Text, 'fox dog'){(filter.Length > 0 ? " and boost(Age < 7, 0.0000001)" : "")} limit "
                    + $"{Window}",
                Vector);
            List<(string Id, double Score)> near = await ScoredAsync(
                $"from Docs where vector.search(V, $v, null, "
                    + $"{Window}){(filter.Length > 0 ? " and boost(Age < 7, 0.0000001)" : "")}",
                Vector);
            foreach ((
                string method,
                Func<List<(string Id, double Score)>, int, double> part) in (Fusion[])
                [
                    new Fusion("rrf", static (_, i) => 1d / (60 + i + 1)),
                    new Fusion(
                        "weighted", static (list, i) => (list[i].Score - list[^1].Score) / (list[0].Score - list[^1].Score))
                ])
            {
                var expected = new Dictionary<string, double>();
                for (int i = 0; i < words.Count; i++)
                    expected[words[i].Id] = expected.GetValueOrDefault(words[i].Id) + part(words, i);
                for (int i = 0; i < near.Count; i++)
                    expected[near[i].Id] = expected.GetValueOrDefault(near[i].Id) + (2 * part(near, i));
                List<(string Id, double Score)> fused = await ScoredAsync(
                    $"from Docs where fusion.{method}(search(Text, 'fox dog'), boost(vector.search(V, $v, null, {Window}), 2), "
                        + $"{Window}){filter}",
                    Vector);
                double extra = filter.Length > 0 ? 1 : 0; // the filter beside it scores as every condition does
                Assert.Equal(expected.Count, fused.Count);
                foreach ((string id, double score) in fused)
                    Assert.Equal(expected[id] + extra, score, 1e-4);
                Assert.Equal(fused.Select(hit => hit.Score).OrderDescending(), fused.Select(hit => hit.Score));
            }
        }

        Answer alone = await _database.AskAsync("from Docs where fusion.rrf(search(Text, 'fox'))", Vector);
        Answer plain = await _database.AskAsync("from Docs where search(Text, 'fox') limit 100", Vector);
        Assert.Equal(plain.Ids, alone.Ids);
        Answer fresh = await _database.AskAsync(
            "from Docs where fusion.rrf(search(Text, 'fox'), vector.search(V, $v)) include neverStale(), explanations()", Vector);
        Assert.False(fresh.IsStale);
    }

    [Theory]
    [InlineData("from Docs where fusion.rrf()", "1 to 64 searches")]
    [InlineData("from Docs where fusion.rrf(search(Text, 'a'), 0)", "from 1 to 16,384")]
    [InlineData("from Docs where fusion.weighted(search(Text, 'a'), $v)", "an array")]
    [InlineData("from Docs where fusion.rrf(boost(search(Text, 'a'), 0))", "The weight of a search in a fusion is a number from")]
    [InlineData("from Docs where fusion.rrf(boost(search(Text, 'a'), -1))", "a number from 0 on")]
    [InlineData("from Docs where fusion.other(search(Text, 'a'))", "fusion.rrf")]
    [InlineData(
        "from Docs where boost(Age = 1, 1000000000000000000000000000000000000000000000000000000000000)", "from 1E-09 to 1E+12")]
    [InlineData("from Docs where boost(Age = 1, 'much')", "a number from 0 on")]
    [InlineData("from Docs where boost(Age = 1, null)", "a number from 0 on")]
    public async Task What_cannot_be_weighed_is_refused(string query, string hint)
    {
        await PutAsync(1, new Random(1));
        Assert.Contains(
            hint, (await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(query, Vector))).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_boost_of_a_document_multiplies_its_scores_also_in_pages_by_bounds_and_without_stale_answers()
    {
        var random = new Random(Seed.Next());
        _database.Indexes.Put(
            new IndexDefinition
            {
                Name = "Plain",
                Collections = ["Docs"],
                Fields = [new() { Name = "Text", Indexing = FieldIndexing.Search }]
            });
        _database.Indexes.Put(
            new IndexDefinition
            {
                Name = "Boosted",
                Collections = ["Docs"],
                Boost = "Weight",
                Fields = [new() { Name = "Text", Indexing = FieldIndexing.Search }]
            });
        for (int i = 0; i < 200; i++)
            await PutAsync(
                i, random,
                weight: (i % 5) switch
                {
                    0 => "null",
                    1 => "2.5",
                    2 => "\"heavy\"",
                    3 =>
                    (i % 4) switch { 0 => "-1", 1 => "1e300", 2 => "1e-40", _ => "1e13" },
                    _ =>
                        (random.Next(1, 4000) / 1000d).ToString(CultureInfo.InvariantCulture)
                });
        Assert.True(
            await _database.Indexes.WaitForNonStaleAsync(
                TimeSpan.FromMinutes(1), cancellationToken: TestContext.Current.CancellationToken));
        await CompareAsync();
        Assert.Equal(80, _database.Indexes.Errors("Boosted").Count);
        Assert.Contains("from 1E-06 to 1E+12", _database.Indexes.Errors("Boosted")[0].Message, StringComparison.Ordinal);

        _database.Indexes.Control.Pause("Boosted");
        await PutAsync(1, random, weight: "100");
        await _database.DeleteAsync("docs/6");
        await CompareAsync(" include neverStale()");
    }

    [Fact]
    public async Task Places_and_vectors_of_a_named_index_are_there_or_not()
    {
        _database.Indexes.Put(new IndexDefinition
        {
            Name = "Shapes",
            Collections = ["Docs"],
            Fields =
            [
                new() { Name = "At", Spatial = new() { Latitude = "Lat", Longitude = "Lng" } },
                new() { Name = "Area", Spatial = new() { Wkt = "Wkt" } },
                new() { Name = "V", Vector = new(3) }, new() { Name = "Name" },
            ],
        });
        await _database.PutAsync("docs/1", """{"Lat":1,"Lng":2,"Wkt":"POINT(1 2)","V":[1,2,3],"Name":"a"}""", "Docs");
        await _database.PutAsync("docs/2", """{"Lat":null,"Lng":null,"Wkt":null,"V":null,"Name":null}""", "Docs");
        await _database.PutAsync("docs/3", "{}", "Docs");
        foreach (string field in (string[])["At", "Area", "V", "Name"])
        {
            Assert.Equal(["docs/1", "docs/2"], (await _database.AskAsync($"from index Shapes where exists({field})")).Ids);
            Assert.Equal(["docs/2", "docs/3"], (await _database.AskAsync($"from index Shapes where {field} = null")).Ids);
            Assert.Equal(["docs/1"], (await _database.AskAsync($"from index Shapes where {field} != null")).Ids);
        }

        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync("from index Shapes where At = 'x'"));
        Assert.Contains(
            "field 'At' of the index 'Shapes' does not answer this: it holds places", error.Message, StringComparison.Ordinal);
    }

    private sealed record Fusion(string Name, Func<List<(string Id, double Score)>, int, double> Part);

    private async Task CompareAsync(string more = "")
    {
        List<(string Id, double Score)> plain = await ScoredAsync("from index Plain where search(Text, 'fox hen')", Vector);
        var weights = new Dictionary<string, double>();
        foreach (JsonObject row in (await _database.AskAsync("from Docs")).Rows)
            // as every document
            weights[row["@metadata"]!["@id"]!.GetValue<string>()] = row["Weight"] is JsonValue value
                && value.TryGetValue(out double weight)
                && weight is >= 1e-6f and <= 1e12f ? weight : 1;
        (string Id, double Score)[] expected =
            [.. plain.Select(hit => (hit.Id, hit.Score * weights[hit.Id])).OrderByDescending(hit => hit.Item2)];
        foreach (int take in (int[])[5, 1000])
        {
            List<(string Id, double Score)> boosted = await ScoredAsync(
                $"from index Boosted where search(Text, 'fox hen'){more} limit {take}", Vector, stale: more.Length > 0);
            Assert.Equal(Math.Min(take, expected.Length), boosted.Count);
            for (int i = 0; i < boosted.Count; i++)
                Assert.Equal(expected[i].Score, boosted[i].Score, 1e-4 * expected[i].Score);
        }
    }

    private Task PutAsync(int i, Random random, string weight = "1")
    {
        string[] words = ["fox", "dog", "hen", "cat", "owl"];
        string text = string.Join(' ', Enumerable.Range(0, random.Next(1, 9)).Select(_ => words[random.Next(words.Length)]));
        string vector = string.Join(
            ',', Enumerable.Range(0, 3).Select(_ => (random.NextDouble() - 0.3).ToString("R", CultureInfo.InvariantCulture)));
        return _database.PutAsync(
            $"docs/{i}", $$"""{"Text":"{{text}}","V":[{{vector}}],"Age":{{random.Next(10)}},"Weight":{{weight}}}""", "Docs");
    }

    private async Task<List<(string Id, double Score)>> ScoredAsync(string query, string parameters, bool stale = false)
    {
        Answer answer = await _database.AskAsync(query, parameters, request => request with { WaitForNonStaleResults = !stale });
        // scored results have both
        return [
            .. answer.Rows.Select(
                row => (row["@metadata"]!["@id"]!.GetValue<string>(), row["@metadata"]!["@index-score"]!.GetValue<double>()))];
    }
}
