using System.Text;
using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Indexing.Analysis;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// Answers that are never stale: an index that is held back, asked so, answers exactly as the same index does when it has been let to catch up; same documents, same
/// order, same scores, same totals.
/// </summary>
public sealed class NeverStaleTests : IDisposable
{
    private static readonly string[] s_words = ["quick", "brown", "fox", "lazy", "dog", "zoë", "köln", "the"];

    private static readonly string[] s_queries =
    [
        "from Docs where search(Notes, 'fox dog')",
        "from Docs where search(Notes, 'quick fox', and) order by score()",
        "from Docs where search(Notes, '\"quick fox\" dog') and Age > 2",
        "from Docs where proximity(search(Notes, 'quick dog'), 3)",
        "from Docs where boost(search(Notes, 'zoë'), 3) or search(Notes, 'lazy') order by score(), Name",
        "from Docs where search(Notes, 'qu*') order by Age as long desc, Name",
        "from Docs order by Name",
        "from Docs order by Name desc nulls first, Age as double",
        "from Docs order by Age as long",
        "from Docs order by random('seed')",
        "from Docs where Age != 3 order by Tags as alphaNumeric",
        "from Docs where Name = null or Age between 3 and 6",
        "from Docs where Tags all in ('a', 'b')",
        "from Docs where startsWith(Name, 'n') and not endsWith(Name, '1')",
        "from Docs where exists(Age) and not search(Notes, 'fox')",
        "from Docs where exact(Name = 'N1') or id() >= 'docs/30'",
        "from Docs where true",
    ];

    private readonly TemporaryDirectory _folder = new();
    private readonly ManualResetEventSlim _gate = new(initialState: true);
    private readonly ChangeSignal _changes = new();
    private readonly Database _database;
    private readonly IndexCatalogue _indexes;
    private readonly QueryExecutor _queries;

    public NeverStaleTests()
    {
        _database = Database.Open(Path.Combine(_folder.Path, "database"));
        _indexes = IndexCatalogue.Open(Path.Combine(_folder.Path, "indexes"), new IndexingContext(BeginReadForIndexes, _changes, TimeProvider.System, AnalyzerSet.BuiltIn));
        _queries = new QueryExecutor(_indexes, _database.BeginRead, _changes, _database.Options);
    }

    public void Dispose()
    {
        _gate.Set();
        _changes.Close();
        ((IDisposable)_indexes).Dispose();
        _database.Dispose();
        _gate.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task An_index_that_is_held_back_answers_as_one_that_has_caught_up()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        await ChangeAsync(random, 60);
        await AskAsync("from Docs where search(Notes, 'x') and Name = 'x' and exact(Name = 'x') and Age = 1 and Tags = 'a' and id() != 'x'", neverStale: false);
        for (int round = 0; round < 6; round++)
        {
            _gate.Reset();
            await ChangeAsync(random, random.Next(1, 30));
            var asked = new List<(string Query, List<string> Answer)>();
            foreach (string query in s_queries)
            {
                string paged = query + random.Next(4) switch { 0 => "", 1 => " limit 7", 2 => " limit 5, 9", _ => " limit 40, 30" };
                asked.Add((paged, await AskAsync(paged, neverStale: true)));
            }

            _gate.Set();
            foreach ((string query, List<string> answer) in asked)
                Assert.True((await AskAsync(query, neverStale: false)) is var caughtUp && caughtUp.SequenceEqual(answer), $"seed {seed}, round {round}: {query}\n{string.Join('\n', caughtUp)}\n--\n{string.Join('\n', answer)}");
        }
    }

    [Fact]
    public async Task Whoever_has_written_finds_it_without_waiting_while_others_write()
    {
        await ChangeAsync(new Random(1), 20);
        await AskAsync("from Docs where Age = 1 and id() != 'x'", neverStale: false);
        _gate.Reset();
        await Task.WhenAll(Enumerable.Range(0, 4).Select(async writer =>
        {
            for (int i = 0; i < 25; i++)
            {
                await WriteAsync(new WriteBatch().Put($"docs/w{writer}", Encoding.UTF8.GetBytes($$"""{"Age":{{(writer * 1_000) + i}},"@metadata":{"@collection":"Docs"} }""")));
                List<string> found = await AskAsync($"from Docs where Age between {writer * 1_000} and {(writer * 1_000) + 999} and id() = 'docs/w{writer}'", neverStale: true, onlyIds: true);
                Assert.Equal([$"docs/w{writer}"], found);
                Assert.Equal([$"docs/w{writer}"], await AskAsync($"from Docs where Age = {(writer * 1_000) + i} and id() >= 'docs/w'", neverStale: true, onlyIds: true));
            }
        }));
        Assert.False(_gate.IsSet);
    }

