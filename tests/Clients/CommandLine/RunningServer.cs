using System.Net.Http.Json;
using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary>One server for all tests of the command line; each takes a database of its own.</summary>
[CollectionDefinition(Collection)]
public sealed class RunningServer : IAsyncLifetime, ICollectionFixture<RunningServer>
{
    public const string Collection = "running server";

    private readonly TemporaryDirectory _backups = new();
    private ServerProcess? _server;
    private int _databases;

    public string Url => Server.Url;

    internal ServerProcess Server => _server ?? throw new InvalidOperationException("The fixture has not been initialized.");

    /// <summary>A folder below which the server reads and writes backups.</summary>
    public string Backups => _backups.Path;

    public async ValueTask InitializeAsync() =>
        _server = await ServerProcess.StartAsync(null, "--backup-folder", $"backups={_backups.Path}");

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
            await _server.DisposeAsync();
        _backups.Dispose();
    }

    /// <summary>Creates a database and gives its name.</summary>
    public async Task<string> NewDatabaseAsync()
    {
        string name = $"db{Interlocked.Increment(ref _databases)}";
        using HttpResponseMessage response = await Server.Http.PutAsJsonAsync(
            $"/admin/databases?name={name}", new { DatabaseName = name }, TestContext.Current.CancellationToken);
        response.EnsureSuccessStatusCode();
        return name;
    }

    /// <summary>A document as text; null if it is not there.</summary>
    public async Task<JsonElement?> LoadAsync(string database, string id)
    {
        using HttpResponseMessage response = await Server.Http.GetAsync(
            $"/databases/{database}/docs?id={Uri.EscapeDataString(id)}", TestContext.Current.CancellationToken);
        if (!response.IsSuccessStatusCode)
            return null;

        using JsonDocument answer = JsonDocument.Parse(
            await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
        return answer.RootElement.GetProperty("Results")[0].Clone();
    }

    /// <summary>Puts a document with one field.</summary>
    public async Task PutAsync(string database, string id, string collection, string name)
    {
        var document = new Dictionary<string, object>
        {
            ["name"] = name,
            ["@metadata"] = new Dictionary<string, string> { ["@collection"] = collection },
        };
        using HttpResponseMessage response = await Server.Http.PutAsJsonAsync(
            $"/databases/{database}/docs?id={Uri.EscapeDataString(id)}", document, JsonSerializerOptions.Default,
            TestContext.Current.CancellationToken);
        response.EnsureSuccessStatusCode();
    }

    public async Task DeleteAsync(string database, string id)
    {
        using HttpResponseMessage response = await Server.Http.DeleteAsync(
            $"/databases/{database}/docs?id={Uri.EscapeDataString(id)}", TestContext.Current.CancellationToken);
        response.EnsureSuccessStatusCode();
    }

    /// <summary>Documents by collection.</summary>
    public async Task<Dictionary<string, long>> CountsAsync(string database)
    {
        using JsonDocument statistics = JsonDocument.Parse(
            await Server.Http.GetStringAsync($"/databases/{database}/collections/stats", TestContext.Current.CancellationToken));
        return statistics.RootElement.GetProperty("Collections")
            .EnumerateObject()
            .ToDictionary(c => c.Name, c => c.Value.GetInt64());
    }

    /// <summary>Runs <c>treepie</c> against this server.</summary>
    internal Task<CommandLineProcess> TreepieAsync(params string[] arguments) =>
        CommandLineProcess.RunAsync([.. arguments, "--url", Url]);
}
