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
