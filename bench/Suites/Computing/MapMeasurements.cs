using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Bench.Measuring;
using Treepie.Computing;
using Treepie.IndexClasses;
using Treepie.Indexes;
using Treepie.Sessions;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Computing;

/// <summary>
/// The same fields of orders and films, by a map of paths, in C# and in JavaScript, on one thread and on two; patches.
/// </summary>
internal static class MapMeasurements
{
    private const int DocumentsOfBatch = 1_000;

    private const string Paths = "paths", PathMap = "path map";

    private static readonly SessionOptions _options = new() { Json = JsonSerializerOptions.Default };

    private static readonly (string Name, Func<IndexDefinition> Definition)[] _ofOrders =
    [
        (Paths, () => Of("from o in docs.Orders select new { o.City, o.Freight, o.Company }")),
        ("C#", () => Of("from o in docs.Orders select new { City = o.City.ToUpper(), Freight = o.Freight * 2, o.Company }")),
        ("a class", new OrdersByClass().ToDefinition),
        (
            "JavaScript",
            () => Of("map('Orders', o => ({ City: o.City.toUpperCase(), Freight: o.Freight * 2, Company: o.Company }))")),
    ];

    private static readonly (string Name, Func<IndexDefinition> Definition)[] _ofFilms =
    [
        (Paths, () => Of("from m in docs.Movies select new { m.title, m.year, m.genres }")),
        ("C#", () => Of("from m in docs.Movies select new { title = m.title.ToUpper(), year = m.year + 1, m.genres }")),
        ("a class", new FilmsByClass().ToDefinition),
        (
            "JavaScript",
            () => Of("map('Movies', m => ({ title: m.title.toUpperCase(), year: m.year + 1, genres: m.genres }))")),
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
        int rounds = quick ? 1 : 5;
        foreach ((string what, (string Id, byte[] Json)[] documents, (string Name, Func<IndexDefinition> Definition)[] maps) in
            ((string, (string, byte[])[], (string, Func<IndexDefinition>)[])[])
            [("orders", orders, _ofOrders), ("films", films, _ofFilms)])
        {
            double parsed = Statistics.Median([.. Enumerable.Range(0, rounds).Select(_ => documents.Length / Parse(documents))]);
            foreach (int threads in (int[])[1, 2])
                rows.AddRange(
                    await MapAsync(what, documents, maps, threads, rounds, parsed * threads, progress, cancellationToken)
                        .ConfigureAwait(false));
        }

        rows.Add(await PatchAsync(orders, rounds, progress, cancellationToken).ConfigureAwait(false));
        return rows;
    }

    private static IndexDefinition Of(string map)
    {
        using JsonDocument definition = JsonDocument.Parse(JsonSerializer.Serialize(new { Name = Paths, Maps = new[] { map } }));
        return IndexDefinition.FromJson(definition.RootElement);
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
        string what, (string Id, byte[] Json)[] documents, (string Name, Func<IndexDefinition> Definition)[] maps, int threads,
        int rounds, double limit, TextWriter progress, CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        using Database database = Open(folder, threads);
        await LoadAsync(database, documents, cancellationToken).ConfigureAwait(false);
        var rates = maps.ToDictionary(static map => map.Name, static _ => new List<double>());
        for (int round = 0; round < rounds; round++)
        {
            foreach ((string name, Func<IndexDefinition> definition) in maps)
            {
                progress.WriteLine($"computing: {what} mapped by {name}, {threads} thread(s), round {round + 1} of {rounds}");
                IndexDefinition named = definition() with { Name = name };
                double seconds = await BuildAsync(database, named, documents.Length, cancellationToken).ConfigureAwait(false);
                rates[name].Add(documents.Length / seconds);
                database.Indexes.Delete(name);
            }
        }

        double paths = Statistics.Median(rates[Paths]);
        return
        [
            .. maps.Select(map => BenchRow.Of(
                $"{what} mapped by {map.Name}, {threads} thread{(threads == 1 ? "" : "s")}", "documents/s", true, rates[map.Name])
                with
                {
                    Limit = limit,
                    Peers = map.Name == Paths ? [] : new Dictionary<string, double> { [PathMap] = paths },
                    Goals = map.Name is Paths or "JavaScript" ? [] : [new Goal(0.6, PathMap)],
                    Reason = "what a map gives is written as JSON and read again, which is most of the work for short documents",
                }),
        ];
    }

    private static async Task<double> BuildAsync(
        Database database, IndexDefinition definition, int documents, CancellationToken cancellationToken)
    {
        long began = Stopwatch.GetTimestamp();
        database.Indexes.Put(definition);
        await database.Indexes.WaitForNonStaleAsync(TimeSpan.FromMinutes(10), [definition.Name], cancellationToken)
            .ConfigureAwait(false);
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        IndexStatistics index = database.Indexes.List().Single(one => one.Name == definition.Name);
        return index.EntryCount == documents && index.ErrorCount == 0
            ? seconds
            : throw new InvalidOperationException(
                $"The index '{index.Name}' has {index.EntryCount} entries of {documents}, and {index.ErrorCount} errors.");
    }

    private static async Task<BenchRow> PatchAsync(
        (string Id, byte[] Json)[] documents, int rounds, TextWriter progress, CancellationToken cancellationToken)
    {
        progress.WriteLine("computing: patches by query");
        using var folder = new Scratch();
        using Database database = Open(folder, 1);
        await LoadAsync(database, documents, cancellationToken).ConfigureAwait(false);
        var rates = new List<double>();
        for (int round = 0; round < rounds; round++)
        {
            long began = Stopwatch.GetTimestamp();
            long patched = await database.PatchByQueryAsync(
                "from Orders update { this.Freight = this.Freight + 1; }", cancellationToken: cancellationToken)
                .ConfigureAwait(false);
            rates.Add(documents.Length / Stopwatch.GetElapsedTime(began).TotalSeconds);
            if (patched != documents.Length)
                throw new InvalidOperationException($"{patched} of {documents.Length} documents were patched.");
        }

        return BenchRow.Of("orders patched by query", "documents/s", true, rates);
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

    private sealed class OrdersByClass : Index<OrdersByClass.Order>
    {
        public OrdersByClass() => Map = static orders =>
            from o in orders select new { City = o.City.ToUpperInvariant(), Freight = o.Freight * 2, o.Company };

        public IndexDefinition ToDefinition() => ToDefinition(_options with { CollectionOf = static _ => "Orders" });

        internal sealed record Order(string City, double Freight, string Company);
    }

    private sealed class FilmsByClass : Index<FilmsByClass.Film>
    {
        public FilmsByClass() => Map = static films =>
            from m in films select new { Title = m.Title.ToUpperInvariant(), Year = m.Year + 1, m.Genres };

        public IndexDefinition ToDefinition() => ToDefinition(
            _options with { CollectionOf = static _ => "Movies", Json = JsonSerializerOptions.Web });

        internal sealed record Film(string Title, int Year, string[] Genres);
    }
}
