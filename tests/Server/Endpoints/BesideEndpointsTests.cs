using System.Globalization;
using System.Net;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>What clients ask of attachments, counters and time series, and what the answers claim.</summary>
public sealed class BesideEndpointsTests
{
    [Theory]
    [InlineData("\"old\"", HttpStatusCode.PreconditionFailed)]
    [InlineData("old", HttpStatusCode.PreconditionFailed)]
    [InlineData("\"old\", \"older\"", HttpStatusCode.PreconditionFailed)]
    [InlineData("W/{0}", HttpStatusCode.PreconditionFailed)]
    [InlineData("{0}", HttpStatusCode.PartialContent)]
    [InlineData("\"old\", {0}", HttpStatusCode.PartialContent)]
    [InlineData("*", HttpStatusCode.PartialContent)]
    public async Task A_download_goes_on_only_where_the_attachment_is_the_same(string match, HttpStatusCode expected)
    {
        await using TestServer server = await TestServer.StartAsync();
        string etag = await AttachAsync(server, "0123456789");
        string header = string.Format(CultureInfo.InvariantCulture, match, etag);
        foreach (HttpMethod method in new[] { HttpMethod.Get, HttpMethod.Head })
        {
            using HttpResponseMessage answer = await server.SendAsync(
                method, "attachments?id=d/1&name=a", null, ("If-Match", header), ("Range", "bytes=4-"));
            Assert.Equal(expected, answer.StatusCode);
            Assert.Equal(
                expected == HttpStatusCode.PartialContent && method == HttpMethod.Get ? "456789" : "",
                await answer.Content.ReadAsStringAsync(TestServer.Cancelled));
        }
    }

    [Theory]
    [InlineData("*", HttpStatusCode.NotModified)]
    [InlineData("\"old\", {0}", HttpStatusCode.NotModified)]
    [InlineData("W/{0}", HttpStatusCode.NotModified)]
    [InlineData("{0}", HttpStatusCode.NotModified)]
    [InlineData("\"old\"", HttpStatusCode.OK)]
    public async Task A_content_that_the_client_has_is_not_sent_again(string match, HttpStatusCode expected)
    {
        await using TestServer server = await TestServer.StartAsync();
        string etag = await AttachAsync(server, "0123456789");
        using HttpResponseMessage answer = await server.SendAsync(
            HttpMethod.Get, "attachments?id=d/1&name=a", null,
            ("If-None-Match", string.Format(CultureInfo.InvariantCulture, match, etag)));
        Assert.Equal(expected, answer.StatusCode);
    }

    [Theory]
    [InlineData("GET", "docs?id=d/1&timeseriescount=Heart&countType=Last&countValue=3", null)]
    [InlineData("POST", "queries", """{"Query":"from D include timeseries('Heart', last(3))"}""")]
    public async Task The_last_entries_of_a_series_claim_no_more_than_they_are(string method, string url, string? body)
    {
        await using TestServer server = await TestServer.StartAsync();
        await SeedSeriesAsync(server, 10);
        using HttpResponseMessage answer = await server.SendAsync(new HttpMethod(method), url, body);
        JsonElement range = RangeOf(await TestServer.JsonOf(answer, HttpStatusCode.OK));
        Assert.Equal(3, range.GetProperty("Entries").GetArrayLength());
        Assert.Equal(range.GetProperty("Entries")[0].GetProperty("Timestamp").GetString(), range.GetProperty("From").GetString());
        Assert.Equal("2024-01-01T00:07:00.0000000Z", range.GetProperty("From").GetString());
        Assert.False(range.TryGetProperty("TotalResults", out _));
    }

