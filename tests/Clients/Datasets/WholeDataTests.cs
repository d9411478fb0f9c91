using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Datasets;

/// <summary>That everything was imported, and that everything can be got out again.</summary>
[Collection(ImportedDataSets.Collection)]
public sealed class WholeDataTests(ImportedDataSets data)
{
    [Fact]
    public async Task Every_collection_has_as_many_documents_as_its_file_has_lines()
    {
        Dictionary<string, long> expected = new()
        {
            ["Cities"] = Count("cities.ndjson.gz"),
            ["Movies"] = Count("movies.ndjson.gz"),
            ["Synsets"] = Count("wordnet.ndjson.gz"),
        };
        using JsonDocument statistics = JsonDocument.Parse(
            await data.Http.GetStringAsync(
                $"/databases/{ImportedDataSets.Database}/collections/stats", TestContext.Current.CancellationToken));

        foreach (string summary in data.Summaries)
            TestContext.Current.TestOutputHelper?.WriteLine(summary);

        Assert.Equal(expected.Values.Sum(), statistics.RootElement.GetProperty("CountOfDocuments").GetInt64());
        Assert.Equal(
            expected.OrderBy(c => c.Key),
            statistics.RootElement.GetProperty("Collections")
                .EnumerateObject()
                .ToDictionary(c => c.Name, c => c.Value.GetInt64())
                .OrderBy(c => c.Key));
    }

    [Fact]
    public async Task A_query_streams_all_of_its_results()
    {
        List<JsonElement> lines = await LinesAsync(
            HttpMethod.Post, "streams/queries?format=jsonl", QueryAnswer.Body("from Movies where year >= 1990", null));

        Expect.SameIds(
            RawData.Movies().Where(m => m.Year >= 1990).Select(m => m.Id),
            [.. lines.Where(l => l.TryGetProperty("Item", out _)).Select(l => QueryAnswer.IdOf(l.GetProperty("Item")))],
            "stream of films since 1990");
        JsonElement stats = Assert.Single(lines, l => l.TryGetProperty("Stats", out _)).GetProperty("Stats");
        Assert.Equal(lines.Count - 1, stats.GetProperty("TotalResults").GetInt64());
        Assert.False(stats.GetProperty("IsStale").GetBoolean());
    }

    [Fact]
    public async Task Documents_stream_by_prefix_as_they_were_imported()
    {
        List<JsonElement> documents = await LinesAsync(HttpMethod.Get, "streams/docs?format=jsonl&startsWith=movies/", null);

        Dictionary<string, Movie> raw = RawData.Movies().ToDictionary(m => m.Id);
        Expect.SameIds(raw.Keys, [.. documents.Select(QueryAnswer.IdOf)], "stream of all films");
        foreach (JsonElement document in documents)
        {
            Movie movie = raw[QueryAnswer.IdOf(document)];
            Assert.Equal(movie.Title, document.GetProperty("title").GetString());
            Assert.Equal(movie.Extract, document.TryGetProperty("extract", out JsonElement extract) ? extract.GetString() : null);
            Assert.Equal("Movies", document.GetProperty("@metadata").GetProperty("@collection").GetString());
        }
    }

    [Fact]
    public async Task Importing_again_changes_nothing()
    {
        CommandLineProcess again = await CommandLineProcess.SucceedAsync(
            "import", DataSets.PathOf("cities.ndjson.gz"), "--url", data.Server.Url, "--database", ImportedDataSets.Database,
            "--collection", "Cities");

        Assert.Contains("0 documents imported", again.Error, StringComparison.Ordinal);
        Assert.Contains("22,841 were there already", again.Error, StringComparison.Ordinal);
        QueryAnswer answer = await data.AskAsync("from Cities limit 0, 1");
        Assert.Equal(22_841, answer.Total);
    }

    private static long Count(string file) => DataSets.Lines(DataSets.PathOf(file)).LongCount();

    private async Task<List<JsonElement>> LinesAsync(HttpMethod method, string path, HttpContent? body)
    {
        using var request = new HttpRequestMessage(method, $"/databases/{ImportedDataSets.Database}/{path}") { Content = body };
        using HttpResponseMessage response = await data.Http.SendAsync(
            request, HttpCompletionOption.ResponseHeadersRead, TestContext.Current.CancellationToken);
        response.EnsureSuccessStatusCode();
        using var reader = new StreamReader(await response.Content.ReadAsStreamAsync(TestContext.Current.CancellationToken));
        var lines = new List<JsonElement>();
        while (await reader.ReadLineAsync(TestContext.Current.CancellationToken) is { } line)
            if (line.Length > 0)
            {
                using JsonDocument document = JsonDocument.Parse(line);
                lines.Add(document.RootElement.Clone());
            }

        return lines;
    }
}
