using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Bench.Measuring;
using Treepie.Computing;
using Treepie.Indexes;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Computing;

/// <summary>
/// The same fields of orders and films, by a map of paths, in C# and in JavaScript, on one thread and on two; patches.
/// </summary>
internal static class MapMeasurements
{
    private const int DocumentsOfBatch = 1_000;

    private static readonly (string Name, string Text)[] _ofOrders =
    [
        ("paths", "from o in docs.Orders select new { o.City, o.Freight, o.Company }"),
        ("C#", "from o in docs.Orders select new { City = o.City.ToUpper(), Freight = o.Freight * 2, o.Company }"),
        ("JavaScript", "map('Orders', o => ({ City: o.City.toUpperCase(), Freight: o.Freight * 2, Company: o.Company }))"),
    ];

    private static readonly (string Name, string Text)[] _ofFilms =
    [
        ("paths", "from m in docs.Movies select new { m.title, m.year, m.genres }"),
        ("C#", "from m in docs.Movies select new { title = m.title.ToUpper(), year = m.year + 1, m.genres }"),
        ("JavaScript", "map('Movies', m => ({ title: m.title.toUpperCase(), year: m.year + 1, genres: m.genres }))"),
    ];

    public static async Task<IReadOnlyList<BenchRow>> RunAsync(
        bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var rows = new List<BenchRow>();
        (string Id, byte[] Json)[] orders =
        [
            .. Enumerable.Range(0, quick ? 2_000 : 200_000).Select(static i => ($"orders/{i}", Encoding.UTF8.GetBytes(Order(i)))),
        ];
        (string Id, byte[] Json)[] films = [.. new Movies(quick).Documents.Select(static film => (film.Id, film.Json))];
        foreach ((string what, (string Id, byte[] Json)[] documents, (string Name, string Text)[] maps) in
            ((string, (string, byte[])[], (string, string)[])[])[("orders", orders, _ofOrders), ("films", films, _ofFilms)])
        {
            rows.Add(
                BenchRow.Of(
                    $"{what}, their JSON parsed and nothing else", "documents/s", true, [documents.Length / Parse(documents)]));
            foreach (int threads in (int[])[1, 2])
                rows.AddRange(await MapAsync(what, documents, maps, threads, progress, cancellationToken).ConfigureAwait(false));
        }

        rows.Add(await PatchAsync(orders, progress, cancellationToken).ConfigureAwait(false));
        return rows;
    }

    private static double Parse((string Id, byte[] Json)[] documents)
    {
        long began = Stopwatch.GetTimestamp();
        foreach ((_, byte[] json) in documents)
            using (JsonDocument.Parse(json))
            {
                // The limit of whatever parses a document as a whole.
            }

        return Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    private static async Task<IReadOnlyList<BenchRow>> MapAsync(
        string what, (string Id, byte[] Json)[] documents, (string Name, string Text)[] maps, int threads, TextWriter progress,
        CancellationToken cancellationToken)
    {
        var rows = new List<BenchRow>();
        using var folder = new Scratch();
        using Database database = Open(folder, threads);
        await LoadAsync(database, documents, cancellationToken).ConfigureAwait(false);
        foreach ((string name, string text) in maps)
        {
            progress.WriteLine($"computing: {what} mapped by {name}, {threads} thread(s)");
            long began = Stopwatch.GetTimestamp();
            using (JsonDocument definition = JsonDocument.Parse(
                JsonSerializer.Serialize(new { Name = name, Maps = new[] { text } })))
                database.Indexes.Put(IndexDefinition.FromJson(definition.RootElement));
            await database.Indexes.WaitForNonStaleAsync(TimeSpan.FromMinutes(10), [name], cancellationToken)
                .ConfigureAwait(false);
            double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
            IndexStatistics index = database.Indexes.List().Single(one => one.Name == name);
            if (index.EntryCount != documents.Length || index.ErrorCount > 0)
                throw new InvalidOperationException(
                    $"The index '{name}' has {index.EntryCount} entries of {documents.Length}, and {index.ErrorCount} errors.");
            rows.Add(
                BenchRow.Of(
                    $"{what} mapped by {name}, {threads} thread{(threads == 1 ? "" : "s")}", "documents/s", true,
                    [documents.Length / seconds]));
        }

        return rows;
    }

    private static async Task<BenchRow> PatchAsync(
        (string Id, byte[] Json)[] documents, TextWriter progress, CancellationToken cancellationToken)
    {
        progress.WriteLine("computing: patches by query");
        using var folder = new Scratch();
        using Database database = Open(folder, 1);
        await LoadAsync(database, documents, cancellationToken).ConfigureAwait(false);
        long began = Stopwatch.GetTimestamp();
        long patched = await database.PatchByQueryAsync(
            "from Orders update { this.Freight = this.Freight + 1; }", cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        return patched == documents.Length
            ? BenchRow.Of("orders patched by query", "documents/s", true, [documents.Length / seconds])
            : throw new InvalidOperationException($"{patched} of {documents.Length} documents were patched.");
    }

    private static Database Open(Scratch folder, int mappers) => Database.Open(
        Path.Combine(folder.Path, "maps"),
        new DatabaseOptions { Computing = new TextComputingEngine(), Indexing = new IndexingOptions { Mappers = mappers } });

    private static async Task LoadAsync(
        Database database, (string Id, byte[] Json)[] documents, CancellationToken cancellationToken)
    {
        foreach ((string Id, byte[] Json)[] some in documents.Chunk(DocumentsOfBatch))
        {
            var batch = new WriteBatch();
            foreach ((string id, byte[] json) in some)
                batch.Put(id, json);
            await database.WriteAsync(batch, cancellationToken).ConfigureAwait(false);
        }
    }

    private static string Order(int number) => string.Create(
        CultureInfo.InvariantCulture,
        $"{{\"City\":\"c{number % 1_000}\",\"Freight\":{number % 10_000}.5,\"Company\":\"companies/{number % 91}\","
            + $"\"@metadata\":{{\"@collection\":\"Orders\"}}}}");
}
