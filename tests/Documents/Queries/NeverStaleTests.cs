using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// Answers that are never stale: an index that is held back, asked so, answers exactly as the same index does when it has been
/// let to catch up; same documents, same order, same scores, same totals.
/// </summary>
public sealed class NeverStaleTests : IDisposable
{
    private static readonly string[] _words = ["quick", "brown", "fox", "lazy", "dog", "zoë", "köln", "the"];

    private static readonly string[] _queries =
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
        "from Docs where regex(Name, '^N[12]$') or fuzzy(Name = 'n0', 1) order by Name desc, id()",
        "from Docs where lucene(Notes, '+fox -lazy qu*') and Age != null",
        "from Docs where spatial.within(spatial.point(Lat, Lng), spatial.circle(900, 45, 5)) order by "
            + "spatial.distance(spatial.point(Lat, Lng), spatial.point(44, 6))",
        "from Docs where spatial.disjoint(spatial.point(Lat, Lng), spatial.circle(500, 45, 5)) and search(Notes, 'fox') order by "
            + "score() desc, Name",
        "from Docs where boost(spatial.within(spatial.point(Lat, Lng), spatial.circle(900, 45, 5)), 2) or search(Notes, 'dog') "
            + "order by score()",
        "from Docs where vector.search(V, $v, null, 7)",
        "from Docs where vector.search(V, $v, 0.3, 12) and Age > 2 and not search(Notes, 'lazy')",
        "from Docs where search(Notes, 'fox') or boost(vector.search(V, $v, null, 9), 4)",
        "from Docs where true and not vector.search(V, $v, null, 20)",
        "from Docs where exact(vector.search(embedding.f32_i8(V), $w, null, 11)) and Age between 1 and 6 order by Age as long, "
            + "Name",
        "from Docs where fusion.rrf(search(Notes, 'fox dog'), boost(vector.search(V, $v, null, 9), 2), 8)",
        "from Docs where fusion.weighted(search(Notes, 'quick zoë'), vector.search(V, $w, null, 15), 20) and Age > 1",
        "from Docs where fusion.rrf(fusion.weighted(search(Notes, 'the'), vector.search(V, $v), 10), search(Notes, 'köln'), 5) "
            + "or Age = 7",
        "from Docs where moreLikeThis(id() = 'docs/7', $like)",
        "from Docs where moreLikeThis(id() = 'docs/21', $like) and Age < 6",
        "from Docs where moreLikeThis($json, $like) or vector.search(V, $v, null, 3)",
        "from Docs where search(Notes, 'fox qu*') include highlight(Notes, 30, 2), explanations()",
        "from Docs where vector.search(V, $v, null, 7) and search(Notes, 'dog the') include explanations(), highlight(Notes, 20, "
            + "1)",
        "from Docs where moreLikeThis(id() = 'docs/3', $like) include explanations()",
        "from Docs where Age > 1 select facet(Tags, sum(Age)), facet(Name), facet(Age < 3, Age between 3 and 5, Age > 5, "
            + "max(Age))",
        "from Docs where vector.search(V, $v, null, 20) select facet(Tags, $facet), facet(Age < 3, Age >= 3)",
        "from Docs where moreLikeThis(id() = 'docs/9', $like) select facet(Name, avg(Age))",
        "from Docs select suggest(search(Notes), $texts), suggest(Name, 'n'), suggest(Name, '55')",
        "from Docs select suggest(search(Notes), 'dgo', $nearest)",
    ];

    private const string Parameters =
        """
        {
          "v": [1, 0.2, 0.1], "w": [-0.5, 0.4, 1], "json": "{\"Notes\":\"fox fox dog lazy\"}", "texts": ["qiuck", "foxx", "zoe", "teh"],
          "like": {"Fields": ["Notes"], "MinimumTermFrequency": 1, "MinimumDocumentFrequency": 2, "MaximumQueryTerms": 3, "Boost": true},
          "facet": {"TermSortMode": "CountDesc", "PageSize": 2, "IncludeRemainingTerms": true}, "nearest": {"SortMode": "None", "Distance": "JaroWinkler", "Accuracy": 0.2}
        }
        """;

    private static readonly JsonDocument _parameters = JsonDocument.Parse(Parameters);

    private readonly HeldBackIndexes _store = new(new DatabaseOptions());

    public void Dispose() => _store.Dispose();

    [Fact]
    public async Task An_index_that_is_held_back_answers_as_one_that_has_caught_up()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        await ChangeAsync(random, 60);
        await AskAsync(
            "from Docs where search(Notes, 'x') and Name = 'x' and exact(Name = 'x') and Age = 1 and Tags = 'a' and id() != 'x' "
                + "and vector.search(V, $v) and vector.search(embedding.f32_i8(V), $v) and spatial.within(spatial.point(Lat, "
                + "Lng), spatial.circle(1, 2, 3))",
            neverStale: false);
        for (int round = 0; round < 4; round++)
        {
            _store.Hold();
            await ChangeAsync(random, random.Next(1, 30));
            var asked = new List<(string Query, List<string> Answer)>();
            foreach (string query in _queries)
            {
                string paged = query
                    + (query.Contains("select", StringComparison.Ordinal) || query.Contains("include", StringComparison.Ordinal)
                        ? 0
                        : random.Next(4)) switch
                    { 0 => "", 1 => " limit 7", 2 => " limit 5, 9", _ => " limit 40, 30" };
                asked.Add((paged, await AskAsync(paged, neverStale: true)));
            }

            _store.LetGo();
            foreach ((string query, List<string> answer) in asked)
                Assert.True(
                    (await AskAsync(query, neverStale: false)) is var caughtUp && caughtUp.SequenceEqual(answer),
                    $"seed {seed}, round {round}: {query}\n{string.Join('\n', caughtUp)}\n--\n{string.Join('\n', answer)}");
        }
    }

    /// <summary>
    /// Two bounds are one range only where no entry has several values, be it in the index or among the changes.
    /// </summary>
    [Theory]
    [InlineData("[4,8]", "6")]
    [InlineData("6", "[4,8]")]
    public async Task Nearest_beside_two_bounds_are_found_among_the_same_entries_on_both_sides(string indexed, string changed)
    {
        const string Query = "from Docs where Nrs >= 5 and Nrs < 7 and vector.search(V, $v, null, 2)";
        await _store.WriteAsync(
            new WriteBatch().Put("docs/1", Of(indexed, "[1,0,0]")).Put("docs/2", Of(indexed, "[1,0.1,0]"))
                .Put("docs/3", Of("1", "[1,0,0.1]")));
        await AskAsync(Query, neverStale: false);
        _store.Hold();
        await _store.WriteAsync(
            new WriteBatch().Put("docs/4", Of(changed, "[1,0.05,0]")).Put("docs/5", Of(changed, "[1,0.2,0]")));
        List<string> passing = await AskAsync(Query, neverStale: true);
        Assert.True(_store.AreHeld);
        Assert.Equal(["docs/2", "docs/5"], (await AskAsync(Query, neverStale: true, onlyIds: true)).Order());
        _store.LetGo();
        Assert.Equal(passing, await AskAsync(Query, neverStale: false));

        static byte[] Of(string numbers, string vector) => Encoding.UTF8.GetBytes(
            $$"""{"Nrs":{{numbers}},"V":{{vector}},"@metadata":{"@collection":"Docs"} }""");
    }

    [Fact]
    public async Task An_answer_that_waited_in_vain_says_how_far_its_index_is()
    {
        await ChangeAsync(new Random(1), 60);
        _store.Indexes.Control.Pause(); // an index that is held cannot even begin
        long documents = _store.Database.GetStatistics().DocumentCount;
        Assert.Equal(
            [
                "The index 'Auto/AllDocs/ByName' is paused or disabled before it was built: "
                    + $"it has seen 0 of {documents} documents."
            ],
            await WarningsAsync("from @all_docs where Name = 'n1'", TimeSpan.FromMilliseconds(20)));
        _store.Indexes.Control.Resume();
        Assert.Empty(await WarningsAsync("from @all_docs where Name = 'n1'", Eventually.Patience));

        // Of an index that only lacks the latest changes nothing is said.
        _store.Hold();
        await ChangeAsync(new Random(2), 5);
        Assert.Empty(await WarningsAsync("from @all_docs where Name = 'n1'", TimeSpan.FromMilliseconds(20)));

        async Task<IReadOnlyList<string>> WarningsAsync(string query, TimeSpan patience)
        {
            var request = new QueryRequest { Text = query, WaitForNonStaleResults = true, WaitTimeout = patience };
            using QueryResults results = await _store.Queries.ExecuteAsync(request, TestContext.Current.CancellationToken);
            Assert.Equal(patience != Eventually.Patience, results.IsStale);
            return results.Warnings;
        }
    }

    [Fact]
    public async Task Many_vectors_that_wait_are_looked_at_in_passing()
    {
        await PutVectorsAsync(0, 50);
        await AskAsync("from Docs where vector.search(V, $far, null, 5)", neverStale: false, parameters: """{"far":[1,0]}""");
        _store.Hold();
        await PutVectorsAsync(50, 2_000);
        string far = string.Create(
            System.Globalization.CultureInfo.InvariantCulture,
            $"{{\"far\":[{Math.Cos(1_999 * 0.003)},{Math.Sin(1_999 * 0.003)}]}}");
        Assert.Equal(
            ["docs/v1999"],
            await AskAsync("from Docs where vector.search(V, $far, null, 1)", neverStale: true, onlyIds: true, parameters: far));
        Assert.True(_store.AreHeld);
    }

    [Fact]
    public async Task What_is_too_much_to_be_looked_at_is_refused_for_its_reason()
    {
        await PutVectorsAsync(0, 1);
        await AskAsync("from Docs where Name = 'x'", neverStale: false);
        _store.Hold();
        for (int i = 0; i < 40; i++)
            await _store.WriteAsync(
                new WriteBatch().Put(
                    $"docs/{i}",
                    Encoding.UTF8.GetBytes(
                        $$"""{"Name":"{{new string('x', 1_000_000)}}{{i}}","@metadata":{"@collection":"Docs"} }""")));
        TimeoutException error = await Assert.ThrowsAsync<TimeoutException>(
            () => AskAsync("from Docs where Name = 'x'", neverStale: true, patience: TimeSpan.FromMilliseconds(1)));
        Assert.Contains("alone have more than 32 MiB of terms and vectors", error.Message, StringComparison.Ordinal);
        Assert.Contains("within the 0.001 seconds", error.Message, StringComparison.Ordinal);
    }

    private async Task PutVectorsAsync(int from, int to)
    {
        var batch = new WriteBatch();
        for (int i = from; i < to; i++)
            batch.Put(
                $"docs/v{i}",
                Encoding.UTF8.GetBytes(
                    string.Create(
                        System.Globalization.CultureInfo.InvariantCulture,
                        $"{{\"V\":[{Math.Cos(i * 0.003)},{Math.Sin(i * 0.003)}],\"@metadata\":{{\"@collection\":\"Docs\"}}}}")));
        await _store.WriteAsync(batch);
    }

    [Fact]
    public async Task Whoever_has_written_finds_it_without_waiting_while_others_write()
    {
        await ChangeAsync(new Random(1), 20);
        await AskAsync("from Docs where Age = 1 and id() != 'x'", neverStale: false);
        _store.Hold();
        await Task.WhenAll(Enumerable.Range(0, 4).Select(async writer =>
        {
            for (int i = 0; i < 25; i++)
            {
                await _store.WriteAsync(
                    new WriteBatch().Put(
                        $"docs/w{writer}",
                        Encoding.UTF8.GetBytes($$"""{"Age":{{(writer * 1_000) + i}},"@metadata":{"@collection":"Docs"} }""")));
                List<string> found = await AskAsync(
                    $"from Docs where Age between {writer * 1_000} and {(writer * 1_000) + 999} and id() = 'docs/w{writer}'",
                    neverStale: true, onlyIds: true);
                Assert.Equal([$"docs/w{writer}"], found);
                Assert.Equal(
                    [$"docs/w{writer}"],
                    await AskAsync(
                        $"from Docs where Age = {(writer * 1_000) + i} and id() >= 'docs/w'", neverStale: true, onlyIds: true));
            }
        }));
        Assert.True(_store.AreHeld);
    }

    [Fact]
    public async Task The_text_of_a_query_can_ask_for_it_and_a_tail_too_long_is_waited_for_and_said()
    {
        await ChangeAsync(new Random(2), 5);
        await AskAsync("from Docs where Age = 1", neverStale: false);
        _store.Hold();
        await _store.WriteAsync(
            new WriteBatch().Put("docs/new", """{"Age":77,"@metadata":{"@collection":"Docs"} }"""u8.ToArray()));
        var request = new QueryRequest { Text = "from Docs where Age = 77 include neverStale()" };
        using (QueryResults results = await _store.Queries.ExecuteAsync(request, TestContext.Current.CancellationToken))
            Assert.Equal((1, false), (results.TotalResults, results.IsStale));

        for (int from = 0; from <= DocumentIndex.MaxTailChanges; from += 4_096)
        {
            var batch = new WriteBatch();
            for (int i = 0; i < 4_096; i++)
                batch.Put($"docs/m{from + i}", """{"Age":78,"@metadata":{"@collection":"Docs"} }"""u8.ToArray());
            await _store.WriteAsync(batch);
        }

        TimeoutException error = await Assert.ThrowsAsync<TimeoutException>(
            () => _store.Queries.ExecuteAsync(
                request with { WaitTimeout = TimeSpan.Zero }, TestContext.Current.CancellationToken));
        Assert.Contains("neverStale", error.Message, StringComparison.Ordinal);
        Task<QueryResults> waiting = _store.Queries.ExecuteAsync(
            request with { WaitTimeout = Eventually.Patience }, TestContext.Current.CancellationToken);
        Assert.False(waiting.IsCompleted);
        _store.LetGo();
        using QueryResults answer = await waiting;
        Assert.Equal((1, false), (answer.TotalResults, answer.IsStale));
    }

    [Fact]
    public async Task A_plan_tells_of_both_with_the_same_numbers_every_time_and_a_budget_is_for_both()
    {
        await ChangeAsync(new Random(3), 50);
        await AskAsync("from Docs where search(Notes, 'x') and vector.search(V, $v) and Tags = 'a'", neverStale: false);
        _store.Hold();
        await ChangeAsync(new Random(4), 20);
        foreach (string query in (string[])
        [
            "from Docs where search(Notes, 'fox') and vector.search(V, $v, null, 5)",
            "from Docs where search(Notes, 'fox') select facet(Tags)"
        ])
        {
            var request = new QueryRequest
            {
                Text = query,
                Parameters = _parameters.RootElement,
                NeverStale = true,
                WithTimings = true
            };
            var counters = new List<Indexing.QueryCounters>();
            for (int run = 0; run < 3; run++)
            {
                using QueryResults results = await _store.Queries.ExecuteAsync(
                    request with { WithTimings = run < 2 }, TestContext.Current.CancellationToken);
                counters.Add(results.Counters);
                Assert.Equal(run < 2 ? ["never stale"] : [], results.Plan is { } plan ? [plan.Operation] : Array.Empty<string>());
                Assert.Equal(2, results.Plan?.Children.Count ?? 2);
            }

            Assert.True(counters[0].PagesRead > 0);
            Assert.Single(counters.Distinct());
            InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
                () => _store.Queries.ExecuteAsync(
                    request with { MaxPages = counters[0].PagesRead / 2 }, TestContext.Current.CancellationToken));
            Assert.Contains("budget", error.Message, StringComparison.Ordinal);
            using QueryResults enough = await _store.Queries.ExecuteAsync(
                request with { MaxPages = counters[0].PagesRead }, TestContext.Current.CancellationToken);
        }
    }

    [Fact]
    public async Task Terms_and_entries_can_be_looked_at_as_they_will_be()
    {
        var random = new Random(Seed.Next());
        await ChangeAsync(random, 60);
        await AskAsync("from Docs where search(Notes, 'x') and Name = 'x' and Age = 1 and Tags = 'a'", neverStale: false);
        string name = Assert.Single(_store.Indexes.List()).Name;
        _store.Hold();
        await ChangeAsync(random, 40);
        List<string> now = Look(neverStale: false), expected = Look(neverStale: true);
        _store.LetGo();
        await AskAsync("from Docs where search(Notes, 'x') and Name = 'x' and Age = 1 and Tags = 'a'", neverStale: false);
        Assert.Equal(Look(neverStale: false), expected);
        Assert.NotEqual(now, expected);

        List<string> Look(bool neverStale)
        {
            // it was listed
            var content = new IndexContent(
                _store.Indexes.Find(name)!, TimeProvider.System, neverStale ? _store.Database.BeginRead : null);
            var seen = new List<string>();
            foreach (string field in (string[])["search(Notes)", "Name", "Age", "Tags"])
            {
                string? after = null;
                while (content.Terms(field, after, 3, out _) is { Count: > 0 } page)
                {
                    seen.AddRange(page.Select(term => $"{field} {term}"));
                    after = page[^1];
                }
            }

            for (int i = 0; i < 60; i++)
                seen.Add(
                    $"{i} {(content.Entry($"Docs/{i}") is { } fields ? string.Join(' ', fields.Select(field => $"{field.Field}: {string.Join(',', field.Terms.Order(StringComparer.Ordinal))} {field.HasNull}")) : "nothing")}");
            return seen;
        }
    }

    private async Task<List<string>> AskAsync(
        string query, bool neverStale, bool onlyIds = false, string? parameters = null, TimeSpan? patience = null)
    {
        using JsonDocument given = JsonDocument.Parse(parameters ?? "{}");
        var request = new QueryRequest
        {
            Text = query,
            Parameters = parameters is null ? _parameters.RootElement : given.RootElement,
            NeverStale = neverStale,
            WaitForNonStaleResults = !neverStale,
            WaitTimeout = patience ?? Eventually.Patience
        };
        using QueryResults results = await _store.Queries.ExecuteAsync(request, TestContext.Current.CancellationToken);
        Assert.False(results.IsStale);
        List<string> answer = onlyIds ? [] : [$"{results.TotalResults}, etag {results.ResultEtag}"];
        var output = new System.Buffers.ArrayBufferWriter<byte>();
        while (results.MoveNext())
        {
            output.ResetWrittenCount();
            results.WriteCurrent(output);
            answer.Add(onlyIds ? results.Current.IdText() : Encoding.UTF8.GetString(output.WrittenSpan)); // with its score
        }

        answer.AddRange(results.Suggestions.SelectMany(list => list.Suggestions).Select(suggestion => suggestion.ToString()));
        output.ResetWrittenCount();
        results.WriteHighlightings(output);
        results.WriteExplanations(output);
        answer.Add(Encoding.UTF8.GetString(output.WrittenSpan));
        return onlyIds ? answer[..^1] : answer; // without the notes
    }

    private async Task ChangeAsync(Random random, int count)
    {
        var batch = new WriteBatch();
        foreach (int number in Enumerable.Range(0, count).Select(_ => random.Next(60)).Distinct())
        {
            batch.Delete($"docs/{number}"); // it may have been in the other collection
            if (random.Next(5) == 0)
                continue;

            var document = new JsonObject
            {
                ["@metadata"] = new JsonObject { ["@collection"] = random.Next(8) == 0 ? "Others" : "Docs" }
            };
            if (random.Next(6) != 0)
                document["Name"] = random.Next(8) == 0
                    ? new JsonArray("5", 5)
                    : random.Next(2) == 0 ? $"N{random.Next(4)}" : $"n{random.Next(4)}";
            if (random.Next(6) != 0)
                document["Age"] = random.Next(2) == 0 ? random.Next(9) : random.Next(9) + 0.5;
            if (random.Next(3) != 0)
                document["Tags"] = new JsonArray(
                    [.. Enumerable.Range(0, random.Next(3)).Select(_ => (JsonNode)((char)('a' + random.Next(3))).ToString())]);
            if (random.Next(4) != 0)
                document["V"] = Vector(random);
            else if (random.Next(3) == 0)
                document["V"] = new JsonArray(Vector(random), Vector(random));
            if (random.Next(3) != 0)
                (document["Lat"], document["Lng"]) = (random.Next(35, 55), random.Next(-5, 15));
            document["Notes"] = string.Join(
                ' ', Enumerable.Range(0, random.Next(1, 9)).Select(_ => _words[random.Next(_words.Length)]));
            batch.Put($"docs/{number}", Encoding.UTF8.GetBytes(document.ToJsonString()));
        }

        await _store.WriteAsync(batch);
    }

    private static JsonArray Vector(Random random) =>
        [.. Enumerable.Range(0, 3).Select(_ => (JsonNode)(random.NextDouble() - 0.4))];
}
