using System.Diagnostics;
using System.Globalization;
using System.Text;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Computing;

/// <summary>Groups of orders: building them, changing one, asking about them; beside SQLite.</summary>
internal static class GroupMeasurements
{
    private const int Cities = 1_000, DocumentsOfBatch = 1_000;
    private const string Build = "from Orders group by City select City, count(), sum(Freight)";
    private const string Largest =
        "from Orders group by City order by count() as long desc, City select City, count(), sum(Freight) limit 10";

    public static async Task<IReadOnlyList<BenchRow>> RunAsync(
        bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        int documents = quick ? 2_000 : 1_000_000, answers = quick ? 20 : 1_000;
        var rows = new List<BenchRow>();
        using var folder = new Scratch();
        using Database database = Database.Open(Path.Combine(folder.Path, "orders"));
        await LoadAsync(database, documents, static i => $"c{i * 7919L % Cities}", cancellationToken).ConfigureAwait(false);

        progress.WriteLine("computing: groups, building");
        long began = Stopwatch.GetTimestamp();
        IReadOnlyList<string> groups = await AskAsync(database, Build, cancellationToken).ConfigureAwait(false);
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        using SqliteOrders? sqlite = Sqlite.IsPresent
            ? new SqliteOrders(Path.Combine(folder.Path, "sqlite"), documents, Freight, static i => $"c{i * 7919L % Cities}")
            : null;
        double? peer = sqlite?.BuildSeconds();
        if (sqlite is not null && sqlite.Groups() != groups.Count)
            throw new InvalidOperationException($"SQLite has {sqlite.Groups()} groups, Treepie {groups.Count}.");
        rows.Add(
            BenchRow.Of($"groups of {documents:N0} documents, built", "documents/s", true, [documents / seconds]) with
            {
                Peers = Peer(peer is { } built ? documents / built : null)
            });

        progress.WriteLine("computing: groups, an answer");
        double[] asked = await Timing.LatenciesAsync(
            answers, async _ => await AskAsync(database, Largest, cancellationToken).ConfigureAwait(false)).ConfigureAwait(false);
        rows.Add(
            BenchRow.Of("ten largest groups", "ms", false, [.. asked.Select(static us => us / 1000)]) with
            {
                Peers = Peer(sqlite?.LargestMs(quick ? 3 : 10))
            });

        foreach (int size in quick ? [10, 1_000] : (int[])[10, 10_000, 1_000_000])
        {
            progress.WriteLine($"computing: a change in a group of {size:N0}");
            rows.Add(await ChangeAsync(size, quick ? 5 : 200, cancellationToken).ConfigureAwait(false));
        }

        return rows;
    }

    private static async Task<BenchRow> ChangeAsync(int size, int changes, CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        using Database database = Database.Open(folder.Path);
        await LoadAsync(database, size, static _ => "one", cancellationToken).ConfigureAwait(false);
        await AskAsync(database, Build, cancellationToken).ConfigureAwait(false);
        long before = database.Indexes.List()[0].ReduceAttempts;
        double[] latencies = await Timing.LatenciesAsync(changes, async i =>
        {
            await database.WriteAsync(new WriteBatch().Put($"orders/{i % size}", Order("one", size + i)), cancellationToken)
                .ConfigureAwait(false);
            await AskAsync(database, Build, cancellationToken).ConfigureAwait(false);
        }).ConfigureAwait(false);
        double reduces = (database.Indexes.List()[0].ReduceAttempts - before) / (double)latencies.Length;
        return BenchRow.Of(
            $"one change in a group of {size:N0}, until it is answered", "ms", false,
            [.. latencies.Select(static us => us / 1000)]) with
        {
            Note = string.Create(CultureInfo.InvariantCulture, $"{reduces:0.#} reduces a change")
        };
    }

    private static Dictionary<string, double> Peer(double? figure) =>
        figure is { } value ? new Dictionary<string, double> { ["SQLite"] = value } : [];

    private static async Task LoadAsync(
        Database database, int documents, Func<int, string> city, CancellationToken cancellationToken)
    {
        for (int i = 0; i < documents;)
        {
            var batch = new WriteBatch();
            for (int end = Math.Min(documents, i + DocumentsOfBatch); i < end; i++)
                batch.Put($"orders/{i}", Order(city(i), i));
            await database.WriteAsync(batch, cancellationToken).ConfigureAwait(false);
        }
    }

    private static byte[] Order(string city, int number) =>
        Encoding.UTF8.GetBytes(
            $$"""{"City":"{{city}}","Freight":{{Freight(number)}},"Company":"companies/{{number % 91}}","@metadata":{"@collection":"Orders"} }""");

    private static string Freight(int number) =>
        string.Create(CultureInfo.InvariantCulture, $"{number % 10_000}.{number % 100:00}");

    private static async Task<IReadOnlyList<string>> AskAsync(Database database, string text, CancellationToken cancellationToken)
    {
        using QueryResults results = await database.QueryAsync(
            new QueryRequest { Text = text, WaitForNonStaleResults = true, WaitTimeout = TimeSpan.FromMinutes(10) },
            cancellationToken).ConfigureAwait(false);
        var rows = new List<string>();
        var output = new System.Buffers.ArrayBufferWriter<byte>();
        while (results.MoveNext())
        {
            output.ResetWrittenCount();
            results.WriteCurrent(output);
            rows.Add(Encoding.UTF8.GetString(output.WrittenSpan));
        }

        return rows;
    }
}
