using System.Text;
using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Oracle;

/// <summary>
/// Random queries over random documents against a scan that knows nothing of the engine: mixed kinds, texts longer than the index
/// keeps in its dictionaries, all of Unicode's planes, arrays of objects; while documents change, fields are added, indexes are
/// reset, deleted, lost and defined anew, and the database ends in between, also while its indexes are at work. A round has
/// 1,920 queries; TREEPIE_ROUNDS says how many rounds.
/// </summary>
public sealed class OracleTests
{
    private const int QueriesOfRound = 1_920, QueriesOfState = 80;

    /// <summary>The index that is defined by hand, and the fields that it has under the names of their paths.</summary>
    private const string OwnIndex = "Docs/Own";

    private static readonly string[] _own =
    [
        "Name", "Age", "Mixed", "Tags", "Flag", "Address.City", "Address.Zip", "Lines.Product", "Lines.Qty", "Long", "Missing",
        "Score",
    ];


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
                    await (random.Next(16) == 0 && database.Indexes.Definitions().Any(static one => one.Name == OwnIndex)
                        ? CompareOwnAsync(database, documents, make)
                        : CompareAsync(database, documents, make, random));
                database = await DisturbAsync(database, folder.Path, documents, make, random);
            }
        }
        finally
        {
            database.Dispose();
        }
    }

    /// <summary>Whatever happens to a database between two queries.</summary>
    private static async Task<Database> DisturbAsync(
        Database database, string folder, Dictionary<string, JsonObject> documents, OracleQueries make, Random random)
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
            case 4:
                // The end comes while indexes take what was written last, one is built anew and one is given a field.
                await ChangeAsync(database, documents, make, random);
                if (indexes.Length > 0 && random.Next(2) == 0)
                    database.Indexes.Reset(indexes[random.Next(indexes.Length)]);
                Task asked = random.Next(2) == 0 ? AskInPassingAsync(database, make.Condition(1).Text) : Task.CompletedTask;
                await database.DisposeAsync();
                await asked;
                return Database.Open(folder);
            case 5:
                // A definition of other fields in another order takes the place of the one before, here or while it is closed.
                string[] fields = [.. _own, $"New{random.Next(3)}"];
                random.Shuffle(fields);
                database.Indexes.Put(
                    new IndexDefinition
                    {
                        Name = OwnIndex,
                        Collections = ["Docs"],
                        Fields = [.. fields.Select(static name => new IndexFieldDefinition { Name = name })],
                    });
                if (random.Next(2) == 0)
                    return database;
                await database.DisposeAsync();
                return Database.Open(folder);
            default:
                return database;
        }
    }

    /// <summary>Asks without waiting, of a database that may end meanwhile.</summary>
    private static async Task AskInPassingAsync(Database database, string condition)
    {
        try
        {
            using QueryResults results = await database.QueryAsync(
                new QueryRequest { Text = $"from Docs where {condition}", WaitTimeout = TimeSpan.Zero }, CancellationToken.None);
        }
        catch (Exception error) when (error is ObjectDisposedException or OperationCanceledException or TimeoutException)
        {
            // the end was faster
        }
    }

    /// <summary>A condition over fields of the index that is defined by hand, which finds what a scan finds.</summary>
    private static async Task CompareOwnAsync(
        Database database, Dictionary<string, JsonObject> documents, OracleQueries make)
    {
        OracleCondition condition;
        do
            condition = make.Condition(1);
        while (condition.Text.Contains("exact(", StringComparison.Ordinal)
            || condition.Text.Contains("[]", StringComparison.Ordinal)
            || condition.Text.Contains("Ship To", StringComparison.Ordinal));
        string text = $"from index '{OwnIndex}' where {condition.Text}";
        HashSet<string> expected =
            [.. documents.Where(document => condition.Holds(document.Key, document.Value)).Select(document => document.Key)];
        (List<string> found, long total, _) = await AskAsync(database, text);
        Assert.True(
            expected.SetEquals(found) && expected.Count == found.Count && expected.Count == total,
            $"{text}\nmissing {string.Join(' ', expected.Except(found))}\nadded {string.Join(' ', found.Except(expected))}");
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
