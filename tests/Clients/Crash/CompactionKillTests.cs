using System.Globalization;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Crash;

/// <summary>
/// The server is killed (SIGKILL) in the midst of compactions: all documents are there with their contents, and a compaction that
/// is left alone afterwards gives the room back.
/// </summary>
public sealed class CompactionKillTests
{
    private const int Kills = 6, Documents = 1200, Kept = 100, TextLength = 40_000;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Compactions_that_are_killed_lose_nothing_and_can_be_made_again()
    {
        var random = new Random(Seed.Next());
        using var data = new TemporaryDirectory();
        ServerProcess server = await ServerProcess.StartAsync(data.Path);
        try
        {
            using (HttpResponseMessage created = await server.Http.PutAsJsonAsync(
                "/admin/databases?name=db", new { DatabaseName = "db" }, Cancel))
                created.EnsureSuccessStatusCode();
            for (int kill = 0; kill < Kills; kill++)
            {
                await FillAsync(server, kill);
                long begun = await BeginAsync(server);
                await Task.Delay(TimeSpan.FromMilliseconds(random.Next(400)), Cancel); // somewhere in it
                string? status = (await StateAsync(server, begun)).GetProperty("Status").GetString();
                await server.KillAsync();
                await server.DisposeAsync();
                TestContext.Current.TestOutputHelper?.WriteLine($"Kill {kill}: {status}");
                server = await ServerProcess.StartAsync(data.Path);
                await VerifyAsync(server, kill);
            }

            long id = await BeginAsync(server);
            JsonElement state = default;
            await Eventually.TrueAsync(async () =>
            {
                state = await StateAsync(server, id);
                return state.GetProperty("Status").GetString() != "InProgress";
            }, "the compaction has ended");
            Assert.Equal("Completed", state.GetProperty("Status").GetString());
            long after = state.GetProperty("Result").GetProperty("SizeAfterCompactionInBytes").GetInt64();
            Assert.True(after < 5L * Kept * TextLength, $"{after} bytes for {Kept} documents of {TextLength}");
            await VerifyAsync(server, Kills - 1);
            Assert.Equal(0, await server.StopAsync());
        }
        finally
        {
            await server.DisposeAsync();
        }
    }

    private static async Task FillAsync(ServerProcess server, int round)
    {
        for (int from = 0; from < Documents; from += 100)
            await BatchAsync(
                server,
                Enumerable.Range(from, 100).Select(
                    i => $"{{\"Id\":\"d/{i}\",\"Type\":\"PUT\",\"Document\":{{\"T\":\"{Text(i, round)}\"}}}}"));
        await BatchAsync(
            server, Enumerable.Range(Kept, Documents - Kept).Select(static i => $"{{\"Id\":\"d/{i}\",\"Type\":\"DELETE\"}}"));
    }

    private static string Text(int i, int round) =>
        string.Create(CultureInfo.InvariantCulture, $"{round} {i} {new string((char)('a' + ((i + round) % 26)), TextLength)}");

    private static async Task BatchAsync(ServerProcess server, IEnumerable<string> commands)
    {
        using var body = new StringContent($"{{\"Commands\":[{string.Join(',', commands)}]}}", Encoding.UTF8, "application/json");
        using HttpResponseMessage answer = await server.Http.PostAsync(
            new Uri("/databases/db/bulk_docs", UriKind.Relative), body, Cancel);
        Assert.True(answer.IsSuccessStatusCode, await answer.Content.ReadAsStringAsync(Cancel));
    }

    private static async Task<long> BeginAsync(ServerProcess server)
    {
        using var body = new StringContent("{\"DatabaseName\":\"db\",\"Documents\":true}", Encoding.UTF8, "application/json");
        using HttpResponseMessage answer = await server.Http.PostAsync(
            new Uri("/admin/compact", UriKind.Relative), body, Cancel);
        string text = await answer.Content.ReadAsStringAsync(Cancel);
        Assert.True(answer.IsSuccessStatusCode, text);
        using var json = JsonDocument.Parse(text);
        return json.RootElement.GetProperty("OperationId").GetInt64();
    }

    private static async Task<JsonElement> StateAsync(ServerProcess server, long id) =>
        await server.Http.GetFromJsonAsync<JsonElement>(
            new Uri($"/operations/state?id={id}", UriKind.Relative), Cancel);

    private static async Task VerifyAsync(ServerProcess server, int round)
    {
        JsonElement statistics = await server.Http.GetFromJsonAsync<JsonElement>(
            new Uri("/databases/db/stats", UriKind.Relative), Cancel);
        Assert.Equal(Kept, statistics.GetProperty("CountOfDocuments").GetInt64());
        for (int i = 0; i < Kept; i++)
        {
            JsonElement answer = await server.Http.GetFromJsonAsync<JsonElement>(
                new Uri($"/databases/db/docs?id=d/{i}", UriKind.Relative), Cancel);
            Assert.Equal(Text(i, round), answer.GetProperty("Results")[0].GetProperty("T").GetString());
        }
    }
}
