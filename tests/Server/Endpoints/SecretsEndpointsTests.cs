using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.TestHost;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Treepie.Encryption;
using Treepie.Storage;
using Treepie.Tests.Support;
using TestServer = Treepie.Server.Tests.Support.TestServer;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>
/// Encrypted databases over HTTP: making and giving keys, creating with them, changing them, and what goes wrong.
/// </summary>
public sealed class SecretsEndpointsTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_key_is_made_given_used_changed_and_rotated()
    {
        await using TestServer server = await StartAsync();
        string key = await server.Http.GetStringAsync(new Uri("/admin/secrets/generate", UriKind.Relative), TestServer.Cancelled);
        Assert.Equal(32, Convert.FromBase64String(key).Length);
        Assert.NotEqual(
            key, await server.Http.GetStringAsync(new Uri("/admin/secrets/generate", UriKind.Relative), TestServer.Cancelled));
        await OkAsync(server, HttpMethod.Post, "/admin/secrets?name=safe&node=A", key, HttpStatusCode.Created);
        await OkAsync(
            server, HttpMethod.Put, "/admin/databases?name=safe&replicationFactor=1",
            """{"DatabaseName":"safe","Encrypted":true}""", HttpStatusCode.Created);
        await OkAsync(server, HttpMethod.Put, "/databases/safe/docs?id=users/1", """{"name":"Ada"}""", HttpStatusCode.Created);
        Assert.True((await server.GetAsync("/databases/safe/stats")).GetProperty("IsEncrypted").GetBoolean());
        Assert.False((await server.GetAsync("/databases/db/stats")).GetProperty("IsEncrypted").GetBoolean());
        Assert.True((await server.GetAsync("/admin/databases?name=safe")).GetProperty("Encrypted").GetBoolean());
        Assert.True((await server.GetAsync("/databases/safe/admin/record")).GetProperty("Encrypted").GetBoolean());
        Assert.Equal(
            [("db", false), ("safe", true)], (await server.GetAsync("/databases")).GetProperty("Databases").EnumerateArray()
                .Select(
                    database => (database.GetProperty("Name").GetString()!, database.GetProperty("IsEncrypted").GetBoolean())));

        await OkAsync(server, HttpMethod.Post, "/databases/safe/admin/encryption/key", NewKey(), HttpStatusCode.NoContent);
        using HttpResponseMessage rotate = await server.SendAsync(HttpMethod.Post, "/databases/safe/admin/encryption/rotate");
        long operation = (await TestServer.JsonOf(rotate, HttpStatusCode.OK)).GetProperty("OperationId").GetInt64();
        JsonElement state;
        while ((state = await server.GetAsync($"/databases/safe/operations/state?id={operation}"))
            .GetProperty("Status")
            .GetString() == "InProgress")
            await Task.Yield();
        Assert.Equal("Completed", state.GetProperty("Status").GetString());
        Assert.Equal(
            "Ada",
            (await server.GetAsync("/databases/safe/docs?id=users/1")).GetProperty("Results")[0].GetProperty("name").GetString());
    }

    [Fact]
    public async Task What_is_no_key_or_has_no_place_is_refused_and_never_quoted()
    {
        await using TestServer server = await StartAsync();
        string good = NewKey();
        (string Url, string Body, HttpStatusCode Status, string Why)[] wrong =
        [
            ("/admin/secrets", good, HttpStatusCode.BadRequest, "name"),
            ("/admin/secrets?name=safe", "", HttpStatusCode.BadRequest, "no body"),
            ("/admin/secrets?name=safe", "c2VjcmV0LXRoYXQtaXMtc2hvcnQ", HttpStatusCode.BadRequest, "a key has 32"),
            ("/admin/secrets?name=safe", "not base64 but a secret!!", HttpStatusCode.BadRequest, "no key"),
            ("/admin/secrets?name=safe", new string('x', 5000), HttpStatusCode.RequestEntityTooLarge, "allowed"),
            ("/admin/secrets?name=..", good, HttpStatusCode.BadRequest, "name of a database"),
            ("/admin/secrets?name=safe&node=B", good, HttpStatusCode.BadRequest, "one node alone"),
            ("/admin/secrets?name=db", good, HttpStatusCode.BadRequest, "is not encrypted"),
            ("/databases/db/admin/encryption/key", good, HttpStatusCode.BadRequest, "is not encrypted"),
            ("/databases/db/admin/encryption/rotate", "", HttpStatusCode.BadRequest, "is not encrypted"),
        ];
        foreach ((string url, string body, HttpStatusCode status, string why) in wrong)
        {
            using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, url, body);
            string text = await response.Content.ReadAsStringAsync(TestServer.Cancelled);
            Assert.True(response.StatusCode == status, $"{url}: {text}");
            Assert.Contains(why, text, StringComparison.Ordinal);
            if (body.Length > 0)
                Assert.DoesNotContain(body, text, StringComparison.Ordinal);
        }

        using HttpResponseMessage none = await server.SendAsync(
            HttpMethod.Put, "/admin/databases?name=safe", """{"DatabaseName":"safe","Encrypted":true}""");
        Assert.Contains(
            "its key is not there",
            await TestServer.ErrorOf(none, HttpStatusCode.ServiceUnavailable, ".DatabaseLoadFailureException"),
            StringComparison.Ordinal);
        using HttpResponseMessage back = await server.SendAsync(HttpMethod.Get, "/admin/secrets?name=safe");
        Assert.Contains(
            "never returns them", await TestServer.ErrorOf(back, HttpStatusCode.BadRequest, ".BadRequestException"),
            StringComparison.Ordinal);
        Assert.Equal(
            ["db"],
            (await server.GetAsync("/databases?namesOnly=true"))
                .GetProperty("Databases")
                .EnumerateArray()
                .Select(name => name.GetString()));
    }

    [Fact]
    public async Task Without_a_master_key_nothing_is_kept_and_a_locked_database_waits_for_its_key()
    {
        string key = NewKey();
        await using (TestServer server = await StartAsync(withMasterKey: false))
        {
            using HttpResponseMessage kept = await server.SendAsync(HttpMethod.Post, "/admin/secrets?name=safe", key);
            Assert.Contains(
                "there is no master key", await TestServer.ErrorOf(kept, HttpStatusCode.BadRequest, ".BadRequestException"),
                StringComparison.Ordinal);
            await OkAsync(server, HttpMethod.Post, "/admin/secrets?name=safe&keep=false", key, HttpStatusCode.Created);
            await OkAsync(server, HttpMethod.Put, "/admin/databases?name=safe", """{"Encrypted":true}""", HttpStatusCode.Created);
            await OkAsync(server, HttpMethod.Put, "/databases/safe/docs?id=users/1", "{}", HttpStatusCode.Created);
        }

        await using TestServer again = await StartAsync(withMasterKey: false);
        foreach (string url in (string[])["/databases/safe/docs?id=users/1", "/databases/safe/stats"])
        {
            using HttpResponseMessage locked = await again.SendAsync(HttpMethod.Get, url);
            Assert.Contains(
                "'safe' is encrypted, and its key is not there",
                await TestServer.ErrorOf(locked, HttpStatusCode.ServiceUnavailable, ".DatabaseLoadFailureException"),
                StringComparison.Ordinal);
        }

        Assert.Equal("safe", (await again.GetAsync("/topology?name=safe")).GetProperty("Nodes")[0].GetProperty("Database").GetString());
        Assert.True((await again.GetAsync("/admin/databases?name=safe")).GetProperty("Encrypted").GetBoolean());
        JsonElement listed = (await again.GetAsync("/databases?name=safe")).GetProperty("Databases")[0];
        Assert.True(listed.GetProperty("IsEncrypted").GetBoolean());
        using (HttpResponseMessage wrong = await again.SendAsync(
            HttpMethod.Post, "/admin/secrets?name=safe&keep=false", NewKey()))
            Assert.Contains(
                "does not open database 'safe'",
                await TestServer.ErrorOf(wrong, HttpStatusCode.ServiceUnavailable, ".DatabaseLoadFailureException"),
                StringComparison.Ordinal);
        await OkAsync(again, HttpMethod.Post, "/admin/secrets?name=safe&keep=false", key, HttpStatusCode.Created);
        Assert.Equal(1, (await again.GetAsync("/databases/safe/stats")).GetProperty("CountOfDocuments").GetInt64());
        await again.PutAsync("x", "{}"); // the others never minded
    }

    [Theory]
    [InlineData("192.0.2.7", false, false)]
    [InlineData("192.0.2.7", true, true)]
    [InlineData("127.0.0.1", false, true)]
    [InlineData("::ffff:127.0.0.1", false, true)]
    [InlineData("::ffff:192.0.2.7", false, false)]
    [InlineData("::1", false, true)]
    public async Task Keys_travel_over_tls_or_inside_one_machine(string from, bool tls, bool allowed)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseTestServer();
        builder.Logging.ClearProviders();
        builder.Services.AddTreepie(options => options.DataDirectory = _directory.Path);
        await using WebApplication app = builder.Build();
        app.MapTreepie();
        await app.StartAsync(TestServer.Cancelled);
        foreach ((
            string method, string path) in ((string, string)[])[("GET", "/admin/secrets/generate"), ("POST", "/admin/secrets")])
        {
            Microsoft.AspNetCore.Http.HttpContext answer = await app.GetTestServer().SendAsync(http =>
            {
                http.Connection.RemoteIpAddress = IPAddress.Parse(from);
                http.Request.Method = method;
                http.Request.Scheme = tls ? "https" : "http";
                http.Request.Path = path;
                http.Request.QueryString = new("?name=safe&keep=false");
                http.Request.Body = new MemoryStream(Encoding.ASCII.GetBytes(NewKey()));
            }, TestServer.Cancelled);
            Assert.Equal(allowed ? (method == "GET" ? 200 : 201) : 403, answer.Response.StatusCode);
        }
    }

    [Theory]
    [InlineData("/databases/db/admin/backup/part", """{"EncryptionKey":"#"}""")]
    [InlineData("/databases/db/admin/backup", """{"LocalSettings":{"FolderPath":"x"},"BackupEncryptionSettings":{"Key":"#","EncryptionMode":"UseProvidedKey"}}""")]
    [InlineData("/databases/db/admin/backup", """{"Destinations":[{"Address":"s3://b/x","AccessKey":"a","SecretKey":"b"}]}""")]
    [InlineData("/databases/db/admin/periodic-backup", """{"FullBackupFrequency":"0 2 * * *","S3Settings":{"BucketName":"b","AwsAccessKey":"a","AwsSecretKey":"b","AwsRegionName":"eu-west-1"}}""")]
    [InlineData("/admin/restore/points?type=S3", """{"BucketName":"b","AwsAccessKey":"a","AwsSecretKey":"b","AwsRegionName":"eu-west-1"}""")]
    [InlineData("/admin/backups/list", """{"Type":"S3","Settings":{"BucketName":"b","AwsAccessKey":"a","AwsSecretKey":"b","AwsRegionName":"eu-west-1"}}""")]
    public async Task Keys_of_backups_and_buckets_travel_over_tls_or_inside_one_machine(string path, string body)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseTestServer();
        builder.Logging.ClearProviders();
        builder.Services.AddTreepie(options => options.DataDirectory = _directory.Path);
        await using WebApplication app = builder.Build();
        app.MapTreepie();
        app.Services.GetRequiredService<DatabaseCatalog>().Create("db");
        await app.StartAsync(TestServer.Cancelled);
        string[] parts = path.Split('?');
        Microsoft.AspNetCore.Http.HttpContext answer = await app.GetTestServer().SendAsync(http =>
        {
            http.Connection.RemoteIpAddress = IPAddress.Parse("192.0.2.7");
            http.Request.Method = "POST";
            http.Request.Path = parts[0];
            http.Request.QueryString = new(parts.Length > 1 ? "?" + parts[1] : "");
            http.Request.Body = new MemoryStream(
                Encoding.ASCII.GetBytes(body.Replace("#", NewKey(), StringComparison.Ordinal)));
        }, TestServer.Cancelled);
        Assert.Equal(403, answer.Response.StatusCode);
    }

    [Fact]
    public async Task A_program_that_serves_one_database_keeps_its_key_to_itself()
    {
        using EncryptionKey key = EncryptionKey.Generate();
        await using Database database = Database.Open(
            Path.Combine(_directory.Path, "own"), new DatabaseOptions { EncryptionKey = key });
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseTestServer();
        builder.Logging.ClearProviders();
        builder.Services.AddTreepie();
        await using WebApplication app = builder.Build();
        app.MapTreepie(database);
        await app.StartAsync(TestServer.Cancelled);
        using HttpClient http = app.GetTestClient();
        foreach (string path in (string[])["/admin/secrets?name=own", "/databases/own/admin/encryption/key"])
        {
            using var body = new StringContent(NewKey());
            using HttpResponseMessage response = await http.PostAsync(
                new Uri(path, UriKind.Relative), body, TestServer.Cancelled);
            Assert.Contains(
                "belongs to the program", await response.Content.ReadAsStringAsync(TestServer.Cancelled),
                StringComparison.Ordinal);
        }
    }

    private static string NewKey() => Convert.ToBase64String(RandomNumberGenerator.GetBytes(32));

    private static async Task OkAsync(TestServer server, HttpMethod method, string url, string body, HttpStatusCode expected)
    {
        using HttpResponseMessage response = await server.SendAsync(method, url, body);
        Assert.True(
            response.StatusCode == expected,
            $"{method} {url}: {(int)response.StatusCode} {await response.Content.ReadAsStringAsync(TestServer.Cancelled)}");
    }

    private Task<TestServer> StartAsync(bool withMasterKey = true)
    {
        string path = Path.Combine(_directory.Path, "master.key");
        if (withMasterKey && !File.Exists(path))
        {
            using EncryptionKey master = EncryptionKey.Generate();
            KeyFile.Create(path, master);
        }

        return TestServer.StartAsync(options =>
        {
            options.DataDirectory = Path.Combine(_directory.Path, "data");
            options.Keys = new DatabaseKeySources { MasterKey = withMasterKey ? KeySource.FromFile(path) : null };
        });
    }
}
