using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>
/// What is set of a database as a whole: bad input changes nothing, and what is set is still there after a restart.
/// </summary>
public sealed class DatabaseRecordTests
{
    [Theory]
    [InlineData("PUT", "admin/configuration/client", "[]", "a configuration")]
    [InlineData("PUT", "admin/configuration/client", "", "a configuration")]
    [InlineData("PUT", "admin/configuration/settings", """{"a":1}""", "not a string")]
    [InlineData("POST", "admin/timeseries/config", """{"Collections":{"A":{"Policies":[{"Name":"x"}]}}}""", "sums up")]
    [InlineData("POST", "admin/timeseries/config", """{"PolicyCheckFrequency":"00:00:00"}""", "from a second")]
    [InlineData(
        "POST", "admin/timeseries/config",
        """{"Collections":{"A":{"RawPolicy":{"RetentionTime":{"Value":"x","Unit":"Second"}}}}}""", "kind")]
    [InlineData("DELETE", "admin/timeseries/policy?collection=A&name=none", "", "no policy")]
    [InlineData("POST", "timeseries/names/config", """{"Collection":"A","TimeSeries":"B","ValueNames":[]}""", "1 to 32")]
    [InlineData("POST", "timeseries/names/config", """{"TimeSeries":"B","ValueNames":["x"]}""", "Collection")]
    [InlineData("GET", "docs?id=a&id=b&timeseriestime=x&timeValue=1&timeUnit=Fortnight", null, "length of time")]
    [InlineData("GET", "docs?id=a&id=b&timeseriescount=x", null, "countValue")]
    public async Task What_cannot_be_is_refused_and_changes_nothing(string method, string url, string? body, string expected)
    {
        await using TestServer server = await TestServer.StartAsync();
        JsonElement before = await server.GetAsync("admin/record");
        using HttpResponseMessage response = await server.SendAsync(new HttpMethod(method), url, body);
        string text = await response.Content.ReadAsStringAsync(TestServer.Cancelled);
        Assert.Equal((HttpStatusCode.BadRequest, text), (response.StatusCode, text));
        Assert.Contains(expected, text, StringComparison.Ordinal);
        Assert.Equal(before.GetRawText(), (await server.GetAsync("admin/record")).GetRawText());
    }

    [Theory]
    [InlineData("POST", "expiration/config", """{"Disabled":false,"DeleteFrequencyInSec":77,"MaxItemsToProcess":9}""", "Expiration")]
    [InlineData("POST", "refresh/config", """{"Disabled":true,"RefreshFrequencyInSec":77}""", "Refresh")]
    [InlineData("POST", "data-archival/config", """{"Disabled":false,"ArchiveFrequencyInSec":77}""", "DataArchival")]
    [InlineData(
        "POST", "revisions/config",
        """{"Collections":{"Orders":{"MinimumRevisionsToKeep":7,"MinimumRevisionAgeToKeep":"1.00:00:00","PurgeOnDelete":true}}}""",
        "Revisions")]
    [InlineData("POST", "revisions/conflicts/config", """{"Disabled":false,"MinimumRevisionsToKeep":7}""", "RevisionsForConflicts")]
    [InlineData(
        "POST", "documents-compression/config", """{"Collections":["Orders"],"CompressRevisions":true}""", "DocumentsCompression")]
    [InlineData(
        "POST", "timeseries/config",
        """{"Collections":{"Orders":{"Policies":[{"Name":"ByHour","AggregationTime":{"Value":3600,"Unit":"Second"}}]}}}""",
        "TimeSeries")]
    [InlineData("PUT", "configuration/studio", """{"Environment":"Testing"}""", "Studio")]
    [InlineData("PUT", "configuration/client", """{"MaxNumberOfRequestsPerSession":7}""", "Client")]
    public async Task What_is_set_is_read_alone_and_in_the_record_also_after_a_restart(
        string method, string path, string body, string member)
    {
        using var data = new TemporaryDirectory();
        await using (TestServer server = await TestServer.StartAsync(options => options.DataDirectory = data.Path))
        {
            Assert.False((await server.GetAsync("admin/record")).TryGetProperty(member, out JsonElement none)
                && none.ValueKind != JsonValueKind.Null);
            using HttpResponseMessage set = await server.SendAsync(new HttpMethod(method), "admin/" + path, body);
            Assert.True(set.IsSuccessStatusCode, await set.Content.ReadAsStringAsync(TestServer.Cancelled));
            await AssertSetAsync(server);
        }

        await using TestServer again = await TestServer.StartAsync(options => options.DataDirectory = data.Path);
        await AssertSetAsync(again);

        async Task AssertSetAsync(TestServer server)
        {
            using JsonDocument wanted = JsonDocument.Parse(body);
            AssertHas(wanted.RootElement, (await server.GetAsync("admin/record")).GetProperty(member));
            if (member != "RevisionsForConflicts") // which clients set and do not read
                AssertHas(wanted.RootElement, member == "Client"
                    ? (await server.GetAsync(path)).GetProperty("Configuration")
                    : await server.GetAsync(path));
        }
    }

