using System.Diagnostics;
using System.Text;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Search;
using Treepie.Indexes;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Indexing;

/// <summary>How fast an index of a database is built over documents that are there.</summary>
internal static class DatabaseIndexing
{
    private const string Collection = "Verses";

    private static readonly IndexDefinition _definition = new()
    {
        Name = "Verses/ByText",
        Collections = [Collection],
        Fields =
        [
            new() { Name = "text", Indexing = FieldIndexing.Search }, new() { Name = "tr", Indexing = FieldIndexing.Exact },
            new() { Name = "num" }, new() { Name = "day" }
        ],
    };

    /// <summary>Writes documents, then indexes them.</summary>
    public static async Task<BenchRow> RunAsync(
        SearchDocument[] documents, int count, int mappers, CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        using Database database = Database.Open(
            folder.Path, new DatabaseOptions { Indexing = new IndexingOptions { Mappers = mappers } });
        await using (BulkInsert bulk = database.BulkInsert())
        {
            for (int i = 0; i < Math.Min(count, documents.Length); i++)
            {
                SearchDocument document = documents[i];
                byte[] json = Encoding.UTF8.GetBytes(
                    $$"""{"text":"{{document.Text}}","tr":"{{document.Group}}","num":{{document.Number}},"day":{{document.Day}},"@metadata":{"@collection":"{{Collection}}"} }""");
                await bulk.StoreAsync($"verses/{i}", json, cancellationToken);
            }

            await bulk.CompleteAsync(cancellationToken);
        }

        ProcessCounters before = ProcessCounters.Now;
        long began = Stopwatch.GetTimestamp();
        database.Indexes.Put(_definition);
        if (!await database.Indexes.WaitForNonStaleAsync(TimeSpan.FromMinutes(10), cancellationToken: cancellationToken))
            throw new InvalidOperationException("The index was not built in ten minutes.");
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        double cpu = ProcessCounters.Now.Since(before).CpuSeconds;
        long entries = database.Indexes.List()[0].EntryCount;
        return new BenchRow($"documents of a database indexed, {mappers} mapping", "documents/s", true, entries / seconds)
        {
            Note = $"{entries / cpu:N0} documents/CPU s"
        };
    }
}
