using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>
/// An index is a function of its documents: random definitions (in one language or both, with several maps, fan-out, chains of
/// loaded documents, a reduce, and outputs that feed another index) have the same entries, whether they followed the documents in
/// small steps, with one mapper or three, were opened anew and reset in between, or were built at once in the end.
/// </summary>
public sealed class RandomIndexTests
{
    private const string Stored = """{"__all_fields":{"Storage":"Yes"}}""";

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task Indexes_that_followed_their_documents_equal_those_that_are_built_at_once(bool reduces, bool feeds)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 5; round++)
        {
            string[] definitions = [.. Definitions(random, reduces, feeds)];
            string told = $"seed {seed}, round {round}:\n{string.Join('\n', definitions)}";
            using var steps = new IndexRunner(With(mappers: 1, batch: 7));
            using var wide = new IndexRunner(With(mappers: 3, batch: 64 * 1024));
            Define(steps, definitions);
            if (random.Next(2) == 0)
                Define(wide, definitions);
            var last = new Dictionary<string, string>();
            for (int step = 0; step < 25; step++)
            {
                var changes = new Dictionary<string, string?>();
                for (int i = random.Next(1, 15); i > 0; i--)
                {
                    string id = Any(random);
                    changes[id] = random.Next(4) == 0 ? null : Body(random, id);
                }

                foreach ((string id, string? body) in changes)
                    if (body is null)
                        last.Remove(id);
                    else
                        last[id] = body;
                await WriteAsync(steps, changes);
                await WriteAsync(wide, changes);
                if (random.Next(3) == 0)
                    await steps.WaitAsync();
                if (random.Next(8) == 0)
                    steps.Reopen();
                if (random.Next(12) == 0)
                    steps.Database.Indexes.Reset("First");
            }

            using var once = new IndexRunner();
            await WriteAsync(once, last.ToDictionary(static one => one.Key, static one => (string?)one.Value));
            Define(once, definitions);
            if (wide.Database.Indexes.List().Count == 0)
                Define(wide, definitions);
            string expected = await StateAsync(once, feeds);
            Assert.True(expected == await StateAsync(steps, feeds), $"in steps; {told}\n{expected}\n{await StateAsync(steps, feeds)}");
            Assert.True(expected == await StateAsync(wide, feeds), $"by three; {told}\n{expected}\n{await StateAsync(wide, feeds)}");
        }

        static DatabaseOptions With(int mappers, int batch) =>
            new() { Indexing = new IndexingOptions { Mappers = mappers, MaxBatchChanges = batch } };
    }

    private static string Any(Random random) => random.Next(5) switch
    {
        < 2 => $"orders/{random.Next(30)}",
        2 => $"returns/{random.Next(20)}",
        _ => $"companies/{random.Next(6)}",
    };

    private static string Body(Random random, string id)
    {
        string collection = string.Concat(id[..1].ToUpperInvariant(), id.AsSpan(1, id.IndexOf('/', StringComparison.Ordinal) - 1));
        string own = collection == "Companies"
            ? $"\"Name\":\"n{random.Next(4)}\",\"Boss\":\"companies/{random.Next(7)}\""
            : $"\"City\":\"c{random.Next(5)}\",\"Company\":\"companies/{random.Next(7)}\","
                + $"\"Lines\":[{string.Join(',', Enumerable.Range(0, random.Next(4)).Select(_ => random.Next(9)))}],"
                + $"\"Tags\":[{string.Join(',', Enumerable.Range(0, random.Next(3)).Select(_ => $"\"t{random.Next(3)}\""))}]";
        return $"{{{own},\"@metadata\":{{\"@collection\":\"{collection}\"}}}}";
    }

    private static IEnumerable<string> Definitions(Random random, bool reduces, bool feeds)
    {
        string[] keys = ["City", "Name", "Boss", "Tag"];
        string key = keys[random.Next(4)], other = keys[random.Next(4)];
        bool fans = random.Next(2) == 0, isLearned = random.Next(2) == 0;
        List<string> maps = [];
        foreach (string collection in random.Next(2) == 0 ? (string[])["Orders"] : ["Orders", "Returns"])
            maps.Add(random.Next(2) == 0 ? CSharp(collection) : JavaScript(collection));
        string? reduce = !reduces ? null : random.Next(2) == 0
            ? "from r in results group r by new { r.Key, r.Other } into g select new { g.Key.Key, g.Key.Other, N = g.Sum(x => x.N) }"
            : "groupBy(r => ({ Key: r.Key, Other: r.Other })).aggregate(g => ({ Key: g.key.Key, Other: g.key.Other, N: "
                + "g.values.reduce((s, r) => s + r.N, 0) }))";
        yield return Json("First", [.. maps], reduce, feeds ? "Sums" : null);
        if (feeds)
            yield return Json(
                "Second", ["from s in docs.Sums select new { s.Key, Other = \"\", N = s.N * 2 }"],
                "from r in results group r by new { r.Key, r.Other } into g select new { g.Key.Key, g.Key.Other, N = g.Sum(x => x.N) }",
                "MoreSums");

        string CSharp(string collection) =>
            $"from o in docs.{collection} let c = LoadDocument(o.Company, \"Companies\") let b = LoadDocument(c.Boss, \"Companies\") "
                + $"from t in o.Tags.DefaultIfEmpty(\"none\") {(fans ? "from l in o.Lines" : "")} select new {{ Key = {Of(key)}, "
                + $"Other = {Of(other)}, N = {(fans ? "l" : "1")} }}";

        string JavaScript(string collection)
        {
            string result = isLearned
                ? $"{{ ...{{ Key: {Of(key)} }}, ...Object.fromEntries([['Other', {Of(other)}]]), N: {(fans ? "l" : "1")} }}"
                : $"{{ Key: {Of(key)}, Other: {Of(other)}, N: {(fans ? "l" : "1")} }}";
            return $"map('{collection}', o => {{ const c = load(o.Company, 'Companies'), b = c ? load(c.Boss, 'Companies') : null; "
                + "return (o.Tags.length ? o.Tags : ['none']).flatMap(t => "
                + (fans ? $"o.Lines.map(l => ({result}))" : $"[{result}]") + "); })";
        }

        static string Of(string name) => name switch
        {
            "City" => "o.City",
            "Tag" => "t",
            "Name" => "(c == null ? null : c.Name)",
            _ => "(b == null ? null : b.Name)",
        };
    }

    private static string Json(string name, string[] maps, string? reduce, string? output) =>
        $"{{\"Name\":\"{name}\",\"Maps\":{JsonSerializer.Serialize(maps)},\"Reduce\":{JsonSerializer.Serialize(reduce)},"
            + $"\"Fields\":{Stored},\"OutputReduceToCollection\":{JsonSerializer.Serialize(output)}}}";

    private static void Define(IndexRunner run, string[] definitions)
    {
        foreach (string definition in definitions)
        {
            using JsonDocument json = JsonDocument.Parse(definition);
            run.Database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
        }
    }

    private static async Task WriteAsync(IndexRunner run, Dictionary<string, string?> changes)
    {
        var batch = new WriteBatch();
        foreach ((string id, string? body) in changes)
            _ = body is null ? batch.Delete(id) : batch.Put(id, Encoding.UTF8.GetBytes(body));
        await run.Database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    /// <summary>The entries of all indexes and the documents that they write, as text.</summary>
    private static async Task<string> StateAsync(IndexRunner run, bool feeds)
    {
        for (int level = 0; level < (feeds ? 3 : 1); level++)
            await run.WaitAsync(); // each level of outputs is indexed in turn
        var state = new StringBuilder();
        foreach (IndexStatistics index in run.Database.Indexes.List().Where(static index => !index.Name.StartsWith("Auto/", StringComparison.Ordinal)))
        {
            state.Append(CultureInfo.InvariantCulture, $"{index.Name} {string.Join(' ', index.Fields.Order(StringComparer.Ordinal))}\n");
            string id = index.IsMapReduce ? "" : "id(), ";
            state.AppendJoin(
                '\n',
                (await run.AskAsync($"from index {index.Name} select {id}Key, Other, N limit 100000")).Order(StringComparer.Ordinal));
            state.Append('\n');
            Assert.Empty(run.Database.Indexes.Errors(index.Name));
        }

        foreach (string collection in feeds ? (string[])["Sums", "MoreSums"] : [])
            state.Append(collection).Append('\n').AppendJoin(
                '\n', (await run.AskAsync($"from {collection} limit 100000")).Order(StringComparer.Ordinal));
        return state.ToString();
    }
}
