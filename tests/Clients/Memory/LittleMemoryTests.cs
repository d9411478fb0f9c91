using System.Net.Http.Json;
using System.Security.Cryptography;
using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Memory;

/// <summary>The real server in 64 MB of heap: an import, queries, a stream and a backup that is restored.</summary>
[Collection(Measured.Collection)]
public sealed class LittleMemoryTests
{
    private const string LimitedHeap = "DOTNET_GCHeapHardLimit=0x4000000";
    private const string Films = "/databases/films";

    [Fact]
    public async Task An_attachment_far_longer_than_the_heap_goes_in_and_comes_out_as_it_was()
    {
        const int Blocks = 300, BlockBytes = 1024 * 1024;
        CancellationToken token = TestContext.Current.CancellationToken;
        await using ServerProcess server = await ServerProcess.StartUnderAsync(["env", LimitedHeap]);
        using (HttpResponseMessage made = await server.Http.PutAsync("/admin/databases?name=long", null, token))
            made.EnsureSuccessStatusCode();
        using (HttpResponseMessage put = await server.Http.PutAsJsonAsync("/databases/long/docs?id=d/1", new { A = 1 }, token))
            put.EnsureSuccessStatusCode();
        const string Url = "/databases/long/attachments?id=d/1&name=film";
        using var content = new MadeContent(Blocks, BlockBytes);
        using (HttpResponseMessage sent = await server.Http.PutAsync(Url, content, token))
            sent.EnsureSuccessStatusCode();
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        long length = 0;
        await using (Stream read = await server.Http.GetStreamAsync(Url, token))
        {
            byte[] buffer = new byte[BlockBytes];
            for (int count; (count = await read.ReadAsync(buffer, token)) > 0; length += count)
                hash.AppendData(buffer, 0, count);
        }

        Assert.Equal((long)Blocks * BlockBytes, length);
        Assert.Equal(content.Hash, Convert.ToBase64String(hash.GetHashAndReset()));
        Assert.Equal(0, await server.StopAsync());
    }

    [Fact]
    public async Task Films_are_imported_asked_for_streamed_backed_up_and_restored_in_64_MB_of_heap()
    {
        CancellationToken token = TestContext.Current.CancellationToken;
        using var backups = new TemporaryDirectory();
        await using ServerProcess server = await ServerProcess.StartUnderAsync(
            ["env", LimitedHeap], "--backup-folder", $"place={backups.Path}");
        await CommandLineProcess.SucceedAsync(
            "import", DataSets.PathOf("movies.ndjson.gz"), "--collection", "Movies", "--create-database", "--id-field", "id",
            "--database", "films", "--url", server.Url);
        int count = await CountAsync(server, "from Movies");
        Assert.True(count > 36_000, $"{count} films");
        foreach (string query in (string[])
            [
                "from Movies where search(extract, 'volcano lighthouse')",
                "from Movies where genres = 'Western' and year between 1950 and 1959 order by title",
                "from Movies group by year order by count() as long desc select year, count() as films",
                "from Movies where startsWith(title, 'star ') order by year desc",
            ])
            Assert.True(await CountAsync(server, query) > 0, query);

        using (var reader = new StreamReader(await server.Http.GetStreamAsync($"{Films}/streams/docs?format=jsonl", token)))
        {
            int lines = 0;
            while (await reader.ReadLineAsync(token) is { } line)
                lines += line.Length > 0 ? 1 : 0;
            Assert.Equal(count, lines);
        }

        foreach (string type in (string[])["Snapshot", "Backup"])
        {
            await EndAsync(server, $"{Films}/", await PostAsync(server, $"{Films}/admin/backup", new
            {
                BackupType = type,
                LocalSettings = new { FolderPath = $"place/{type}" },
            }));
            await EndAsync(server, "/", await PostAsync(server, "/admin/restore/database", new
            {
                Type = "Local",
                BackupLocation = $"place/{type}",
                DatabaseName = $"of-{type}",
            }));
            using JsonDocument restored = JsonDocument.Parse(
                await server.Http.GetStringAsync($"/databases/of-{type}/stats", token));
            Assert.Equal(count, restored.RootElement.GetProperty("CountOfDocuments").GetInt32());
        }

        Assert.Equal(0, await server.StopAsync());
    }

    private static async Task<int> CountAsync(ServerProcess server, string query)
    {
        JsonElement answer = await PostAsync(server, $"{Films}/queries", new
        {
            Query = query + " limit 0, 10",
            WaitForNonStaleResults = true,
            WaitForNonStaleResultsTimeout = "00:05:00",
        });
        return answer.GetProperty("TotalResults").GetInt32();
    }

    private static async Task EndAsync(ServerProcess server, string path, JsonElement started)
    {
        long id = started.GetProperty("OperationId").GetInt64();
        while (true)
        {
            using JsonDocument state = JsonDocument.Parse(
                await server.Http.GetStringAsync($"{path}operations/state?id={id}", TestContext.Current.CancellationToken));
            string? status = state.RootElement.GetProperty("Status").GetString();
            Assert.True(status is "Completed" or "InProgress", $"{state.RootElement}\n{server.Output}");
            if (status == "Completed")
                return;
            await Task.Delay(50, TestContext.Current.CancellationToken);
        }
    }

    private static async Task<JsonElement> PostAsync(ServerProcess server, string path, object body)
    {
        CancellationToken token = TestContext.Current.CancellationToken;
        using HttpResponseMessage response = await server.Http.PostAsJsonAsync(path, body, JsonSerializerOptions.Default, token);
        string text = await response.Content.ReadAsStringAsync(token);
        Assert.True(response.IsSuccessStatusCode, $"{path}: {(int)response.StatusCode} {text}\n{server.Output}");
        using JsonDocument json = JsonDocument.Parse(text);
        return json.RootElement.Clone();
    }
}
