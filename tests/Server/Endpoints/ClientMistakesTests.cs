using System.IO.Compression;
using System.Net;
using System.Text;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>
/// Mistakes below the JSON: what is no gzip, no chunk, no form, and names longer than anything can hold. Each is 400 or its like,
/// and never a failure of the server.
/// </summary>
public sealed class ClientMistakesTests
{
    [Theory]
    [InlineData("this is not gzip at all, and long enough to have a header")]
    [InlineData("")]
    [InlineData("half")]
    public async Task A_bulk_insert_that_is_no_gzip_is_refused(string content)
    {
        await using TestServer server = await TestServer.StartAsync();
        byte[] body = Encoding.ASCII.GetBytes(content);
        if (content == "half")
        {
            using var buffer = new MemoryStream();
            await using (var gzip = new GZipStream(buffer, CompressionLevel.Fastest, leaveOpen: true))
                await gzip.WriteAsync("""[{"Id":"a/1","Type":"PUT","Document":{"a":1}}]"""u8.ToArray(), TestServer.Cancelled);
            body = buffer.ToArray()[..^20];
            body[12] ^= 0xFF;
        }

        using var request = new HttpRequestMessage(HttpMethod.Post, "bulk_insert?id=1") { Content = new ByteArrayContent(body) };
        request.Content.Headers.TryAddWithoutValidation("Content-Encoding", "gzip");
        using HttpResponseMessage response = await server.Http.SendAsync(request, TestServer.Cancelled);
        await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, ".BadRequestException");
    }

    [Theory]
    [InlineData("PUT", "docs?id=users/1", "")]
    [InlineData("POST", "bulk_insert?id=1", "")]
    [InlineData("POST", "bulk_insert?id=1", "Content-Encoding: gzip\n")]
    [InlineData("POST", "smuggler/import", "Content-Type: multipart/form-data; boundary=x\n")]
    public async Task Chunks_that_are_none_are_refused(string method, string route, string header)
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (string chunks in (string[])
        [
            "zz\r\n{}\r\n0\r\n\r\n", "fffffffffffffffff\r\n{}\r\n0\r\n\r\n", "-1\r\n{}\r\n0\r\n\r\n", "2\r\n[{xx0\r\n\r\n"
        ])
        {
            string answer = await RawHttp.SendAsync(
                server.Url, $"{method} /databases/db/{route} HTTP/1.1\nHost: 127.0.0.1\n{header}Transfer-Encoding: chunked\n\n",
                Encoding.ASCII.GetBytes(chunks), TestServer.Cancelled);
            Assert.True(RawHttp.StatusOf(answer) == 400, $"{chunks}: {answer}");
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(200)]
    [InlineData(5_000)]
    public async Task Forms_with_boundaries_of_any_length_that_are_no_forms_are_refused(int length)
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (string route in (string[])["databases/db/smuggler/import", "admin/restore/upload?name=again"])
            foreach (string body in (string[])
            [
                "", "--x", new string('-', 20_000), "--" + new string('b', length) + "\r\n" + new string('h', 40_000)
            ])
            {
                using var request = new HttpRequestMessage(HttpMethod.Post, $"{server.Url}/{route}")
                {
                    Content = new ByteArrayContent(Encoding.ASCII.GetBytes(body))
                };
                request.Content.Headers.TryAddWithoutValidation(
                    "Content-Type", $"multipart/form-data; boundary={new string('b', length)}");
                using HttpResponseMessage response = await server.Http.SendAsync(request, TestServer.Cancelled);
                await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, ".BadRequestException");
            }
    }

    [Theory]
    [InlineData("databases/db/smuggler/import")]
    [InlineData("admin/restore/upload?name=again")]
    public async Task A_form_that_ends_too_early_is_refused_wherever_it_ends(string route)
    {
        await using TestServer server = await TestServer.StartAsync();
        const string Form =
            "--b\r\nContent-Disposition: form-data; name=\"importOptions\"\r\n\r\n{}\r\n--b\r\nContent-Disposition: form-data; "
                + "name=\"file\"; filename=\"f\"\r\n\r\n{\"BuildVersion\":1}\r\n--b--\r\n";
        for (int length = 0; length < Form.Length - "\r\n--b--\r\n".Length; length++)
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, $"{server.Url}/{route}")
            {
                Content = new ByteArrayContent(Encoding.ASCII.GetBytes(Form[..length]))
            };
            request.Content.Headers.TryAddWithoutValidation("Content-Type", "multipart/form-data; boundary=b");
            using HttpResponseMessage response = await server.Http.SendAsync(request, TestServer.Cancelled);
            string answer = await response.Content.ReadAsStringAsync(TestServer.Cancelled);
            Assert.True(response.StatusCode == HttpStatusCode.BadRequest, $"{length}: {(int)response.StatusCode} {answer}");
        }
    }

    [Theory]
    [InlineData("GET", "hilo/next?tag={0}", null)]
    [InlineData("PUT", "hilo/return?tag={0}&end=2&last=1", null)]
    [InlineData("POST", "identity/next?name={0}", null)]
    [InlineData("POST", "identity/seed?name={0}&value=3", null)]
    [InlineData("PUT", "docs?id={0}", "{}")]
    [InlineData("DELETE", "docs?id={0}", null)]
    [InlineData("PUT", "admin/indexes", """{"Indexes":[{"Name":"{0}","Maps":["from u in docs.Users select new { u.name }"]}]}""")]
    [InlineData("POST", "queries", """{"Query":"from index '{0}'"}""")]
    [InlineData("POST", "queries", """{"Query":"from '{0}' where a = 1"}""")]
    [InlineData("POST", "queries", """{"Query":"from Users where {0} = 1"}""")]
    [InlineData("PUT", "/admin/databases?name={0}", "{}")]
    [InlineData("POST", "/admin/secrets?keep=false&name={0}", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")]
    [InlineData("POST", "admin/backup", """{"Name":"{0}","LocalSettings":{"FolderPath":"{0}"}}""")]
    [InlineData("POST", "/admin/backups/list", """{"BackupLocation":"{0}"}""")]
    [InlineData("POST", "/admin/restore/database", """{"BackupLocation":"{0}","DatabaseName":"{0}"}""")]
    [InlineData("GET", "indexes/terms?name={0}&field={0}", null)]
    [InlineData("DELETE", "indexes?name={0}", null)]
    public async Task Names_longer_than_anything_holds_are_no_failure_of_the_server(string method, string route, string? body)
    {
        await using TestServer server = await TestServer.StartAsync(
            options => options.Database = options.Database with { DefaultStaleWait = TimeSpan.FromSeconds(5) });
        string start = route.StartsWith('/') ? server.Url : "";
        foreach (int length in (int[])[129, 300, 513, 3_000])
        {
            string name = new('n', length);
            using HttpResponseMessage response = await server.SendAsync(
                new HttpMethod(method), start + route.Replace("{0}", name, StringComparison.Ordinal),
                body?.Replace("{0}", name, StringComparison.Ordinal));
            string text = await response.Content.ReadAsStringAsync(TestServer.Cancelled);
            Assert.True(
                (int)response.StatusCode < 500 || text.Contains("IndexDoesNotExistException", StringComparison.Ordinal),
                $"{length}: {(int)response.StatusCode} {text}");
        }
    }

    [Fact]
    public async Task A_bulk_insert_that_is_refused_while_its_client_thinks_is_answered_at_once()
    {
        await using TestServer server = await TestServer.StartAsync();
        // Its number makes the id too long, which only the commit finds out.
        byte[] item = Encoding.UTF8.GetBytes($$"""[{"Id":"{{new string('x', 510)}}/","Type":"PUT","Document":{} }""");
        byte[] chunk = [.. Encoding.ASCII.GetBytes($"{item.Length:x}\r\n"), .. item, .. "\r\n"u8];
        string answer = await RawHttp.SendAsync(
            server.Url, "POST /databases/db/bulk_insert?id=1 HTTP/1.1\nHost: 127.0.0.1\nTransfer-Encoding: chunked\n\n", chunk,
            TestServer.Cancelled);
        Assert.True(RawHttp.StatusOf(answer) == 400, answer);
        Assert.Equal("Faulted", (await server.GetAsync("operations/state?id=1")).GetProperty("Status").GetString());
    }

    [Fact]
    public async Task A_failure_of_the_storage_is_told_without_paths()
    {
        using var directory = new TemporaryDirectory();
        await using (Database database = Database.Open(Path.Combine(directory.Path, "databases", "broken")))
        {
        }

        foreach (string file in Directory.GetFiles(
            Path.Combine(directory.Path, "databases", "broken"), "*", SearchOption.AllDirectories))
            await File.WriteAllBytesAsync(file, new byte[64], TestServer.Cancelled);
        await using TestServer server = await TestServer.StartAsync(options => options.DataDirectory = directory.Path);
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Get, $"{server.Url}/databases/broken/stats");
        string text = await response.Content.ReadAsStringAsync(TestServer.Cancelled);
        Assert.False(response.IsSuccessStatusCode);
        Assert.DoesNotContain(Path.GetTempPath().TrimEnd('/'), text, StringComparison.Ordinal);
    }
}
