using System.Net.Http.Json;
using System.Text;
using Treepie.Encryption;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Encryption;

/// <summary>
/// An encrypted database and its plain twin on a real server that is killed (SIGKILL) and started again: what clients wrote is in
/// no file of the one, and in files of the other.
/// </summary>
public sealed class KilledServerTests : IDisposable
{
    private const int Kills = 2;

    private static readonly string[] _markers =
    [
        "marker-of-a-body", "marker-of-an-id", "marker-of-metadata", "MarkerOfACollection", "MarkerOfAField",
        "marker-of-what-was-deleted", "marker-of-what-was-updated", "marker-漢字",
    ];

    private readonly TemporaryDirectory _files = new();

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task What_clients_wrote_is_in_no_file_after_kills_and_restarts()
    {
        string master = Path.Combine(_files.Path, "master.key"), data = Path.Combine(_files.Path, "data");
        await CommandLineProcess.SucceedAsync("key", "generate", master);
        string key = Path.Combine(_files.Path, "shop.key");
        await CommandLineProcess.SucceedAsync("key", "generate", key);
        for (int run = 0; run <= Kills; run++)
        {
            await using ServerProcess server = await ServerProcess.StartAsync(data, "--master-key", $"file:{master}");
            if (run == 0)
            {
                await CommandLineProcess.SucceedAsync(
                    "databases", "create", "safe", "--encrypted", "--key", $"file:{key}", "--url", server.Url);
                await CommandLineProcess.SucceedAsync("databases", "create", "twin", "--url", server.Url);
            }

            foreach (string database in (string[])["safe", "twin"])
                await WorkAsync(server, database, run);
            if (run < Kills)
                await server.KillAsync();
            else
                Assert.Equal(0, await server.StopAsync());
            Assert.Empty(Treepie.Tests.Support.Markers.FoundIn(Path.Combine(data, "databases", "safe"), _markers));
            Assert.DoesNotContain("marker", server.Output, StringComparison.OrdinalIgnoreCase);
            AssertNoKey(data, File.ReadAllText(key).Trim());
        }

        Assert.Equal(_markers, Treepie.Tests.Support.Markers.FoundIn(Path.Combine(data, "databases", "twin"), _markers));
        Assert.Empty(Treepie.Tests.Support.Markers.FoundIn(Path.Combine(data, SecretStore.FolderName), ["safe", "SAFE"]));
        CommandLineProcess check = await CommandLineProcess.SucceedAsync("check", data, "--master-key", $"file:{master}");
        Assert.Contains("secrets: clean", check.Output, StringComparison.Ordinal);
        Assert.Contains("databases/safe/documents: clean", check.Output, StringComparison.Ordinal);
        Assert.Contains("databases/safe/indexes/index.1/store: clean", check.Output, StringComparison.Ordinal);
    }

    private static async Task WorkAsync(ServerProcess server, string database, int run)
    {
        CancellationToken token = TestContext.Current.CancellationToken;
        async Task Put(string id, string body)
        {
            using var content = new StringContent(body, Encoding.UTF8, "application/json");
            using HttpResponseMessage response = await server.Http.PutAsync(
                $"/databases/{database}/docs?id={Uri.EscapeDataString(id)}", content, token);
            Assert.True(response.IsSuccessStatusCode, await response.Content.ReadAsStringAsync(token));
        }

        const string Metadata = "\"@metadata\":{\"@collection\":\"MarkerOfACollection\",\"more\":\"marker-of-metadata\"}";
        await Put("changing", $$"""{"Text":"marker-of-what-was-updated",{{Metadata}} }""");
        await Put("changing", $$"""{"Text":"now {{run}}",{{Metadata}} }""");
        await Put($"marker-of-an-id/{run}", $$"""{"MarkerOfAField":"marker-of-a-body","Other":"marker-漢字",{{Metadata}} }""");
        await Put("marker-of-what-was-deleted", $$"""{"Run":{{run}},{{Metadata}} }""");
        using HttpResponseMessage deleted = await server.Http.DeleteAsync(
            $"/databases/{database}/docs?id=marker-of-what-was-deleted", token);
        deleted.EnsureSuccessStatusCode();
        using HttpResponseMessage query = await server.Http.PostAsJsonAsync(
            $"/databases/{database}/queries",
            new
            {
                Query = "from MarkerOfACollection where MarkerOfAField = 'marker-of-a-body'",
                WaitForNonStaleResults = true,
                WaitForNonStaleResultsTimeout = "00:05:00"
            },
            System.Text.Json.JsonSerializerOptions.Default, token);
        string answer = await query.Content.ReadAsStringAsync(token);
        Assert.Contains($"\"TotalResults\":{run + 1},", answer, StringComparison.Ordinal);
    }

    private static void AssertNoKey(string data, string key)
    {
        byte[] raw = Convert.FromBase64String(key);
        foreach (string file in Directory.GetFiles(data, "*", SearchOption.AllDirectories))
        {
            byte[] content = File.ReadAllBytes(file);
            Assert.Equal(-1, content.AsSpan().IndexOf(raw));
            Assert.Equal(-1, content.AsSpan().IndexOf(Encoding.ASCII.GetBytes(key)));
        }
    }
}