    [Fact]
    public async Task More_last_entries_than_there_are_are_the_whole_series_and_none_are_no_range()
    {
        await using TestServer server = await TestServer.StartAsync();
        await SeedSeriesAsync(server, 10);
        JsonElement all = RangeOf(await server.GetAsync("docs?id=d/1&timeseriescount=Heart&countType=Last&countValue=11"));
        Assert.Equal(10, all.GetProperty("Entries").GetArrayLength());
        Assert.StartsWith("0001-01-01", all.GetProperty("From").GetString(), StringComparison.Ordinal);
        Assert.Equal(10, all.GetProperty("TotalResults").GetInt32());
        JsonElement none = RangeOf(await server.GetAsync("docs?id=d/1&timeseriescount=Heart&countType=Last&countValue=0"));
        Assert.Equal(0, none.GetProperty("Entries").GetArrayLength());
        Assert.StartsWith("9999-12-31", none.GetProperty("From").GetString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("&throwOnTimeoutInWaitForReplicas=false", HttpStatusCode.Created)]
    [InlineData("&throwOnTimeoutInWaitForReplicas=true", HttpStatusCode.BadRequest)]
    [InlineData("", HttpStatusCode.BadRequest)]
    public async Task Who_would_save_without_replicas_saves(string flag, HttpStatusCode expected)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage answer = await server.SendAsync(
            HttpMethod.Post, "bulk_docs?waitForReplicasTimeout=00:00:01&numberOfReplicasToWaitFor=1" + flag,
            """{"Commands":[{"Id":"d/1","Type":"PUT","Document":{}}]}""");
        Assert.Equal(expected, answer.StatusCode);
        Assert.Equal(expected == HttpStatusCode.Created ? 1 : 0, await server.CountAsync());
    }

