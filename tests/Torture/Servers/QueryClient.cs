using System.Globalization;
using System.Net;
using System.Text.Json.Nodes;

namespace Treepie.Torture.Servers;

/// <summary>
/// Queries while others write, reads streams to their end, and defines and deletes indexes of every kind. After a restart each
/// definition must be the acknowledged one, and each query must return what a scan of the documents finds.
/// </summary>
internal sealed class QueryClient(Random random) : IStormClient
{
    private static readonly JsonObject[] _definitions =
    [
        Definition("Things/ByScript", "map('Things', t => ({ Kind: t.Kind, Twice: t.Number * 2 }))"),
        Definition("Things/ByText", "from t in docs.Things select new { Kind = t.Kind.ToUpper(), Twice = t.Number + t.Number }"),
        Definition(
            "Things/Sums", "from t in docs.Things select new { t.Kind, Count = 1, Sum = t.Number * 1 }",
            "from r in results group r by r.Kind into g "
                + "select new { Kind = g.Key, Count = g.Sum(x => x.Count), Sum = g.Sum(x => x.Sum) }"),
    ];

    private readonly Dictionary<string, bool> _indexes = [];
    private (string Name, bool Puts)? _unanswered;
    private int _queries;

    public string Report => $"{_queries} queries";

    public Task PrepareAsync(DatabaseClient database) => Task.CompletedTask;

    public Task RunAsync(DatabaseClient database, Action acknowledged) =>
        Task.WhenAll(
            AskAsync(database, new Random(random.Next())), DefineAsync(database, new Random(random.Next()), acknowledged));

    public async Task VerifyAsync(DatabaseClient database)
    {
        JsonNode listed = await database.SendAsync(HttpMethod.Get, "indexes?namesOnly=true&pageSize=1000");
        string[] names = [.. listed["Results"]!.AsArray().Select(static name => (string?)name ?? "")]; // always present
        if (_unanswered is { } change)
            _indexes[change.Name] = names.Contains(change.Name);
        _unanswered = null;
        foreach ((string name, bool isThere) in _indexes)
            ServerTortureException.ThrowUnless(
                names.Contains(name) == isThere, $"Index '{name}' should {(isThere ? "" : "not ")}be there.");

        List<JsonNode> things = await database.LinesAsync("streams/docs?startsWith=things/&format=jsonl");
        (int Number, string Group)[] all =
            [.. things.Select(static thing => ((int?)thing["Number"] ?? -1, (string?)thing["Kind"] ?? ""))];
        await ExpectAsync(
            database, "from Things where Kind = 'g1' and Number < 500",
            all.Count(static thing => thing is { Group: "g1", Number: < 500 }));
        await ExpectAsync(
            database, "from Things where Number between 100 and 400",
            all.Count(static thing => thing.Number is >= 100 and <= 400));
        if (_indexes.GetValueOrDefault("Things/ByScript"))
            await ExpectAsync(
                database, "from index 'Things/ByScript' where Twice < 600", all.Count(static thing => thing.Number < 300));
        if (_indexes.GetValueOrDefault("Things/ByText"))
            await ExpectAsync(
                database, "from index 'Things/ByText' where Kind = 'G2'", all.Count(static thing => thing.Group == "g2"));

        string sums = string.Join(
            "; ",
            all.GroupBy(static thing => thing.Group).OrderBy(static group => group.Key, StringComparer.Ordinal)
                .Select(static group => $"{group.Key} {group.Count()} {group.Sum(static thing => thing.Number)}"));
        await ExpectSumsAsync(
            database, "from Things group by Kind select key() as Kind, count() as Count, sum(Number) as Sum", sums);
        if (_indexes.GetValueOrDefault("Things/Sums"))
            await ExpectSumsAsync(database, "from index 'Things/Sums'", sums);
    }

    private static JsonObject Definition(string name, string map, string? reduce = null) => new()
    {
        ["Name"] = name,
        ["Maps"] = new JsonArray(map),
        ["Reduce"] = reduce,
    };

    private async Task DefineAsync(DatabaseClient database, Random own, Action acknowledged)
    {
        while (true)
        {
            JsonObject definition = _definitions[own.Next(_definitions.Length)];
            string name = (string)definition["Name"]!; // set above
            bool puts = !_indexes.GetValueOrDefault(name) || own.Next(3) > 0;
            _unanswered = (name, puts);
            if (puts)
                await database.SendAsync(HttpMethod.Put, "admin/indexes", new JsonObject
                {
                    ["Indexes"] = new JsonArray(definition.DeepClone())
                });
            else
                await database.SendAsync(HttpMethod.Delete, $"indexes?name={name}");
            _indexes[name] = puts;
            _unanswered = null;
            acknowledged();
            await Task.Delay(own.Next(300));
        }
    }

    private async Task AskAsync(DatabaseClient database, Random own)
    {
        while (true)
        {
            string query = own.Next(4) switch
            {
                0 => $"from Things where Kind = 'g{own.Next(5)}' and Number < {own.Next(1_000)}",
                1 => $"from Things where search(Text, 'w{own.Next(2)}x{own.Next(12)}') order by Number desc",
                2 => "from Things group by Kind select key() as Kind, count() as Count, sum(Number) as Sum",
                _ => $"from Things where F{own.Next(6)} = null or Number = {own.Next(1_000)}",
            };
            (HttpStatusCode status, string text) = own.Next(3) == 0
                ? await database.TryAsync(HttpMethod.Get, "streams/docs?startsWith=things/&format=jsonl")
                : await database.TryAsync(
                    HttpMethod.Post, own.Next(3) == 0 && !query.Contains("group by", StringComparison.Ordinal)
                        ? "streams/queries"
                        : "queries",
                    new JsonObject { ["Query"] = query });
            ServerTortureException.ThrowUnless(
                status == HttpStatusCode.OK, $"The query '{query}' is answered {(int)status}: {text}");
            Interlocked.Increment(ref _queries);
            await Task.Delay(own.Next(20));
        }
    }

    private static async Task ExpectAsync(DatabaseClient database, string query, int expected)
    {
        int found = (int)(await AskFreshAsync(database, query + " limit 0, 1"))["TotalResults"]!; // always present
        ServerTortureException.ThrowUnless(
            found == expected, $"'{query}' finds {found} documents; a scan finds {expected}.");
    }

    private static async Task ExpectSumsAsync(DatabaseClient database, string query, string expected)
    {
        JsonNode answer = await AskFreshAsync(database, query);
        string found = string.Join(
            "; ",
            answer["Results"]!.AsArray().Select(static one => $"{one!["Kind"]} {one["Count"]} {one["Sum"]}") // always present
                .Order(StringComparer.Ordinal));
        ServerTortureException.ThrowUnless(found == expected, $"'{query}' gives {found}; a scan gives {expected}.");
    }

    private static async Task<JsonNode> AskFreshAsync(DatabaseClient database, string query)
    {
        JsonNode answer = await database.SendAsync(HttpMethod.Post, "queries", new JsonObject
        {
            ["Query"] = query,
            ["WaitForNonStaleResults"] = true,
            ["WaitForNonStaleResultsTimeout"] = "00:03:00",
        });
        ServerTortureException.ThrowUnless(
            !(bool)answer["IsStale"]!, string.Create(CultureInfo.InvariantCulture, $"'{query}' is still stale: {answer}"));
        return answer;
    }
}