    /// <summary>Everything wanted is there; an answer may say more, such as what holds where nothing is set.</summary>
    private static void AssertHas(JsonElement wanted, JsonElement found)
    {
        if (wanted.ValueKind == JsonValueKind.Object)
            foreach (JsonProperty member in wanted.EnumerateObject())
                AssertHas(member.Value, found.GetProperty(member.Name));
        else if (wanted.ValueKind == JsonValueKind.Array)
            foreach ((JsonElement one, JsonElement other) in wanted.EnumerateArray().Zip(found.EnumerateArray().ToList()))
                AssertHas(one, other);
        else
            Assert.Equal(wanted.GetRawText(), found.GetRawText());
    }

    [Theory]
    [InlineData("""{"Settings":{"a":1}}""", "not a string")]
    [InlineData("""{"Client":[]}""", "not an object")]
    [InlineData("""{"LockMode":"2"}""", "PreventDeletesIgnore")]
    [InlineData("""{"Disabled":"yes"}""", "true or false")]
    [InlineData("""{"Expiration":{"DeleteFrequencyInSec":0}}""", "frequency")]
    [InlineData("""{"TimeSeries":{"Collections":{"A":{"Policies":[{"Name":"x"}]}}}}""", "sums up")]
    [InlineData("""{"Analyzers":{"a":{"Name":"a","Code":"class A {}"}}}""", "no JSON")]
    [InlineData("""{"Sorters":{"a":{"Name":"a"}}}""", "Code")]
    [InlineData("""{"DatabaseName":"other"}""", "renamed")]
    [InlineData("""{"Encrypted":true}""", "encrypted")]
    [InlineData("""{"Topology":{"Members":["A","B"]}}""", "one node")]
    [InlineData("""{"Topology":{"Members":["A"],"Promotables":["C"]}}""", "one node")]
    [InlineData("""{"Sharding":{"Shards":{"0":{}}}}""", "one node")]
    [InlineData("""{"ExternalReplications":[{"Name":"x"}]}""", "ExternalReplications", HttpStatusCode.NotImplemented)]
    [InlineData("", "missing")]
    public async Task A_bad_record_changes_nothing(
        string bad, string expected, HttpStatusCode status = HttpStatusCode.BadRequest)
    {
        await using TestServer server = await TestServer.StartAsync();
        string? before = await Put(server, """{"Settings":{"a":"b"},"LockMode":"PreventDeletesError"}""", await EtagOf(server));
        // The rest of the record would be valid.
        string body = bad.Length > 0 ? bad.Insert(1, """ "Studio":{"Environment":"Testing"},""") : bad;
        using HttpResponseMessage response = await SendRecord(server, body, before);
        string text = await response.Content.ReadAsStringAsync(TestServer.Cancelled);
        Assert.Equal((status, text), (response.StatusCode, text));
        Assert.Contains(expected, text, StringComparison.Ordinal);
        Assert.Equal(before, await EtagOf(server));
    }

