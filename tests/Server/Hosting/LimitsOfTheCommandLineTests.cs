using System.Net;
using System.Text;
using Treepie.Server.Hosting;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Hosting;

/// <summary>
/// Limits given on the command line act in the server that was started with them: the request beyond is refused by the limit's
/// value, the one below is not.
/// </summary>
public sealed class LimitsOfTheCommandLineTests
{
    [Fact]
    public async Task Each_limit_of_sizes_and_counts_refuses_what_is_beyond_it_and_lets_pass_what_is_not()
    {
        using var directory = new TemporaryDirectory();
        using var input = new LineInput();
        (Task<int> run, string url, StringWriter _) = await RunningProgram.StartAsync(
            input, "--data", directory.Path, "--max-request-bytes", "20000", "--max-commands", "3", "--max-document-bytes",
            "5000", "--max-document-depth", "4", "--max-id-bytes", "20");
        using var http = new HttpClient { BaseAddress = new Uri(url) };
        Assert.Equal(
            HttpStatusCode.Created,
            (await SendAsync(HttpMethod.Put, "/admin/databases?name=db", """{"DatabaseName":"db"}""")).Status);

        string Commands(int count) =>
            $$"""{"Commands":[{{string.Join(',', Enumerable.Range(0, count).Select(i => $$$"""{"Id":"u/{{{i}}}","Type":"PUT","Document":{}}"""))}}]}""";
        await Refused(
            HttpMethod.Post, "/databases/db/bulk_docs", Commands(2) + new string(' ', 20_000),
            HttpStatusCode.RequestEntityTooLarge, "20,000");
        await Refused(HttpMethod.Post, "/databases/db/bulk_docs", Commands(4), HttpStatusCode.RequestEntityTooLarge, "3");
        await Refused(HttpMethod.Get, "/databases/db/docs?id=1&id=2&id=3&id=4", null, HttpStatusCode.RequestEntityTooLarge, "3");
        await Refused(
            HttpMethod.Put, "/databases/db/docs?id=u/1", $$"""{"a":"{{new string('x', 6000)}}"}""",
            HttpStatusCode.RequestEntityTooLarge, "5,000");
        await Refused(
            HttpMethod.Put, "/databases/db/docs?id=u/1", """{"a":{"a":{"a":{"a":{"a":1}}}}}""", HttpStatusCode.BadRequest, "4");
        await Refused(HttpMethod.Put, $"/databases/db/docs?id={new string('u', 21)}", "{}", HttpStatusCode.BadRequest, "20");

        Assert.Equal(HttpStatusCode.Created, (await SendAsync(HttpMethod.Post, "/databases/db/bulk_docs", Commands(3))).Status);
        Assert.Equal(HttpStatusCode.OK, (await SendAsync(HttpMethod.Get, "/databases/db/docs?id=u/1&id=u/2&id=3", null)).Status);
        Assert.Equal(
            HttpStatusCode.Created,
            (await SendAsync(
                HttpMethod.Put, $"/databases/db/docs?id={new string('u', 20)}",
                """{"a":{"a":{"a":""" + $"\"{new string('x', 4000)}\"}}}}}}")).Status);
        Assert.Contains(
            "\"CountOfDocuments\":4", (await SendAsync(HttpMethod.Get, "/databases/db/stats", null)).Body,
            StringComparison.Ordinal);
        input.Send("q");
        Assert.Equal(ExitCodes.Success, await run);

        async Task Refused(HttpMethod method, string path, string? body, HttpStatusCode expected, string limit)
        {
            (HttpStatusCode status, string answer) = await SendAsync(method, path, body);
            Assert.True(
                status == expected && answer.Contains(limit, StringComparison.Ordinal),
                $"{method} {path}: {(int)status} {answer}");
        }

        async Task<(HttpStatusCode Status, string Body)> SendAsync(HttpMethod method, string path, string? body)
        {
            using var request = new HttpRequestMessage(method, path);
            if (body is not null)
                request.Content = new StringContent(body, Encoding.UTF8, "application/json");
            using HttpResponseMessage response = await http.SendAsync(request, TestServer.Cancelled);
            return (response.StatusCode, await response.Content.ReadAsStringAsync(TestServer.Cancelled));
        }
    }

    [Fact]
    public async Task A_request_beyond_those_at_work_is_told_to_come_back()
    {
        using var directory = new TemporaryDirectory();
        using var input = new LineInput();
        (Task<int> run, string url, StringWriter _) = await RunningProgram.StartAsync(
            input, "--data", directory.Path, "--max-requests", "1");
        using var http = new HttpClient { BaseAddress = new Uri(url) };
        using (var create = new StringContent("""{"DatabaseName":"db"}""", Encoding.UTF8, "application/json"))
            (await http.PutAsync(new Uri("/admin/databases?name=db", UriKind.Relative), create, TestServer.Cancelled)).Dispose();

        HttpStatusCode second = HttpStatusCode.OK;
        const int Rounds = 100, Asked = 100;
        for (int round = 0; second == HttpStatusCode.OK && round < Rounds; round++)
        {
            TaskCompletionSource began = new(), open = new();
            using var slow = new HttpRequestMessage(HttpMethod.Post, "/databases/db/bulk_docs")
            {
                Content = new WaitingContent(began, open.Task)
            };
            Task<HttpResponseMessage> atWork = http.SendAsync(slow, TestServer.Cancelled);
            await began.Task;

            // Its bytes may still be on their way; or it came while the other was at work, and is the one that is refused, which
            // its client sees only when all of it is sent.
            for (int asked = 0; second == HttpStatusCode.OK && asked < Asked; asked++)
            {
                using HttpResponseMessage answer = await http.GetAsync(
                    new Uri("/databases/db/stats", UriKind.Relative), TestServer.Cancelled);
                second = answer.StatusCode;
            }

            open.SetResult();
            using HttpResponseMessage first = await atWork;
            Assert.True(
                first.StatusCode == HttpStatusCode.Created
                    || (second == HttpStatusCode.OK && first.StatusCode == HttpStatusCode.ServiceUnavailable),
                $"{first.StatusCode}, {second}");
        }

        Assert.Equal(HttpStatusCode.ServiceUnavailable, second);
        input.Send("q");
        Assert.Equal(ExitCodes.Success, await run);
    }

    /// <summary>A body whose second half comes when it may.</summary>
    private sealed class WaitingContent(TaskCompletionSource began, Task rest) : HttpContent
    {
        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            await stream.WriteAsync("{\"Commands\":["u8.ToArray());
            await stream.FlushAsync();
            began.SetResult();
            await rest;
            await stream.WriteAsync("]}"u8.ToArray());
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
