using System.Text;
using System.Text.Json.Nodes;
using Treepie.Rql;
using Treepie.Rql.Syntax;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>The engine against <see cref="NaiveEvaluator"/>: random queries over random documents, which change in between.</summary>
public sealed class DifferentialQueryTests
{
    private const int Rounds = 12;
    private const int QueriesPerRound = 40;

    [Fact]
    public async Task Random_queries_give_what_a_scan_gives_while_documents_change()
    {
        var random = new Random(Seed.Next());
        var make = new RandomDocuments(random);
        using var folder = new TemporaryDirectory();
        using Database database = Database.Open(folder.Path);
        var documents = new SortedDictionary<string, JsonObject>(StringComparer.Ordinal);
        for (int round = 0; round < Rounds; round++)
        {
            await ChangeAsync(database, documents, make, random);
            for (int i = 0; i < QueriesPerRound; i++)
                await CompareAsync(database, documents, make.Query(random.Next(6) == 0 ? "@all_docs" : "Docs"), random);
        }
    }

    [Fact]
    public async Task Random_queries_over_more_documents_than_one_window_give_what_a_scan_gives()
    {
        const int Count = 9_000;
        var random = new Random(Seed.Next());
        var make = new RandomDocuments(random);
        using var folder = new TemporaryDirectory();
        using Database database = Database.Open(folder.Path);
        var documents = new SortedDictionary<string, JsonObject>(StringComparer.Ordinal);
        for (int from = 0; from < Count; from += 1_000)
            await PutAsync(database, documents, make, Enumerable.Range(from, 1_000));

        for (int i = 0; i < 40; i++)
        {
            await CompareAsync(database, documents, make.Query("Docs"), random);
            await PutAsync(database, documents, make, Enumerable.Range(0, 50).Select(_ => random.Next(Count)).Distinct());
        }
    }

    [Fact]
    public Task All_movies_are_found_as_a_scan_finds_them() => CompareDataSetAsync(
        "movies.ndjson.gz",
        "Movies",

        // First a query about every field, so that one index is built and not one for each query.
        "where title in ('heat', 'alien') and year > 0 and genres != 'x' and cast != 'x' and cast[] != 'x' and exact(title != 'x') and href != 'x' and exists(extract) and id() != 'x'",
        "where year = 1999",
        "where year between 1920 and 1925 and genres = 'comedy' order by title, year as long",
        "where cast[] = 'Tom Hanks' or cast = 'tom cruise'",
        "where genres all in ('Comedy', 'Drama') and year > 2015 order by year as long desc, title desc",
        "where startsWith(title, 'star') and not startsWith(title, 'star w')",
        "where endsWith(title, 'LOVE') and genres != 'Drama'",
        "where exact(title = 'heat') or exact(title = 'Heat')",
        "where title in ('heat', 'ALIEN', 'Amélie', 'nothing')",
        "where href = null and year >= 1960 order by title as alphaNumeric",
        "where genres = null and year < 1905 order by id()",
        "where exists(extract) and year < 1910 order by year as double desc nulls last, title",
        "where title > 'zo' and title <= 'zu' or (year = 1942 and not (genres = 'war' or genres = 'comedy'))");

    [Fact]
    public Task All_cities_are_found_as_a_scan_finds_them() => CompareDataSetAsync(
        "cities.ndjson.gz",
        "Cities",
        "where name = 'Oslo' and dem != 'x' and timezone != 'x' and alternate_names != 'x' and alternate_names[] != 'x' and feature != 'x' and modified > '2' and admin1 != 'x' and location.lat > 0 and location.lng > 0 and country = 'no' and population > 0 and id() != 'x'",
        "where country = 'fr' and population > 100000 order by population as long desc",
        "where location.lat between 49 and 50 and location.lng > 4.1 order by location.lat as double, location.lng as double desc",
        "where name = 'KÖLN' or alternate_names[] = 'colonia' order by name",
        "where dem < 0 or dem = null order by dem as long, name",
        "where startsWith(timezone, 'europe/b') and population < 20000 order by name, id()",
        "where startsWith(name, 'Ł') or startsWith(alternate_names, 'くに')",
        "where country in ('AD', 'LI', 'MC', 'va') and feature != 'PPLC' order by country, population as long",
        "where modified >= '2024' and admin1 = '07' order by modified desc, id()");