    [Fact]
    public async Task A_record_replaces_the_one_with_its_etag_only()
    {
        await using TestServer server = await TestServer.StartAsync();
        string first = await EtagOf(server);
        using (HttpResponseMessage exists = await SendRecord(server, "{}", "undefined"))
            Assert.Equal(HttpStatusCode.Conflict, exists.StatusCode);
        string second = await Put(
            server,
            """
            {"Client":{"MaxNumberOfRequestsPerSession":3},"Expiration":{"DeleteFrequencyInSec":77},
             "Revisions":{"Default":{"MinimumRevisionsToKeep":7}},"Sorters":{"s":{"Name":"s","Code":"{\"Values\":[\"a\"]}"}}}
            """,
            first);
        Assert.NotEqual(first, second);
        JsonElement record = await server.GetAsync("admin/record");
        Assert.Equal(3, record.GetProperty("Client").GetProperty("MaxNumberOfRequestsPerSession").GetInt32());
        Assert.Equal(77, record.GetProperty("Expiration").GetProperty("DeleteFrequencyInSec").GetInt32());
        Assert.Equal(7, record.GetProperty("Revisions").GetProperty("Default").GetProperty("MinimumRevisionsToKeep").GetInt32());
        Assert.True(record.GetProperty("Sorters").TryGetProperty("s", out _));
        using (HttpResponseMessage late = await SendRecord(server, "{}", first))
            Assert.Equal(HttpStatusCode.Conflict, late.StatusCode);
        Assert.Equal(second, await EtagOf(server));

        // Any change of the record gives it another etag, and what a new record lacks goes.
        using (HttpResponseMessage set = await server.SendAsync(
            HttpMethod.Post, "admin/refresh/config", """{"RefreshFrequencyInSec":5}"""))
            Assert.Equal(HttpStatusCode.OK, set.StatusCode);
        Assert.NotEqual(second, await EtagOf(server));
        Assert.Equal(first, await Put(server, "{}", await EtagOf(server)));
        Assert.False((await server.GetAsync("admin/record")).TryGetProperty("Refresh", out _));
    }

    private static async Task<string> EtagOf(TestServer server) =>
        (await server.GetAsync("admin/record")).GetProperty("Etag").GetRawText();

    private static async Task<string> Put(TestServer server, string record, string etag)
    {
        using HttpResponseMessage response = await SendRecord(server, record, etag);
        string text = await response.Content.ReadAsStringAsync(TestServer.Cancelled);
        Assert.Equal((HttpStatusCode.Created, text), (response.StatusCode, text));
        return await EtagOf(server);
    }

    private static Task<HttpResponseMessage> SendRecord(TestServer server, string record, string etag) => server.SendAsync(
        HttpMethod.Put, $"{server.Url}/admin/databases?name=db", record, ("ETag", $"\"{etag}\""));

    [Fact]
    public async Task Clients_are_told_that_their_configuration_is_another_one_only_when_it_is()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.PutAsync("d/1", "{}");
        async Task<bool> IsTold(string etag)
        {
            using HttpResponseMessage response = await server.SendAsync(
                HttpMethod.Get, "docs?id=d/1", null, ("Client-Configuration-Etag", etag));
            return response.Headers.Contains("Refresh-Client-Configuration");
        }

        Assert.False(await IsTold("0"));
        using (HttpResponseMessage put = await server.SendAsync(
            HttpMethod.Put, "admin/configuration/client", """{"MaxNumberOfRequestsPerSession":3}"""))
            Assert.Equal(HttpStatusCode.NoContent, put.StatusCode);
        Assert.True(await IsTold("0"));
        JsonElement configuration = await server.GetAsync("configuration/client");
        Assert.Equal(3, configuration.GetProperty("Configuration").GetProperty("MaxNumberOfRequestsPerSession").GetInt32());
        Assert.False(await IsTold(configuration.GetProperty("Etag").GetRawText()));
    }
}
