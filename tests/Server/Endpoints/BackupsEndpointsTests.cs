using System.Net;
using System.Text.Json;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>
/// Chains over HTTP: what lies at a place, what it leads to, reading it to its end, and databases of a commit in its midst.
/// </summary>
public sealed class BackupsEndpointsTests : IDisposable
{
    private readonly TemporaryDirectory _place = new();

    public void Dispose() => _place.Dispose();

    [Fact]
    public async Task A_place_is_listed_and_verified_and_leads_to_each_commit_of_its_log()
    {
        await using TestServer server = await TestServer.StartAsync(options => options.BackupFolders["place"] = _place.Path);
        await server.PutAsync("users/1", """{"name":"Ada"}""");
        long task = await TaskAsync(server);
        await RunAsync(server, task, "full");
        await server.PutAsync("users/2", """{"name":"Bob"}""");
        await RunAsync(server, task, "log");
        await server.PutAsync("users/1", """{"name":"Ann"}""");
        await server.PutAsync("users/3", """{"name":"Cy"}""");
        await RunAsync(server, task, "log");

        JsonElement listed = Assert.Single(
            (await PostAsync(server, "admin/backups/list", Place(""))).GetProperty("Databases").EnumerateArray());
        Assert.Equal("db", listed.GetProperty("Database").GetString());
        Assert.Equal(
            ["Log", "Log", "Snapshot"],
            listed.GetProperty("Backups").EnumerateArray().Select(backup => backup.GetProperty("Kind").GetString()).Order());
        JsonElement restorable = Assert.Single(
            Assert.Single(listed.GetProperty("Histories").EnumerateArray()).GetProperty("Restorable").EnumerateArray());
        long first = restorable.GetProperty("FirstCommit").GetInt64(), last = restorable.GetProperty("LastCommit").GetInt64();
        Assert.True(last >= first + 3, listed.ToString());

        await EndedAsync(server, await PostAsync(server, "admin/backups/verify", Place("")));
        Assert.Equal(new string?[] { "Ada", null, null }, await RestoreAsync(server, $""","StopAtCommit":{first}"""));
        Assert.Equal(new string?[] { "Ann", "Bob", null }, await RestoreAsync(server, $""","StopAtCommit":{last - 1}"""));
        Assert.Equal(new string?[] { "Ann", "Bob", "Cy" }, await RestoreAsync(server, ""));
    }

