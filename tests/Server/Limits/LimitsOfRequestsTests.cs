using System.Net;
using Treepie.Server.Limits;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Limits;

/// <summary>
/// Each limit over real connections, with numbers small enough to reach: who is beyond is told so by name, and nothing is held
/// afterwards.
/// </summary>
public sealed class LimitsOfRequestsTests
{
    private const string Query = """{"Query":"from Users where name = 'ada'","WaitForNonStaleResults":true}""";

    private readonly TestClock _clock = new();

    [Fact]
    public async Task While_queries_have_all_places_one_waits_one_is_refused_and_a_document_is_answered()
    {
        await using TestServer server = await TestServer.StartAsync(
            static options => options.Limits = options.Limits with { MaxQueries = 1, MaxQueuedQueries = 1 });
        await server.PutAsync("users/1", """{"name":"ada","@metadata":{"@collection":"Users"}}""");
        await server.Context.Queries.EnterAsync(new ClientKey("somebody else", 0), isReturning: false, TestServer.Cancelled);
        Task<HttpResponseMessage> waiting = server.SendAsync(HttpMethod.Post, "queries", Query);
        await Eventually.TrueAsync(() => server.Context.Queries.Queued == 1, "the query waits");

        using HttpResponseMessage refused = await server.SendAsync(HttpMethod.Post, "queries", Query);
        string message = await TestServer.ErrorOf(refused, HttpStatusCode.ServiceUnavailable, ".RavenException");
        Assert.Contains("queries", message, StringComparison.Ordinal);
        Assert.NotNull(refused.Headers.RetryAfter);
        Assert.Equal("ada", (await server.GetAsync("docs?id=users/1")).GetProperty("Results")[0].GetProperty("name").GetString());
        Assert.False(waiting.IsCompleted);

        server.Context.Queries.Leave();
        using HttpResponseMessage answer = await waiting;
        Assert.Equal(1, (await TestServer.JsonOf(answer, HttpStatusCode.OK)).GetProperty("TotalResults").GetInt32());
        await Eventually.TrueAsync(() => server.Context.Queries.Running == 0, "no place is taken");
    }

    [Fact]
    public async Task A_query_that_waits_for_an_index_has_no_place()
    {
        await using TestServer server = await TestServer.StartAsync(
            static options => options.Limits = options.Limits with { MaxQueries = 1 });
        await server.PutAsync("users/1", """{"name":"ada","@metadata":{"@collection":"Users"}}""");
        using (HttpResponseMessage first = await server.SendAsync(HttpMethod.Post, "queries", Query))
            await TestServer.JsonOf(first, HttpStatusCode.OK);
        using (HttpResponseMessage stopped = await server.SendAsync(HttpMethod.Post, "admin/indexes/stop"))
            Assert.True(stopped.IsSuccessStatusCode);
        await server.PutAsync("users/2", """{"name":"ada","@metadata":{"@collection":"Users"}}""");
        Task<HttpResponseMessage> waiting = server.SendAsync(HttpMethod.Post, "queries", Query);
        for (int i = 0; i < 5; i++)
        {
            using HttpResponseMessage other = await server.SendAsync(
                HttpMethod.Post, "queries", """{"Query":"from Users where name = 'ada'"}""");
            await TestServer.JsonOf(other, HttpStatusCode.OK);
        }

        Assert.False(waiting.IsCompleted);
        using (HttpResponseMessage started = await server.SendAsync(HttpMethod.Post, "admin/indexes/start"))
            Assert.True(started.IsSuccessStatusCode);
        using HttpResponseMessage answer = await waiting;
        Assert.Equal(2, (await TestServer.JsonOf(answer, HttpStatusCode.OK)).GetProperty("TotalResults").GetInt32());
    }

    [Fact]
    public async Task A_stream_whose_reader_stands_still_is_cut_off_and_what_it_kept_is_free()
    {
        await using TestServer server = await TestServer.StartAsync(
            options => options.Database = options.Database with { TimeProvider = _clock });
        const int Documents = 16, Bytes = 1_000_000;
        for (int i = 0; i < Documents; i++)
            await server.PutAsync($"users/{i}", $$"""{"text":"{{new string('x', Bytes)}}"}""");
        await using RawConnection connection = await RawConnection.OpenAsync(server.Url, receiveBufferBytes: 4_096);
        await connection.SendAsync("GET /databases/db/streams/docs?format=jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n");
        Assert.StartsWith("HTTP/1.1 200", await connection.ReceiveAsync(), StringComparison.Ordinal);
        TimeSpan patience = server.Context.Limits.StalledReaderTimeout;
        await Eventually.TrueAsync(() => _clock.HasTimer(patience), "the server waits for the reader");
        Assert.Equal(1, server.Context.Streams.Taken);
        await Eventually.TrueAsync(() => server.Context.Queries.Running == 0, "others may work while it waits");

        _clock.Advance(patience);
        await Eventually.TrueAsync(() => server.Context.Streams.Taken == 0, "the stream has ended");
        Assert.True(await connection.DrainAsync() < (long)Documents * Bytes, "all of the stream was sent");
        Assert.Equal(Documents, await server.CountAsync());
    }