    [Fact]
    public async Task The_text_of_a_query_can_ask_for_it_and_a_tail_too_long_is_waited_for_and_said()
    {
        await ChangeAsync(new Random(2), 5);
        await AskAsync("from Docs where Age = 1", neverStale: false);
        _gate.Reset();
        await WriteAsync(new WriteBatch().Put("docs/new", """{"Age":77,"@metadata":{"@collection":"Docs"} }"""u8.ToArray()));
        var request = new QueryRequest { Text = "from Docs where Age = 77 include neverStale()" };
        using (QueryResults results = await _queries.ExecuteAsync(request, TestContext.Current.CancellationToken))
            Assert.Equal((1, false), (results.TotalResults, results.IsStale));

        for (int from = 0; from <= DocumentIndex.MaxTailChanges; from += 4_096)
        {
            var batch = new WriteBatch();
            for (int i = 0; i < 4_096; i++)
                batch.Put($"docs/m{from + i}", """{"Age":78,"@metadata":{"@collection":"Docs"} }"""u8.ToArray());
            await WriteAsync(batch);
        }

        TimeoutException error = await Assert.ThrowsAsync<TimeoutException>(() => _queries.ExecuteAsync(request with { WaitTimeout = TimeSpan.Zero }, TestContext.Current.CancellationToken));
        Assert.Contains("neverStale", error.Message, StringComparison.Ordinal);
        Task<QueryResults> waiting = _queries.ExecuteAsync(request with { WaitTimeout = TimeSpan.FromMinutes(1) }, TestContext.Current.CancellationToken);
        Assert.False(waiting.IsCompleted);
        _gate.Set();
        using QueryResults answer = await waiting;
        Assert.Equal((1, false), (answer.TotalResults, answer.IsStale));
    }

    private DatabaseSnapshot BeginReadForIndexes()
    {
        _gate.Wait(TestContext.Current.CancellationToken);
        return _database.BeginRead();
    }

    private async Task<List<string>> AskAsync(string query, bool neverStale, bool onlyIds = false)
    {
        var request = new QueryRequest { Text = query, NeverStale = neverStale, WaitForNonStaleResults = !neverStale, WaitTimeout = TimeSpan.FromMinutes(1) };
        using QueryResults results = await _queries.ExecuteAsync(request, TestContext.Current.CancellationToken);
        Assert.False(results.IsStale);
        List<string> answer = onlyIds ? [] : [$"{results.TotalResults}, etag {results.ResultEtag}"];
        var output = new System.Buffers.ArrayBufferWriter<byte>();
        while (results.MoveNext())
        {
            output.ResetWrittenCount();
            results.WriteCurrent(output);
            answer.Add(onlyIds ? results.Current.IdText() : Encoding.UTF8.GetString(output.WrittenSpan)); // with its score
        }

        return answer;
    }

    private async Task ChangeAsync(Random random, int count)
    {
        var batch = new WriteBatch();
        foreach (int number in Enumerable.Range(0, count).Select(_ => random.Next(60)).Distinct())
        {
            batch.Delete($"docs/{number}"); // it may have been in the other collection
            if (random.Next(5) == 0)
                continue;

            var document = new JsonObject { ["@metadata"] = new JsonObject { ["@collection"] = random.Next(8) == 0 ? "Others" : "Docs" } };
            if (random.Next(6) != 0)
                document["Name"] = random.Next(2) == 0 ? $"N{random.Next(4)}" : $"n{random.Next(4)}";
            if (random.Next(6) != 0)
                document["Age"] = random.Next(2) == 0 ? random.Next(9) : random.Next(9) + 0.5;
            if (random.Next(3) != 0)
                document["Tags"] = new JsonArray([.. Enumerable.Range(0, random.Next(3)).Select(_ => (JsonNode)((char)('a' + random.Next(3))).ToString())]);
            document["Notes"] = string.Join(' ', Enumerable.Range(0, random.Next(1, 9)).Select(_ => s_words[random.Next(s_words.Length)]));
            batch.Put($"docs/{number}", Encoding.UTF8.GetBytes(document.ToJsonString()));
        }

        await WriteAsync(batch);
    }

    private async Task WriteAsync(WriteBatch batch)
    {
        await _database.WriteAsync(batch, TestContext.Current.CancellationToken);
        _changes.Publish(_database.LastEtag);
    }
}
