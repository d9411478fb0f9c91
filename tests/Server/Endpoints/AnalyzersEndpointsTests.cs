using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>Analyzers over HTTP: put, listed, used and deleted, and what is refused.</summary>
public sealed class AnalyzersEndpointsTests
{
    private const string Index =
        """{"Indexes":[{"Name":"ByName","Collections":["Users"],"Fields":{"Name":{"Indexing":"Search","Analyzer":"Plain"}}}]}""";

    [Fact]
    public async Task Analyzers_are_put_listed_used_and_deleted()
    {
        await using TestServer server = await TestServer.StartAsync();
        Assert.Equal("""{"Analyzers":{}}""", (await server.GetAsync("analyzers")).GetRawText());
        await PutAsync(server, "Plain", """{"Filters":["LowerCase","Accents"]}""");
        const string Kept =
            """{"Plain":{"Name":"Plain","Code":"{\u0022Filters\u0022:[\u0022LowerCase\u0022,\u0022Accents\u0022]}"}}""";
        AssertSame(Kept, (await server.GetAsync("analyzers")).GetProperty("Analyzers"));
        AssertSame(Kept, (await server.GetAsync("admin/record")).GetProperty("Analyzers"));
        using (HttpResponseMessage defined = await server.SendAsync(HttpMethod.Put, "admin/indexes", Index))
            Assert.Equal(HttpStatusCode.Created, defined.StatusCode);
        using (HttpResponseMessage used = await server.SendAsync(HttpMethod.Delete, "admin/analyzers?name=Plain"))
            Assert.Contains(
                "'ByName'", await TestServer.ErrorOf(used, HttpStatusCode.BadRequest, ".AnalyzerCompilationException"),
                StringComparison.Ordinal);
        using (HttpResponseMessage gone = await server.SendAsync(HttpMethod.Delete, "indexes?name=ByName"))
            Assert.Equal(HttpStatusCode.NoContent, gone.StatusCode);
        using (HttpResponseMessage gone = await server.SendAsync(HttpMethod.Delete, "admin/analyzers?name=plain"))
            Assert.Equal(HttpStatusCode.NoContent, gone.StatusCode);
        using (HttpResponseMessage again = await server.SendAsync(HttpMethod.Delete, "admin/analyzers?name=plain"))
            Assert.Equal(HttpStatusCode.NoContent, again.StatusCode);
        Assert.Equal("""{"Analyzers":{}}""", (await server.GetAsync("analyzers")).GetRawText());
    }

    [Theory]
    [InlineData("""{"Analyzers":[{"Name":"Sharp","Code":"public class Sharp : Analyzer {}"}]}""", "LowerCase", true)]
    [InlineData("""{"Analyzers":[{"Name":"A","Code":"{\n \"Filters\": [1,]}"}]}""", "line 2, column 16", true)]
    [InlineData("""{"Analyzers":[{"Name":"A","Code":"{\"Filters\":[{\"Stm\":\"German\"}]}"}]}""", "Did you mean 'Stem'?", true)]
    [InlineData("""{"Analyzers":[{"Name":"A","Code":"{\"Tokenizer\":{\"Pattern\":\"((a{99}){99}){99}\"}}"}]}""", "Pattern", true)]
    [InlineData(
        """{"Analyzers":[{"Name":"Good","Code":"{}"},{"Name":"KeywordAnalyzer","Code":"{}"}]}""", "KeywordAnalyzer", true)]
    [InlineData("""{"Analyzers":[{"Name":"A"}]}""", "'Code'", false)]
    [InlineData("""{"Analyzers":[]}""", "'Analyzers'", false)]
    [InlineData("""{"Analyzers":7}""", "'Analyzers'", false)]
    [InlineData("""[]""", "Analyzers", false)]
    public async Task What_cannot_be_used_is_refused_with_a_reason(string body, string reason, bool isOfAnalyzer)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Put, "admin/analyzers", body);
        string message = await TestServer.ErrorOf(
            response, HttpStatusCode.BadRequest, isOfAnalyzer ? ".AnalyzerCompilationException" : ".BadRequestException");
        Assert.Contains(reason, message, StringComparison.Ordinal);
        Assert.Equal("""{"Analyzers":{}}""", (await server.GetAsync("analyzers")).GetRawText());
    }

    [Fact]
    public async Task Sorters_are_put_listed_and_deleted_and_code_is_refused()
    {
        await using TestServer server = await TestServer.StartAsync();
        using (HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Put, "admin/sorters", """{"Sorters":[{"Name":"Mine","Code":"class Mine {}"}]}"""))
            Assert.Contains(
                "takes no code from clients",
                await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, ".SorterCompilationException"),
                StringComparison.Ordinal);
        Assert.Equal("""{"Sorters":{}}""", (await server.GetAsync("sorters")).GetRawText());

        using (HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Put, "admin/sorters", """{"Sorters":[{"Name":"Swedish","Code":"{\"Language\":\"sv\"}"}]}"""))
            Assert.Equal(HttpStatusCode.NoContent, response.StatusCode);
        const string Kept = """{"Swedish":{"Name":"Swedish","Code":"{\"Language\":\"sv\"}"}}""";
        AssertSame($$"""{"Sorters":{{Kept}}}""", await server.GetAsync("sorters"));
        AssertSame(Kept, (await server.GetAsync("admin/record")).GetProperty("Sorters"));
        for (int i = 0; i < 2; i++) // what is gone may be deleted again
        {
            using HttpResponseMessage gone = await server.SendAsync(HttpMethod.Delete, "admin/sorters?name=swedish");
            Assert.Equal(HttpStatusCode.NoContent, gone.StatusCode);
            Assert.Equal("""{"Sorters":{}}""", (await server.GetAsync("sorters")).GetRawText());
        }
    }

    [Fact]
    public async Task A_text_that_grows_without_measure_is_an_error_of_the_query()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PutAsync(server, "Plain", $$$"""{"CharacterFilters":[{"Map":{"a":"{{{new string('x', 128)}}}"}}]}""");
        using (HttpResponseMessage defined = await server.SendAsync(HttpMethod.Put, "admin/indexes", Index))
            Assert.Equal(HttpStatusCode.Created, defined.StatusCode);
        string query = $"from index 'ByName' where search(Name, '{new string('a', 4_000)}')";
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Post, "queries", JsonSerializer.Serialize(new { Query = query }));
        Assert.Contains(
            "replace with less text", await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, ".InvalidQueryException"),
            StringComparison.Ordinal);
    }

    private static async Task PutAsync(TestServer server, string name, string code)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Put, "admin/analyzers",
            JsonSerializer.Serialize(new { Analyzers = new[] { new { Name = name, Code = code } } }));
        Assert.Equal(HttpStatusCode.NoContent, response.StatusCode);
    }

    private static void AssertSame(string expected, JsonElement json)
    {
        using var wanted = JsonDocument.Parse(expected);
        Assert.True(JsonElement.DeepEquals(wanted.RootElement, json), json.GetRawText());
    }
}
