using System.Net;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>
/// Queries that nobody should send and somebody does, over HTTP: 400 with words that help, or the right answer; and the index
/// goes on.
/// </summary>
public sealed class BadQueriesTests
{
    private const string Definition =
        """{"Indexes":[{"Name":"Things","Collections":["Docs"],"Fields":{"Name":{},"Notes":{"Indexing":"Search"},"Age":{},"V":{"Vector":{"Dimensions":3}},"At":{"Spatial":{"Wkt":"Wkt"}}}}]}""";

    private const string Parameters =
        """{"two":[1,2],"nan":["NaN",1,2],"text":"NaN","huge":[1e300,1,2],"none":[],"deep":[[[1,2,3]]],"three":[1,2,3],"zeros":[0,0,0],"object":{"a":1}}""";

    /// <summary>Condition, and what the answer has to say.</summary>
    private static readonly (string Where, string Hint)[] _refused =
    [
        ("Nothing = 1", "no field 'Nothing'"),
        ("name = 'x'", "no field 'name'"),
        ("Name = $nothing", "$nothing"),
        ("Name > true", "order"),
        ("Age between 1 and 'x'", "one kind"),
        ("Name = $object", "object"),
        ("startsWith(Name, 5)", "string"),
        ("boost(Name = 'x', -1)", "from 0 on"),
        ("boost(Name = 'x', 'NaN')", "from 0 on"),
        ("boost(Name = 'x', $text)", "from 0 on"),
        ("boost(Name = 'x', 1000000000000000000000000000000000000000000000000000000000000000)", "from 1E-09 to 1E+12"),
        ("boost(Name = 'x', 0.000000000000000000000000000000000000001)", "from 1E-09 to 1E+12"),
        ("boost(Name = 'x', 0.000000000000000000000000000000000000000000000000000000000000000001)", "from 1E-09 to 1E+12"),
        ("boost(boost(Name = 'x', 9999999999), 9999999999)", "multiply to 1E-09 to 1E+12"),
        ("lucene(Notes, 'x^NaN')", "number"),
        ("lucene(Notes, 'x^-1')", "a number is expected"),
        ("regex(Name, '((((a{1000}){1000}){1000}){1000})')", "too complicated"),
        ("regex(Name, '(a')", "missing"),
        ("regex(Name, '(?<=a)b')", ""),
        ("regex(Name, '(a)\\1')", ""),
        ("fuzzy(Name = 'x', 7)", "similarity"),
        ("proximity(search(Notes, 'a b'), -1)", ""),
        ("vector.search(V, $two)", "3 numbers; this one has 2"),
        ("vector.search(V, $nan)", "no vector"),
        ("vector.search(V, $text)", "base64"),
        ("vector.search(V, $huge)", "vector"),
        ("vector.search(V, $none)", "empty"),
        ("vector.search(V, $deep)", "no vector"),
        ("vector.search(V, $three, 0.1, 100000000)", "candidates"),
        ("fusion.rrf(vector.search(V, $three), 0)", "1 to"),
        ("spatial.within(At, spatial.wkt('POLYGON((0 0, 1 1'))", ""),
        ("spatial.within(At, spatial.wkt('POLYGON((0 0, 10 10, 10 0, 0 10, 0 0))'))", "cross"),
        ("spatial.within(At, spatial.wkt('POINT(500 500)'))", "500"),
        ("spatial.within(At, spatial.wkt('nonsense'))", ""),
        ("spatial.within(At, spatial.circle(-1, 0, 0))", "radius"),
        ("spatial.within(At, spatial.circle(1, 91, 0))", "91"),
        ("spatial.within(Name, spatial.circle(1, 0, 0))", "for places it would need"),
        ("vector.search(Name, $three)", "for vectors it would need"),
        ("exact(Name = 'a')", "for 'exact()' it would need"),
        ("spatial.within(At, spatial.wkt('POLYGON((170 0, -170 10, -170 0, 170 10, 170 0))'))", "(-170 0)"),
        ("moreLikeThis('x', $object)", "option"),
        ("cmpxchg('x')", "cmpxchg"),
        ("exec('x')", "no method 'exec()'"),
    ];

