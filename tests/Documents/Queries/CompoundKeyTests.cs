using System.Text;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexing.Plans;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// An equality with an order makes its index learn a compound key, after which its answer does not depend on how many documents
/// are equal.
/// </summary>
public sealed class CompoundKeyTests : IDisposable
{
    private const string Text = "from Films where year = 1994 order by title limit 10";

    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task An_index_learns_the_order_of_an_equality_and_keeps_it_true_and_over_a_restart()
    {
        var random = new Random(Seed.Next());
        var titles = new Dictionary<int, (int Year, string Title)>();
        await using (Database database = Database.Open(_directory.Path))
        {
            await ChangeAsync(database, random, titles, 2_000);
            (string[] found, string? way) = await AskAsync(database);
            Assert.Equal(Expected(titles), found);
            Assert.NotEqual("walk a compound key", way);
            await Eventually.TrueAsync(
                () => AskAsync(database).GetAwaiter().GetResult().Way == "walk a compound key", "the compound key is there");
            for (int round = 0; round < 5; round++)
            {
                await ChangeAsync(database, random, titles, 300);
                (found, way) = await AskAsync(database);
                Assert.Equal(Expected(titles), found);
                Assert.Equal("walk a compound key", way);
            }
        }

        await using (Database database = Database.Open(_directory.Path))
        {
            (string[] found, string? way) = await AskAsync(database);
            Assert.Equal(Expected(titles), found);
            Assert.Equal("walk a compound key", way);
        }
    }

    [Fact]
    public async Task A_definition_names_the_keys_that_its_index_has_before_it_is_asked()
    {
        var random = new Random(Seed.Next());
        var titles = new Dictionary<int, (int Year, string Title)>();
        using Database database = Database.Open(_directory.Path);
        await ChangeAsync(database, random, titles, 2_000);
        Define("""[["year","title"]]""");
        await database.Indexes.WaitForNonStaleAsync(Eventually.Patience, null, Cancel);
        await Eventually.TrueAsync(
            () => database.LookInto("Films").Structures(Cancel).Any(
                static part => part.Name.Contains("compound", StringComparison.Ordinal) && part.Keys > 0),
            "the compound key is there before any query");
        Assert.Equal([new CompoundField("year", "title")], database.Indexes.Definition("Films")!.CompoundFields);
        (string[] found, string? way) = await AskAsync(database, Text.Replace("Films", "index Films", StringComparison.Ordinal));
        Assert.Equal(Expected(titles), found);
        Assert.Equal("walk a compound key", way);

        foreach (string wrong in (string[])["""[["year"]]""", """[["year","name"]]""", """[["year","words"]]""", "3", "[[1,2]]"])
            Assert.Equal("CompoundFields", Assert.Throws<InvalidIndexDefinitionException>(() => Define(wrong)).Property);

        void Define(string compounds)
        {
            using JsonDocument json = JsonDocument.Parse(
                """{"Name":"Films","Collections":["Films"],"Fields":{"year":{},"title":{},"words":"""
                    + """{"Path":"title","Indexing":"Search"}},"CompoundFields":"""
                    + compounds
                    + "}");
            database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
        }
    }

    private static string[] Expected(Dictionary<int, (int Year, string Title)> titles) =>
        [.. titles.Values.Where(static film => film.Year == 1994)
            .Select(static film => film.Title)
            .Order(StringComparer.Ordinal)
            .Take(10)];

    private static async Task ChangeAsync(
        Database database, Random random, Dictionary<int, (int Year, string Title)> titles, int changes)
    {
        using var batch = new WriteBatch();
        for (int i = 0; i < changes; i++)
        {
            int number = titles.Count < 2_000 ? titles.Count : random.Next(2_000);
            if (titles.ContainsKey(number) && random.Next(3) == 0)
            {
                titles[number] = (0, ""); // gone
                batch.Delete($"films/{number}");
                continue;
            }

            (int year, string title) = (1993 + random.Next(3), $"title {random.Next(1_000_000):d7}");
            titles[number] = (year, title);
            batch.Put(
                $"films/{number}",
                Encoding.UTF8.GetBytes($$$"""{"year":{{{year}}},"title":"{{{title}}}","@metadata":{"@collection":"Films"}}"""));
        }

        await database.WriteAsync(batch, Cancel);
    }

    private static async Task<(string[] Titles, string? Way)> AskAsync(Database database, string text = Text)
    {
        using QueryResults results = await database.QueryAsync(
            new QueryRequest { Text = text, WaitForNonStaleResults = true, WaitTimeout = Eventually.Patience, WithPlan = true },
            Cancel);
        var titles = new List<string>();
        while (results.MoveNext())
            titles.Add(
                System.Text.Json.JsonDocument.Parse(results.Current.Body.ToArray()).RootElement.GetProperty("title").GetString()
                    ?? "");
        PlanNode? plan = results.Plan;
        return ([.. titles], plan?.Operation);
    }
}
