using System.Net;
using System.Text.Json;
using Treepie.Server.Databases;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Databases;

/// <summary>Who changes a part of a database record undoes nothing that others change of it at the same time.</summary>
public sealed class RecordChangeTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_change_keeps_what_another_changed_since_it_read_the_record()
    {
        await using TestServer server = await TestServer.StartAsync();
        Database database = server.Catalog.Find("db")!;
        int attempts = 0;
        await database.ChangeRecordAsync(
            record =>
            {
                if (attempts++ == 0)
                    database.SetRecordAsync(With(record, "other"), record.Etag, Cancel).Wait(Cancel);
                return With(record, "mine");
            }, Cancel);
        Assert.Equal(2, attempts);
        Assert.Equal(["mine", "other"], database.GetRecord().Settings.Keys.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task A_change_that_others_always_forestall_fails_and_changes_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        Database database = server.Catalog.Find("db")!;
        int attempts = 0;
        await Assert.ThrowsAsync<ConcurrencyException>(
            () => database.ChangeRecordAsync(
                record =>
                {
                    database.SetRecordAsync(With(record, $"other/{attempts++ % 2}", attempts), record.Etag, Cancel).Wait(Cancel);
                    return With(record, "mine");
                }, Cancel));
        Assert.True(attempts > 1);
        Assert.DoesNotContain("mine", database.GetRecord().Settings.Keys);
    }

    [Fact]
    public async Task Names_and_policies_of_series_and_states_that_are_set_at_once_are_all_there()
    {
        const int Requests = 12;
        await using TestServer server = await TestServer.StartAsync();
        await Task.WhenAll(
            Enumerable.Range(0, Requests).Select(
                i => SendAsync(
                    server, HttpMethod.Post, "timeseries/names/config",
                    $$"""{"Collection":"A","TimeSeries":"S{{i}}","ValueNames":["x"]}"""))
            .Concat(Enumerable.Range(1, Requests).Select(
                i => SendAsync(
                    server, HttpMethod.Put, $"admin/timeseries/policy?collection=C{i}",
                    $$"""{"Name":"P","AggregationTime":{"Value":{{i}},"Unit":"Second"} }""")))
            .Append(SendAsync(
                server, HttpMethod.Post, $"{server.Url}/admin/databases/set-lock",
                """{"DatabaseNames":["db"],"Mode":"PreventDeletesError"}""")));
        Database database = server.Catalog.Find("db")!;
        DatabaseRecord record = database.GetRecord();
        Assert.Equal(Requests, record.TimeSeries!.NamedValues["A"].Count);
        Assert.Equal(Requests, record.TimeSeries.Collections.Count);
        Assert.Equal(DatabaseLock.PreventDeletesError, DatabaseState.Of(database).Lock);
    }

    [Fact]
    public async Task A_state_set_and_taken_back_leaves_the_record_as_it_was()
    {
        await using TestServer server = await TestServer.StartAsync();
        JsonElement before = await server.GetAsync("admin/record");
        foreach (string state in (string[])["disable", "enable"])
            await SendAsync(
                server, HttpMethod.Post, $"{server.Url}/admin/databases/{state}", """{"DatabaseNames":["db"]}""");
        Assert.Equal(before.GetRawText(), (await server.GetAsync("admin/record")).GetRawText());
    }

    private static DatabaseRecord With(DatabaseRecord record, string setting, int value = 0) => record with
    {
        Settings = new Dictionary<string, ReadOnlyMemory<byte>>(record.Settings)
        {
            [setting] = JsonSerializer.SerializeToUtf8Bytes(new Dictionary<string, int> { ["n"] = value }),
        },
    };

    private static async Task SendAsync(TestServer server, HttpMethod method, string url, string body)
    {
        using HttpResponseMessage response = await server.SendAsync(method, url, body);
        string text = await response.Content.ReadAsStringAsync(Cancel);
        Assert.True(response.StatusCode == HttpStatusCode.OK || response.StatusCode == HttpStatusCode.NoContent, text);
    }
}
