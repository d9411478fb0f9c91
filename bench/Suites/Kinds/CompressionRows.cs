using System.Buffers;
using System.Diagnostics;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Bench.Suites.Reading;
using Treepie.Kinds;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Kinds;

/// <summary>What it costs and saves to keep documents compressed: room, writing, loading, and reading answers of queries.</summary>
internal static class CompressionRows
{
    private const int BatchDocuments = 500;

    private const string Plain = "plain";

    public static async Task<IReadOnlyList<BenchRow>> MeasureAsync(ReadSet set, int rounds, CancellationToken cancellationToken)
    {
        using var files = new Scratch();
        string plainPath = Path.Combine(files.Path, "plain"), packedPath = Path.Combine(files.Path, "packed");
        (double plainWrites, double packedWrites) = (0, 0);
        double packing;
        using (Database plain = Database.Open(plainPath), packed = Database.Open(packedPath))
        {
            // A part is there before; the rest is compressed on the way.
            int first = set.Count / 4;
            await WriteAsync(plain, set, 0, first, cancellationToken);
            await WriteAsync(packed, set, 0, first, cancellationToken);
            await packed.Compression.ConfigureAsync(
                new DocumentCompressionConfiguration { AllCollections = true }, cancellationToken);
            long began = Stopwatch.GetTimestamp();
            long count = (await packed.Compression.RunAsync(null, cancellationToken)).Documents;
            packing = count / Stopwatch.GetElapsedTime(began).TotalSeconds;
            plainWrites = await WriteAsync(plain, set, first, set.Count, cancellationToken);
            packedWrites = await WriteAsync(packed, set, first, set.Count, cancellationToken);
        }

        List<double> plainLoads = [], packedLoads = [], plainAnswers = [], packedAnswers = [];
        using (Database plain = Database.Open(plainPath), packed = Database.Open(packedPath))
            for (int round = 0; round < rounds; round++)
            {
                plainLoads.Add(Loads(plain, set, round));
                packedLoads.Add(Loads(packed, set, round));
                plainAnswers.Add(await AnswersAsync(plain, set, round, cancellationToken));
                packedAnswers.Add(await AnswersAsync(packed, set, round, cancellationToken));
            }

        double plainBytes = Bytes(plainPath) / set.Count, packedBytes = Bytes(packedPath) / set.Count;
        var sizes = new Dictionary<string, double> { [Plain] = plainBytes };
        if (Sqlite.IsPresent)
            sizes[$"SQLite {Sqlite.Version}"] = SqliteBytes(set, Path.Combine(files.Path, "sqlite")) / set.Count;
        return
        [
            new BenchRow($"{set.Name}, compressed, size", "bytes/document", false, packedBytes)
            {
                Peers = sizes,
                Goals = [new Goal(1.3, "SQLite")],
                Note = $"their JSON: {Enumerable.Range(0, set.Count).Sum(at => (double)set.At(at).PlainJson.Length) / set.Count:0}",
            },
            Row("written compressed", "documents/s", true, packedWrites, plainWrites),
            new BenchRow($"{set.Name}, compressed in the background", "documents/s", true, packing)
            {
                Note = "with the training of the dictionary",
            },
            Row("load by id, p50", "µs", false, Statistics.Median(packedLoads), Statistics.Median(plainLoads)) with
            {
                Goals = [new Goal(0.7, Plain)],
                Reason = "each body is decoded by itself, some 2 ns a byte; the rest of a load is not much more than that",
            },
            Row("equality, first 25, p50", "µs", false, Statistics.Median(packedAnswers), Statistics.Median(plainAnswers)) with
            {
                Goals = [new Goal(0.7, Plain)],
                Reason = "as with loads, 25 times",
            },
        ];

        BenchRow Row(string name, string unit, bool higherIsBetter, double ours, double plain) =>
            new($"{set.Name}, compressed: {name}", unit, higherIsBetter, ours)
            {
                Peers = new Dictionary<string, double> { [Plain] = plain },
            };
    }

    private static async Task<double> WriteAsync(
        Database database, ReadSet set, int from, int to, CancellationToken cancellationToken)
    {
        long began = Stopwatch.GetTimestamp();
        for (int at = from; at < to; at += BatchDocuments)
        {
            using var batch = new WriteBatch();
            for (int i = at; i < Math.Min(to, at + BatchDocuments); i++)
                batch.Put(set.At(i).Id, set.At(i).Json);
            await database.WriteAsync(batch, cancellationToken);
        }

        return (to - from) / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    private static double Loads(Database database, ReadSet set, int seed)
    {
        const int Loads = 20_000;
        var random = new Random(seed);
        var times = new List<double>(Loads);
        var output = new ArrayBufferWriter<byte>(1 << 16);
        for (int i = 0; i < Loads; i++)
        {
            string id = set.At(random.Next(set.Count)).Id;
            long began = Stopwatch.GetTimestamp();
            output.ResetWrittenCount();
            using (DatabaseSnapshot snapshot = database.BeginRead())
                if (snapshot.TryGet(id, out Document document))
                    document.WriteTo(output);
            times.Add(Stopwatch.GetElapsedTime(began).TotalMicroseconds);
        }

        return Statistics.Median(times);
    }

    private static async Task<double> AnswersAsync(Database database, ReadSet set, int seed, CancellationToken cancellationToken)
    {
        const int Queries = 3_000;
        var random = new Random(seed);
        var times = new List<double>(Queries);
        var output = new ArrayBufferWriter<byte>(1 << 20);
        for (int i = 0; i < Queries; i++)
        {
            var request = new QueryRequest
            {
                Text = $"from Movies where year = {set.Years[random.Next(set.Years.Length)]} limit 25",
                WaitForNonStaleResults = true,
            };
            long began = Stopwatch.GetTimestamp();
            output.ResetWrittenCount();
            using QueryResults results = await database.QueryAsync(request, cancellationToken);
            while (results.MoveNext())
                results.WriteCurrent(output);
            times.Add(Stopwatch.GetElapsedTime(began).TotalMicroseconds);
        }

        return Statistics.Median(times);
    }

    /// <summary>Bytes of the documents' file, made as short as it can be.</summary>
    private static double Bytes(string path)
    {
        using Database database = Database.Open(path);
        return database.Compact(new CompactionOptions { Indexes = [] }).BytesAfter;
    }

    private static double SqliteBytes(ReadSet set, string path)
    {
        using (var sqlite = new Sqlite(path))
        {
            sqlite.Execute("create table movies(id text primary key, json text) without rowid");
            using Sqlite.Statement insert = sqlite.Prepare("insert into movies values (?, ?)");
            sqlite.Execute("begin");
            for (int i = 0; i < set.Count; i++)
                insert.Bind(1, set.At(i).Id).Bind(2, set.At(i).PlainJson).Step();
            sqlite.Execute("commit");
            sqlite.Execute("vacuum");
        }

        return new FileInfo(path).Length;
    }
}
