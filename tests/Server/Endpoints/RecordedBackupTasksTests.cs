using System.Net;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Encryption;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>Backup tasks that are read from the record of a database, changed, and put back.</summary>
public sealed class RecordedBackupTasksTests : IDisposable
{
    private const string Put = "databases/db/admin/periodic-backup";

    /// <summary>A member in every part of a task that is not its default.</summary>
    private const string Task =
        """
        {
            "Name": "nightly", "BackupType": "Snapshot", "FullBackupFrequency": "0 2 * * *",
            "IncrementalBackupFrequency": "0 * * * *", "LogInterval": "00:10:00", "LogBudgetBytes": 33554432,
            "TimeZone": "Europe/Paris", "BackupUploadMode": "Default", "PercentWhileWriting": 40, "Prove": false,
            "AlertAfter": "3.00:00:00", "CompressionAlgorithm": "Gzip", "CompressionLevel": "Optimal",
            "RetentionPolicy": { "MinimumBackupAgeToKeep": "30.00:00:00", "MinimumBackupsToKeep": 5 },
            "BackupEncryptionSettings": { "EncryptionMode": "UseProvidedKey", "KeySource": "sealed" },
            "LocalSettings": { "FolderPath": "place" },
            "S3Settings": {
                "BucketName": "first", "RemoteFolderName": "deep/below", "AwsRegionName": "eu-west-1",
                "CustomServerUrl": "https://s3.example", "ForcePathStyle": true,
                "AwsAccessKey": "id1", "AwsSecretKey": "secret1", "AwsSessionToken": "token1"
            },
            "Destinations": [
                { "Address": "place/more" },
                { "Address": "s3://second/x?region=eu-west-2", "AccessKey": "id2", "SecretKey": "secret2" }
            ]
        }
        """;

    /// <summary>What the classes of RavenDB's clients have: they send these, with null for what was not there.</summary>
    private static readonly string[] _known =
    [
        "TaskId", "Name", "Disabled", "BackupType", "FullBackupFrequency", "IncrementalBackupFrequency", "BackupUploadMode",
        "RetentionPolicy", "BackupEncryptionSettings", "SnapshotSettings", "LocalSettings", "S3Settings", "GlacierSettings",
    ];

    private static readonly Dictionary<string, string[]> _knownOf = new()
    {
        ["RetentionPolicy"] = ["Disabled", "MinimumBackupAgeToKeep"],
        ["BackupEncryptionSettings"] = ["Key", "EncryptionMode"],
        ["SnapshotSettings"] = ["CompressionAlgorithm", "CompressionLevel", "ExcludeIndexes"],
        ["LocalSettings"] = ["Disabled", "FolderPath"],
        ["S3Settings"] =
        [
            "Disabled", "AwsAccessKey", "AwsSecretKey", "AwsSessionToken", "AwsRegionName", "RemoteFolderName", "BucketName",
            "CustomServerUrl", "ForcePathStyle"
        ],
    };

    private readonly TemporaryDirectory _files = new();

    public void Dispose() => _files.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_task_that_is_read_and_put_back_is_the_same_task(bool byClasses)
    {
        await using TestServer server = await StartAsync();
        (long id, JsonObject read) = await PutAndReadAsync(server, Task);
        BackupTask before = Stored(server, id);
        Assert.DoesNotContain("secret", read.ToJsonString(), StringComparison.Ordinal);
        JsonObject sent = byClasses ? AsClass(read) : read;
        sent["FullBackupFrequency"] = "0 3 * * *";
        await AnswerAsync(server, sent.ToJsonString(), HttpStatusCode.Created);
        RequireSame(before with { FullSchedule = "0 3 * * *" }, Stored(server, id));
    }

    [Theory]
    [InlineData("Zstd", "Fastest")]
    [InlineData("Zstd", "Optimal")]
    [InlineData("Gzip", "Fastest")]
    [InlineData("None", "Fastest")]
    public async Task A_task_keeps_its_compression(string algorithm, string level)
    {
        await using TestServer server = await StartAsync();
        (long id, JsonObject read) = await PutAndReadAsync(
            server,
            $$"""
            {"CompressionAlgorithm":"{{algorithm}}","CompressionLevel":"{{level}}","LocalSettings":{"FolderPath":"place"} }
            """);
        BackupTask before = Stored(server, id);
        await AnswerAsync(server, AsClass(read).ToJsonString(), HttpStatusCode.Created);
        RequireSame(before, Stored(server, id));
        read.Remove("TaskId"); // a new task of the same configuration
        JsonElement answer = await AnswerAsync(server, AsClass(read).ToJsonString(), HttpStatusCode.Created);
        Assert.Equal(before.Compression, Stored(server, answer.GetProperty("TaskId").GetInt64()).Compression);
    }

