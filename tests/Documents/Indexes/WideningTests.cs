using System.Globalization;
using System.Text.Json.Nodes;
using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>
/// Auto-indexes are given fields while documents change, again and again, also closed in the middle: what they answer is what a
/// scan of the documents finds, and no entry is written a second time for it.
/// </summary>
public sealed class WideningTests
{
    private static readonly string[] _fields = ["A", "B", "C", "D"];

    [Fact]
    public async Task A_widened_index_keeps_its_entries_and_its_directory()
    {
        using var folder = new TemporaryDirectory();
        using var database = Database.Open(folder.Path);
        var batch = new WriteBatch();
        for (int i = 0; i < 500; i++)
            batch.Put(
                $"users/{i}",
                System.Text.Encoding.UTF8.GetBytes(
                    $$"""{"Name":"n{{i % 7}}","Age":{{i % 50}},"Notes":"word{{i % 3}} and more","@metadata":{"@collection":"Users"} }"""));
        await database.WriteAsync(batch, TestContext.Current.CancellationToken);
        await database.AskAsync("from Users where Name = 'n1'");
        string directory = Assert.Single(Directory.EnumerateDirectories(Path.Combine(folder.Path, "indexes")));

        Answer answer = await database.AskAsync("from Users where Age = 3 and search(Notes, 'word1') order by Name");
        Assert.Equal(Enumerable.Range(0, 500).Count(i => i % 50 == 3 && i % 3 == 1), answer.Total);
        Assert.Equal("Auto/Users/ByNameAndAgeAndSearch(Notes)", answer.Index);
        IndexStatistics index = Assert.Single(database.Indexes.List());
        Assert.Equal((500, 3, false), (index.EntryCount, index.CompleteFieldCount, index.IsStale));
        Assert.Equal(directory, Assert.Single(Directory.EnumerateDirectories(Path.Combine(folder.Path, "indexes"))));
    }

    [Fact]
    public async Task Answers_equal_a_scan_while_fields_are_added_documents_change_and_the_database_is_reopened()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var folder = new TemporaryDirectory();
        var model = new Dictionary<string, JsonObject>(StringComparer.Ordinal);
        Database database = Database.Open(folder.Path);
        try
        {
            for (int step = 0; step < 40; step++)
            {
                await ChangeAsync(database, model, random);
                if (random.Next(6) == 0)
                {
                    // An index begun to be widened is closed wherever it is.
                    string field = _fields[random.Next(_fields.Length)];
                    Task<Answer> widening = database.AskAsync($"from Users where exact({field}{random.Next(3)} = 'x')");
                    database.Dispose();
                    await ((Task)widening).ConfigureAwait(
                        ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
                    database = Database.Open(folder.Path);
                }

                string asked = _fields[random.Next(_fields.Length)] + random.Next(3).ToString(CultureInfo.InvariantCulture);
                string value = $"v{random.Next(4)}";
                bool words = random.Next(2) == 0;
                string other = _fields[random.Next(_fields.Length)] + "0";
                string condition = words ? $"search({asked}, '{value}')" : $"{asked} = '{value}'";
                Answer answer = await database.AskAsync($"from Users where {condition} and {other} != 'v0' order by {other}");
                string[] expected = [
                    .. model.Where(d => Has(d.Value, asked, value) && !Has(d.Value, other, "v0"))
                        .Select(d => d.Key)
                        .Order(StringComparer.Ordinal)];
                Assert.True(
                    expected.SequenceEqual(answer.Ids.Order(StringComparer.Ordinal)),
                    $"seed {seed}, step {step}: {condition} in {answer.Index}: {string.Join(",", expected)} / "
                        + $"{string.Join(",", answer.Ids)}");
                Assert.All(database.Indexes.List(), index => Assert.Equal(model.Count, index.EntryCount));
            }
        }
        finally
        {
            database.Dispose();
        }
    }

    private static async Task ChangeAsync(Database database, Dictionary<string, JsonObject> model, Random random)
    {
        var batch = new WriteBatch();
        foreach (string id in Enumerable.Range(0, random.Next(1, 12)).Select(_ => $"users/{random.Next(40)}").Distinct())
        {
            if (random.Next(4) == 0)
            {
                model.Remove(id);
                batch.Delete(id);
                continue;
            }

            var document = new JsonObject();
            foreach (string field in _fields)
                for (int i = 0; i < 3; i++)
                    if (random.Next(4) != 0)
                        document[$"{field}{i}"] = random.Next(3) == 0
                            ? new JsonArray($"v{random.Next(4)}", $"v{random.Next(4)}")
                            : $"v{random.Next(4)}";
            model[id] = document;
            JsonObject stored = document.DeepClone().AsObject();
            stored["@metadata"] = new JsonObject { ["@collection"] = "Users" };
            batch.Put(id, System.Text.Encoding.UTF8.GetBytes(stored.ToJsonString()));
        }

        await database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    private static bool Has(JsonObject document, string field, string value) => document[field] switch
    {
        JsonArray values => values.Any(v => v?.GetValue<string>() == value),
        JsonValue single => single.GetValue<string>() == value,
        _ => false,
    };
}
