using System.Text;
using System.Text.Json.Nodes;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// Rows of <c>select distinct</c> are the different values of documents, however these spell names and values, wherever a member
/// stands, and in whichever order documents are read.
/// </summary>
public sealed class DistinctTests : IDisposable
{
    /// <summary>Spellings of a value each, and the value as rows have it at last.</summary>
    private static readonly (string Value, string[] Spellings)[] _values =
    [
        ("n:5", ["5", "5.0", "5e0", "50e-1", "0.5E+1"]),
        ("n:-0.5", ["-0.5", "-0.50", "-5e-1"]),
        ("n:0", ["0", "-0", "0.0", "0e5"]),
        ("n:9007199254740993", ["9007199254740993", "9007199254740993.0"]),
        ("n:9007199254740992", ["9007199254740992"]),
        ("t:5", ["\"5\"", "\"\\u0035\""]),
        ("t:Café", ["\"Café\"", "\"Caf\\u00e9\"", "\"\\u0043af\\u00E9\""]),
        ("t:café", ["\"café\""]),
        ("t:,\"V\":1", ["\",\\\"V\\\":1\"", "\"\\u002c\\\"V\\u0022:1\""]),
        ("true", ["true"]),
        ("null", ["null"]),
        ("[n:5]", ["[5]", "[5.0]"]),
        ("[]", ["[]"]),
        ("{V:n:5}", ["{\"V\":5}", "{\"\\u0056\":5.00}"]),
    ];

    private static readonly string[] _names = ["\"V\"", "\"V\"", "\"V\"", "\"\\u0056\""];

    private static readonly string[] _before =
        ["", "\"A\":1,", "\"A\":{\"V\":7},", "\"A\":[{\"V\":8},\"\\\\\"],", "\"A\":\",\\\"V\\\":9\",", "\"v\":3,\"VV\":4,"];

    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public DistinctTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(12)]
    public async Task Rows_are_the_different_values_of_documents(int othersOfEach)
    {
        var random = new Random(Seed.Next());
        var expected = new Dictionary<string, HashSet<string>>
        {
            ["V"] = [],
            ["In.V"] = [],
            ["V, In.V"] = [],
        };
        foreach (int[] chunk in Enumerable.Range(0, 400).Chunk(100))
        {
            var batch = new WriteBatch();
            foreach (int i in chunk)
            {
                (string own, string ownJson) = Member(random);
                (string inner, string innerJson) = Member(random);
                expected["V"].Add(own);
                expected["In.V"].Add(inner);
                expected["V, In.V"].Add($"{own} {inner}");
                bool isFirst = random.Next(2) == 0;
                string json = isFirst ? $"{ownJson}\"In\":{{{innerJson}\"z\":0}}," : $"\"In\":{{{innerJson}\"z\":0}},{ownJson}";
                batch.Put(
                    $"docs/{random.Next(100_000)}/{i}",
                    Encoding.UTF8.GetBytes($"{{{json}\"@metadata\":{{\"@collection\":\"Docs\"}}}}"));
                for (int other = 0; other < othersOfEach; other++)
                    batch.Put(
                        $"docs/{random.Next(100_000)}/{i}/{other}",
                        """{"V":"other","In":{"V":"other"},"@metadata":{"@collection":"Others"}}"""u8.ToArray());
            }

            await _database.WriteAsync(batch, TestContext.Current.CancellationToken);
        }

        foreach ((string selected, HashSet<string> rows) in expected)
        {
            string names = string.Join(", ", selected.Split(", ").Select(static (path, i) => $"{path} as R{i}"));
            string text = $"from Docs select distinct {names}";
            IEnumerable<string> all = rows.Order(StringComparer.Ordinal);
            Assert.Equal(all, (await RowsAsync(text)).Order(StringComparer.Ordinal));
            Assert.Equal(all, (await RowsAsync(text, budget: 1_000)).Order(StringComparer.Ordinal));
            List<string> some = await RowsAsync($"{text} limit 4");
            Assert.Equal(4, some.Distinct().Count());
            Assert.Equal(4, some.Count);
            Assert.Superset(some.ToHashSet(), rows);

            var paged = new List<string>();
            for (long skip = 0; skip < 400;)
                skip += await PageAsync($"{text} limit {skip}, 3", paged);
            Assert.True(rows.SetEquals(paged), $"{text} in pages");
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(20)]
    public async Task A_collection_that_does_not_exist_has_no_rows(int documents)
    {
        for (int i = 0; i < documents; i++)
            await _database.PutAsync($"docs/{i}", $$"""{"V":{{i}}}""", "Docs");
        Assert.Empty(await RowsAsync("from Nobody select distinct V"));
        Assert.Equal(documents, (await RowsAsync("from Docs select distinct V")).Count);
    }

    private static (string Value, string Json) Member(Random random)
    {
        if (random.Next(8) == 0)
            return ("null", _before[random.Next(_before.Length)]);
        (string value, string[] spellings) = _values[random.Next(_values.Length)];
        return (value, $"{_before[random.Next(_before.Length)]}{_names[random.Next(_names.Length)]}:"
            + $"{spellings[random.Next(spellings.Length)]},");
    }

    private async Task<List<string>> RowsAsync(string text, long? budget = null)
    {
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = text, MaxEntries = budget }, TestContext.Current.CancellationToken);
        var rows = new List<string>();
        while (results.MoveNext())
            rows.Add(Row(results));
        return rows;
    }

    private async Task<long> PageAsync(string text, List<string> rows)
    {
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = text }, TestContext.Current.CancellationToken);
        int before = rows.Count;
        while (results.MoveNext())
            rows.Add(Row(results));
        return Math.Max(1, rows.Count - before + results.SkippedResults);
    }

    private static string Row(QueryResults results)
    {
        var json = new System.Buffers.ArrayBufferWriter<byte>();
        results.WriteCurrent(json);
        JsonObject row = JsonNode.Parse(json.WrittenSpan)!.AsObject(); // a row is an object
        return string.Join(' ', row.Where(static member => member.Key[0] == 'R').Select(static member => Value(member.Value)));
    }

    private static string Value(JsonNode? value) => value switch
    {
        null => "null",
        JsonArray elements => $"[{string.Join(',', elements.Select(Value))}]",
        JsonObject members => $"{{{string.Join(',', members.Select(static member => $"{member.Key}:{Value(member.Value)}"))}}}",
        _ when value.GetValueKind() == System.Text.Json.JsonValueKind.String => $"t:{value.GetValue<string>()}",
        _ when value.GetValueKind() == System.Text.Json.JsonValueKind.Number => $"n:{Number(value.ToJsonString())}",
        _ => value.ToJsonString(),
    };

    private static string Number(string json)
    {
        decimal number = decimal.Parse(
            json, System.Globalization.NumberStyles.Float, System.Globalization.CultureInfo.InvariantCulture);
        string text = number.ToString("0.##########", System.Globalization.CultureInfo.InvariantCulture);
        return text == "-0" ? "0" : text;
    }
}
