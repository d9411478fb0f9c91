using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json.Nodes;

namespace Treepie.Torture.Servers;

/// <summary>
/// Makes bulk inserts and deletes whole ones by id prefix. An acknowledged insert must be complete; another one must have a
/// prefix of its documents without gaps. A deletion must have removed everything or nothing.
/// </summary>
internal sealed class BulkClient(Random random) : IStormClient
{
    private const int PerRun = 400, MaxRuns = 6;
    private readonly SortedDictionary<int, int> _runs = [];
    private int _begun;
    private int? _inserting;
    private int? _deleting;
    private int _acknowledged;

    public string Report => $"{_acknowledged} of {_begun} bulk inserts";

    public Task PrepareAsync(DatabaseClient database) => Task.CompletedTask;

    public async Task RunAsync(DatabaseClient database, Action acknowledged)
    {
        while (true)
        {
            if (_runs.Count >= MaxRuns)
            {
                _deleting = _runs.Keys.ElementAt(random.Next(_runs.Count));
                await database.SendAsync(HttpMethod.Post, "bulk_docs", new JsonObject
                {
                    ["Commands"] = new JsonArray(
                        new JsonObject { ["Type"] = "DELETE", ["Id"] = PrefixOf(_deleting.Value), ["IdPrefixed"] = true }),
                });
                _runs.Remove(_deleting.Value);
                _deleting = null;
            }

            JsonNode operation = await database.SendAsync(HttpMethod.Get, "operations/next-operation-id");
            _inserting = ++_begun;
            (HttpStatusCode status, string text) = await database.TryAsync(
                HttpMethod.Post, $"bulk_insert?id={operation["Id"]}", Items(_begun));
            ServerTortureException.ThrowUnless((int)status < 300, $"The bulk insert is answered {(int)status}: {text}");
            _runs.Add(_begun, PerRun);
            _inserting = null;
            _acknowledged++;
            acknowledged();
        }
    }

    public async Task VerifyAsync(DatabaseClient database)
    {
        if (_deleting is { } deleting)
        {
            int left = await CountAsync(database, deleting);
            ServerTortureException.ThrowUnless(
                left == 0 || left == _runs[deleting], $"Of bulk insert {deleting} {left} of {_runs[deleting]} are deleted.");
            if (left == 0)
                _runs.Remove(deleting);
        }

        if (_inserting is { } inserting)
            _runs[inserting] = await CountAsync(database, inserting);
        (_deleting, _inserting) = (null, null);
        for (int run = 1; run <= _begun; run++)
        {
            int expected = _runs.GetValueOrDefault(run), found = await CountAsync(database, run);
            ServerTortureException.ThrowUnless(
                found == expected, $"Of bulk insert {run} there are {found} documents instead of {expected}.");
        }
    }

    private static string PrefixOf(int run) => string.Create(CultureInfo.InvariantCulture, $"bulk/{run}/");

    /// <summary>Counts the documents, and verifies that none before the last is missing.</summary>
    private static async Task<int> CountAsync(DatabaseClient database, int run)
    {
        JsonNode found = await database.SendAsync(
            HttpMethod.Get, $"docs?startsWith={PrefixOf(run)}&pageSize={PerRun + 1}&metadataOnly=true");
        int count = 0;
        foreach (JsonNode? document in found["Results"]!.AsArray()) // always present
        {
            string id = (string?)document?["@metadata"]?["@id"] ?? "";
            ServerTortureException.ThrowUnless(
                id == PrefixOf(run) + count.ToString("0000", CultureInfo.InvariantCulture),
                $"Document {count} of bulk insert {run} is missing; there is '{id}'.");
            count++;
        }

        return count;
    }

    private static StringContent Items(int run) => new(
        "["
        + string.Join(
            ',',
            Enumerable.Range(0, PerRun).Select(i => string.Create(
                CultureInfo.InvariantCulture,
                $$$$"""
                {"Id":"{{{{PrefixOf(run)}}}}{{{{i:0000}}}}","Type":"PUT",
                "Document":{"Number":{{{{i}}}},"@metadata":{"@collection":"Bulk"}}}
                """)))
        + "]",
        Encoding.UTF8, "application/json");
}