    [Fact]
    public async Task Reading_counters_with_a_body_waits_for_no_writer()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("d/1", "{}");
        using (HttpResponseMessage counted = await server.SendAsync(
            HttpMethod.Post, "counters",
            """{"Documents":[{"DocumentId":"d/1","Operations":[{"Type":"Increment","CounterName":"c","Delta":2}]}]}"""))
            await TestServer.JsonOf(counted, HttpStatusCode.OK);
        const string Get =
            """{"Documents":[{"DocumentId":"d/1","Operations":[{"Type":"Get","CounterName":"C"},{"Type":"Get","CounterName":"x"}]},{"DocumentId":"none","Operations":[{"Type":"Get","CounterName":"c"}]}]}""";
        using var held = new ManualResetEventSlim();
        using var entered = new ManualResetEventSlim();
        Task write = Task.Run(
            () => server.Catalog.Find("db")!.WriteAsync(
                (_, _) =>
                {
                    entered.Set();
                    held.Wait(TestServer.Cancelled);
                    return 0;
                }, TestServer.Cancelled),
            TestServer.Cancelled);
        entered.Wait(TestServer.Cancelled);
        try
        {
            Task<HttpResponseMessage> reading = server.SendAsync(HttpMethod.Post, "counters", Get);
            using HttpResponseMessage answer = await reading.WaitAsync(Eventually.Patience, TestServer.Cancelled);
            JsonElement counters = (await TestServer.JsonOf(answer, HttpStatusCode.OK)).GetProperty("Counters");
            Assert.Equal(3, counters.GetArrayLength());
            Assert.Equal(2, counters[0].GetProperty("TotalValue").GetInt64());
            Assert.Equal(JsonValueKind.Null, counters[1].ValueKind);
            Assert.Equal(JsonValueKind.Null, counters[2].ValueKind);
        }
        finally
        {
            held.Set();
            await write;
        }
    }

    [Fact]
    public async Task An_attachment_that_should_go_elsewhere_is_refused_and_nothing_is_written()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("d/1", "{}");
        const string Remote = "\"RemoteParameters\":{\"Identifier\":\"s3\",\"At\":\"2030-01-01T00:00:00Z\"}";
        using (HttpResponseMessage batch = await server.SendAsync(
            HttpMethod.Post, "bulk_docs",
            $$$"""{"Commands":[{"Id":"d/2","Type":"PUT","Document":{}},{"Id":"d/2","Type":"AttachmentPUT","Name":"a",{{{Remote}}}}]}"""))
            Assert.Contains(
                "Attachments kept elsewhere",
                await TestServer.ErrorOf(batch, HttpStatusCode.NotImplemented, "NotSupportedException"), StringComparison.Ordinal);
        using (HttpResponseMessage bulk = await server.SendAsync(
            HttpMethod.Post, "bulk_insert?id=1",
            $$"""[{"Id":"d/1","Type":"AttachmentPUT","Name":"a",{{Remote}},"ContentLength":1}x]"""))
            Assert.Contains(
                "Attachments kept elsewhere",
                await TestServer.ErrorOf(bulk, HttpStatusCode.NotImplemented, "NotSupportedException"), StringComparison.Ordinal);
        JsonElement statistics = await server.GetAsync("stats");
        Assert.Equal(1, statistics.GetProperty("CountOfDocuments").GetInt64());
        Assert.Equal(0, statistics.GetProperty("CountOfAttachments").GetInt64());
        Assert.Equal(
            """{"Disabled":true,"Destinations":{}}""", (await server.GetAsync("admin/attachments/remote/config")).GetRawText());
    }

    [Fact]
    public async Task Tombstones_that_nobody_needs_are_cleaned()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("d/1", "{}");
        using (HttpResponseMessage deleted = await server.SendAsync(HttpMethod.Delete, "docs?id=d/1"))
            Assert.True(deleted.IsSuccessStatusCode);
        Assert.Equal(1, (await server.GetAsync("stats")).GetProperty("CountOfTombstones").GetInt64());
        foreach (int expected in new[] { 1, 0 })
        {
            using HttpResponseMessage cleaned = await server.SendAsync(HttpMethod.Post, "admin/tombstones/cleanup");
            Assert.Equal(
                expected, (await TestServer.JsonOf(cleaned, HttpStatusCode.OK)).GetProperty("Value").GetInt64());
        }

        Assert.Equal(0, (await server.GetAsync("stats")).GetProperty("CountOfTombstones").GetInt64());
    }

    [Theory]
    [InlineData("timeseries?docId=d/1&name=Heart")]
    [InlineData("timeseries/ranges?docId=d/1&name=Heart&from=&to=")]
    [InlineData("docs?id=d/1&timeseries=Heart&from=&to=")]
    public async Task A_long_series_is_read_no_faster_than_the_client_takes_it(string url)
    {
        const int Entries = 200_000, Step = 20_000;
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("d/1", "{}");
        Database database = server.Catalog.Find("db")!;
        for (int at = 0; at < Entries; at += Step)
        {
            using var batch = new WriteBatch(database.Options);
            batch.TimeSeries(
                "d/1", "Heart",
                [.. Enumerable.Range(at, Step).Select(static i => new TimeSeriesPoint(DateTime.UnixEpoch.AddSeconds(i), [i]))]);
            await database.WriteAsync(batch, TestServer.Cancelled);
        }

        await using RawConnection client = await RawConnection.OpenAsync(server.Url, 4096);
        await client.SendAsync(
            $"GET /databases/db/{url} HTTP/1.1\r\nHost: {new Uri(server.Url).Authority}\r\nConnection: close\r\n\r\n");
        await Eventually.TrueAsync(() => Task.FromResult(OpenReaders() > 0), "the answer has begun");
        await Task.Delay(TimeSpan.FromSeconds(3), TestServer.Cancelled);
        Assert.Equal(1, OpenReaders()); // it waits for the client
        Assert.True(await client.DrainAsync() > 80 * Entries);
        await Eventually.TrueAsync(() => Task.FromResult(OpenReaders() == 0), "the answer has ended");

        int OpenReaders() => database.Environment.GetStatistics().OpenReaders;
    }

    private static JsonElement RangeOf(JsonElement answer) =>
        answer.GetProperty("TimeSeriesIncludes").GetProperty("d/1").GetProperty("Heart")[0];

    private static async Task<string> AttachAsync(TestServer server, string content)
    {
        await server.PutAsync("d/1", "{}");
        using HttpResponseMessage put = await server.SendAsync(HttpMethod.Put, "attachments?id=d/1&name=a", content);
        JsonElement json = await TestServer.JsonOf(put, HttpStatusCode.Created);
        return $"\"{json.GetProperty("ChangeVector").GetString()}\"";
    }

    private static async Task SeedSeriesAsync(TestServer server, int entries)
    {
        await server.PutAsync("d/1", """{"@metadata":{"@collection":"D"}}""");
        string appends = string.Join(
            ",", Enumerable.Range(0, entries).Select(
                static i => $$"""{"Timestamp":"2024-01-01T{{i / 60:00}}:{{i % 60:00}}:00.0000000Z","Values":[{{i}}]}"""));
        using HttpResponseMessage added = await server.SendAsync(
            HttpMethod.Post, "timeseries?docId=d/1", $$"""{"Name":"Heart","Appends":[{{appends}}]}""");
        Assert.Equal(HttpStatusCode.NoContent, added.StatusCode);
    }
}