    [Fact]
    public async Task A_bulk_insert_that_sends_single_bytes_is_ended_like_a_silent_one()
    {
        await using TestServer server = await TestServer.StartAsync(
            options => options.Database = options.Database with { TimeProvider = _clock });
        TimeSpan patience = server.Context.Limits.BulkInsertIdleTimeout;
        await using RawConnection connection = await RawConnection.OpenAsync(server.Url);
        await connection.SendAsync(
            "POST /databases/db/bulk_insert?id=1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n");
        await Eventually.TrueAsync(() => _clock.HasTimer(patience), "the insert has begun");
        for (int i = 0; i < 4; i++)
        {
            await connection.SendAsync("1\r\n \r\n");
            _clock.Advance(patience / 4);
        }

        Assert.StartsWith("HTTP/1.1 408", await connection.ReceiveAsync(), StringComparison.Ordinal);
        await Eventually.TrueAsync(() => server.Context.BulkInserts.Taken == 0, "its place is free");
        Assert.Equal(0, server.Context.Buffers.HeldBytes);
    }

    [Fact]
    public async Task A_parameter_that_would_be_parsed_to_many_times_its_length_is_refused()
    {
        await using TestServer server = await TestServer.StartAsync(
            static options => options.Limits = options.Limits with { MaxQueryBytes = 1_000_000, MaxBufferedBytes = 4_000_000 });
        string parameter = string.Concat(Enumerable.Repeat("[],", 250_000)) + "0";
        using HttpResponseMessage busy = await server.SendAsync(
            HttpMethod.Post, "queries", $$$"""{"Query":"from Users","QueryParameters":{"p":[{{{parameter}}}]}}""");
        string message = await TestServer.ErrorOf(busy, HttpStatusCode.ServiceUnavailable, ".RavenException");
        Assert.Contains("4,000,000", message, StringComparison.Ordinal);
        Assert.NotNull(busy.Headers.RetryAfter);
        using HttpResponseMessage tooLarge = await server.SendAsync(
            HttpMethod.Post, "queries",
            $$$"""{"Query":"from Users","QueryParameters":{"p":"{{{new string('x', 1_000_000)}}}"}}""");
        Assert.Contains(
            "1,000,000", await TestServer.ErrorOf(tooLarge, HttpStatusCode.RequestEntityTooLarge, ".BadRequestException"),
            StringComparison.Ordinal);
        Assert.Equal(0, server.Context.Buffers.HeldBytes);
        using HttpResponseMessage fine = await server.SendAsync(HttpMethod.Post, "queries", """{"Query":"from Users"}""");
        await TestServer.JsonOf(fine, HttpStatusCode.OK);
    }

    [Fact]
    public async Task Streams_beyond_a_clients_share_are_refused_and_shapes_and_rows_beyond_theirs()
    {
        await using TestServer server = await TestServer.StartAsync(static options =>
        {
            options.Limits = options.Limits with { MaxStreamsPerClient = 1 };
            options.Database = options.Database with { MaxShapeCorners = 100, MaxDistinctResults = 2 };
        });
        for (int i = 0; i < 3; i++)
            await server.PutAsync($"places/{i}", $$$"""{"Lat":{{{i}}},"Lng":1,"@metadata":{"@collection":"Places"}}""");
        using HttpResponseMessage shapes = await server.SendAsync(HttpMethod.Post, "queries", Star.Query(3, 40));
        Assert.Contains(
            "100 corners", await TestServer.ErrorOf(shapes, HttpStatusCode.BadRequest, ".InvalidQueryException"),
            StringComparison.Ordinal);
        using HttpResponseMessage fewer = await server.SendAsync(HttpMethod.Post, "queries", Star.Query(2, 40));
        await TestServer.JsonOf(fewer, HttpStatusCode.OK);
        using HttpResponseMessage two = await server.SendAsync(
            HttpMethod.Post, "queries", """{"Query":"from Places select distinct Lng"}""");
        await TestServer.JsonOf(two, HttpStatusCode.OK);
        await Assert.ThrowsAnyAsync<HttpRequestException>(async () =>
        {
            // The third row comes after the first was sent, so only the connection can say it.
            using HttpResponseMessage three = await server.SendAsync(
                HttpMethod.Post, "queries", """{"Query":"from Places select distinct Lat"}""");
            if (!three.IsSuccessStatusCode)
                throw new HttpRequestException(three.StatusCode.ToString());
        });

        using WorkShare.Place taken = server.Context.Streams.Enter(new ClientKey("", ClientKey.Of(Loopback()).Address));
        using HttpResponseMessage refused = await server.Http.GetAsync(
            new Uri("streams/docs", UriKind.Relative), TestServer.Cancelled);
        await TestServer.ErrorOf(refused, HttpStatusCode.TooManyRequests, ".RavenException");
        Assert.NotNull(refused.Headers.RetryAfter);
    }

    private static Microsoft.AspNetCore.Http.DefaultHttpContext Loopback() =>
        new() { Connection = { RemoteIpAddress = IPAddress.Loopback } };
}
