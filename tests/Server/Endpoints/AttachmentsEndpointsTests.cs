using System.Net;
using System.Net.Http.Headers;
using Treepie.Server.Tests.Support;
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
