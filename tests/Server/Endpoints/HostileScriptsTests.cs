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
