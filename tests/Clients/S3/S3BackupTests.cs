using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.S3;

/// <summary>
/// The server and the command line back up straight to a real server of the S3 protocol, and restore from there.
/// </summary>
public sealed class S3BackupTests : IAsyncLifetime
{
    private const int Documents = 3_000;
    private const long MostWrittenBytes = 256 * 1024;

    private readonly TemporaryDirectory _files = new();
    private S3Server? _s3;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private S3Server Bucket => _s3 ?? throw new InvalidOperationException("The server was not started.");

    public async ValueTask InitializeAsync()
    {
        await Node.NodeClientTests.InstallClientAsync();
        _s3 = await S3Server.StartAsync();
    }

    public async ValueTask DisposeAsync()
    {
        if (_s3 is not null)
            await _s3.DisposeAsync();
        _files.Dispose();
    }

    [Fact]
    public async Task A_direct_upload_of_the_server_writes_nothing_to_its_disk_and_what_is_restored_from_there_is_the_same()
    {
        await using ServerProcess server = await ServerProcess.StartAsync(
            null, "--s3-endpoint", $"http://127.0.0.1:{Bucket.Port}");
        await SendAsync(server, HttpMethod.Put, "/admin/databases?name=shop&replicationFactor=1", "{}");
        await FillAsync(server);

        // What the store does meanwhile with what it was given before, a checkpoint or a spare file of its journal, is counted
        // too: of some backups one is alone.
        string s3 = "";
        JsonElement backup = default;
        long written = long.MaxValue;
        for (int i = 0; i < 5 && written >= MostWrittenBytes; i++)
        {
            s3 =
                $$"""{"BucketName":"backups","AwsAccessKey":"{{S3Server.AccessKey}}","AwsSecretKey":"{{S3Server.SecretKey}}","CustomServerUrl":"http://127.0.0.1:{{Bucket.Port}}","ForcePathStyle":true,"RemoteFolderName":"direct-{{i}}"}""";
            long before = WrittenBytes(server);
            backup = await EndedAsync(
                server, "/databases/shop",
                await SendAsync(
                    server, HttpMethod.Post, "/databases/shop/admin/backup",
                    $$"""{"CompressionAlgorithm":"None","S3Settings":{{s3}}}"""));
            written = WrittenBytes(server) - before;
        }

        Assert.True(backup.GetProperty("StoredBytes").GetInt64() > 9_000_000, backup.ToString());
        Assert.True(backup.GetProperty("IsProven").GetBoolean(), backup.ToString());
        Assert.True(written < MostWrittenBytes, $"{written:N0} bytes were written to the disk.");

        JsonElement points = await SendAsync(server, HttpMethod.Post, "/admin/restore/points?type=S3", s3);
        Assert.Equal("shop", Assert.Single(points.GetProperty("List").EnumerateArray()).GetProperty("DatabaseName").GetString());
        JsonElement restored = await EndedAsync(
            server, "",
            await SendAsync(
                server, HttpMethod.Post, "/admin/restore/database",
                $$"""{"Type":"S3","Settings":{{s3}},"DatabaseName":"again"}"""));
        Assert.Equal(backup.GetProperty("ContentHash").GetString(), restored.GetProperty("ContentHash").GetString());
        Assert.DoesNotContain(S3Server.SecretKey + "\"", server.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_command_line_writes_to_several_places_at_once_and_reads_from_each()
    {
        string source = Path.Combine(_files.Path, "source"),
            folder = Path.Combine(_files.Path, "place"),
            bucket = $"s3://backups/line?endpoint=http://127.0.0.1:{Bucket.Port}";
        await using (Database database = Database.Open(source))
        {
            var batch = new Treepie.Writes.WriteBatch(database.Options);
            for (int i = 0; i < 50; i++)
                batch.Put($"users/{i}", Encoding.UTF8.GetBytes($"{{\"n\":{i}}}"));
            await database.WriteAsync(batch, Cancel);
        }

        Assert.Equal(0, (await RunAsync("backup", "--directory", source, "--to", folder, "--to", bucket)).ExitCode);
        foreach (string place in (string[])[folder, bucket])
        {
            (int code, string output) = await RunAsync("verify", "--from", place);
            Assert.True(code == 0 && output.Contains("whole: 50 documents", StringComparison.Ordinal), output);
        }

        (int restored, string text) = await RunAsync(
            "restore", "--from", bucket, "--directory", Path.Combine(_files.Path, "again"));
        Assert.True(restored == 0 && text.Contains("50 documents", StringComparison.Ordinal), text);
        (int missing, string why) = await RunAsync(
            "backup", "--directory", source, "--to", bucket.Replace("backups", "nothing-here", StringComparison.Ordinal));
        Assert.True(missing == 1 && why.Contains("There is no bucket", StringComparison.Ordinal), why);
    }

    [Fact]
    public async Task A_chain_with_its_log_in_a_bucket_leads_to_each_commit_and_tells_the_counts_of_its_end()
    {
        string source = Path.Combine(_files.Path, "source"),
            bucket = $"s3://backups/chain?endpoint=http://127.0.0.1:{Bucket.Port}",
            target = Path.Combine(_files.Path, "then");
        var commits = new List<string>();
        foreach (string expected in (string[])["a snapshot", "a stretch of the log", "a stretch of the log"])
        {
            await using (Database database = Database.Open(source))
                await database.WriteAsync(
                    new Treepie.Writes.WriteBatch(database.Options).Put($"users/{commits.Count}", "{}"u8.ToArray()), Cancel);
            (int code, string said) = await RunAsync("backup", "--directory", source, "--kind", "log", "--to", bucket);
            Assert.True(code == 0 && said.Contains(expected, StringComparison.Ordinal), said);
            commits.Add(System.Text.RegularExpressions.Regex.Match(said, @"commit (\d+)").Groups[1].Value);
        }

        (int whole, string end) = await RunAsync("verify", "--from", bucket);
        Assert.True(whole == 0 && end.Contains("whole: 3 documents", StringComparison.Ordinal), end);
        (int restored, string text) = await RunAsync("restore", "--from", bucket, "--commit", commits[1], "--directory", target);
        Assert.True(restored == 0 && text.Contains("2 documents", StringComparison.Ordinal), text);
        await using Database then = Database.Open(target);
        using Treepie.Store.DatabaseSnapshot snapshot = then.BeginRead();
        Assert.True(snapshot.TryGet("users/1"u8, out _));
        Assert.False(snapshot.TryGet("users/2"u8, out _));
    }

    private static async Task<(int ExitCode, string Output)> RunAsync(params string[] arguments)
    {
        ProcessStartInfo start = BuiltProgram.StartInfo(BuiltProgram.CommandLine, arguments);
        start.Environment["AWS_ACCESS_KEY_ID"] = S3Server.AccessKey;
        start.Environment["AWS_SECRET_ACCESS_KEY"] = S3Server.SecretKey;
        using Process process = Process.Start(start)!; // a new process, so never null
        process.StandardInput.Close();
        Task<string> output = process.StandardOutput.ReadToEndAsync(Cancel), error = process.StandardError.ReadToEndAsync(Cancel);
        await process.WaitForExitAsync(Cancel);
        return (process.ExitCode, await output + await error);
    }

    private static async Task FillAsync(ServerProcess server)
    {
        var random = new Random(Seed.Next());
        byte[] noise = new byte[2_200];
        foreach (int[] chunk in Enumerable.Range(0, Documents).Chunk(500))
        {
            var body = new StringBuilder("{\"Commands\":[");
            foreach (int i in chunk)
            {
                random.NextBytes(noise);
                body.Append(
                    CultureInfo.InvariantCulture,
                    $"{{\"Type\":\"PUT\",\"Id\":\"noise/{i}\",\"Document\":{{\"text\":\"{Convert.ToBase64String(noise)}\"}}}},");
            }

            await SendAsync(server, HttpMethod.Post, "/databases/shop/bulk_docs", body.ToString().TrimEnd(',') + "]}");
        }
    }

    private static async Task<JsonElement> SendAsync(ServerProcess server, HttpMethod method, string path, string body)
    {
        using var request = new HttpRequestMessage(method, server.Url + path)
        {
            Content = new StringContent(body, Encoding.UTF8, "application/json")
        };
        using HttpResponseMessage response = await server.Http.SendAsync(request, Cancel);
        string text = await response.Content.ReadAsStringAsync(Cancel);
        Assert.True(response.IsSuccessStatusCode, text);
        using JsonDocument json = JsonDocument.Parse(text);
        return json.RootElement.Clone();
    }

    /// <summary>Asks until an operation has ended well; gives its result.</summary>
    private static async Task<JsonElement> EndedAsync(ServerProcess server, string owner, JsonElement started)
    {
        while (true)
        {
            using JsonDocument state = JsonDocument.Parse(
                await server.Http.GetStringAsync(
                    new Uri($"{server.Url}{owner}/operations/state?id={started.GetProperty("OperationId").GetInt64()}"), Cancel));
            string? status = state.RootElement.GetProperty("Status").GetString();
            if (status == "InProgress")
            {
                await Task.Delay(10, Cancel);
                continue;
            }

            Assert.True(status == "Completed", state.RootElement.ToString());
            return state.RootElement.GetProperty("Result").Clone();
        }
    }

    /// <summary>What a process has caused to be written to disks so far, by what Linux counts.</summary>
    private static long WrittenBytes(ServerProcess server)
    {
        string path = $"/proc/{server.ProcessId}/io";
        Requirement.Needs(File.Exists(path), "The kernel's count of written bytes", "Run the tests on Linux.");
        return long.Parse(
            File.ReadLines(path).Single(static line => line.StartsWith("write_bytes:", StringComparison.Ordinal)).Split(' ')[1],
            CultureInfo.InvariantCulture);
    }
}
