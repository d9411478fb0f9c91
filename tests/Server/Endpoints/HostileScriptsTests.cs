using System.Net;
using System.Text;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>
/// Scripts that mean harm, over HTTP: each ends itself with an error that says why, changes nothing, and the next request is
/// answered as ever.
/// </summary>
public sealed class HostileScriptsTests
{
    private static readonly string[] _scripts =
    [
        "while (true) {}",
        "const a = []; a.push(a); include(a);",
        "let a = ['x']; for (let i = 0; i < 60; i++) a = [a, a]; include(a);",
        "const a = []; a.length = 4e9; include(a);",
        "function f() { return f(); } f();",
        "let a = []; while (true) a.push('x'.repeat(1000));",
        "this.x = 'a'.repeat(1 << 28);",
        "this.x = 'a'.padStart(1 << 28);",
        "let s = 'x'.repeat(1000); while (true) s = s + s;",
        "Array.from({ length: 1e9 });",
        "new Array(1e9).fill(0);",
        "let a = [1]; while (true) a = [...a, ...a];",
        "'x'.repeat(1e6).replaceAll('x', 'y'.repeat(1e6));",
        "JSON.stringify(Array(1000).fill('y'.repeat(1e6)));",
        "/^(a+)+$/.test('a'.repeat(40) + 'b');",
        "const b = 'y'.repeat(1e6); this.x = Array(1e5).fill(b);",
        "this.x = this;",
        "Object.prototype.x = 1;",
        "String.prototype.trim = () => 'mine';",
        "Object.defineProperty(this, 'x', { enumerable: true, get() { throw new Error('x'); } });",
        "Object.defineProperty(this, 'x', { enumerable: true, get() { while (true) {} } });",
        "'' + { toString() { while (true) {} } };",
        "new Function('return 1')();",
        "eval('1');",
    ];

    [Fact]
    public async Task Hostile_patches_end_themselves_and_nothing_else()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PutAsync(server);
        foreach (string script in _scripts)
        {
            using HttpResponseMessage response = await SendAsync(
                server, HttpMethod.Patch, "docs?id=users/1", new { Patch = new { Script = script } });
            Assert.True(response.StatusCode == HttpStatusCode.BadRequest, $"{script}: {response.StatusCode}");
            string answer = await response.Content.ReadAsStringAsync(TestServer.Cancelled);
            Assert.Contains("JavaScriptException", answer, StringComparison.Ordinal);
            Assert.Contains("users/1", answer, StringComparison.Ordinal);
            Assert.Equal("Ada", await NameAsync(server));
        }

        using HttpResponseMessage last = await SendAsync(
            server, HttpMethod.Patch, "docs?id=users/1", new { Patch = new { Script = "this.Name = ' Eve '.trim();" } });
        Assert.Equal(HttpStatusCode.OK, last.StatusCode);
        Assert.Equal("Eve", await NameAsync(server));
    }

    [Fact]
    public async Task Hostile_projections_and_filters_end_themselves_and_nothing_else()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PutAsync(server);
        foreach (string script in _scripts)
        {
            string declared =
                $"declare function f() {{ "
                    + $"{script.Replace("this.x =", "return", StringComparison.Ordinal).Replace("this,", "{},", StringComparison.Ordinal)} }} from Users as u ";
            if (!script.Contains("this", StringComparison.Ordinal))
                Assert.Equal(HttpStatusCode.BadRequest, await QueryAsync(server, declared + "filter f()"));
            Assert.NotEqual(HttpStatusCode.InternalServerError, await QueryAsync(server, declared + "select { A: f() }"));
            Assert.Equal(HttpStatusCode.OK, await QueryAsync(server, "from Users as u select { A: u.Name.trim() }"));
        }
    }

    /// <summary>Each is an error of the document in the index of that map; the other indexes are built and answer.</summary>
    [Fact]
    public async Task Hostile_maps_end_themselves_and_nothing_else()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PutAsync(server);
        string[] bodies =
        [
            .. _scripts.Where(static script => !script.Contains("this", StringComparison.Ordinal)),
            "return { A: Array(1e5).fill('y'.repeat(1e5)) };",
            "return Array(40000).fill({ A: 1 });",
            "return { get A() { throw new Error('x'); } };",
            "return { A: 1, B: Array.from({ length: 10000 }, (_, i) => createField('F' + i, 1)) };",
        ];
        object[] indexes =
        [
            .. bodies.Select((body, i) => Index($"Bad/{i}", $"map('Users', u => {{ {body} return {{ A: u.Name }}; }})")),
            Index("Fine", "map('Users', u => ({ A: u.Name }))"),
        ];
        using (HttpResponseMessage made = await SendAsync(server, HttpMethod.Put, "indexes", new { Indexes = indexes }))
            Assert.Equal(HttpStatusCode.Created, made.StatusCode);
        for (int i = 0; i < bodies.Length; i++)
        {
            await AskAsync(server, $"Bad/{i}");
            using var errors = JsonDocument.Parse(
                await server.Http.GetStringAsync($"indexes/errors?name=Bad/{i}", TestServer.Cancelled));
            JsonElement error = Assert.Single(
                errors.RootElement.GetProperty("Results")[0].GetProperty("Errors").EnumerateArray().ToArray());
            Assert.True(error.GetProperty("Document").GetString() == "users/1", bodies[i]);
        }

        Assert.Equal(1, await AskAsync(server, "Fine"));
        Assert.Equal("Ada", await NameAsync(server));

        static object Index(string name, string map) => new { Name = name, Maps = new[] { map } };
    }

    /// <summary>Returns the number of results of an index that has seen all documents.</summary>
    private static async Task<long> AskAsync(TestServer server, string index)
    {
        using HttpResponseMessage response = await SendAsync(
            server, HttpMethod.Post, "queries",
            new { Query = $"from index '{index}'", WaitForNonStaleResults = true, WaitForNonStaleResultsTimeout = 60_000 });
        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        using var answer = JsonDocument.Parse(await response.Content.ReadAsStringAsync(TestServer.Cancelled));
        Assert.False(answer.RootElement.GetProperty("IsStale").GetBoolean());
        return answer.RootElement.GetProperty("TotalResults").GetInt64();
    }

    private static async Task PutAsync(TestServer server)
    {
        using HttpResponseMessage response = await SendAsync(
            server, HttpMethod.Put, "docs?id=users/1",
            new Dictionary<string, object>
            {
                ["Name"] = "Ada",
                ["@metadata"] = new Dictionary<string, string> { ["@collection"] = "Users" }
            });
        Assert.Equal(HttpStatusCode.Created, response.StatusCode);
    }

    private static async Task<HttpStatusCode> QueryAsync(TestServer server, string text)
    {
        using HttpResponseMessage response = await SendAsync(server, HttpMethod.Post, "queries", new { Query = text });
        return response.StatusCode;
    }

    private static async Task<string?> NameAsync(TestServer server)
    {
        using var answer = JsonDocument.Parse(await server.Http.GetStringAsync("docs?id=users/1", TestServer.Cancelled));
        return answer.RootElement.GetProperty("Results")[0].GetProperty("Name").GetString();
    }

    private static async Task<HttpResponseMessage> SendAsync(TestServer server, HttpMethod method, string route, object body)
    {
        using var request = new HttpRequestMessage(method, route)
        {
            Content = new StringContent(JsonSerializer.Serialize(body), Encoding.UTF8, "application/json")
        };
        return await server.Http.SendAsync(request, TestServer.Cancelled);
    }
}
