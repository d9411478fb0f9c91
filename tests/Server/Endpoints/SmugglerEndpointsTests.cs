using System.IO.Compression;
using System.Net;
using System.Text;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>
/// Export, import and restore over HTTP: what comes out goes in, and bad input changes nothing and says what it is.
/// </summary>
public sealed class SmugglerEndpointsTests
{
    private const string Key = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";

    [Theory]
    [InlineData("{}", 0x1F)]
    [InlineData("""{"CompressionAlgorithm":"Zstd","OperateOnTypes":"Indexes,Documents,Identities,RevisionDocuments"}""", 0x28)]
    [InlineData("""{"CompressionAlgorithm":"None","EncryptionKey":"AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="}""", 0x89)]
    public async Task What_is_exported_is_imported_and_restored(string options, int firstByte)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("users/1", """{"name":"Ada","@metadata":{"@collection":"Users"}}""");
        await server.PutAsync("users/2", """{"name":"Bob","@metadata":{"@collection":"Users"}}""");
        byte[] dump = await ExportAsync(server, options, "41");
        Assert.Equal(firstByte, dump[0]);
        Assert.Equal("Completed", (await server.GetAsync("operations/state?id=41")).GetProperty("Status").GetString());

        string import = options.Contains("EncryptionKey", StringComparison.Ordinal)
            ? $$"""{"EncryptionKey":"{{Key}}","AllowPlain":true}"""
            : "{}";
        using (HttpResponseMessage restored = await PostAsync(
            server, $"{server.Url}/admin/restore/upload?name=again", import, dump))
            Assert.Equal(2, (await TestServer.JsonOf(restored, HttpStatusCode.Created)).GetProperty("Documents").GetInt64());
        using JsonDocument stats = JsonDocument.Parse(
            await server.Http.GetStringAsync(new Uri($"{server.Url}/databases/again/stats"), TestServer.Cancelled));
        Assert.Equal(2, stats.RootElement.GetProperty("CountOfDocuments").GetInt64());

