using System.Text;
using System.Text.Json.Nodes;
using Treepie.Indexing.Queries;
using Treepie.Queries;
using Treepie.Rql;
using Treepie.Rql.Syntax;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// The engine against <see cref="NaiveEvaluator"/>: random queries over random documents, which change in between.
/// </summary>
public sealed class DifferentialQueryTests
{
    /// <summary>Short in the run of every change; TREEPIE_ROUNDS makes it longer.</summary>
    private static readonly int _rounds = int.TryParse(Environment.GetEnvironmentVariable("TREEPIE_ROUNDS"), out int rounds)
        ? rounds
        : 12;

    private const int QueriesPerRound = 40;

    /// <summary>What the generator does not draw, no comparison shows.</summary>
    [Fact]
    public void Random_queries_have_every_operator_and_order()
    {
        var make = new RandomDocuments(new Random(Seed.Next()));
        string[] queries = [.. Enumerable.Range(0, 4_000).Select(_ => make.Query("Docs"))];
        string[] parts =
        [
            " = '", " != '", " < '", " <= 1", " > 1", " >= '", " = null", " != null", " between '", " between 1 and", " in ('",
            " in (1", " all in ('", "Age in ()", "startsWith(", "endsWith(", "exists(", "exact(",
            "search(Notes", "search(Address", ", and)", ", or)", "'qu*'", "'*x'", "'b*wn'", "\"quick fox\"", "proximity(",
            "regex(", "fuzzy(", "lucene(", "intersect(", "boost(", "id() =", "id() <",
            "spatial.within(spatial.point", "spatial.intersects(spatial.point", "spatial.disjoint(spatial.point",
            "spatial.within(spatial.wkt", "spatial.contains(spatial.wkt", "spatial.intersects(spatial.wkt",
            "spatial.disjoint(spatial.wkt", "spatial.circle(", "'ENVELOPE(", "'POLYGON(", "'LINESTRING(", "where true", " and ",
            " or ", " and not (", " or not (", " as d",
            " as string", " as long", " as double", " as alphaNumeric", " desc", " nulls first", " nulls last", "custom(",
            "random('seed')", "spatial.distance(", "order by id()", "score(),", "score() desc",
        ];
        Assert.All(parts, part => Assert.True(queries.Count(query => query.Contains(part, StringComparison.Ordinal)) > 2, part));
    }

    [Fact]
    public async Task Random_queries_give_what_a_scan_gives_while_documents_change()
    {
        var random = new Random(Seed.Next());
        var make = new RandomDocuments(random);
        using var folder = new TemporaryDirectory();
        using Database database = Open(folder);
        var documents = new SortedDictionary<string, JsonObject>(StringComparer.Ordinal);
        for (int round = 0; round < _rounds; round++)
        {
            await ChangeAsync(database, documents, make, random);
            if (round > 1)
                await CompareBehindAsync(database, documents, make, random);
            for (int i = 0; i < QueriesPerRound; i++)
                await CompareAsync(database, documents, make.Query(random.Next(6) == 0 ? "@all_docs" : "Docs"), random);
            for (int i = 0; i < 6; i++)
                await CompareFacetsAsync(database, documents, make.Query("Docs"));
        }
    }

    [Fact]
    public async Task Random_queries_over_more_documents_than_one_window_give_what_a_scan_gives()
    {
        const int Count = 9_000;
        var random = new Random(Seed.Next());
        var make = new RandomDocuments(random);
        using var folder = new TemporaryDirectory();
        using Database database = Open(folder);
        var documents = new SortedDictionary<string, JsonObject>(StringComparer.Ordinal);
        for (int from = 0; from < Count; from += 1_000)
            await PutAsync(database, documents, make, Enumerable.Range(from, 1_000));

        for (int i = 0; i < 25; i++)
        {
            await CompareAsync(database, documents, make.Query("Docs"), random);
            await PutAsync(database, documents, make, Enumerable.Range(0, 50).Select(_ => random.Next(Count)).Distinct());
        }
    }