    /// <summary>Condition, and how many it finds of the three that are there.</summary>
    private static readonly (string Where, int Count)[] _answered =
    [
        ("search(Notes, '*')", 2), ("search(Notes, '*o*')", 2), ("lucene(Notes, '*')", 2), ("lucene(Notes, '?*')", 2),
        ("lucene(Notes, '*:*')", 3), ("startsWith(Name, '')", 2), ("endsWith(Name, '')", 2),
        ("regex(Name, '(a|aa)+$')", 1), ("regex(Name, '(x+x+)+y')", 0), ("regex(Name, '')", 2), ("vector.search(V, $zeros)", 1),
        ("Name in ()", 0), ("boost(Name = 'a', 0.000000001)", 1), ("boost(Name = 'a', 0)", 1),
        ("boost(Name = 'a', 1e-7) or boost(Age > -1E+300, 1e+3)", 1),
        ("Age = 123456789012345678901234567890", 0), ("Age > -123456789012345678901234567890.5", 1), ("Name = ''", 0),
        ("search(Notes, '')", 0), ("search(Notes, '\\\"\\\"')", 0),
    ];

    [Fact]
    public async Task Each_is_400_with_words_that_help_or_answered_and_the_index_goes_on()
    {
        await using TestServer server = await TestServer.StartAsync();
        using (HttpResponseMessage put = await server.SendAsync(HttpMethod.Put, "admin/indexes", Definition))
            Assert.Equal(HttpStatusCode.Created, put.StatusCode);
        await server.PutAsync(
            "docs/1",
            """{"Name":"a","Notes":"red fox","Age":5,"V":[1,2,3],"Wkt":"POINT(2 48)","@metadata":{"@collection":"Docs"}}""");
        await server.PutAsync(
            "docs/2", """{"Name":"b","Notes":"one dog","V":[1,2],"Wkt":"POINT(2","@metadata":{"@collection":"Docs"}}""");
        await server.PutAsync("docs/3", """{"V":["NaN"],"Wkt":7,"@metadata":{"@collection":"Docs"}}""");
        var wrong = new List<string>();
        foreach (string route in (string[])["queries", "streams/queries?format=jsonl"])
        {
            foreach ((string where, string hint) in _refused)
            {
                using HttpResponseMessage response = await server.SendAsync(
                    HttpMethod.Post, route, Body($"from index Things where {where}", Parameters));
                if (response.StatusCode != HttpStatusCode.BadRequest)
                {
                    wrong.Add($"{where}: {response.StatusCode} {await response.Content.ReadAsStringAsync(TestServer.Cancelled)}");
                    continue;
                }

                string message = await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, ".InvalidQueryException");
                if (!message.Contains(hint, StringComparison.OrdinalIgnoreCase) || message.Length is < 20 or > 2_000)
                    wrong.Add($"{where}: {message}");
            }
        }

        foreach ((string where, int count) in _answered)
        {
            using HttpResponseMessage response = await server.SendAsync(
                HttpMethod.Post, "queries", Body($"from index Things where {where}", Parameters));
            string answer = await response.Content.ReadAsStringAsync(TestServer.Cancelled);
            if (!answer.Contains($"\"TotalResults\":{count},", StringComparison.Ordinal))
                wrong.Add($"{where}: {answer}");
        }

