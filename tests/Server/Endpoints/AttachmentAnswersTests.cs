using System.Net;
using System.Text;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Server.Limits;
using Treepie.Server.Tests.Support;
using Treepie.Store;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>Attachments that are not what they say, or do harm to who looks at them.</summary>
public sealed class AttachmentAnswersTests
{
    [Fact]
    public async Task An_attachment_with_another_size_than_its_content_is_not_imported()
    {
        await using TestServer server = await TestServer.StartAsync();
        string hash = await PutAsync(server, "abc"u8.ToArray(), "");
        using var form = new MultipartFormDataContent
        {
            { new StringContent("{}"), "importOptions" },
            {
                new ByteArrayContent(
                    Encoding.UTF8.GetBytes(
                        $$"""{"TreepieAttachments":[{"DocId":"films/1","Name":"other","Hash":"{{hash}}","ContentType":"","Size":100000}]}""")),
                "name", "blob"
            },
        };
        using HttpResponseMessage imported = await server.Http.PostAsync(
            new Uri("smuggler/import", UriKind.Relative), form, TestServer.Cancelled);
        Assert.Contains(
            "'other'", await TestServer.ErrorOf(imported, HttpStatusCode.BadRequest, "BadRequestException"),
            StringComparison.Ordinal);
        using DatabaseSnapshot snapshot = server.Catalog.Find("db")!.BeginRead();
        Assert.Null(snapshot.Attachment("films/1", "other"));
    }

    [Fact]
    public async Task An_attachment_whose_content_is_too_short_ends_its_response_and_holds_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        await StoreAsync(server, await PutAsync(server, "abc"u8.ToArray(), ""), 100_000, "");
        await Assert.ThrowsAnyAsync<HttpRequestException>(
            () => server.Http.GetByteArrayAsync(Poster, TestServer.Cancelled)
                .WaitAsync(Eventually.Patience, TestServer.Cancelled));
        using HttpResponseMessage behind = await RangeAsync(server, 3);
        Assert.Equal(HttpStatusCode.InternalServerError, behind.StatusCode);
        Assert.Contains(
            "'poster'", JsonDocument.Parse(await behind.Content.ReadAsStringAsync(TestServer.Cancelled)).RootElement
                .GetProperty("Message").GetString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("caf\u00e9")]
    [InlineData("a\nb")]
    public async Task A_content_type_that_cannot_be_a_header_is_not_sent(string type)
    {
        await using TestServer server = await TestServer.StartAsync();
        await StoreAsync(server, await PutAsync(server, "abc"u8.ToArray(), ""), 3, type);
        using HttpResponseMessage answer = await server.Http.GetAsync(Poster, TestServer.Cancelled);
        Assert.Equal("abc", await answer.Content.ReadAsStringAsync(TestServer.Cancelled));
        Assert.Equal("application/octet-stream", answer.Content.Headers.ContentType?.ToString());
    }

    [Theory]
    [InlineData("text/html")]
    [InlineData("image/svg+xml")]
    public async Task An_attachment_is_no_page_of_the_server(string type)
    {
        await using TestServer server = await TestServer.StartAsync();
        await PutAsync(server, "<script>alert(1)</script>"u8.ToArray(), type);
        using HttpResponseMessage answer = await server.Http.GetAsync(Poster, TestServer.Cancelled);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.Equal(type, answer.Content.Headers.ContentType?.ToString());
        Assert.Equal("attachment", answer.Content.Headers.ContentDisposition?.ToString());
        Assert.Contains("sandbox", Assert.Single(answer.Headers.GetValues("Content-Security-Policy")), StringComparison.Ordinal);
        using HttpResponseMessage document = await server.Http.GetAsync(
            new Uri("docs?id=films/1", UriKind.Relative), TestServer.Cancelled);
        Assert.Equal(
            answer.Headers.GetValues("Content-Security-Policy"), document.Headers.GetValues("Content-Security-Policy"));
    }

    [Fact]
    public async Task A_refusal_in_place_of_an_attachment_is_whole()
    {
        await using TestServer server = await TestServer.StartAsync(
            static options => options.Limits = options.Limits with { MaxStreams = 1 });
        await PutAsync(server, new byte[2 * 1024 * 1024], "text/plain");
        using WorkShare.Place held = server.Context.Streams.Enter(new ClientKey("somebody", default));
        using HttpResponseMessage refused = await server.Http.GetAsync(Poster, TestServer.Cancelled);
        Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        Assert.Contains("streams", await refused.Content.ReadAsStringAsync(TestServer.Cancelled), StringComparison.Ordinal);
        Assert.NotNull(refused.Headers.RetryAfter);
        Assert.Null(refused.Headers.ETag);
        Assert.False(refused.Headers.Contains("Attachment-Size"));
        Assert.Null(refused.Content.Headers.ContentDisposition);
    }

    private static Uri Poster => new("attachments?id=films/1&name=poster", UriKind.Relative);

    private static async Task<HttpResponseMessage> RangeAsync(TestServer server, long from)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, Poster);
        request.Headers.Range = new System.Net.Http.Headers.RangeHeaderValue(from, null);
        return await server.Http.SendAsync(request, TestServer.Cancelled)
            .WaitAsync(Eventually.Patience, TestServer.Cancelled);
    }

    /// <summary>Stores what no client can, as an earlier import could.</summary>
    private static async Task StoreAsync(TestServer server, string hash, long size, string type)
    {
        Database database = server.Catalog.Find("db")!;
        byte[] name = "poster"u8.ToArray();
        var stored = new RestoredKind(
            KindKey.OfName(Kind.Attachment, "films/1"u8, name), name,
            AttachmentRecord.Encode(Convert.FromBase64String(hash), size, type), 1, 1, IsDeleted: false);
        await database.WriteAsync(
            (writer, _) =>
            {
                KindResult result = new RestoreKindCommand(stored, 0).Apply(writer);
                writer.Save();
                return result;
            },
            TestServer.Cancelled);
    }

    /// <summary>Stores an attachment; returns its hash.</summary>
    private static async Task<string> PutAsync(TestServer server, byte[] content, string type)
    {
        await server.PutAsync("films/1", "{}");
        using var body = new ByteArrayContent(content);
        using HttpResponseMessage put = await server.Http.PutAsync(
            new Uri($"{Poster}&contentType={Uri.EscapeDataString(type)}", UriKind.Relative), body, TestServer.Cancelled);
        return (await TestServer.JsonOf(put, HttpStatusCode.Created)).GetProperty("Hash").GetString()!;
    }
}
