using System.IO.Compression;
using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Datasets;

/// <summary>
/// A real server whose database holds movies, cities and wordnet, put there by the real command line; shared by the tests of
/// this folder. The three imports make their ids in three ways: of a field, of the number of the line, and of a field that others
/// refer to.
/// </summary>
[CollectionDefinition(Collection)]
public sealed class ImportedDataSets : IAsyncLifetime, ICollectionFixture<ImportedDataSets>
{
    public const string Collection = "data sets";
    public const string Database = "datasets";

    private readonly TemporaryDirectory _files = new();
    private ServerProcess? _server;

    internal ServerProcess Server => _server ?? throw new InvalidOperationException("The fixture has not been initialized.");

    internal HttpClient Http => Server.Http;

    /// <summary>What the imports said of themselves.</summary>
    internal List<string> Summaries { get; } = [];

    public async ValueTask InitializeAsync()
    {
        _server = await ServerProcess.StartAsync();
        await ImportAsync(DataSets.PathOf("movies.ndjson.gz"), "Movies", "--create-database", "--id-field", "id");
        await ImportAsync(DataSets.PathOf("cities.ndjson.gz"), "Cities");
        await ImportAsync(WordNetWithReferableIds(), "Synsets", "--id-field", "id");
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
            await _server.DisposeAsync();

        _files.Dispose();
    }

    /// <summary>Asks this database; see <see cref="QueryAnswer.AskAsync"/>.</summary>
    internal Task<QueryAnswer> AskAsync(string query, object? parameters = null) =>
        QueryAnswer.AskAsync(Http, Database, query, parameters);

    /// <summary>
    /// Asks page by page, as a person turns pages, and expects every page to be full but the last and all to give the same total.
    /// </summary>
    internal async Task<List<JsonElement>> AskInPagesAsync(string query, int pageSize, object? parameters = null)
    {
        var all = new List<JsonElement>();
        while (true)
        {
            QueryAnswer page = await AskAsync($"{query} limit {all.Count}, {pageSize}", parameters);
            all.AddRange(page.Results);
            Assert.True(page.Results.Count == Math.Min(pageSize, page.Total - all.Count + page.Results.Count),
                $"{page.Query}\nhas {page.Results.Count} results of {page.Total}.");
            if (all.Count >= page.Total)
                return all;
        }
    }

    private async Task ImportAsync(string file, string collection, params string[] more)
    {
        CommandLineProcess import = await CommandLineProcess.SucceedAsync(
            ["import", file, "--url", _server!.Url, "--database", Database, "--collection", collection, .. more]); // set before
        Summaries.Add($"{collection}: {import.Error.TrimEnd().Split('\n')[^1]}");
    }

    /// <summary>
    /// Synsets refer to each other by the bare number, while their ids have a prefix: without it, references are ids.
    /// </summary>
    private string WordNetWithReferableIds()
    {
        string path = Path.Combine(_files.Path, "wordnet.ndjson.gz");
        using var writer = new StreamWriter(new GZipStream(File.Create(path), CompressionLevel.Fastest));
        foreach (string line in DataSets.Lines(DataSets.PathOf("wordnet.ndjson.gz")))
            writer.Write(line.Replace("\"id\": \"synsets/", "\"id\": \"", StringComparison.Ordinal) + "\n");

        return path;
    }
}
