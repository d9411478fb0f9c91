using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Crash;

/// <summary>
/// The server is killed (SIGKILL) while its indexes are built, given fields by queries and made small. After each restart they go
/// on; in the end they answer as a scan of what was written does, and as they do when they are built anew.
/// </summary>
public sealed class IndexKillTests
{
    private const string Path = "/databases/indexed";
    private const int Kills = 4;
    private const int Documents = 3_000;

    private readonly Dictionary<int, int> _numbers = [];

    [Fact]
    public async Task Indexes_go_on_after_kills_and_answer_as_those_built_anew()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var data = new TemporaryDirectory();
        ServerProcess server = await ServerProcess.StartAsync(data.Path);
        try
        {
            await SendAsync(server, HttpMethod.Put, "/admin/databases?name=indexed", new { DatabaseName = "indexed" });
            await WriteAsync(server, Enumerable.Range(0, Documents), random);
            await SendAsync(server, HttpMethod.Put, $"{Path}/admin/indexes", new
            {
                Indexes = new[]
                {
                    new {
                        Name = "Texts", Collections = new[] { "Things" },
                        Fields = new Dictionary<string, object> { ["Text"] = new { Indexing = "Search" }, ["Number"] = new { } } }
                },
            });
            for (int kill = 0; kill < Kills; kill++)
            {
                // Queries that nobody waits for make an index and give it fields.
                await AskAsync(server, $"from Things where F{kill % 3} = 'v1' and Number >= 0", isWaiting: false);
                await Task.Delay(random.Next(0, 400), TestContext.Current.CancellationToken);
                await server.KillAsync();
                await server.DisposeAsync();
                server = await ServerProcess.StartAsync(data.Path);
                await WriteAsync(server, Enumerable.Range(0, 500).Select(_ => random.Next(Documents)).Distinct(), random);
            }

            await CheckAsync(server, seed);
            await SendAsync(server, new HttpMethod("RESET"), $"{Path}/indexes?name=Texts", null);
            await CheckAsync(server, seed);
            Assert.Equal(0, await server.StopAsync());
        }
        finally
        {
            TestContext.Current.TestOutputHelper?.WriteLine($"The last server wrote:\n{server.Output}");
            await server.DisposeAsync();
        }
    }

    /// <summary>Writes or deletes things; done when this returns.</summary>
    private async Task WriteAsync(ServerProcess server, IEnumerable<int> ids, Random random)
    {
        var commands = new List<object>();
        foreach (int id in ids)
        {
            if (_numbers.ContainsKey(id) && random.Next(6) == 0)
            {
                _numbers.Remove(id);
                commands.Add(new { Id = $"things/{id}", Type = "DELETE" });
                continue;
            }

            int number = _numbers[id] = random.Next(1_000);
            string text = string.Join(
                ' ',
                Enumerable.Range(0, 20).Select(i => string.Create(CultureInfo.InvariantCulture, $"w{number % (i + 2)}x{i}")));
            var document = new Dictionary<string, object>
            {
                ["Text"] = text,
                ["Number"] = number,
                ["F0"] = $"v{number % 2}",
                ["F1"] = $"v{number % 3}",
                ["F2"] = $"v{number % 5}",
                ["@metadata"] = new Dictionary<string, string> { ["@collection"] = "Things" },
            };
            commands.Add(new { Id = $"things/{id}", Type = "PUT", Document = document });
        }

        await SendAsync(server, HttpMethod.Post, $"{Path}/bulk_docs", new { Commands = commands });
    }

    private async Task CheckAsync(ServerProcess server, int seed)
    {
        (string Query, Func<int, bool> Has)[] questions =
        [
            ("from index Texts where search(Text, 'w1x5')", number => number % 7 == 1),
            ("from index Texts where Number < 100", number => number < 100),
            ("from index Texts where search(Text, 'w0x0') and Number >= 500", number => number % 2 == 0 && number >= 500),
            ("from Things where F0 = 'v1' and Number >= 0", number => number % 2 == 1),
            ("from Things where F1 = 'v2' and F2 = 'v3'", number => number % 3 == 2 && number % 5 == 3),
            ("from index Texts where exists(Text)", _ => true),
        ];
        foreach ((string query, Func<int, bool> has) in questions)
            Assert.True(_numbers.Values.Count(has) == await AskAsync(server, query, isWaiting: true), $"seed {seed}: {query}");
    }

    private static async Task<int> AskAsync(ServerProcess server, string query, bool isWaiting)
    {
        using JsonDocument answer = await SendAsync(
            server, HttpMethod.Post, $"{Path}/queries",
            new
            {
                Query = query + " limit 0, 1",
                WaitForNonStaleResults = isWaiting,
                WaitForNonStaleResultsTimeout = "00:05:00"
            });
        return answer.RootElement.GetProperty("TotalResults").GetInt32();
    }

    private static async Task<JsonDocument> SendAsync(ServerProcess server, HttpMethod method, string url, object? body)
    {
        using var request = new HttpRequestMessage(method, url)
        {
            Content = body is null ? null : JsonContent.Create(body, options: JsonSerializerOptions.Default)
        };
        using HttpResponseMessage response = await server.Http.SendAsync(request, TestContext.Current.CancellationToken);
        string text = await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
        Assert.True(response.IsSuccessStatusCode, $"{method} {url}: {(int)response.StatusCode} {text}");
        return JsonDocument.Parse(text.Length == 0 ? "{}" : text);
    }
}
