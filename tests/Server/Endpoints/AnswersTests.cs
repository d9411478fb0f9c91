using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>How answers are sent: short ones as a whole, long ones in pieces, and what becomes of errors in between.</summary>
public sealed class AnswersTests
{
    private const int TextBytes = 20_000;

    [Fact]
    public async Task A_short_answer_has_a_length_and_a_long_one_comes_in_pieces()
    {
        await using TestServer server = await StartAsync(documents: 5);
        using (HttpResponseMessage three = await AskAsync(server, "from Users limit 3", HttpCompletionOption.ResponseHeadersRead))
        {
            Assert.NotNull(three.Content.Headers.ContentLength);
            Assert.Null(three.Headers.TransferEncodingChunked);
            Assert.Equal(3, (await TestServer.JsonOf(three, HttpStatusCode.OK)).GetProperty("Results").GetArrayLength());
        }

        using HttpResponseMessage all = await AskAsync(server, "from Users", HttpCompletionOption.ResponseHeadersRead);
        Assert.True(all.Headers.TransferEncodingChunked);
        Assert.Equal(5, (await TestServer.JsonOf(all, HttpStatusCode.OK)).GetProperty("Results").GetArrayLength());
        using HttpResponseMessage one = await server.Http.GetAsync(
            new Uri("docs?id=users/0", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead, TestServer.Cancelled);
        Assert.InRange(one.Content.Headers.ContentLength ?? 0, TextBytes, int.MaxValue);
    }

    [Fact]
    public async Task An_error_after_60_KB_of_results_has_its_status_and_one_after_100_KB_breaks_the_connection()
    {
        await using TestServer server = await StartAsync(documents: 8, mostRows: 3);
        using (HttpResponseMessage early = await AskAsync(server, "from Users select distinct Text"))
        {
            string message = await TestServer.ErrorOf(early, HttpStatusCode.BadRequest, ".InvalidQueryException");
            Assert.Contains("MaxDistinctResults", message, StringComparison.Ordinal);
            Assert.Null(early.Headers.ETag);
        }

        await using TestServer later = await StartAsync(documents: 8, mostRows: 5);
        await Assert.ThrowsAnyAsync<HttpRequestException>(() => AskAsync(later, "from Users select distinct Text"));
        await Eventually.TrueAsync(() => later.Context.Requests.Taken == 0, "the request has ended");
        Assert.Equal(0, later.Context.Queries.Running);
    }

    [Fact]
    public async Task An_error_in_a_multi_get_that_has_not_been_sent_is_the_result_of_its_query()
    {
        await using TestServer server = await StartAsync(documents: 3, mostRows: 2);
        static string Inner(string query) =>
            $$$"""{"Url":"/databases/db/queries","Method":"POST","Content":"{\"Query\":\"{{{query}}}\"}"}""";
        using HttpResponseMessage answer = await server.SendAsync(
            HttpMethod.Post, "multi_get",
            $$"""{"Requests":[{{Inner("from Users limit 1")}},{{Inner("from Nobody where")}},{{Inner("from Users limit 2")}}]}""");
        JsonElement results = (await TestServer.JsonOf(answer, HttpStatusCode.OK)).GetProperty("Results");
        Assert.Equal([200, 400, 200], results.EnumerateArray().Select(result => result.GetProperty("StatusCode").GetInt32()));
        await Eventually.TrueAsync(() => server.Context.Queries.Running == 0, "no place is taken");
        using HttpResponseMessage broken = await server.SendAsync(
            HttpMethod.Post, "multi_get", $$"""{"Requests":[{{Inner("from Users select distinct Text")}}]}""");
        await TestServer.ErrorOf(broken, HttpStatusCode.BadRequest, ".InvalidQueryException");
        Assert.Equal(0, server.Context.Queries.Running);
    }

    [Fact]
    public async Task A_client_that_has_the_answer_is_told_so_and_no_place_stays_taken()
    {
        await using TestServer server = await StartAsync(documents: 1);
        using HttpResponseMessage first = await AskAsync(server, "from Users");
        string etag = first.Headers.ETag!.Tag;
        for (int i = 0; i < 10; i++)
        {
            using HttpResponseMessage again = await server.SendAsync(
                HttpMethod.Post, "queries", """{"Query":"from Users"}""", ("If-None-Match", etag));
            Assert.Equal(HttpStatusCode.NotModified, again.StatusCode);
            Assert.Equal("", await again.Content.ReadAsStringAsync(TestServer.Cancelled));
        }

        await Eventually.TrueAsync(() => server.Context.Queries.Running == 0, "no place is taken");
    }

    [Fact]
    public async Task An_error_of_HEAD_has_no_body_and_the_connection_goes_on()
    {
        await using TestServer server = await StartAsync(documents: 1);
        await using RawConnection connection = await RawConnection.OpenAsync(server.Url);
        await connection.SendAsync("HEAD /databases/db/docs HTTP/1.1\r\nHost: localhost\r\n\r\n");
        string refused = await connection.ReceiveAsync();
        Assert.StartsWith("HTTP/1.1 400", refused, StringComparison.Ordinal);
        Assert.EndsWith("\r\n\r\n", refused, StringComparison.Ordinal);
        await connection.SendAsync("HEAD /databases/db/docs?id=users/0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
        Assert.StartsWith("HTTP/1.1 200", await connection.ReceiveAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_that_goes_away_in_the_middle_leaves_nothing_behind()
    {
        await using TestServer server = await StartAsync(documents: 200);
        await using (RawConnection connection = await RawConnection.OpenAsync(server.Url, receiveBufferBytes: 4_096))
        {
            const string Body = """{"Query":"from Users"}""";
            await connection.SendAsync(
                $"POST /databases/db/queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: {Body.Length}\r\n\r\n{Body}");
            Assert.StartsWith("HTTP/1.1 200", await connection.ReceiveAsync(), StringComparison.Ordinal);
            await Eventually.TrueAsync(() => server.Context.Queries.Running == 0, "others may work while it waits");
            Assert.Equal(1, server.Context.Requests.Taken);
        }

        await Eventually.TrueAsync(() => server.Context.Requests.Taken == 0, "the request has ended");
        Assert.Equal(0, server.Context.Queries.Running);
        Assert.Equal(0, server.Context.Buffers.HeldBytes);
    }

    [Fact]
    public async Task Included_documents_are_not_collected_for_a_client_that_does_not_read_them()
    {
        const int Documents = 64, Bytes = 1 << 20, MostBytes = Documents * Bytes / 2;
        await using TestServer server = await TestServer.StartAsync();
        for (int i = 0; i < Documents; i++)
            await server.PutAsync($"parts/{i}", $$"""{"Text":"{{new string('x', Bytes)}}"}""");
        string parts = string.Join(',', Enumerable.Range(0, Documents).Select(static i => $"\"parts/{i}\""));
        await server.PutAsync("lists/1", $$$"""{"Parts":[{{{parts}}}],"@metadata":{"@collection":"Lists"}}""");
        const string Body = """{"Query":"from Lists include Parts"}""";
        long before = GC.GetTotalMemory(forceFullCollection: true);
        await using (RawConnection connection = await RawConnection.OpenAsync(server.Url, receiveBufferBytes: 4_096))
        {
            await connection.SendAsync(
                $"POST /databases/db/queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: {Body.Length}\r\n\r\n{Body}");
            Assert.StartsWith("HTTP/1.1 200", await connection.ReceiveAsync(), StringComparison.Ordinal);
            await Eventually.TrueAsync(() => server.Context.Queries.Running == 0, "others may work while it waits");
            Assert.InRange(GC.GetTotalMemory(forceFullCollection: true) - before, long.MinValue, MostBytes);
        }

        using HttpResponseMessage whole = await AskAsync(server, "from Lists include Parts");
        Assert.Equal(
            Documents, (await TestServer.JsonOf(whole, HttpStatusCode.OK)).GetProperty("Includes").EnumerateObject().Count());
    }

    [Fact]
    public async Task A_body_that_comes_later_than_its_head_is_waited_for()
    {
        await using TestServer server = await StartAsync(documents: 1);
        await using RawConnection connection = await RawConnection.OpenAsync(server.Url);
        const string Body = """{"Query":"from Users","QueryParameters":null,"PageSize":1}""";
        await connection.SendAsync(
            "POST /databases/db/queries HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: "
                + $"{Body.Length}\r\n\r\n");
        Assert.StartsWith("HTTP/1.1 100", await connection.ReceiveAsync(), StringComparison.Ordinal);
        await connection.SendAsync(Body[..10]);
        await Eventually.TrueAsync(() => server.Context.Buffers.HeldBytes > 0, "the first part has come");
        await connection.SendAsync(Body[10..]);
        Assert.StartsWith("HTTP/1.1 200", await connection.ReceiveAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_body_that_does_not_come_is_waited_for_until_the_request_is_overdue()
    {
        await using TestServer server = await TestServer.StartAsync(
            static options => options.Limits = options.Limits with { RequestTimeout = TimeSpan.FromMilliseconds(50) });
        await using RawConnection connection = await RawConnection.OpenAsync(server.Url);
        await connection.SendAsync("POST /databases/db/queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{");
        Assert.StartsWith("HTTP/1.1 408", await connection.ReceiveAsync(), StringComparison.Ordinal);
        await Eventually.TrueAsync(() => server.Context.Requests.Taken == 0, "the request has ended");
        Assert.Equal(0, server.Context.Buffers.HeldBytes);
    }

    [Fact]
    public async Task A_query_that_is_overdue_before_its_results_are_sent_is_answered_by_its_status()
    {
        await using TestServer server = await TestServer.StartAsync(
            static options => options.Limits = options.Limits with { RequestTimeout = TimeSpan.FromMilliseconds(200) });
        var batch = new WriteBatch();
        for (int i = 0; i < 5_000; i++)
            batch.Put($"users/{i}", """{"Name":"Ada","@metadata":{"@collection":"Users"}}"""u8.ToArray());
        await server.Catalog.Find("db")!.WriteAsync(batch, TestServer.Cancelled);

        // The first row is there at once; then all others are computed only to be found equal to it.
        const string Slow = "declare function slow(u) { for (let i = 0; i < 5000; i++); return { Name: u.Name } } "
            + "from Users as u select distinct slow(u)";
        using HttpResponseMessage answer = await AskAsync(server, Slow);
        await TestServer.ErrorOf(answer, HttpStatusCode.RequestTimeout, "TimeoutException");
        await Eventually.TrueAsync(() => server.Context.Requests.Taken == 0, "the request has ended");
        Assert.Equal(0, server.Context.Queries.Running);
    }

    [Theory]
    [InlineData("""{"Query":"from Users","Query":"from Nobody"}""", 0)]
    [InlineData("""{"\u0051uery":"from Users"}""", 3)]
    [InlineData("""{"PageSize":2,"Query":"from Users","Start":null,"Unknown":{"Query":1}}""", 2)]
    [InlineData("""{"Query":"from Users","PageSize":1,"PageSize":null}""", 3)]
    [InlineData("""{"QueryParameters":{"p":1},"Query":"from Users limit $p"}""", 1)]
    public async Task The_members_of_a_command_are_read_in_any_order_and_the_last_of_a_name_counts(string command, int expected)
    {
        await using TestServer server = await StartAsync(documents: 3);
        using HttpResponseMessage answer = await server.SendAsync(HttpMethod.Post, "queries", command);
        Assert.Equal(
            expected, (await TestServer.JsonOf(answer, HttpStatusCode.OK)).GetProperty("Results").GetArrayLength());
    }

    private static async Task<TestServer> StartAsync(int documents, int mostRows = 1_000)
    {
        TestServer server = await TestServer.StartAsync(
            options => options.Database = options.Database with { MaxDistinctResults = mostRows });
        for (int i = 0; i < documents; i++)
            await server.PutAsync(
                $"users/{i}",
                $$$"""{"Text":"{{{i}}} {{{new string('x', TextBytes)}}}","@metadata":{"@collection":"Users"}}""");
        return server;
    }

    private static async Task<HttpResponseMessage> AskAsync(
        TestServer server, string query, HttpCompletionOption until = HttpCompletionOption.ResponseContentRead)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "queries")
        {
            Content = new StringContent($$"""{"Query":"{{query}}"}""", System.Text.Encoding.UTF8, "application/json"),
        };
        return await server.Http.SendAsync(request, until, TestServer.Cancelled);
    }
}
