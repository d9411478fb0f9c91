using System.Diagnostics;
using System.Globalization;
using System.Text;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Indexes;
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

        using SqliteOrders? sqlite = Sqlite.IsPresent
            ? new SqliteOrders(Path.Combine(folder.Path, "sqlite"), documents, Freight, static i => $"c{i * 7919L % Cities}")
            : null;
        double[] built = new double[quick ? 1 : 3], peerBuilt = new double[sqlite is null ? 0 : built.Length];
        for (int round = 0; round < built.Length; round++)
        {
            progress.WriteLine($"computing: groups, building, round {round + 1} of {built.Length}");
            foreach (IndexStatistics index in database.Indexes.List())
                database.Indexes.Delete(index.Name);
            long began = Stopwatch.GetTimestamp();
            IReadOnlyList<string> groups = await AskAsync(database, Build, cancellationToken).ConfigureAwait(false);
            built[round] = documents / Stopwatch.GetElapsedTime(began).TotalSeconds;
            if (sqlite is null)
                continue;
            peerBuilt[round] = documents / sqlite.BuildSeconds();
            if (sqlite.Groups() != groups.Count)
                throw new InvalidOperationException($"SQLite has {sqlite.Groups()} groups, Treepie {groups.Count}.");
        }

        rows.Add(
            BenchRow.Of($"groups of {documents:N0} documents, built", "documents/s", true, built) with
            {
                Peers = Peer(sqlite is null ? null : Statistics.Median(peerBuilt)),
                Note = "ours can be changed by a document; SQLite's table cannot",
            });

        progress.WriteLine("computing: groups, an answer");
        await AskAsync(database, Largest, cancellationToken).ConfigureAwait(false); // compiles what is not compiled yet
        double[] asked = await Timing.LatenciesAsync(
            answers, async _ => await AskAsync(database, Largest, cancellationToken).ConfigureAwait(false)).ConfigureAwait(false);
        rows.Add(
            BenchRow.Of("ten largest groups", "ms", false, [.. asked.Select(static us => us / 1000)]) with
            {
                Spread = null, // of single answers, not of rounds
                Peers = Peer(sqlite?.LargestMs(quick ? 3 : 10)),
                Goals = [new Goal(1, "SQLite")],
            });

        BenchRow? smallest = null;
        foreach (int size in quick ? [10, 1_000] : (int[])[10, 10_000, 1_000_000])
        {
            progress.WriteLine($"computing: a change in a group of {size:N0}");
            BenchRow row = await ChangeAsync(size, quick ? 5 : 500, cancellationToken).ConfigureAwait(false);
            smallest ??= row;
            rows.Add(
                ReferenceEquals(row, smallest)
                    ? row
                    : row with
                    {
                        Limit = smallest.Ours * Math.Log(size, 10),
                        Goals = [Goal.AtMost(1)],
                        Note = row.Note + "; limit: as the logarithm of the group",
                    });
        }

        return rows;
    }

    private static async Task<BenchRow> ChangeAsync(int size, int changes, CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        using Database database = Database.Open(folder.Path);
        await LoadAsync(database, size, static _ => "one", cancellationToken).ConfigureAwait(false);
        await AskAsync(database, Build, cancellationToken).ConfigureAwait(false);
        for (int i = 0; i < changes / 5; i++)
            await ChangeAsync(i, 1).ConfigureAwait(false); // compiles what is not compiled yet
        long before = Reduced();
        double[] latencies = await Timing.LatenciesAsync(changes, i => ChangeAsync(i, 2)).ConfigureAwait(false);
        long after = Reduced();
        return BenchRow.Of(
            $"one change in a group of {size:N0}, until it is answered", "ms", false,
            [.. latencies.Select(static us => us / 1000)]) with
        {
            Spread = null, // of single changes, not of rounds
            Note = string.Create(
                CultureInfo.InvariantCulture, $"{(after - before) / (double)changes:0.#} reduces a change"),
        };

        // Another freight than the order has, each time.
        async ValueTask ChangeAsync(int i, int by)
        {
            int number = i % size;
            byte[] order = Order("one", number + by + (i / size));
            await database.WriteAsync(new WriteBatch().Put($"orders/{number}", order), cancellationToken).ConfigureAwait(false);
            await AskAsync(database, Build, cancellationToken).ConfigureAwait(false);
        }

        long Reduced() => database.Indexes.List()[0].ReduceAttempts;
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
