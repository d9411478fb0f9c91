using System.Net;
using System.Net.Sockets;
using System.Text;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Limits;

/// <summary>An import whose client says nothing more gives its place back.</summary>
public sealed class SilentImportTests
{
    [Theory]
    [InlineData("databases/db/smuggler/import")]
    [InlineData("admin/restore/upload?name=again")]
    public async Task An_import_that_sends_nothing_ends_and_leaves_its_place_to_others(string path)
    {
        await using TestServer server = await TestServer.StartAsync(
            static options => options.Limits = options.Limits with
            {
                MaxBulkInserts = 1,
                BulkInsertIdleTimeout = TimeSpan.FromSeconds(1)
            });
        var url = new Uri(server.Url);
        using var client = new TcpClient();
        await client.ConnectAsync(url.Host, url.Port, TestServer.Cancelled);
        NetworkStream stream = client.GetStream();
        await stream.WriteAsync(
            Encoding.ASCII.GetBytes(
                $"POST /{path} HTTP/1.1\r\nHost: {url.Authority}\r\nContent-Type: multipart/form-data; boundary=x\r\n"
                    + "Content-Length: 100000\r\n\r\n--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\n{\"Docs\":["),
            TestServer.Cancelled);
        using var reader = new StreamReader(stream);
        string? status = await reader.ReadLineAsync(TestServer.Cancelled).AsTask()
            .WaitAsync(Eventually.Patience, TestServer.Cancelled);
        Assert.StartsWith("HTTP/1.1 408", status, StringComparison.Ordinal);
        await Eventually.TrueAsync(
            async () =>
            {
                using HttpResponseMessage done = await server.SendAsync(HttpMethod.Post, "bulk_insert?id=99", "[]");
                return done.StatusCode == HttpStatusCode.NoContent;
            },
            "another has the place");
    }
}