    [Fact]
    public async Task What_a_request_names_changes_and_null_takes_it_away()
    {
        await using TestServer server = await StartAsync();
        (long id, _) = await PutAndReadAsync(server, Task);
        BackupTask before = Stored(server, id);
        await AnswerAsync(
            server,
            $$"""{"TaskId":{{id}},"LogInterval":null,"S3Settings":null,"BackupEncryptionSettings":{"EncryptionMode":"None"} }""",
            HttpStatusCode.Created);
        RequireSame(
            before with
            {
                LogInterval = null,
                KeySource = null,
                AllowPlain = true,
                Destinations = [before.Destinations[0], before.Destinations[2], before.Destinations[3]],
            },
            Stored(server, id));
    }

    [Theory]
    [InlineData("""{"BackupEncryptionSettings":{"EncryptionMode":"UseDatabaseKey"}}""", "is not encrypted")]
    [InlineData("""{"S3Settings":{"BucketName":"other"}}""", "without keys")]
    [InlineData("""{"S3Settings":{"BucketName":"first","AwsAccessKey":"other"}}""", "without keys")]
    public async Task What_would_take_protection_away_unsaid_is_refused_and_changes_nothing(string change, string why)
    {
        await using TestServer server = await StartAsync();
        (long id, _) = await PutAndReadAsync(server, Task);
        BackupTask before = Stored(server, id);
        JsonObject sent = JsonNode.Parse(change)!.AsObject();
        sent["TaskId"] = id;
        Assert.Contains(
            why, (await AnswerAsync(server, sent.ToJsonString(), HttpStatusCode.BadRequest)).ToString(),
            StringComparison.Ordinal);
        RequireSame(before, Stored(server, id));
    }

    [Fact]
    public async Task A_key_that_is_said_to_be_provided_and_is_not_is_refused()
    {
        await using TestServer server = await StartAsync();
        Assert.Contains(
            "KeySource",
            (await AnswerAsync(
                server,
                """{"LocalSettings":{"FolderPath":"place"},"BackupEncryptionSettings":{"EncryptionMode":"UseProvidedKey"}}""",
                HttpStatusCode.BadRequest)).ToString(),
            StringComparison.Ordinal);
    }

