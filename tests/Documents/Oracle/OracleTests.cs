using System.Text;
using System.Text.Json.Nodes;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Oracle;

/// <summary>
/// Random queries over random documents against a scan that knows nothing of the engine: mixed kinds, texts longer than the index
/// keeps in its dictionaries, all of Unicode's planes, arrays of objects; while documents change, fields are added, indexes are
/// reset, deleted and lost, and the database is closed in between. A round has 2,000 queries; TREEPIE_ROUNDS says how many
/// rounds.
/// </summary>
public sealed class OracleTests
{
    private const int QueriesOfRound = 2_000, QueriesOfState = 80;

    private static readonly int _rounds = int.TryParse(Environment.GetEnvironmentVariable("TREEPIE_ROUNDS"), out int rounds)
        ? rounds
        : 10;

    [Fact]
    public async Task Random_queries_find_what_a_scan_finds()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < _rounds; round++)
            await RunRoundAsync(random);
    }

    private static async Task RunRoundAsync(Random random)
    {
        var make = new OracleQueries(random);
        var documents = new Dictionary<string, JsonObject>(StringComparer.Ordinal);
        using var folder = new TemporaryDirectory();
        Database database = Database.Open(folder.Path);
        try
        {
            for (int asked = 0; asked < QueriesOfRound; asked += QueriesOfState)
            {
                await ChangeAsync(database, documents, make, random);
                for (int i = 0; i < QueriesOfState; i++)
                    await CompareAsync(database, documents, make, random);
                database = await DisturbAsync(database, folder.Path, random);
            }
        }
        finally
        {
            database.Dispose();
        }
    }

    /// <summary>Whatever happens to a database between two queries.</summary>
    private static async Task<Database> DisturbAsync(Database database, string folder, Random random)
    {
        string[] indexes = [.. database.Indexes.List().Select(index => index.Name)];
        switch (random.Next(8))
        {
            case 0 when indexes.Length > 0:
                database.Indexes.Reset(indexes[random.Next(indexes.Length)]);
                return database;
            case 1 when indexes.Length > 0:
                database.Indexes.Delete(indexes[random.Next(indexes.Length)]);
                return database;
            case 2:
                await database.DisposeAsync();
                return Database.Open(folder);
            case 3:
                // Indexes are made of documents: of one that is lost only time is lost.
                await database.DisposeAsync();
                string[] stores = Directory.GetDirectories(Path.Combine(folder, "indexes"));
                if (stores.Length > 0)
                    Directory.Delete(stores[random.Next(stores.Length)], recursive: true);
                return Database.Open(folder);
            default:
                return database;
        }
    }

    private static async Task ChangeAsync(
        Database database, Dictionary<string, JsonObject> documents, OracleQueries make, Random random)
    {
        var batch = new WriteBatch();
        foreach (string id in Enumerable.Range(0, random.Next(1, 25)).Select(_ => $"docs/{random.Next(50)}").Distinct())
        {
            if (random.Next(4) == 0)
            {
                batch.Delete(id);
                documents.Remove(id);
                continue;
            }

            JsonObject document = make.Document();
            documents[id] = document;
            JsonObject stored = document.DeepClone().AsObject();
            stored["@metadata"] = new JsonObject { ["@collection"] = "Docs" };
            batch.Put(id, Encoding.UTF8.GetBytes(stored.ToJsonString()));
        }

        batch.Put("other/1", """{"Name":"anna","@metadata":{"@collection":"Others"}}"""u8.ToArray());
        await database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    private static async Task CompareAsync(
        Database database, Dictionary<string, JsonObject> documents, OracleQueries make, Random random)
    {
        OracleCondition condition = make.Condition(3);
        List<OracleOrder> orders = make.Orders();
        string text =
            $"from Docs where "
                + $"{condition.Text}"
                + $"{(orders.Count == 0 ? "" : " order by " + string.Join(", ", orders.Select(order => order.Text)))}";
        HashSet<string> expected =
            [.. documents.Where(document => condition.Holds(document.Key, document.Value)).Select(document => document.Key)];
        (List<string> found, long total, _) = await AskAsync(database, text, neverStale: random.Next(3) == 0);
        Assert.True(
            expected.SetEquals(found) && expected.Count == found.Count,
            $"{text}\nmissing {string.Join(' ', expected.Except(found))}\nadded "
                + $"{string.Join(' ', found.Except(expected))}\n"
                + $"{string.Join('\n', expected.Except(found).Concat(found.Except(expected)).Take(2).Select(id => documents.GetValueOrDefault(id)?.ToJsonString()))}");
        Assert.True(expected.Count == total, text);
        for (int i = 1; i < found.Count; i++)
        {
            (string, JsonObject) before = (found[i - 1], documents[found[i - 1]]), after = (found[i], documents[found[i]]);
            int order = orders.Select(key => key.Compare(before, after)).FirstOrDefault(by => by != 0);
            Assert.True(order <= 0, $"{text}\n{before}\nstands before\n{after}");
        }

        if (random.Next(6) == 0)
            await CountAsync(database, condition.Text, [.. expected.Select(id => documents[id])], make.Facet());
        if (random.Next(6) == 0)
            await TellApartAsync(database, "from Docs", [.. documents.Values], make.Row(), random);
        if (random.Next(6) == 0)
            await TellApartAsync(
                database, $"from Docs where {condition.Text}", [.. expected.Select(id => documents[id])], make.Row(), random);
        if (random.Next(6) == 0)
            await GoOnAsync(database, text, found, size: random.Next(1, 20));
        if (random.Next(3) == 0)
        {
            (List<string> filtered, _, _) = await AskAsync(database, $"from Docs filter {condition.Text}");
            Assert.True(
                expected.SetEquals(filtered) && expected.Count == filtered.Count,
                $"from Docs filter {condition.Text}\nmissing {string.Join(' ', expected.Except(filtered))}\nadded "
                    + $"{string.Join(' ', filtered.Except(expected))}\n"
                    + $"{string.Join('\n', expected.Except(filtered).Concat(filtered.Except(expected)).Take(2).Select(id => documents.GetValueOrDefault(id)?.ToJsonString()))}");
        }

        if (random.Next(4) > 0)
            return;
        (int skip, int take) = (random.Next(found.Count + 2), random.Next(10));
        (List<string> page, total, _) = await AskAsync(database, $"{text} limit {skip}, {take}");
        Assert.True(found.Skip(skip).Take(take).SequenceEqual(page) && total == expected.Count, $"{text} limit {skip}, {take}");
    }

    /// <summary>Counts the terms of a field among the hits.</summary>
    private static async Task CountAsync(
        Database database, string condition, List<JsonObject> hits,
        (string Path, Func<JsonObject, IEnumerable<string>> Terms) facet)
    {
        string text = $"from Docs where {condition} select facet({facet.Path})";
        IEnumerable<string> expected = hits.SelectMany(facet.Terms)
            .GroupBy(static term => term)
            .Select(static group => $"{group.Key} {group.Count()}");
        var request = new QueryRequest { Text = text, WaitForNonStaleResults = true, WaitTimeout = Eventually.Patience };
        using QueryResults results = await database.QueryAsync(request, TestContext.Current.CancellationToken);
        var row = new System.Buffers.ArrayBufferWriter<byte>();
        Assert.True(results.MoveNext());
        results.WriteCurrent(row);
        IEnumerable<string> counted = JsonNode.Parse(row.WrittenSpan)!["Values"]!.AsArray() // a row of a facet
            .Select(static value => $"{value!["Range"]} {value["Count"]}");
        Assert.True(
            expected.Order(StringComparer.Ordinal).SequenceEqual(counted.Order(StringComparer.Ordinal)),
            $"{text}\nmissing {string.Join('|', expected.Except(counted))}\nadded {string.Join('|', counted.Except(expected))}");
    }

    /// <summary>Reads the different values of a field among the hits.</summary>
    private static async Task TellApartAsync(
        Database database, string text, List<JsonObject> hits, (string Path, Func<JsonObject, string> Value) row, Random random)
    {
        HashSet<string> expected = [.. hits.Select(row.Value)];
        int most = random.Next(2) == 0 ? random.Next(1, 8) : int.MaxValue;
        text += $" select distinct {row.Path} as Row" + (most < int.MaxValue ? $" limit {most}" : "");
        var request = new QueryRequest { Text = text, WaitForNonStaleResults = true, WaitTimeout = Eventually.Patience };
        using QueryResults results = await database.QueryAsync(request, TestContext.Current.CancellationToken);
        var rows = new List<string>();
        while (results.MoveNext())
        {
            var json = new System.Buffers.ArrayBufferWriter<byte>();
            results.WriteCurrent(json);
            rows.Add(OracleValue.Whole(JsonNode.Parse(json.WrittenSpan)!["Row"])); // a row is an object
        }

        Assert.True(
            expected.IsSupersetOf(rows)
                && rows.Distinct().Count() == rows.Count
                && rows.Count == Math.Min(most, expected.Count),
            $"{text}\nmissing {string.Join('|', expected.Except(rows))}\nadded {string.Join('|', rows.Except(expected))}");
    }

    /// <summary>Reads page after page, each going on where the one before ended.</summary>
    private static async Task GoOnAsync(Database database, string text, List<string> found, int size)
    {
        var seen = new List<string>();
        string? place = null;
        do
        {
            var request = new QueryRequest
            {
                Text = text,
                WaitForNonStaleResults = true,
                WaitTimeout = Eventually.Patience,
                PageSize = size,
                WithContinuation = true,
                Continuation = place
            };
            using QueryResults results = await database.QueryAsync(request, TestContext.Current.CancellationToken);
            while (results.MoveNext())
                seen.Add(results.Current.IdText());
            place = results.Continuation;
        }
        while (place is not null);

        Assert.True(found.SequenceEqual(seen), $"{text} in pages of {size}");
    }

    private static async Task<(List<string> Ids, long Total, string Index)> AskAsync(
        Database database, string text, bool neverStale = false)
    {
        var request = new QueryRequest
        {
            Text = text,
            WaitForNonStaleResults = !neverStale,
            NeverStale = neverStale,
            WaitTimeout = Eventually.Patience
        };
        using QueryResults results = await database.QueryAsync(request, TestContext.Current.CancellationToken);
        Assert.False(results.IsStale, text);
        var ids = new List<string>();
        while (results.MoveNext())
            ids.Add(results.Current.IdText());
        return (ids, results.TotalResults, results.IndexName);
    }
}
