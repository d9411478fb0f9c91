using System.Net;
using System.Text.Json;
using Treepie.Server.Telemetry;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Telemetry;

/// <summary>What the server is doing, as <c>GET /admin/activity</c> tells it.</summary>
public sealed class ActivityTests
{
    [Fact]
    public async Task It_counts_what_happens_while_it_waits_and_nothing_else()
    {
        const string Name = "watched"; // the meter is one for the process, whose other tests have databases too
        await using TestServer server = await TestServer.StartAsync();
        server.Catalog.Create(Name);
        string database = $"{server.Url}/databases/{Name}";
        await Put("users/1", "Ada"); // before anybody looks
        Task<JsonElement> asked = server.GetAsync(server.Url + "/admin/activity?seconds=5");
        int written = 0, searched = 0;
        while (!asked.IsCompleted)
        {
            await Put("users/2", "Grace");
            written++;
            using HttpResponseMessage found = await server.SendAsync(
                HttpMethod.Post, database + "/queries", """{"Query":"from @all_docs where Name = 'Grace'"}""");
            await TestServer.JsonOf(found, HttpStatusCode.OK);
            searched++;
        }

        JsonElement activity = await asked;
        JsonElement busy = Assert.Single(activity.GetProperty("Databases").EnumerateArray(), IsWatched);
        long writes = busy.GetProperty("Writes").GetProperty("Count").GetInt64();
        long queries = busy.GetProperty("Queries").GetProperty("Count").GetInt64();
        // Some come before its seconds begin or after they end. Indexes write to stores of their own.
        Assert.InRange(writes, Math.Max(1, written / 2), written);
        Assert.InRange(queries, Math.Max(1, searched / 2), searched);
        Assert.InRange(activity.GetProperty("Seconds").GetDouble(), 4.9, 60);
        long begun = activity.GetProperty("Requests").GetProperty("Begun").GetInt64();
        // What ends in them may have begun before, and they do not begin and end at one moment for all that is counted.
        Assert.InRange(begun, Math.Max(1, (writes + queries) * 3 / 4), written + searched + 3);
        Assert.Equal(0, activity.GetProperty("Requests").GetProperty("Failed").GetInt64());
        Assert.Equal(2, activity.GetProperty("DatabaseCount").GetInt64());

        JsonElement quiet = await server.GetAsync(server.Url + "/admin/activity");
        Assert.DoesNotContain(quiet.GetProperty("Databases").EnumerateArray(), IsWatched);

        static bool IsWatched(JsonElement one) => one.GetProperty("Name").GetString() == Name;

        async Task Put(string id, string name)
        {
            using HttpResponseMessage response = await server.SendAsync(
                HttpMethod.Put, $"{database}/docs?id={id}", $$"""{"Name":"{{name}}"}""");
            await TestServer.JsonOf(response, HttpStatusCode.Created);
        }
    }

    [Theory]
    [InlineData("0")]
    [InlineData("11")]
    [InlineData("-1")]
    [InlineData("soon")]
    public async Task A_time_that_is_none_is_refused(string seconds)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage answer = await server.SendAsync(HttpMethod.Get, $"{server.Url}/admin/activity?seconds={seconds}");
        Assert.Equal(HttpStatusCode.BadRequest, answer.StatusCode);
    }

    [Fact]
    public async Task No_more_than_sixteen_watch_at_a_time()
    {
        var clock = new TestClock();
        await using TestServer server = await TestServer.StartAsync(
            options => options.Database = options.Database with { TimeProvider = clock });
        Task<HttpResponseMessage>[] asked =
        [
            .. Enumerable.Range(0, 17).Select(_ => server.SendAsync(HttpMethod.Get, server.Url + "/admin/activity?seconds=3")),
        ];
        using (HttpResponseMessage refused = await await Task.WhenAny(asked))
            Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        Assert.Equal(16, server.Context.Watchers.Taken);
        await Eventually.TrueAsync(
            () =>
            {
                clock.Advance(TimeSpan.FromSeconds(3)); // ends those that have begun to wait
                return Array.TrueForAll(asked, static one => one.IsCompleted);
            },
            "all are answered");
        HttpResponseMessage[] answers = await Task.WhenAll(asked);
        Assert.Equal(16, answers.Count(static answer => answer.StatusCode == HttpStatusCode.OK));
        Array.ForEach(answers, static answer => answer.Dispose());
        await Eventually.TrueAsync(() => server.Context.Watchers.Taken == 0, "none of them watches");
    }

    [Fact]
    public void A_percentile_is_right_within_nine_percent()
    {
        var counts = new DurationCounts();
        for (int i = 1; i <= 1000; i++)
            counts.Add(i / 1e4);
        Assert.Equal(1000, counts.Count);
        Assert.InRange(counts.Percentile(0.5), 0.05 * 0.91, 0.05 * 1.09);
        Assert.InRange(counts.Percentile(0.99), 0.099 * 0.91, 0.099 * 1.09);
        Assert.Equal(0, new DurationCounts().Percentile(0.5));
    }
}