    [Fact]
    public Task All_movies_are_found_as_a_scan_finds_them() => CompareDataSetAsync(
        "movies.ndjson.gz",
        "Movies",

        // First a query about every field, so that one index is built and not one for each query.
        "where title in ('heat', 'alien') and year > 0 and genres != 'x' and cast != 'x' and cast[] != 'x' and exact(title != "
            + "'x') and href != 'x' and exists(extract) and id() != 'x'",
        "where year = 1999",
        "where year between 1920 and 1925 and genres = 'comedy' order by title, year as long",
        "where cast[] = 'Tom Hanks' or cast = 'tom cruise'",
        "where genres all in ('Comedy', 'Drama') and year > 2015 order by year as long desc, title desc",
        "where startsWith(title, 'star') and not startsWith(title, 'star w')",
        "where endsWith(title, 'LOVE') and genres != 'Drama'",
        "where exact(title = 'heat') or exact(title = 'Heat')",
        "where title in ('heat', 'ALIEN', 'Amélie', 'nothing')",
        "where href = null and year >= 1960 order by title as alphaNumeric",
        "where genres = null and year < 1905 order by id()",
        "where exists(extract) and year < 1910 order by year as double desc nulls last, title",
        "where regex(title, '^the .*(moon|sun)$') and not fuzzy(title = 'the son', 0.7) order by title, year as long",
        "where fuzzy(title = 'metropolsi', 2) or fuzzy(cast = 'bustre keaton', 2) order by title, id()",
        "where search(extract, '\"silent film\" comed*', and) and year < 1920 order by year as long, title, id()",
        "where proximity(search(extract, 'film silent'), 4) and year = 1915",
        "where title > 'zo' and title <= 'zu' or (year = 1942 and not (genres = 'war' or genres = 'comedy'))");

    [Fact]
    public Task All_cities_are_found_as_a_scan_finds_them() => CompareDataSetAsync(
        "cities.ndjson.gz",
        "Cities",
        "where name = 'Oslo' and dem != 'x' and timezone != 'x' and alternate_names != 'x' and alternate_names[] != 'x' and "
            + "feature != 'x' and modified > '2' and admin1 != 'x' and location.lat > 0 and location.lng > 0 and country = 'no' "
            + "and population > 0 and id() != 'x'",
        "where country = 'fr' and population > 100000 order by population as long desc",
        "where location.lat between 49 and 50 and location.lng > 4.1 order by location.lat as double, location.lng as double "
            + "desc",
        "where name = 'KÖLN' or alternate_names[] = 'colonia' order by name",
        "where dem < 0 or dem = null order by dem as long, name",
        "where startsWith(timezone, 'europe/b') and population < 20000 order by name, id()",
        "where startsWith(name, 'Ł') or startsWith(alternate_names, 'くに')",
        "where spatial.within(spatial.point(location.lat, location.lng), spatial.circle(87.3, 49.255, 4.154)) and population > "
            + "5000 order by spatial.distance(spatial.point(location.lat, location.lng), spatial.point(49.255, 4.154))",
        "where spatial.within(spatial.point(location.lat, location.lng), spatial.wkt('ENVELOPE(-10.05, 3.05, 44.05, 36.05)')) "
            + "and population > 60000 order by population as long",
        "where regex(name, '^san .*o$') or fuzzy(name = 'rems', 1)",
        "where country in ('AD', 'LI', 'MC', 'va') and feature != 'PPLC' order by country, population as long",
        "where modified >= '2024' and admin1 = '07' order by modified desc, id()");

    /// <summary>Ten thousand synsets, all of them with TREEPIE_ROUNDS.</summary>
    [Fact]
    public Task Words_of_wordnet_are_found_as_a_scan_finds_them() => CompareDataSetAsync(
        "wordnet.ndjson.gz",
        "Synsets",
        "where members != 'x' and search(definition, 'x') and search(example, 'x') and partOfSpeech != 'x' and topic != 'x' and "
            + "exists(attribute)",
        "where search(definition, 'able unable', or) and partOfSpeech = 'a' order by members, id()",
        "where search(definition, '\"of or relating to\"') and not search(definition, 'th*') order by id()",
        "where proximity(search(definition, 'having quality'), 3) order by members desc, id()",
        "where regex(members, '^un.*able$') order by members as alphaNumeric, id()",
        "where fuzzy(members = 'abel', 2) and exists(attribute)",
        "where endsWith(members, 'NESS') or search(example, '*ological') order by topic, members",
        "where members all in ('able', 'capable') or members in ('dry', 'wet') order by members");

