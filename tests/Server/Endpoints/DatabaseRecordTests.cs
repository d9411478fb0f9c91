using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>
/// What is set of a database as a whole: bad input changes nothing, and what is set is still there after a restart.
/// </summary>
public sealed class DatabaseRecordTests
{
    [Theory]
    [InlineData("PUT", "admin/configuration/client", "[]", "a configuration")]
    [InlineData("PUT", "admin/configuration/client", "", "a configuration")]
    [InlineData("PUT", "admin/configuration/settings", """{"a":1}""", "no text")]
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
