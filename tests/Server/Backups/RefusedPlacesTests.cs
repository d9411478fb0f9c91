using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Backups;

/// <summary>What requests cannot name: commands, files, folders and endpoints that the server's owner did not allow.</summary>
public sealed class RefusedPlacesTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData("admin/backup")]
    [InlineData("admin/periodic-backup")]
    public async Task A_request_runs_no_command_and_reads_no_file_or_variable_as_a_key(string route)
    {
        await using TestServer server = await TestServer.StartAsync(options => options.BackupFolders["place"] = _directory.Path);
        string ran = Path.Combine(_directory.Path, "ran");
        foreach (string source in (string[])
        [
            $"command:/bin/sh -c 'echo stolen; touch {ran}'", "file:/etc/hostname", "env:PATH", "passphrase-env:HOME"
        ])
        {
            string body = JsonSerializer.Serialize(new
            {
                FullBackupFrequency = "0 2 29 2 *",
                LocalSettings = new { FolderPath = "place" },
                BackupEncryptionSettings = new { KeySource = source },
            });
            string message = await RefusedAsync(server, "databases/db/" + route, body);
            Assert.Contains("key source", message, StringComparison.Ordinal);
            Assert.DoesNotContain("stolen", message, StringComparison.Ordinal);
        }

        Assert.False(File.Exists(ran));
    }

    [Fact]
    public async Task A_folder_that_was_not_allowed_is_neither_written_nor_read()
    {
        await using TestServer server = await TestServer.StartAsync();
        string secret = Path.Combine(_directory.Path, "passwd");
        await File.WriteAllTextAsync(secret, "root:x:0:0", TestServer.Cancelled);
        string folder = JsonSerializer.Serialize(_directory.Path);
        string place =
            $$"""{"Type":"Local","BackupLocation":{{folder}},"LastFileNameToRestore":"passwd","DatabaseName":"again"}""";
        foreach ((string route, string body) in ((string, string)[])
        [
            ("databases/db/admin/backup", $$"""{"LocalSettings":{"FolderPath":{{folder}} } }"""),
            ("databases/db/admin/periodic-backup", $$"""{"FullBackupFrequency":"0 2 29 2 *","Destinations":[{"Address":{{folder}} }]}"""),
            ("admin/restore/database", place), ("admin/backups/verify", place), ("admin/backups/list", place),
            ("admin/restore/points", $$"""{"FolderPath":{{folder}} }"""),
        ])
        {
            string message = await RefusedAsync(server, route, body);
            Assert.Contains("--backup-folder", message, StringComparison.Ordinal);
            Assert.DoesNotContain("726F6F74", message, StringComparison.Ordinal);
        }

        Assert.Equal(["passwd"], Directory.GetFileSystemEntries(_directory.Path).Select(Path.GetFileName));
    }

    [Fact]
    public async Task No_address_from_a_request_is_sent_anything_least_of_all_the_servers_own_keys()
    {
        await using TestServer server = await TestServer.StartAsync();
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        string endpoint = $"http://127.0.0.1:{((IPEndPoint)listener.LocalEndpoint).Port}";
        string withoutKeys = $$"""{"BucketName":"backups","CustomServerUrl":"{{endpoint}}","ForcePathStyle":true}""";
        string withKeys =
            $$"""{"BucketName":"backups","CustomServerUrl":"{{endpoint}}","ForcePathStyle":true,"AwsAccessKey":"a","AwsSecretKey":"b"}""";
        Assert.Contains(
            "--s3-endpoint", await RefusedAsync(server, "admin/restore/points?type=S3", withKeys), StringComparison.Ordinal);
        Assert.Contains(
            "--s3-endpoint", await RefusedAsync(server, "admin/restore/points?type=S3", withoutKeys), StringComparison.Ordinal);
        Assert.Contains(
            "keys", await RefusedAsync(server, "admin/restore/points?type=S3", """{"BucketName":"backups"}"""),
            StringComparison.Ordinal);
        Assert.Contains("region", await RefusedAsync(
            server, "admin/restore/points?type=S3",
            $$"""{"BucketName":"backups","AwsRegionName":"{{new Uri(endpoint).Authority}}/","AwsAccessKey":"a","AwsSecretKey":"b"}"""), StringComparison.Ordinal);
        Assert.Contains("--s3-endpoint", await RefusedAsync(
            server, "admin/backups/list",
            $$"""{"Destination":{"Address":"s3://backups?endpoint={{endpoint}}","AccessKey":"a","SecretKey":"b"} }"""),
            StringComparison.Ordinal);
        Assert.False(listener.Pending());
    }

    [Theory]
    [InlineData("place/../other")]
    [InlineData("place/.hidden")]
    [InlineData("place//x")]
    [InlineData("place\\..\\x")]
    [InlineData("Place")]
    [InlineData("placebo")]
    [InlineData("place/D:/other")]
    [InlineData("place/a:b")]
    [InlineData("{0}/../other")]
    [InlineData("{0}bo")]
    [InlineData("/")]
    public async Task No_name_or_path_leads_out_of_the_folder_that_is_allowed(string place)
    {
        string allowed = Path.Combine(_directory.Path, "allowed");
        Directory.CreateDirectory(allowed);
        if (!OperatingSystem.IsWindows()) // where a colon is part of a name, so that these would be found
        {
            Directory.CreateDirectory(Path.Combine(allowed, "D:", "other"));
            Directory.CreateDirectory(Path.Combine(allowed, "a:b"));
        }

        await using TestServer server = await TestServer.StartAsync(options => options.BackupFolders["place"] = allowed);
        string body = JsonSerializer.Serialize(new { FolderPath = place.Replace("{0}", allowed, StringComparison.Ordinal) });
        await RefusedAsync(server, "admin/restore/points", body);
        foreach (string fine in (string[])["place", "place/", allowed])
            using (HttpResponseMessage listed = await server.SendAsync(
                HttpMethod.Post, $"{server.Url}/admin/restore/points", JsonSerializer.Serialize(new { FolderPath = fine })))
                Assert.Equal(HttpStatusCode.OK, listed.StatusCode);
    }

    private static async Task<string> RefusedAsync(TestServer server, string route, string body)
    {
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Post, $"{server.Url}/{route}", body);
        return await TestServer.ErrorOf(response, HttpStatusCode.BadRequest, ".BadRequestException");
    }
}