    private static async Task CompareDataSetAsync(string file, string collection, params string[] queries)
    {
        string path = DataSets.Require(file);
        var random = new Random(Seed.Next());
        using var folder = new TemporaryDirectory();
        using Database database = Database.Open(folder.Path);
        var documents = new SortedDictionary<string, JsonObject>(StringComparer.Ordinal);
        foreach (string[] lines in DataSets.Lines(path).Chunk(2_000))
        {
            var batch = new WriteBatch();
            foreach (string line in lines)
            {
                JsonObject document = JsonNode.Parse(line)!.AsObject(); // a line is an object
                string id = document["id"]!.GetValue<string>(); // which has an id
                documents.Add(id, document);
                batch.Put(id, Encoding.UTF8.GetBytes($"{line.TrimEnd()[..^1]},\"@metadata\":{{\"@collection\":\"{collection}\"}}}}"));
            }

            await database.WriteAsync(batch, TestContext.Current.CancellationToken);
        }

        foreach (string query in queries)
            await CompareAsync(database, documents, $"from {collection} {query}", random);
    }

    private static async Task PutAsync(Database database, SortedDictionary<string, JsonObject> documents, RandomDocuments make, IEnumerable<int> numbers)
    {
        var batch = new WriteBatch();
        foreach (int number in numbers)
        {
            JsonObject document = make.Document();
            documents[$"docs/{number}"] = document;
            JsonObject stored = document.DeepClone().AsObject();
            stored["@metadata"] = new JsonObject { ["@collection"] = "Docs" };
            batch.Put($"docs/{number}", Encoding.UTF8.GetBytes(stored.ToJsonString()));
        }

        await database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    private static async Task ChangeAsync(Database database, SortedDictionary<string, JsonObject> documents, RandomDocuments make, Random random)
    {
        for (int change = random.Next(1, 40); change > 0; change--)
        {
            string id = $"docs/{random.Next(60)}";
            if (random.Next(4) == 0)
            {
                await database.DeleteAsync(id);
                documents.Remove(id);
            }
            else
            {
                JsonObject document = make.Document();
                await database.PutAsync(id, document.ToJsonString(), "Docs");
                documents[id] = document;
            }
        }
    }

    private static async Task CompareAsync(Database database, SortedDictionary<string, JsonObject> documents, string text, Random random)
    {
        RqlQuery query = RqlParser.Parse(text);
        var naive = new NaiveEvaluator(query, []);
        var expected = documents.Where(d => naive.Matches(d.Key, d.Value)).Select(d => d.Key).ToList();

        Answer whole = await database.AskAsync(text);
        List<string> found = [.. whole.Ids];
        Assert.False(whole.IsStale, text);
        string lost = string.Join(' ', expected.Except(found).Take(5));
        string added = string.Join(' ', found.Except(expected).Take(5));
        Assert.True(expected.SequenceEqual(found.Order(StringComparer.Ordinal)), $"{text}\nexpected {expected.Count}, found {found.Count}\nlost  {lost}\nadded {added}\nwith {whole.Index}");
        Assert.Equal(expected.Count, whole.Total);
        for (int i = 1; i < found.Count; i++)
        {
            int order = naive.Compare((found[i - 1], documents[found[i - 1]]), (found[i], documents[found[i]]));
            Assert.True(order <= 0, $"{text}\n{found[i - 1]} {documents[found[i - 1]].ToJsonString()}\nstands before\n{found[i]} {documents[found[i]].ToJsonString()}");
        }

        int skip = random.Next(found.Count + 2);
        int take = random.Next(12);
        Answer page = await database.AskAsync($"{text} limit $skip, $take", $"{{\"skip\":{skip},\"take\":{take}}}");
        Assert.True(found.Skip(skip).Take(take).SequenceEqual(page.Ids), $"{text} limit {skip}, {take}");
        Assert.Equal(whole.Total, page.Total);
    }
}
