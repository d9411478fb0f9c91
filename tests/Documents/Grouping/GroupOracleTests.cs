using System.Buffers;
using System.Text;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Grouping;

/// <summary>
/// Groups are what LINQ says, whatever happened to their documents: changed, moved to other groups, deleted, indexed in steps, at
/// once, by several threads, or not at all yet.
/// </summary>
public sealed class GroupOracleTests
{
    private const string ByCity =
        "from Orders group by Ship.City select Ship.City, count(), sum(Freight), min(Freight) as Least, max(Freight)";
    private const string ByCityAndQuantities = "from Orders group by Ship.City, array(Lines[].Quantity) select key(), count()";
    private const string ByLine =
        "from Orders group by Lines[].Product, Lines[].Quantity select Lines[].Product as P, Lines[].Quantity as Q, count(), "
            + "sum(Lines[].Quantity) as Sum";

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task Groups_are_what_LINQ_says(int mappers)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var oracle = new GroupOracle(random);
        using var folder = new TemporaryDirectory();
        var options = new DatabaseOptions { Indexing = new IndexingOptions { Mappers = mappers, MaxBatchChanges = 100 } };
        Database database = Database.Open(folder.Path, options);
        try
        {
            bool isPaused = false;
            for (int step = 0; step < 60; step++)
            {
                await ChangeAsync(database, oracle, random);
                switch (random.Next(8))
                {
                    case 0:
                        database.Dispose();
                        database = Database.Open(folder.Path, options);
                        isPaused = false;
                        break;
                    case 1 when database.Indexes.List() is [{ } first, ..]:
                        database.Indexes.Reset(first.Name);
                        break;
                    case 2 when step > 0: // all indexes are there
                        database.Indexes.Control.Pause();
                        isPaused = true;
                        break;
                    default:
                        database.Indexes.Control.Resume();
                        isPaused = false;
                        break;
                }

                await CheckAsync(database, ByCity, oracle.ByCity(), isPaused, seed);
                await CheckAsync(database, ByCityAndQuantities, oracle.ByCityAndQuantities(), isPaused, seed);
                await CheckAsync(database, ByLine, oracle.ByLine(), isPaused, seed);
                foreach (string condition in (string[])
                    ["startsWith(id(), 'orders/1')", "startsWith(id(), 'orders/1') and exists(Padding)"])
                    await CheckAsync(database, Of(ByCity, condition), oracle.ByCity("orders/1"), isPaused, seed);
                await CheckAsync(database, Of(ByLine, "true"), oracle.ByLine(), isPaused, seed);
            }
        }
        finally
        {
            database.Dispose();
        }
    }

    [Fact]
    public async Task Groups_that_grow_and_shrink_are_those_of_an_index_built_at_once()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var folder = new TemporaryDirectory();
        using var database = Database.Open(
            folder.Path, new DatabaseOptions { Indexing = new IndexingOptions { MaxBatchChanges = 64 } });
        var there = new SortedDictionary<int, decimal>();
        await AskAsync(database, "from Orders group by City select count()", isPaused: false);
        for (int round = 0; round < 12; round++)
        {
            // Round by round more documents, then fewer: leaves become branches and branches leaves again.
            var batch = new WriteBatch();
            for (int i = 0; i < 400; i++)
            {
                int id = random.Next(700);
                bool isDeleted = random.Next(20) < (round % 6 < 3 ? 2 : 19);
                if (isDeleted)
                {
                    there.Remove(id);
                    batch.Delete($"orders/{id}");
                    continue;
                }

                there[id] = random.Next(1_000_000) / 1000m;
                batch.Put(
                    $"orders/{id}",
                    Encoding.UTF8.GetBytes(
                        FormattableString.Invariant(
                            $$"""{"City":"x","Freight":{{there[id]}},"@metadata":{"@collection":"Orders"} }""")));
            }

            await database.WriteAsync(batch, TestContext.Current.CancellationToken);
            decimal sum = there.Values.Sum();
            string expected = FormattableString.Invariant($$"""{"Count":{{there.Count}},"Freight":{{sum:0.###}}}""");
            Assert.Equal(
                [expected], await AskAsync(database, "from Orders group by City select count(), sum(Freight)", isPaused: false));
            string name = Assert.Single(database.Indexes.List()).Name;
            database.Indexes.Reset(name);
            Assert.Equal(
                [expected], await AskAsync(database, "from Orders group by City select count(), sum(Freight)", isPaused: false));
        }
    }

    [Fact]
    public async Task A_change_of_a_large_group_reduces_a_leaf_and_the_branches_above_it()
    {
        using var folder = new TemporaryDirectory();
        using var database = Database.Open(folder.Path);
        long[] reduced = new long[3];
        int count = 0;
        foreach ((int size, int at) in ((int, int)[])[(100, 0), (5_000, 1), (50_000, 2)])
        {
            for (; count < size;)
            {
                var batch = new WriteBatch();
                for (int end = Math.Min(size, count + 5_000); count < end; count++)
                    batch.Put($"orders/{count}", """{"City":"x","Freight":0.1,"@metadata":{"@collection":"Orders"} }"""u8);
                await database.WriteAsync(batch, TestContext.Current.CancellationToken);
            }

            string before = Assert.Single(
                await AskAsync(database, "from Orders group by City select count(), sum(Freight)", isPaused: false));
            Assert.Equal(FormattableString.Invariant($$"""{"Count":{{size}},"Freight":{{size / 10}}}"""), before);
            DocumentIndex index = database.Indexes.Indexes()[0];
            long reducesBefore = index.Reduces.Reduces,
                groupsBefore = index.Reduces.Groups,
                objectsBefore = index.Reduces.Reduced;
            await database.WriteAsync(
                new WriteBatch().Put("orders/7", """{"City":"x","Freight":1000.1,"@metadata":{"@collection":"Orders"} }"""u8),
                TestContext.Current.CancellationToken);
            string after = Assert.Single(
                await AskAsync(database, "from Orders group by City select count(), sum(Freight)", isPaused: false));
            Assert.Equal(FormattableString.Invariant($$"""{"Count":{{size}},"Freight":{{(size / 10) + 1000}}}"""), after);
            Assert.Equal(1, index.Reduces.Groups - groupsBefore);
            reduced[at] = index.Reduces.Reduces - reducesBefore;
            Assert.True(index.Reduces.Reduced - objectsBefore <= 128 + (4 * reduced[at]), "a leaf and branches of four");

            // What is changed beside the group and the sum reduces nothing.
            await database.WriteAsync(
                new WriteBatch().Put("orders/7", """{"City":"x","Freight":0.1,"@metadata":{"@collection":"Orders"} }"""u8),
                TestContext.Current.CancellationToken);
            await AskAsync(database, "from Orders group by City select count(), sum(Freight)", isPaused: false);
            long known = index.Reduces.Reduces;
            await database.WriteAsync(
                new WriteBatch().Put(
                    "orders/7", """{"City":"x","Freight":0.1,"More":1,"@metadata":{"@collection":"Orders"} }"""u8),
                TestContext.Current.CancellationToken);
            await AskAsync(database, "from Orders group by City select count(), sum(Freight)", isPaused: false);
            Assert.Equal(known, index.Reduces.Reduces);
        }

        // A leaf has 128 results at the most, and a branch four children: the logarithm of size / 128 to the base 4, and one for
        // places that are not spread evenly.
        Assert.Equal(1, reduced[0]);
        Assert.InRange(reduced[1], 2, 5);
        Assert.InRange(reduced[2], reduced[1], 7);
    }

    private static string Of(string text, string condition) =>
        text.Replace("from Orders ", $"from Orders ({condition}) ", StringComparison.Ordinal);

    private static async Task ChangeAsync(Database database, GroupOracle oracle, Random random)
    {
        var batch = new WriteBatch();
        for (int i = random.Next(1, 80); i > 0; i--)
        {
            string id = $"orders/{random.Next(400)}";
            if (random.Next(4) > 0 || !oracle.Ids.Contains(id))
            {
                batch.Put(id, Encoding.UTF8.GetBytes(oracle.Put(id)));
                continue;
            }

            oracle.Delete(id);
            batch.Delete(id);
        }

        await database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    private static async Task CheckAsync(Database database, string text, IEnumerable<string> expected, bool isPaused, int seed)
    {
        IReadOnlyList<string> found = await AskAsync(database, text, isPaused);
        string[] wanted = [.. expected.Order(StringComparer.Ordinal)];
        Assert.True(wanted.SequenceEqual(found), $"""
            TREEPIE_SEED={seed}: {text}{(isPaused ? " (never stale)" : "")}
            missing: {string.Join(' ', wanted.Except(found))}
            too much: {string.Join(' ', found.Except(wanted))}
            """);
    }

    /// <summary>Rows as they are written, byte for byte, without metadata.</summary>
    private static async Task<IReadOnlyList<string>> AskAsync(Database database, string text, bool isPaused)
    {
        var request = new QueryRequest
        {
            Text = text,
            WaitForNonStaleResults = !isPaused,
            NeverStale = isPaused,
            WaitTimeout = Eventually.Patience
        };
        using QueryResults results = await database.QueryAsync(request, TestContext.Current.CancellationToken);
        Assert.False(results.IsStale);
        var rows = new List<string>();
        var output = new ArrayBufferWriter<byte>();
        while (results.MoveNext())
        {
            output.ResetWrittenCount();
            results.WriteCurrent(output);
            string row = Encoding.UTF8.GetString(output.WrittenSpan);
            rows.Add(row[..row.LastIndexOf(",\"@metadata\"", StringComparison.Ordinal)] + "}");
        }

        rows.Sort(StringComparer.Ordinal);
        Assert.Equal(rows.Count, results.TotalResults);
        return rows;
    }
}