        Assert.Empty(wrong);
        string order = string.Join(", ", Enumerable.Repeat("Name", 100));
        await RefusedAsync(server, Body($"from index Things order by {order}", "{}"), "at most 64 keys");
        await RefusedAsync(server, Body("from index Things order by Nothing", "{}"), "no field 'Nothing'");
        await RefusedAsync(
            server, Body($"from index Things where '{new string('x', 100_000)}' = 1", "{}"), "it has 'Name'", most: 4_096);
        await RefusedAsync(
            server, Body("from index Things where lucene(Notes, $text)", $"{{\"text\":\"{new string('x', 100_000)}:y\"}}"),
            "no field", most: 4_096);
        await RefusedAsync(server, Body("from index Things order by Notes", "{}"), "Notes");
        await RefusedAsync(server, Body("from index Things select facet(Nothing)", "{}"), "no field 'Nothing'");
        await RefusedAsync(server, Body("from index Things select suggest(Nothing, 'x')", "{}"), "no field 'Nothing'");
        await RefusedAsync(
            server,
            Body(
                "from index Things where " + string.Join(" or ", Enumerable.Range(0, 20_000).Select(i => $"Name != 'n{i}'")),
                "{}"),
            "conditions");
        await RefusedAsync(
            server,
            Body(
                "from index Things where Name = 'x'" + string.Concat(Enumerable.Range(0, 100_000).Select(i => $" or Age = {i}")),
                "{}"),
            "characters");
        await RefusedAsync(
            server, Body("from index Things where " + new string('(', 5_000) + "Name = 'a'" + new string(')', 5_000), "{}"),
            "nested");
        using (HttpResponseMessage nowhere = await server.SendAsync(HttpMethod.Post, "queries", Body("from index Nowhere", "{}")))
            Assert.Contains(
                "no index 'Nowhere'",
                (await TestServer.JsonOf(nowhere, HttpStatusCode.NotFound)).GetProperty("Message").GetString(),
                StringComparison.Ordinal);

        string words = string.Join(' ', Enumerable.Range(0, 100_000).Select(i => $"w{i}"));
        await RefusedAsync(
            server, Body("from index Things where search(Notes, $words)", $"{{\"words\":\"{words}\"}}"),
            "more than 16,384 words");
        await RefusedAsync(server, Body("from index Things where lucene(Notes, $words)", $"{{\"words\":\"{words}\"}}"), "");
        await RefusedAsync(
            server, Body("from index Things where proximity(search(Notes, $words), 2)", $"{{\"words\":\"{words}\"}}"), "words");

        var values = new StringBuilder("{\"v\":[\"a\"");
        for (int i = 0; i < 200_000; i++)
            values.Append(",\"n").Append(i).Append('"');
        using (HttpResponseMessage many = await server.SendAsync(
            HttpMethod.Post, "queries", Body("from index Things where Name in ($v)", values.Append("]}").ToString())))
            Assert.Equal(1, (await TestServer.JsonOf(many, HttpStatusCode.OK)).GetProperty("TotalResults").GetInt64());
        await CheckIndexAsync(server);
    }

    private static async Task CheckIndexAsync(TestServer server)
    {
        JsonElement errors = (await server.GetAsync("indexes/errors?name=Things"))
            .GetProperty("Results")[0]
            .GetProperty("Errors");
        Assert.Equal(
            ["docs/2", "docs/3"],
            errors.EnumerateArray().Select(error => error.GetProperty("Document").GetString()).Order(StringComparer.Ordinal));
        Assert.Equal(
            "Normal",
            (await server.GetAsync("indexes/stats?name=Things")).GetProperty("Results")[0].GetProperty("State").GetString());
        await server.PutAsync("docs/4", """{"Name":"a","@metadata":{"@collection":"Docs"}}""");
        Assert.Equal(2, await CountAsync(server, "from index Things where Name = 'a'"));
    }

    private static string Body(string query, string parameters) =>
        new JsonObject { ["Query"] = query, ["WaitForNonStaleResults"] = true }.ToJsonString()[..^1]
            + $",\"QueryParameters\":{parameters}}}";

    private static async Task<long> CountAsync(TestServer server, string query)
    {
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, "queries", Body(query, Parameters));
        return (await TestServer.JsonOf(response, HttpStatusCode.OK)).GetProperty("TotalResults").GetInt64();
    }

    private static async Task RefusedAsync(TestServer server, string body, string hint, int most = 2_000)
    {
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, "queries", body);
        string message = await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, ".InvalidQueryException");
        Assert.True(message.Contains(hint, StringComparison.OrdinalIgnoreCase) && message.Length <= most, $"{hint}: {message}");
    }
}