    /// <summary>Keys go in, by a record or by a request, and come out nowhere.</summary>
    [Fact]
    public async Task Keys_of_a_task_are_kept_and_are_in_no_answer_log_or_dump()
    {
        string task = Task.Replace("id1", "KEYS-access", StringComparison.Ordinal)
            .Replace("id2", "KEYS-access", StringComparison.Ordinal).Replace("secret1", "KEYS-first", StringComparison.Ordinal)
            .Replace("secret2", "KEYS-second", StringComparison.Ordinal).Replace("token1", "KEYS-token", StringComparison.Ordinal);
        using var log = new WrittenLog();
        await using TestServer server = await StartAsync(log);
        var said = new List<string>();
        async Task<string> AskAsync(string method, string url, string? body = null)
        {
            using HttpResponseMessage answer = await server.SendAsync(new HttpMethod(method), server.Url + url, body);
            string text = await answer.Content.ReadAsStringAsync(TestServer.Cancelled);
            said.Add($"{method} {url}: {(int)answer.StatusCode} {text}");
            return text;
        }

        string made = await AskAsync("PUT", "/admin/databases?name=made", $$"""{"DatabaseName":"made","PeriodicBackups":[{{task}}]}""");
        Assert.Contains("\"made\"", made, StringComparison.Ordinal);
        await AskAsync("POST", "/databases/made/admin/periodic-backup", $$"""{"TaskId":1,"FullBackupFrequency":"0 4 * * *"}""");
        foreach (string bad in new[] { "0 2 * * *", "https://s3.example", "eu-west-1", "30.00:00:00" })
            await AskAsync(
                "POST", "/databases/made/admin/periodic-backup", task.Replace(bad, "nonsense", StringComparison.Ordinal));
        await AskAsync("PUT", "/admin/databases?name=other", $$"""{"DatabaseName":"other","PeriodicBackups":[{{task}},{}]}""");
        await AskAsync("PUT", "/admin/configuration/server-wide/backup", task);
        foreach (string url in new[]
        {
            "/admin/databases?name=made", "/databases/made/admin/record", "/databases/made/tasks",
            "/databases/made/task?key=1&type=Backup", "/periodic-backup/status?name=made&taskId=1", "/admin/activity",
            "/databases/made/admin/connection-strings", "/admin/configuration/server-wide/tasks?type=Backup"
        })
            await AskAsync("GET", url);
        Assert.Contains("s3://second/x", string.Concat(said), StringComparison.Ordinal); // the address alone comes out

        using var dump = new MemoryStream();
        await server.Catalog.BackupAsync(
            "made", dump, new BackupOptions { Compression = BackupCompression.None }, cancellationToken: TestServer.Cancelled);
        said.Add(Encoding.UTF8.GetString(dump.ToArray()));
        Assert.All(said, static text => Assert.DoesNotContain("KEYS-", text, StringComparison.Ordinal));
        Assert.DoesNotContain("KEYS-", log.Text, StringComparison.Ordinal);

        Assert.True(server.Catalog.Close("made"));
        BackupTask kept = Stored(server, 1, "made");
        Assert.Equal("0 4 * * *", kept.FullSchedule);
        Assert.Equal(
            [("KEYS-access", "KEYS-first", "KEYS-token"), ("KEYS-access", "KEYS-second", null)],
            kept.Destinations.Where(static one => one.HasKeys)
                .Select(static one => (one.AccessKey!, one.SecretKey!, one.SessionToken)));
    }

    private static BackupTask Stored(TestServer server, long id, string database = "db") =>
        BackupTaskStore.Of(server.Catalog.Find(database)!).Find(id)!.Task;

    private static void RequireSame(BackupTask expected, BackupTask actual)
    {
        Assert.Equal(expected.Destinations, actual.Destinations);
        Assert.Equal(expected with { Destinations = [] }, actual with { Destinations = [] });
    }

    private static JsonObject AsClass(JsonObject read) => Only(read, _known, member =>
        _knownOf.TryGetValue(member.Key, out string[]? known) && member.Value is JsonObject part
            ? Only(part, known, static inner => inner.Value?.DeepClone())
            : member.Value?.DeepClone());

    private static JsonObject Only(JsonObject read, string[] known, Func<KeyValuePair<string, JsonNode?>, JsonNode?> value) =>
        new(known.Select(name => KeyValuePair.Create(name, value(KeyValuePair.Create(name, read[name])))));

    private async Task<TestServer> StartAsync(WrittenLog? log = null)
    {
        string key = Path.Combine(_files.Path, "key");
        await File.WriteAllTextAsync(key, Convert.ToBase64String(new byte[32]), TestServer.Cancelled);
        TestServer server = await TestServer.StartAsync(options =>
        {
            options.BackupFolders["place"] = _files.Path;
            options.KeySources["sealed"] = KeySource.FromFile(key);
            options.S3Endpoints.Add(new Uri("https://s3.example"));
        }, log);
        await server.PutAsync("users/1", "{}");
        return server;
    }

    private static async Task<(long Id, JsonObject Read)> PutAndReadAsync(TestServer server, string task)
    {
        long id = (await AnswerAsync(server, task, HttpStatusCode.Created)).GetProperty("TaskId").GetInt64();
        using HttpResponseMessage record = await server.Http.GetAsync(
            new Uri($"{server.Url}/databases/db/admin/record"), TestServer.Cancelled);
        JsonElement read = (await TestServer.JsonOf(record, HttpStatusCode.OK)).GetProperty("PeriodicBackups")
            .EnumerateArray()
            .Single(read => read.GetProperty("TaskId").GetInt64() == id);
        return (id, JsonNode.Parse(read.GetRawText())!.AsObject());
    }

    private static async Task<JsonElement> AnswerAsync(TestServer server, string task, HttpStatusCode expected)
    {
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, $"{server.Url}/{Put}", task);
        return await TestServer.JsonOf(response, expected);
    }
}