    private static async Task CompareDataSetAsync(string file, string collection, params string[] queries)
    {
        string path = DataSets.PathOf(file);
        var random = new Random(Seed.Next());
        using var folder = new TemporaryDirectory();
        using Database database = Database.Open(folder.Path);
        var documents = new SortedDictionary<string, JsonObject>(StringComparer.Ordinal);
        foreach (string[] lines in DataSets.Lines(path)
            .Take(collection == "Synsets" && _rounds == 12 ? 10_000 : int.MaxValue)
            .Chunk(2_000))
        {
            var batch = new WriteBatch();
            foreach (string line in lines)
            {
                JsonObject document = JsonNode.Parse(line)!.AsObject(); // a line is an object
                string id = document["id"]!.GetValue<string>(); // which has an id
                documents.Add(id, document);
                batch.Put(
                    id, Encoding.UTF8.GetBytes($"{line.TrimEnd()[..^1]},\"@metadata\":{{\"@collection\":\"{collection}\"}}}}"));
            }

            await database.WriteAsync(batch, TestContext.Current.CancellationToken);
        }

        foreach (string query in queries)
            await CompareAsync(database, documents, $"from {collection} {query}", random);
    }

    private static async Task PutAsync(
        Database database, SortedDictionary<string, JsonObject> documents, RandomDocuments make, IEnumerable<int> numbers)
    {
        var batch = new WriteBatch();
        foreach (int number in numbers)
        {
            JsonObject document = make.Document();
            documents[$"docs/{number}"] = document;
            JsonObject stored = document.DeepClone().AsObject();
            stored["@metadata"] = new JsonObject { ["@collection"] = "Docs" };
            batch.Put($"docs/{number}", Encoding.UTF8.GetBytes(stored.ToJsonString()));
        }

        await database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    private static async Task ChangeAsync(
        Database database, SortedDictionary<string, JsonObject> documents, RandomDocuments make, Random random)
    {
        for (int change = random.Next(1, 40); change > 0; change--)
        {
            string id = $"docs/{random.Next(60)}";
            if (random.Next(4) == 0)
            {
                await database.DeleteAsync(id);
                documents.Remove(id);
            }
            else
            {
                JsonObject document = make.Document();
                await database.PutAsync(id, document.ToJsonString(), "Docs");
                documents[id] = document;
            }
        }
    }

    internal static async Task CompareAsync(
        Database database, SortedDictionary<string, JsonObject> documents, string text, Random random)
    {
        RqlQuery query = RqlParser.Parse(text);
        var naive = new NaiveEvaluator(query, []);
        var expected = documents.Where(d => naive.Matches(d.Key, d.Value)).Select(d => d.Key).ToList();

        Answer whole = await database.AskAsync(text);
        List<string> found = [.. whole.Ids];
        Assert.False(whole.IsStale, $"{text}: {Errors(database)}");
        string lost = string.Join(' ', expected.Except(found).Take(5));
        string added = string.Join(' ', found.Except(expected).Take(5));
        Assert.True(
            expected.SequenceEqual(found.Order(StringComparer.Ordinal)),
            $"{text}\nexpected {expected.Count}, found {found.Count}\nlost  {lost}\nadded {added}\nwith {whole.Index}");
        Assert.Equal(expected.Count, whole.Total);
        naive.Scores = ScoresOf(whole);
        for (int i = 1; i < found.Count; i++)
        {
            int order = naive.Compare((found[i - 1], documents[found[i - 1]]), (found[i], documents[found[i]]));
            Assert.True(
                order <= 0,
                $"{text}\n{found[i - 1]} {documents[found[i - 1]].ToJsonString()}\nstands before\n{found[i]} "
                    + $"{documents[found[i]].ToJsonString()}");
        }

        int skip = random.Next(found.Count + 2);
        int take = random.Next(12);
        Answer page = await database.AskAsync($"{text} limit $skip, $take", $"{{\"skip\":{skip},\"take\":{take}}}");
        Assert.True(found.Skip(skip).Take(take).SequenceEqual(page.Ids), $"{text} limit {skip}, {take}");
        Assert.Equal(whole.Total, page.Total);
        Answer uncounted = await database.AskAsync(
            $"{text} limit $skip, $take", $"{{\"skip\":{skip},\"take\":{take}}}",
            static request => request with { CountsResults = false });
        Assert.True(found.Skip(skip).Take(take).SequenceEqual(uncounted.Ids), $"{text} limit {skip}, {take}, not counted");
        Assert.True(
            uncounted.IsTotalExact ? uncounted.Total == whole.Total : uncounted.Total <= whole.Total,
            $"{text}: {uncounted.Total} of {whole.Total}");
        if (random.Next(4) == 0 && whole.Index.StartsWith("Auto/", StringComparison.Ordinal))
            await ContinueAsync(database, text, found, PageSize(found, random));
    }

    /// <summary>The score of each result; null where the answer has none.</summary>
    private static Dictionary<string, double>? ScoresOf(Answer answer)
    {
        var scores = new Dictionary<string, double>(StringComparer.Ordinal);
        foreach ((string id, JsonObject row) in answer.Ids.Zip(answer.Rows))
            if (row["@metadata"]?["@index-score"] is { } score)
                scores.Add(id, score.GetValue<double>());
        return scores.Count == answer.Rows.Count ? scores : null;
    }

    /// <summary>So many that there are a few dozen pages at the most: each is a query of its own.</summary>
    private static int PageSize(List<string> found, Random random) =>
        1 + (found.Count / 25) + random.Next(Math.Max(1, found.Count));

    /// <summary>Why an index may be behind.</summary>
    internal static string Errors(Database database) =>
        string.Join('\n', database.Indexes.List().Select(index => $"{index.Name}: {index.State} {index.Error}"));

    internal static QueryRequest NotWaiting(QueryRequest request) =>
        request with { WaitForNonStaleResults = false, NeverStale = true, WaitTimeout = TimeSpan.FromMilliseconds(1) };

    /// <summary>All pages, each going on from the one before, are the whole answer.</summary>
    private static async Task ContinueAsync(
        Database database, string text, List<string> found, int pageSize, Func<QueryRequest, QueryRequest>? change = null)
    {
        var pages = new List<string>();
        string? continuation = null;
        do
        {
            var request = new QueryRequest
            {
                Text = text,
                PageSize = pageSize,
                WithContinuation = true,
                Continuation = continuation
            };
            using QueryResults results = await database.QueryAsync(
                change?.Invoke(request) ?? request, TestContext.Current.CancellationToken);
            while (results.MoveNext())
                pages.Add(results.Current.IdText());
            continuation = results.Continuation;
        }
        while (continuation is not null && pages.Count <= found.Count);
        Assert.True(
            found.SequenceEqual(pages), $"{text} by pages of {pageSize}\n{string.Join(' ', found)}\n{string.Join(' ', pages)}");
    }

    /// <summary>Indexes that are behind, for answers that are never stale: what the store holds is what is found.</summary>
    private static async Task CompareBehindAsync(
        Database database, SortedDictionary<string, JsonObject> documents, RandomDocuments make, Random random)
    {
        await database.AskAsync("from Docs order by Name"); // caught up with what was there
        database.Indexes.Control.Pause();
        await ChangeAsync(database, documents, make, random);
        for (int i = 0; i < 10; i++)
        {
            string text = make.Query("Docs");
            if (i % 3 == 0)
                await CompareFacetsAsync(database, documents, text, NotWaiting);
            var naive = new NaiveEvaluator(RqlParser.Parse(text), []);
            Answer answer;
            try
            {
                answer = await database.AskAsync(text, change: NotWaiting);
            }
            catch (TimeoutException)
            {
                continue; // a field that the index is being given, which it is not, as it is paused
            }

            Assert.False(answer.IsStale, text);
            List<string> found = [.. answer.Ids];
            Assert.Equal(
                documents.Where(d => naive.Matches(d.Key, d.Value)).Select(d => d.Key), found.Order(StringComparer.Ordinal));
            if (answer.Index.StartsWith("Auto/", StringComparison.Ordinal))
                await ContinueAsync(database, text, found, PageSize(found, random), NotWaiting);
            naive.Scores = ScoresOf(answer);
            for (int j = 1; j < found.Count; j++)
                Assert.True(
                    naive.Compare((found[j - 1], documents[found[j - 1]]), (found[j], documents[found[j]])) <= 0,
                    $"{text}: {found[j - 1]} {found[j]}");
        }

        database.Indexes.Control.Resume();
    }

    /// <summary>Terms with their hits and sums over the first number, and ranges, of what a query finds.</summary>
    private static async Task CompareFacetsAsync(
        Database database, SortedDictionary<string, JsonObject> documents, string text,
        Func<QueryRequest, QueryRequest>? change = null)
    {
        int order = text.IndexOf(" order by ", StringComparison.Ordinal);
        text = order < 0 ? text : text[..order];
        var naive = new NaiveEvaluator(RqlParser.Parse(text), []);
        JsonObject[] hits = [.. documents.Where(d => naive.Matches(d.Key, d.Value)).Select(d => d.Value)];
        var expected = new SortedDictionary<string, (int Count, double Sum)>(StringComparer.Ordinal);
        foreach (JsonObject hit in hits)
        {
            double age = NaiveValue.At(hit, ["Age"]).Find(v => v.Kind != NaiveKind.Null) is { Kind: NaiveKind.Number } number
                ? number.Number
                : 0;
            foreach (string tag in NaiveValue.At(hit, ["Tags"])
                .Where(v => v.Kind is NaiveKind.Text or NaiveKind.Number)
                .Select(v => NaiveValue.Fold(v.Text))
                .Distinct())
                expected[tag] = (expected.GetValueOrDefault(tag).Count + 1, expected.GetValueOrDefault(tag).Sum + age);
        }

        Answer answer;
        try
        {
            answer = await database.AskAsync($"{text} select facet(Tags, sum(Age)), facet(Age < 3, Age >= 3)", change: change);
        }
        catch (TimeoutException) when (change is not null)
        {
            return; // a field that a paused index is being given
        }

        // as facets are
        var terms = answer.Rows[0]["Values"]!
            .AsArray()
            .ToDictionary(
                v => v!["Range"]!.GetValue<string>(), v => (v!["Count"]!.GetValue<int>(), v["Sum"]!.GetValue<double>()));
        Assert.Equal(expected.Keys, terms.Keys.Order(StringComparer.Ordinal));
        foreach ((string term, (int count, double sum)) in expected)
            Assert.True(
                terms[term].Item1 == count && Math.Abs(terms[term].Item2 - sum) < 1e-6,
                $"{text}: {term} {count} {sum}, found {terms[term]}");
        int below = hits.Count(hit => NaiveValue.At(hit, ["Age"]).Exists(v => v is { Kind: NaiveKind.Number, Number: < 3 }));
        int above = hits.Count(hit => NaiveValue.At(hit, ["Age"]).Exists(v => v is { Kind: NaiveKind.Number, Number: >= 3 }));
        Assert.Equal([below, above], answer.Rows[1]["Values"]!.AsArray().Select(v => v!["Count"]!.GetValue<int>())); // as above
    }

    internal static Database Open(TemporaryDirectory folder) => Database.Open(
        folder.Path,
        new DatabaseOptions { CustomOrders = new Dictionary<string, ICustomOrder> { ["ByLength"] = new ByLength() } });

    private sealed class ByLength : ICustomOrder
    {
        public string Name => "ByLength";

        public int WriteKey(SortValue value, Span<byte> key)
        {
            key[0] = (byte)value.Text.Length;
            return 1;
        }
    }
}