        using (HttpResponseMessage deleted = await server.SendAsync(HttpMethod.Delete, "docs?id=users/2"))
            Assert.Equal(HttpStatusCode.NoContent, deleted.StatusCode);
        using HttpResponseMessage imported = await PostAsync(server, "smuggler/import?operationId=42", import, dump);
        Assert.Equal(HttpStatusCode.NoContent, imported.StatusCode);
        Assert.Equal(2, await server.CountAsync());
        JsonElement state = await server.GetAsync("operations/state?id=42");
        Assert.Equal(
            ("Completed", 2L),
            (state.GetProperty("Status").GetString(), state.GetProperty("Result").GetProperty("Processed").GetInt64()));
    }

    [Fact]
    public async Task A_damaged_cut_off_or_sealed_dump_is_refused_and_its_operation_says_why()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("users/1", """{"name":"Ada"}""");
        byte[] dump = await ExportAsync(server, """{"CompressionAlgorithm":"Zstd"}""", "51"),
            closed = await ExportAsync(server, $$"""{"EncryptionKey":"{{Key}}"}""", "52");
        foreach ((
            byte[] content, string expected,
            int id) in ((byte[], string, int)[])
            [
                (dump[..^5], "cut off", 61), ("PK!"u8.ToArray(), "no backup", 62), (closed, "no key was given", 63),
                ([], "empty", 64)
            ])
        {
            using HttpResponseMessage response = await PostAsync(
                server, $"{server.Url}/admin/restore/upload?name=again&operationId={id}", "{}", content);
            string message = await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, "BadRequestException");
            Assert.Contains(expected, message, StringComparison.Ordinal);
            JsonElement state = await server.GetAsync($"{server.Url}/operations/state?id={id}");
            Assert.Equal(
                ("Faulted", message),
                (state.GetProperty("Status").GetString(), state.GetProperty("Result").GetProperty("Message").GetString()));
        }

        using HttpResponseMessage missing = await server.Http.GetAsync(
            new Uri($"{server.Url}/databases/again/stats"), TestServer.Cancelled);
        Assert.Equal(HttpStatusCode.ServiceUnavailable, missing.StatusCode);
    }

    [Fact]
    public async Task Bad_options_and_forms_are_refused_before_anything_is_done()
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (string options in (string[])
        [
            """{"CompressionAlgorithm":"Brotli"}""", """{"EncryptionKey":"c2hvcnQ="}""", """{"Collections":"Users"}""",
            """{"Collections":[null]}""", "[]", "{"
        ])
        {
            using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, "smuggler/export", options);
            await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, "BadRequestException");
        }

        using (HttpResponseMessage script = await server.SendAsync(
            HttpMethod.Post, "smuggler/export", """{"TransformScript":"this.x = "}"""))
            Assert.Equal(HttpStatusCode.BadRequest, script.StatusCode);
        using (HttpResponseMessage noForm = await server.SendAsync(HttpMethod.Post, "smuggler/import", "{}"))
            Assert.Contains(
                "multipart/form-data", await TestServer.ErrorOf(noForm, HttpStatusCode.BadRequest, "BadRequestException"),
                StringComparison.Ordinal);
        using (var empty = new MultipartFormDataContent { { new StringContent("{}"), "importOptions" } })
        using (HttpResponseMessage response = await server.Http.PostAsync(
            new Uri("smuggler/import", UriKind.Relative), empty, TestServer.Cancelled))
            Assert.Contains(
                "contains no dump", await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, "BadRequestException"),
                StringComparison.Ordinal);
        byte[] dump = Encoding.UTF8.GetBytes("""{"Docs":[{"@metadata":{"@id":"a"}}]}""");
        foreach (string name in (string[])["", "..", "a/b"])
            using (HttpResponseMessage response = await PostAsync(
                server, $"{server.Url}/admin/restore/upload?name={Uri.EscapeDataString(name)}", "{}", dump))
                await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, "BadRequestException");
        using (HttpResponseMessage exists = await PostAsync(server, $"{server.Url}/admin/restore/upload?name=DB", "{}", dump))
            Assert.Equal(HttpStatusCode.Conflict, exists.StatusCode);
        Assert.Equal(0, await server.CountAsync());
    }

    [Fact]
    public async Task Collections_and_documents_that_are_none_are_chosen_by_the_client()
    {
        await using TestServer server = await TestServer.StartAsync();
        byte[] dump = Encoding.UTF8.GetBytes(
            """{"Docs":[{"@metadata":{"@id":"a/1","@collection":"A"}},{"a":1,"a":1,"@metadata":{"@id":"a/2"}},{"@metadata":{"@id":"b/1","@collection":"B"}}]}""");
        using (HttpResponseMessage refused = await PostAsync(server, "smuggler/import", "{}", dump))
            Assert.Contains(
                "'a/2'", await TestServer.ErrorOf(refused, HttpStatusCode.BadRequest, "BadRequestException"),
                StringComparison.Ordinal);
        using (HttpResponseMessage imported = await PostAsync(
            server, "smuggler/import", """{"SkipCorruptedData":true,"Collections":["b"]}""", dump))
            Assert.Equal(HttpStatusCode.NoContent, imported.StatusCode);
        Assert.Equal(2, await server.CountAsync()); // b/1, and a/1, which came before the document that was refused
        byte[] part = await ExportAsync(server, """{"Collections":["None"]}""", "71");
        using var text = new StreamReader(new GZipStream(new MemoryStream(part), CompressionMode.Decompress));
        Assert.DoesNotContain("b/1", await text.ReadToEndAsync(TestServer.Cancelled), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"IncludeExpired":false}""", "expired")]
    [InlineData("""{"IncludeArchived":false}""", "archived")]
    [InlineData("""{"IncludeArtificial":false}""", "artificial")]
    [InlineData("""{"IncludeExpired":true,"IncludeArchived":null}""", "")]
    public async Task Documents_that_are_not_wanted_are_left_out_of_exports_and_imports(string options, string leftOut)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("expired", """{"@metadata":{"@collection":"D","@expires":"2020-01-01T00:00:00.0000000Z"}}""");
        await server.PutAsync("later", """{"@metadata":{"@collection":"D","@expires":"2099-01-01T00:00:00.0000000Z"}}""");
        await server.PutAsync("archived", """{"@metadata":{"@collection":"D","@archived":true}}""");
        await server.PutAsync("artificial", """{"@metadata":{"@collection":"D","@flags":"Artificial, FromIndex"}}""");
        foreach (string id in new[] { "expired", "later" })
        {
            using HttpResponseMessage counted = await server.SendAsync(
                HttpMethod.Post, "counters",
                $$$"""{"Documents":[{"DocumentId":"{{{id}}}","Operations":[{"Type":"Increment","CounterName":"c"}]}]}""");
            Assert.True(counted.IsSuccessStatusCode);
        }

        byte[] part = await ExportAsync(server, options, "61"), all = await ExportAsync(server, "{}", "62");
        foreach ((string name, byte[] dump, string import) in ((string, byte[], string)[])[("a", part, "{}"), ("b", all, options)])
        {
            server.Catalog.Create(name);
            using HttpResponseMessage imported = await PostAsync(
                server, $"{server.Url}/databases/{name}/smuggler/import?operationId=63", import, dump);
            Assert.True(imported.IsSuccessStatusCode);
            foreach (string id in new[] { "expired", "later", "archived", "artificial" })
            {
                using HttpResponseMessage found = await server.Http.GetAsync(
                    new Uri($"{server.Url}/databases/{name}/docs?id={id}"), TestServer.Cancelled);
                Assert.Equal((id, id == leftOut), (id, found.StatusCode == HttpStatusCode.NotFound));
            }

            JsonElement statistics = await server.GetAsync($"{server.Url}/databases/{name}/stats");
            Assert.Equal(leftOut == "expired" ? 1 : 2, statistics.GetProperty("CountOfCounterEntries").GetInt64());
        }
    }

    [Fact]
    public async Task An_import_creates_no_revisions_if_it_is_not_to()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("d/1", "{}");
        byte[] dump = await ExportAsync(server, "{}", "71");
        using (HttpResponseMessage configured = await server.SendAsync(
            HttpMethod.Post, "admin/revisions/config", """{"Default":{}}"""))
            Assert.True(configured.IsSuccessStatusCode);
        foreach ((string options, int revisions) in ((string, int)[])[("""{"SkipRevisionCreation":true}""", 0), ("{}", 1)])
        {
            using (HttpResponseMessage deleted = await server.SendAsync(HttpMethod.Delete, "docs?id=d/1"))
                Assert.True(deleted.IsSuccessStatusCode);
            int before = await CountAsync();
            using (HttpResponseMessage imported = await PostAsync(server, "smuggler/import", options, dump))
                Assert.True(imported.IsSuccessStatusCode);
            Assert.Equal(revisions, await CountAsync() - before);
        }

        async Task<int> CountAsync() =>
            (await server.GetAsync("revisions/count?id=d/1")).GetProperty("RevisionsCount").GetInt32();
    }

    [Theory]
    [InlineData("""{"Name":"I","Collections":["Users"],"Fields":{"Name":{"Indexing":"Search","Analyzer":"Plain"}}}""")]
    [InlineData(
        """{"Name":"I","Maps":["from u in docs.Users select new { u.Name }"],"Fields":{"__all_fields":{"Indexing":"Search","Analyzer":"Plain"}}}""")]
    [InlineData(
        """{"Name":"I","Maps":["map('Users', u => ({ Name: u.Name.trim() }))"],"Fields":{"Name":{"Indexing":"Search"}},"Configuration":{"Indexing.Analyzers.Search.Default":"Plain"}}""")]
    public async Task Analyzers_are_removed_from_indexes_if_the_options_say_so(string definition)
    {
        const string Remove = """{"RemoveAnalyzers":true,"OperateOnTypes":"Documents,Indexes"}""",
            Keep = """{"OperateOnTypes":"Documents,Indexes"}""";
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("u/1", """{"Name":"Renée","@metadata":{"@collection":"Users"}}""");
        using (HttpResponseMessage put = await server.SendAsync(
            HttpMethod.Put, "admin/analyzers",
            """{"Analyzers":[{"Name":"Plain","Code":"{\"Filters\":[\"LowerCase\",\"Accents\"]}"}]}"""))
            Assert.Equal(HttpStatusCode.NoContent, put.StatusCode);
        using (HttpResponseMessage defined = await server.SendAsync(
            HttpMethod.Put, "admin/indexes", $$"""{"Indexes":[{{definition}}]}"""))
            Assert.Equal(HttpStatusCode.Created, defined.StatusCode);
        byte[] all = await ExportAsync(server, Keep, "81"), without = await ExportAsync(server, Remove, "82");
        foreach ((string name, byte[] dump, string options, int indexes) in ((string, byte[], string, int)[])
            [("kept", all, Keep, 0), ("exported", without, Keep, 1), ("imported", all, Remove, 1)])
        {
            server.Catalog.Create(name);
            using (HttpResponseMessage imported = await PostAsync(
                server, $"{server.Url}/databases/{name}/smuggler/import", options, dump))
                Assert.Equal(HttpStatusCode.NoContent, imported.StatusCode);
            JsonElement made = (await server.GetAsync($"{server.Url}/databases/{name}/indexes")).GetProperty("Results");
            Assert.Equal((name, indexes), (name, made.GetArrayLength()));
            Assert.DoesNotContain("Plain", made.GetRawText(), StringComparison.Ordinal);
            foreach ((string word, int found) in ((string, int)[])[("renée", indexes), ("renee", 0)])
            {
                using HttpResponseMessage asked = await server.SendAsync(
                    HttpMethod.Post, $"{server.Url}/databases/{name}/queries",
                    $$"""{"Query":"from index 'I' where search(Name, '{{word}}')","WaitForNonStaleResults":true}""");
                if (indexes > 0)
                    Assert.Equal(
                        (word, found),
                        (word, (await TestServer.JsonOf(asked, HttpStatusCode.OK)).GetProperty("Results").GetArrayLength()));
            }
        }

        using HttpResponseMessage restored = await PostAsync(
            server, $"{server.Url}/admin/restore/upload?name=again", """{"RemoveAnalyzers":true}""", all);
        Assert.Contains(
            "RemoveAnalyzers", await TestServer.ErrorOf(restored, HttpStatusCode.BadRequest, "BadRequestException"),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task Configurations_in_the_record_of_another_servers_dump_are_taken_and_the_others_are_named()
    {
        await using TestServer server = await TestServer.StartAsync();
        byte[] dump = Encoding.UTF8.GetBytes(
            """
            {"BuildVersion":70000,"DatabaseRecord":{"DatabaseName":"x","Client":{"MaxNumberOfRequestsPerSession":3},"Studio":{"Environment":"Testing"},
              "RevisionsForConflicts":{"MinimumRevisionsToKeep":4},"ConflictSolverConfig":{"ResolveToLatest":true},
              "Settings":{"Indexing.MapTimeoutInSec":"7"},"SqlEtls":[{"Name":"e"}]},"Docs":[]}
            """);
        using (HttpResponseMessage imported = await PostAsync(
            server, "smuggler/import?operationId=91", """{"OperateOnTypes":"DatabaseRecord,Documents"}""", dump))
            Assert.Equal(HttpStatusCode.NoContent, imported.StatusCode);
        string result = (await server.GetAsync("operations/state?id=91")).GetProperty("Result").GetRawText();
        foreach (string leftOut in (string[])["Settings", "SqlEtls"])
            Assert.Contains($"\u0027{leftOut}\u0027 of the database record", result, StringComparison.Ordinal);
        JsonElement record = await server.GetAsync("admin/record");
        Assert.Equal(3, record.GetProperty("Client").GetProperty("MaxNumberOfRequestsPerSession").GetInt32());
        Assert.Equal("Testing", record.GetProperty("Studio").GetProperty("Environment").GetString());
        Assert.Equal(4, record.GetProperty("RevisionsForConflicts").GetProperty("MinimumRevisionsToKeep").GetInt32());
        Assert.True(record.GetProperty("ConflictSolverConfig").GetProperty("ResolveToLatest").GetBoolean());
        Assert.Equal("{}", record.GetProperty("Settings").GetRawText());
        JsonElement client = await server.GetAsync("configuration/client");
        Assert.Equal(
            3, client.GetProperty("Configuration").GetProperty("MaxNumberOfRequestsPerSession").GetInt32());

        server.Catalog.Create("some");
        using (HttpResponseMessage imported = await PostAsync(
            server, $"{server.Url}/databases/some/smuggler/import", """{"OperateOnDatabaseRecordType":["ConflictSolverConfig"]}""", dump))
            Assert.Equal(HttpStatusCode.NoContent, imported.StatusCode);
        JsonElement some = await server.GetAsync($"{server.Url}/databases/some/admin/record");
        Assert.False(some.TryGetProperty("Client", out _));
        Assert.True(some.TryGetProperty("ConflictSolverConfig", out _));
        Assert.True(some.TryGetProperty("Studio", out _));

        server.Catalog.Create("none");
        using (HttpResponseMessage imported = await PostAsync(
            server, $"{server.Url}/databases/none/smuggler/import", """{"OperateOnDatabaseRecordType":"None"}""", dump))
            Assert.Equal(HttpStatusCode.NoContent, imported.StatusCode);
        JsonElement none = await server.GetAsync($"{server.Url}/databases/none/admin/record");
        foreach (string member in (string[])["Client", "Studio", "RevisionsForConflicts", "ConflictSolverConfig"])
            Assert.False(none.TryGetProperty(member, out _), member);
    }

    private static async Task<byte[]> ExportAsync(TestServer server, string options, string operation)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Post, $"smuggler/export?operationId={operation}", options);
        Assert.True(response.IsSuccessStatusCode, await response.Content.ReadAsStringAsync(TestServer.Cancelled));
        Assert.Empty(response.Content.Headers.ContentEncoding);
        return await response.Content.ReadAsByteArrayAsync(TestServer.Cancelled);
    }

    private static async Task<HttpResponseMessage> PostAsync(TestServer server, string url, string options, byte[] dump)
    {
        using var form = new MultipartFormDataContent
        {
            { new StringContent(options), "importOptions" }, { new ByteArrayContent(dump), "name", "blob" }
        };
        return await server.Http.PostAsync(new Uri(url, UriKind.RelativeOrAbsolute), form, TestServer.Cancelled);
    }
}