    [Fact]
    public async Task What_is_missing_or_damaged_at_a_place_is_named()
    {
        await using TestServer server = await TestServer.StartAsync(options => options.BackupFolders["place"] = _place.Path);
        await server.PutAsync("users/1", """{"name":"Ada"}""");
        long task = await TaskAsync(server);
        await RunAsync(server, task, "full");
        for (int i = 2; i < 5; i++)
        {
            await server.PutAsync($"users/{i}", """{"name":"Bob"}""");
            await RunAsync(server, task, "log");
        }

        string[] logs =
            [.. Directory.GetFiles(_place.Path, "*.ravendb-log", SearchOption.AllDirectories).Order(StringComparer.Ordinal)];
        Assert.Equal(3, logs.Length);
        byte[] whole = await File.ReadAllBytesAsync(logs[1], TestServer.Cancelled);
        whole[whole.Length / 2] ^= 1;
        await File.WriteAllBytesAsync(logs[1], whole, TestServer.Cancelled);
        Assert.Contains(
            Path.GetFileName(logs[1]), await FaultOf(server, "admin/backups/verify", Place("")), StringComparison.Ordinal);

        // a file has a folder
        foreach (string file in Directory.GetFiles(Path.GetDirectoryName(logs[1])!, Path.GetFileName(logs[1]) + "*"))
            File.Delete(file);
        Assert.Contains(
            Path.GetFileName(logs[2]), await FaultOf(server, "admin/restore/database", Place(""","DatabaseName":"again" """)),
            StringComparison.Ordinal);
        Assert.Contains(
            "commit 9000",
            await FaultOf(server, "admin/restore/database", Place(""","DatabaseName":"again","StopAtCommit":9000""")),
            StringComparison.Ordinal);
        Assert.DoesNotContain("again", (await GetAsync(server, "databases")).ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task How_far_writers_go_first_is_said_of_tasks_and_requests_and_what_cannot_be_is_refused_and_changes_nothing()
    {
        await using TestServer server = await TestServer.StartAsync(options => options.BackupFolders["place"] = _place.Path);
        await server.PutAsync("users/1", "{}");
        foreach ((
            string member,
            int expected) in ((string, int)[])
            [
                ("", Treepie.BackupTasks.BackupTask.DefaultPercentWhileWriting), (",\"PercentWhileWriting\":40", 40)
            ])
        {
            long task = (await PostAsync(server, "databases/db/admin/periodic-backup", TaskOf(member)))
                .GetProperty("TaskId")
                .GetInt64();
            Assert.Equal(
                expected,
                (await GetAsync(server, $"databases/db/task?key={task}&type=Backup"))
                    .GetProperty("PercentWhileWriting")
                    .GetInt32());
        }

        foreach ((string member, string why) in ((string, string)[])
        [
            (",\"PercentWhileWriting\":4", "5 to 100 percent"), (",\"PercentWhileWriting\":101", "5 to 100 percent"),
            (",\"PercentWhileWriting\":\"much\"", "whole number"),
            (",\"CompressionAlgorithm\":\"Lzma\"", "There is no compression 'Lzma'"),
            (",\"CompressionLevel\":\"Ultra\"", "with level 'Ultra'"), (",\"FullBackupFrequency\":\"61 * * * *\"", "61"),
        ])
        {
            using HttpResponseMessage response = await server.SendAsync(
                HttpMethod.Post, $"{server.Url}/databases/db/admin/periodic-backup", TaskOf(member));
            string text = await response.Content.ReadAsStringAsync(TestServer.Cancelled);
            Assert.True(
                response.StatusCode == HttpStatusCode.BadRequest
                    && text.Replace("\\u0027", "'", StringComparison.Ordinal).Contains(why, StringComparison.Ordinal),
                text);
        }

        Assert.Equal(2, (await GetAsync(server, "databases/db/tasks")).GetProperty("OngoingTasks").GetArrayLength());
        using HttpResponseMessage export = await server.SendAsync(
            HttpMethod.Post, $"{server.Url}/databases/db/smuggler/export", """{"PercentWhileWriting":4}""");
        Assert.Equal(HttpStatusCode.BadRequest, export.StatusCode);
        using HttpResponseMessage part = await server.SendAsync(
            HttpMethod.Post, $"{server.Url}/databases/db/admin/backup/part?operationId=77",
            """{"HashesContent":true,"PercentWhileWriting":50}""");
        Assert.Equal(
            ("Snapshot", "false"),
            (part.Headers.GetValues("Treepie-Kind").Single(), part.Headers.GetValues("Treepie-Incremental").Single()));
        await part.Content.ReadAsByteArrayAsync(TestServer.Cancelled);
        Assert.Equal(
            64,
            (await GetAsync(server, "databases/db/operations/state?id=77"))
                .GetProperty("Result")
                .GetProperty("ContentHash")
                .GetString()?.Length);
    }

    private string TaskOf(string more) =>
        $$"""{"Name":"nightly","BackupType":"Snapshot","LocalSettings":{"FolderPath":"place" }{{more}} }""";

    private string Place(string more) => $$"""{"Type":"Local","BackupLocation":"place","SourceDatabase":"db"{{more}}}""";

    private async Task<long> TaskAsync(TestServer server) => (await PostAsync(
        server,
        "databases/db/admin/periodic-backup",
        $$"""{"Name":"often","BackupType":"Snapshot","FullBackupFrequency":"0 2 29 2 *","LogInterval":"20:00:00","LocalSettings":{"FolderPath":{{JsonSerializer.Serialize(_place.Path)}}} }""")).GetProperty("TaskId").GetInt64();

    private static async Task RunAsync(TestServer server, long task, string kind) =>
        await EndedAsync(
            server, await PostAsync(server, $"databases/db/admin/backup/database?taskId={task}&kind={kind}", null),
            "databases/db/");

    /// <summary>The names of users 1 to 3 in what was restored, which is dropped again.</summary>
    private async Task<string?[]> RestoreAsync(TestServer server, string more)
    {
        await EndedAsync(server, await PostAsync(server, "admin/restore/database", Place(""","DatabaseName":"again" """ + more)));
        var names = new string?[3];
        for (int i = 0; i < names.Length; i++)
        {
            using HttpResponseMessage response = await server.Http.GetAsync(
                new Uri($"{server.Url}/databases/again/docs?id=users/{i + 1}"), TestServer.Cancelled);
            if (response.StatusCode != HttpStatusCode.NotFound)
                names[i] = (await TestServer.JsonOf(response, HttpStatusCode.OK))
                    .GetProperty("Results")[0]
                    .GetProperty("name")
                    .GetString();
        }

        using HttpResponseMessage deleted = await server.SendAsync(
            HttpMethod.Delete, $"{server.Url}/admin/databases", """{"DatabaseNames":["again"],"HardDelete":true}""");
        Assert.True(deleted.IsSuccessStatusCode);
        return names;
    }

    private static async Task<JsonElement> GetAsync(TestServer server, string url)
    {
        using HttpResponseMessage response = await server.Http.GetAsync(new Uri($"{server.Url}/{url}"), TestServer.Cancelled);
        return await TestServer.JsonOf(response, HttpStatusCode.OK);
    }

    private static async Task<JsonElement> PostAsync(TestServer server, string url, string? body)
    {
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, $"{server.Url}/{url}", body);
        string text = await response.Content.ReadAsStringAsync(TestServer.Cancelled);
        Assert.True(response.IsSuccessStatusCode, $"{url}: {(int)response.StatusCode} {text}");
        using var json = JsonDocument.Parse(text);
        return json.RootElement.Clone();
    }

    /// <summary>The reason for which a request, or the operation it began, fails.</summary>
    private static async Task<string> FaultOf(TestServer server, string url, string body)
    {
        JsonElement state = await StateAsync(server, await PostAsync(server, url, body), "");
        Assert.Equal("Faulted", state.GetProperty("Status").GetString());
        return state.GetProperty("Result").ToString();
    }

    private static async Task EndedAsync(TestServer server, JsonElement started, string database = "")
    {
        JsonElement state = await StateAsync(server, started, database);
        Assert.True(state.GetProperty("Status").GetString() == "Completed", state.ToString());
    }

    private static async Task<JsonElement> StateAsync(TestServer server, JsonElement started, string database)
    {
        while (true)
        {
            JsonElement state = await GetAsync(
                server, $"{database}operations/state?id={started.GetProperty("OperationId").GetInt64()}");
            if (state.GetProperty("Status").GetString() != "InProgress")
                return state;
            await Task.Delay(10, TestServer.Cancelled);
        }
    }
}
