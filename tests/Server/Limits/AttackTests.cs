using System.Net;
using System.Net.Http.Json;
using System.Net.Sockets;
using System.Text;
using Treepie.Server.Hosting;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Limits;

/// <summary>
/// What a stranger does to a server, over real connections: it answers him by name, and everybody else as before.
/// </summary>
public sealed class AttackTests
{
    private const string Json = "application/json";

    [Fact]
    public async Task A_query_of_thousands_of_large_shapes_is_refused_and_its_database_can_be_deleted()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("places/1", """{"Lat":1,"Lng":1,"@metadata":{"@collection":"Places"}}""");
        Task<HttpResponseMessage> query = server.SendAsync(HttpMethod.Post, "queries", Star.Query(3_000, 9_990));
        using var delete = new HttpRequestMessage(HttpMethod.Delete, server.Url + "/admin/databases")
        {
            Content = new StringContent("""{"DatabaseNames":["db"],"HardDelete":true}""", Encoding.UTF8, Json),
        };
        using HttpResponseMessage answer = await query.WaitAsync(Eventually.Patience, TestServer.Cancelled);
        string error = await TestServer.ErrorOf(answer, HttpStatusCode.BadRequest, "InvalidQueryException");
        Assert.Contains("corners", error, StringComparison.Ordinal);
        using HttpResponseMessage deleted = await server.Http.SendAsync(delete, TestServer.Cancelled)
            .WaitAsync(Eventually.Patience, TestServer.Cancelled);
        Assert.Equal(HttpStatusCode.OK, deleted.StatusCode);
    }

    [Fact]
    public async Task A_body_that_is_only_announced_takes_no_memory()
    {
        await using TestServer server = await TestServer.StartAsync();
        const int Connections = 8;
        const long Announced = 128L * 1024 * 1024;
        long before = GC.GetTotalMemory(forceFullCollection: true);
        var connections = new List<RawConnection>();
        for (int i = 0; i < Connections; i++)
        {
            RawConnection connection = await RawConnection.OpenAsync(server.Url);
            connections.Add(connection);
            await connection.SendAsync(
                $"POST /databases/db/bulk_docs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                    + $"{Announced}\r\n\r\n{{");
        }

        // Answered on a connection of its own once the others have been begun with.
        for (int i = 0; i < 20; i++)
            await server.GetAsync("stats");
        long grown = GC.GetTotalMemory(forceFullCollection: false) - before;
        foreach (RawConnection connection in connections)
            await connection.DisposeAsync();
        Assert.True(grown < Announced, $"{Connections} bodies of which one byte came took {grown:N0} bytes.");
    }

    [Fact]
    public async Task Half_open_bulk_inserts_take_no_place_from_other_requests()
    {
        using var directory = new TemporaryDirectory();
        using var input = new LineInput();
        (Task<int> run, string url, StringWriter _) = await RunningProgram.StartAsync(
            input, "--data", directory.Path, "--max-requests", "8");
        using var http = new HttpClient { BaseAddress = new Uri(url) };
        using (HttpResponseMessage created = await http.PutAsJsonAsync(
            "/admin/databases?name=db", new { DatabaseName = "db" }, TestServer.Cancelled))
            Assert.Equal(HttpStatusCode.Created, created.StatusCode);

        var half = new List<RawConnection>();
        for (int i = 1; i <= 100; i++)
        {
            RawConnection connection = await RawConnection.OpenAsync(url);
            half.Add(connection);
            await connection.SendAsync(
                $"POST /databases/db/bulk_insert?id={i} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                    + $"chunked\r\n\r\n1\r\n[\r\n");
        }

        await using (RawConnection last = await RawConnection.OpenAsync(url))
        {
            await last.SendAsync(
                "POST /databases/db/bulk_insert?id=101 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                    + "chunked\r\n\r\n1\r\n[\r\n");
            string refused = await last.ReceiveAsync();
            Assert.StartsWith("HTTP/1.1 429", refused, StringComparison.Ordinal);
            Assert.Contains("Retry-After:", refused, StringComparison.Ordinal);
        }

        using HttpResponseMessage other = await http.GetAsync(
            new Uri("/databases/db/stats", UriKind.Relative), TestServer.Cancelled);
        Assert.Equal(HttpStatusCode.OK, other.StatusCode);
        foreach (RawConnection connection in half)
            await connection.DisposeAsync();
        input.Send("q");
        Assert.Equal(ExitCodes.Success, await run);
    }

    [Fact]
    public async Task Silent_connections_beyond_what_the_process_may_open_leave_the_server_alive()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Limits of a process are read on Linux.");
        const int OpenFiles = 300, Silent = 500;
        await using ServerProcess server = await LimitedServer.StartAsync(OpenFiles);
        using HttpResponseMessage before = await server.Http.GetAsync(
            new Uri("/build/version", UriKind.Relative), TestServer.Cancelled);
        Assert.Equal(HttpStatusCode.OK, before.StatusCode);
        var silent = new List<RawConnection>();
        for (int i = 0; i < Silent; i++)
        {
            try
            {
                silent.Add(await RawConnection.OpenAsync(server.Url));
            }
            catch (SocketException)
            {
                // Refused: that is the limit.
            }
        }

        // The process can still open files: a database is made, and written to.
        using (HttpResponseMessage created = await server.Http.PutAsJsonAsync(
            "/admin/databases?name=db", new { DatabaseName = "db" }, TestServer.Cancelled))
            Assert.Equal(HttpStatusCode.Created, created.StatusCode);
        using (HttpResponseMessage put = await server.Http.PutAsJsonAsync(
            "/databases/db/docs?id=a/1", new { Name = "a" }, TestServer.Cancelled))
            Assert.Equal(HttpStatusCode.Created, put.StatusCode);

        // The connection that was there before is served all the time.
        for (int i = 0; i < 50; i++)
        {
            using HttpResponseMessage meanwhile = await server.Http.GetAsync(
                new Uri("/build/version", UriKind.Relative), TestServer.Cancelled);
            Assert.Equal(HttpStatusCode.OK, meanwhile.StatusCode);
        }

        foreach (RawConnection connection in silent)
            await connection.DisposeAsync();
        using var later = new HttpClient { BaseAddress = new Uri(server.Url) };
        HttpStatusCode? status = null;
        for (int attempt = 0; status is null && attempt < 200; attempt++)
        {
            try
            {
                using HttpResponseMessage after = await later.GetAsync(
                    new Uri("/build/version", UriKind.Relative), TestServer.Cancelled);
                status = after.StatusCode;
            }
            catch (HttpRequestException)
            {
                await Task.Delay(50, TestServer.Cancelled); // the silent ones are being let go
            }
        }

        Assert.Equal(HttpStatusCode.OK, status);
        Assert.Equal(0, await server.StopAsync());
    }
}
