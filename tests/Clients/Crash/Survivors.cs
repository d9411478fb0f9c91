using System.Text.Json;

namespace Treepie.Clients.Tests.Crash;

/// <summary>
/// What is in the database after a restart: every document read, its content checked, and counted where it belongs.
/// </summary>
internal sealed class Survivors
{
    private readonly Dictionary<int, SortedDictionary<int, int>> _documentsOfBatches = [];
    private readonly Dictionary<int, int> _last = [];
    private readonly Dictionary<int, List<int>> _batons = [];
    private readonly Dictionary<int, SortedSet<int>> _bulk = [];

    /// <summary>Documents, all together.</summary>
    public int Count { get; private set; }

    public static async Task<Survivors> ReadAsync(HttpClient http, string database)
    {
        var survivors = new Survivors();
        using HttpResponseMessage response = await http.GetAsync(
            $"/databases/{database}/streams/docs?format=jsonl", HttpCompletionOption.ResponseHeadersRead,
            TestContext.Current.CancellationToken);
        if (!response.IsSuccessStatusCode)
            Assert.Fail(
                $"The documents cannot be read: {(int)response.StatusCode} "
                    + $"{await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken)}");

        using var reader = new StreamReader(await response.Content.ReadAsStreamAsync(TestContext.Current.CancellationToken));
        while (await reader.ReadLineAsync(TestContext.Current.CancellationToken) is { } line)
            if (line.Length > 0)
                survivors.Add(line);

        return survivors;
    }

    /// <summary>
    /// All batches up to one are there, whole, and none after it; that one is the last acknowledged or the one that was in
    /// flight; and what every batch rewrote and deleted is as that one left it.
    /// </summary>
    /// <returns>Number of the last batch.</returns>
    public int Verify(BatchWriter writer)
    {
        SortedDictionary<int, int> batches = _documentsOfBatches.GetValueOrDefault(writer.Number, []);
        int last = _last.GetValueOrDefault(writer.Number);
        Assert.True(
            last >= writer.Acknowledged,
            $"Writer {writer.Number}: batch {writer.Acknowledged} was acknowledged, the last one there is {last}.");
        Assert.True(
            last <= writer.Acknowledged + 1,
            $"Writer {writer.Number}: batch {last} is there, but only {writer.Acknowledged + 1} can have been sent.");
        Assert.All(batches, batch => Assert.True(
            batch.Value == CrashDocuments.PerBatch,
            $"Writer {writer.Number}: of batch {batch.Key} there are {batch.Value} of {CrashDocuments.PerBatch} documents."));
        Assert.Equal(Enumerable.Range(1, last), batches.Keys);
        Assert.Equal(last == 0 ? [] : [last], _batons.GetValueOrDefault(writer.Number, []));
        return last;
    }

    /// <summary>
    /// Acknowledged bulk inserts are there as a whole, others as far as they came: from the first document on, without a gap.
    /// </summary>
    public void Verify(BulkInserter inserter)
    {
        foreach (int run in inserter.Acknowledged)
            Assert.True(_bulk.GetValueOrDefault(run, []).Count == BulkInserter.PerRun,
                $"Bulk insert {run} was acknowledged, and has {_bulk.GetValueOrDefault(run, []).Count} of {BulkInserter.PerRun} "
                    + $"documents.");

        foreach ((int run, SortedSet<int> documents) in _bulk)
            Assert.True(
                documents.Max == documents.Count - 1,
                $"Bulk insert {run} has {documents.Count} documents, but also number {documents.Max}.");
    }

    private void Add(string line)
    {
        using JsonDocument document = JsonDocument.Parse(line);
        string id = document.RootElement.GetProperty("@metadata").GetProperty("@id").GetString() ?? "";
        string[] parts = id.Split('/');
        Count++;
        if (parts[0] == "last")
        {
            _last.Add(Number(parts[1]), document.RootElement.GetProperty("Batch").GetInt32());
            return;
        }

        Assert.Equal(CrashDocuments.Payload(id), document.RootElement.GetProperty("Payload").GetString());
        switch (parts[0])
        {
            case "batches":
                SortedDictionary<int, int> batches = Of(_documentsOfBatches, Number(parts[1]));
                batches[Number(parts[2])] = batches.GetValueOrDefault(Number(parts[2])) + 1;
                break;
            case "batons":
                Of(_batons, Number(parts[1])).Add(Number(parts[2]));
                break;
            case "bulk":
                Assert.True(Of(_bulk, Number(parts[1])).Add(Number(parts[2])), $"{id} is there twice.");
                break;
            default:
                Assert.Fail($"Nobody wrote {id}.");
                break;
        }
    }

    private static int Number(string text) => int.Parse(text, System.Globalization.CultureInfo.InvariantCulture);

    private static T Of<T>(Dictionary<int, T> all, int key)
        where T : new()
    {
        if (!all.TryGetValue(key, out T? value))
            all.Add(key, value = new T());

        return value;
    }
}
