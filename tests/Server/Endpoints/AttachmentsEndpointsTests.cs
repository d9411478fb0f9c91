using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Server.Tests.Support;
using Treepie.Storage.Transactions;
using Treepie.Store;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>Attachments over HTTP.</summary>
public sealed class AttachmentsEndpointsTests
{
    /// <summary>Sizes around those of a flush, a write and a stored piece.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData((32 * 1024) - 1)]
    [InlineData(64 * 1024)]
    [InlineData((64 * 1024) + 1)]
    [InlineData(70_000)]
    [InlineData((1024 * 1024) - 1)]
    [InlineData(1024 * 1024)]
    [InlineData((3 * 1024 * 1024) + 12_345)]
    public async Task An_attachment_of_any_size_comes_back_whole_and_in_ranges(int size)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("films/1", "{}");
        var random = new Random(Seed.Next());
        byte[] content = new byte[size];
        random.NextBytes(content);
        var url = new Uri(server.Url + "/databases/db/attachments?id=films/1&name=poster");
        using (var body = new ByteArrayContent(content))
        using (HttpResponseMessage put = await server.Http.PutAsync(url, body, TestServer.Cancelled))
            Assert.Equal(HttpStatusCode.Created, put.StatusCode);
        Assert.Equal(content, await GetAsync(server, url, null, HttpStatusCode.OK));
        for (int i = 0; i < 5 && size > 1; i++)
        {
            int from = random.Next(size), to = random.Next(from, size);
            bool isWhole = from == 0 && to == size - 1;
            Assert.Equal(
                content[from..(to + 1)],
                await GetAsync(
                    server, url, new RangeHeaderValue(from, to), isWhole ? HttpStatusCode.OK : HttpStatusCode.PartialContent));
        }
    }

    [Fact]
    public async Task An_attachment_of_a_revision_is_read_by_its_change_vector()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("films/1", "{}");
        using (var none = new StringContent("""{"Default":{}}""", Encoding.UTF8, "application/json"))
        using (HttpResponseMessage configured = await server.Http.PostAsync(
            new Uri(server.Url + "/databases/db/admin/revisions/config"), none, TestServer.Cancelled))
            Assert.Equal(HttpStatusCode.OK, configured.StatusCode);
        var url = new Uri(server.Url + "/databases/db/attachments?id=films/1&name=poster");
        foreach (string text in new[] { "first", "second" })
        {
            using var body = new StringContent(text);
            using HttpResponseMessage put = await server.Http.PutAsync(url, body, TestServer.Cancelled);
            Assert.Equal(HttpStatusCode.Created, put.StatusCode);
        }

        using var revisions = JsonDocument.Parse(
            await server.Http.GetStringAsync(
                new Uri(server.Url + "/databases/db/revisions?id=films/1"), TestServer.Cancelled));
        JsonElement metadata = revisions.RootElement.GetProperty("Results")[1].GetProperty("@metadata");
        Assert.Equal("poster", metadata.GetProperty("@attachments")[0].GetProperty("Name").GetString());
        string vector = metadata.GetProperty("@change-vector").GetString() ?? "";
        var byVector = new Uri($"{url}&type=Revision&changeVector={Uri.EscapeDataString(vector)}");
        Assert.Equal("first"u8.ToArray(), await GetAsync(server, byVector, null, HttpStatusCode.OK));
        Assert.Equal("irs"u8.ToArray(), await GetAsync(server, byVector, new RangeHeaderValue(1, 3), HttpStatusCode.PartialContent));
        Assert.Equal("second"u8.ToArray(), await GetAsync(server, url, null, HttpStatusCode.OK));
        await PostAsync($$"""{"Type":"Revision","ChangeVector":"{{vector}}"}""", HttpStatusCode.OK, "first");
        await PostAsync("""{"Type":"Document"}""", HttpStatusCode.OK, "second");
        await PostAsync("""{"Type":"Revision","ChangeVector":"A:999-x"}""", HttpStatusCode.NotFound, "");
        await PostAsync("""{"Type":"Revision"}""", HttpStatusCode.BadRequest, "change vector");
        await PostAsync("""{"Type":"Counter","ChangeVector":"A:1"}""", HttpStatusCode.BadRequest, "has no attachments");
        await PostAsync("[]", HttpStatusCode.BadRequest, "");

        async Task PostAsync(string json, HttpStatusCode expected, string content)
        {
            using var body = new StringContent(json, Encoding.UTF8, "application/json");
            using HttpResponseMessage answer = await server.Http.PostAsync(url, body, TestServer.Cancelled);
            Assert.Equal(expected, answer.StatusCode);
            Assert.Contains(content, await answer.Content.ReadAsStringAsync(TestServer.Cancelled), StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData(10_000, true)]
    [InlineData(10_000, false)]
    [InlineData(2_500_000, true)]
    [InlineData(2_500_000, false)]
    public async Task An_upload_that_is_cut_in_its_middle_leaves_nothing_behind(int sent, bool isChunked)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("films/1", "{}");
        Database database = server.Catalog.Find("db")!; // the server has it
        var url = new Uri(server.Url);
        byte[] piece = new byte[sent];
        new Random(Seed.Next()).NextBytes(piece);
        long etag = database.LastEtag;
        using (var client = new TcpClient())
        {
            await client.ConnectAsync(url.Host, url.Port, TestServer.Cancelled);
            string length = isChunked ? "Transfer-Encoding: chunked" : $"Content-Length: {2 * sent}";
            await client.GetStream().WriteAsync(
                Encoding.ASCII.GetBytes(
                    $"PUT /databases/db/attachments?id=films/1&name=poster HTTP/1.1\r\nHost: {url.Authority}\r\n{length}\r\n\r\n"
                        + (isChunked ? $"{sent:x}\r\n" : "")), TestServer.Cancelled);
            await client.GetStream().WriteAsync(piece, TestServer.Cancelled);
            if (sent > ContentRecord.PieceBytes)
                await Eventually.TrueAsync(() => Task.FromResult(Uploads(database) == 1), "the upload is at work");
            client.Client.Close(0); // a reset
        }

        await Eventually.TrueAsync(() => Task.FromResult(Uploads(database) == 0), "the upload was dropped");
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Null(snapshot.Attachment("films/1", "poster"));
        using (ReadTransaction read = database.Environment.BeginRead())
        {
            Assert.Equal(0, read.FindTree(TreeNames.Contents)?.Count ?? 0);
            Assert.Equal(0, read.FindTree(TreeNames.ContentsByHash)?.Count ?? 0);
        }

        Assert.Equal(etag, database.LastEtag);
        Assert.Equal(0, database.GetStatistics().AttachmentCount);
        var again = new Uri(server.Url + "/databases/db/attachments?id=films/1&name=poster");
        using var body = new ByteArrayContent(piece);
        using HttpResponseMessage put = await server.Http.PutAsync(again, body, TestServer.Cancelled);
        Assert.Equal(HttpStatusCode.Created, put.StatusCode);
        Assert.Equal(piece, await GetAsync(server, again, null, HttpStatusCode.OK));
    }

    /// <summary>Each gets one content whole, that of the hash in its headers.</summary>
    [Fact]
    public async Task A_hundred_readers_of_an_attachment_that_is_replaced_each_get_one_content()
    {
        const int Readers = 100, Replacements = 5, Size = 700_000;
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("films/1", "{}");
        var url = new Uri(server.Url + "/databases/db/attachments?id=films/1&name=poster");
        await ReplaceAsync(0);
        HttpResponseMessage[] answers = await Task.WhenAll(Enumerable.Range(0, Readers).Select(_ => server.Http.GetAsync(
            url, HttpCompletionOption.ResponseHeadersRead, TestServer.Cancelled)));
        Task<string>[] early = [.. answers.Take(Readers / 2).Select(ReadAsync)]; // the others begin to read when all is replaced
        for (byte number = 1; number <= Replacements; number++)
            await ReplaceAsync(number);
        string[] hashes = await Task.WhenAll([.. early, .. answers.Skip(Readers / 2).Select(ReadAsync)]);
        Assert.Equal([HashOf(0)], hashes.Distinct());
        using HttpResponseMessage last = await server.Http.GetAsync(
            url, HttpCompletionOption.ResponseHeadersRead, TestServer.Cancelled);
        Assert.Equal(HashOf(Replacements), await ReadAsync(last));
        Assert.Equal(1, server.Catalog.Find("db")!.GetStatistics().UniqueAttachmentCount);

        static string HashOf(byte number) => Convert.ToBase64String(SHA256.HashData(ContentOf(number)));

        static byte[] ContentOf(byte number) => [.. Enumerable.Repeat((byte)(number + 1), Size)];

        async Task ReplaceAsync(byte number)
        {
            using var body = new ByteArrayContent(ContentOf(number));
            using HttpResponseMessage put = await server.Http.PutAsync(url, body, TestServer.Cancelled);
            Assert.Equal(HttpStatusCode.Created, put.StatusCode);
        }

        static async Task<string> ReadAsync(HttpResponseMessage answer)
        {
            using HttpResponseMessage read = answer;
            Assert.Equal(HttpStatusCode.OK, read.StatusCode);
            await using Stream content = await read.Content.ReadAsStreamAsync(TestServer.Cancelled);
            string hash = Convert.ToBase64String(
                await SHA256.HashDataAsync(content, TestServer.Cancelled).AsTask()
                    .WaitAsync(Eventually.Patience, TestServer.Cancelled));
            Assert.Equal(read.Headers.GetValues("Attachment-Hash").Single(), hash);
            return hash;
        }
    }

    private static long Uploads(Database database)
    {
        using ReadTransaction read = database.Environment.BeginRead();
        return read.FindTree(TreeNames.ContentUploads)?.Count ?? 0;
    }

    private static async Task<byte[]> GetAsync(TestServer server, Uri url, RangeHeaderValue? range, HttpStatusCode expected)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, url);
        request.Headers.Range = range;
        using HttpResponseMessage answer = await server.Http.SendAsync(
            request, HttpCompletionOption.ResponseHeadersRead, TestServer.Cancelled);
        Assert.Equal(expected, answer.StatusCode);
        return await answer.Content.ReadAsByteArrayAsync(TestServer.Cancelled)
            .WaitAsync(Eventually.Patience, TestServer.Cancelled);
    }
}
