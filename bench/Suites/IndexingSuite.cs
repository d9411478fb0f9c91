using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Search;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;

namespace Treepie.Bench.Suites;

/// <summary>Where the bytes of an index are, and what indexing at full speed does to queries.</summary>
internal sealed class IndexingSuite : ISuite
{
    private const int Verses = 632_000;
    private const int BatchSize = 10_000;
    private const int Questions = 40_000;
    private const double MB = 1e6;

    private static readonly IndexSchema Schema = new(
    [
        new IndexField("text", FieldAnalysis.FullText), new IndexField("tr", FieldAnalysis.Keyword), new IndexField("num"), new IndexField("day"),
    ]);

    public string Name => "indexing";

    public string Question =>
        """
        Where are the bytes of an index of 631,996 English verses (a text field with places, two number fields, one group field), after it was tidied as one is that has nothing else to do? And how long do queries take, the best ten of a word that one text in some hundreds
        has, while another thread indexes at full speed into the same index, replacing entries in batches of 10,000, next to the same queries with nothing else going on? One thread asks 40,000 times; percentiles of single times.
        """;

    public Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        SearchDocument[] documents = SearchCorpus.Verses(SearchSuite.MostDocuments ?? (quick ? 5_000 : Verses)).Documents;
        using var folder = new Scratch();
        using StorageEnvironment environment = StorageEnvironment.Open(folder.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, Schema);
        progress.WriteLine($"indexing: {documents.Length:N0} documents");
        long began = Stopwatch.GetTimestamp();
        Put(writer, documents, 0, documents.Length, cancellationToken);
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        environment.Checkpoint(cancellationToken);
        double untidy = folder.SizeBytes / MB;
        began = Stopwatch.GetTimestamp();
        writer.Tidy(null, cancellationToken);
        double tidying = Stopwatch.GetElapsedTime(began).TotalSeconds;

        List<BenchRow> rows =
        [
            new("documents indexed", "documents/s", true, documents.Length / seconds),
            new("tidied", "documents/s", true, documents.Length / tidying),
            new("file before it was tidied", "MB", false, untidy),
            new("file", "MB", false, folder.SizeBytes / MB),
        ];
        using (var searcher = new IndexSearcher(environment))
        {
            foreach (IndexStructureSize size in searcher.MeasureStructures(cancellationToken).Take(16))
                rows.Add(new BenchRow($"of it {size.Structure}{(size.Field is null ? "" : $" of {size.Field}")}", "MB", false, size.SizeBytes / MB) { Note = $"{100.0 * size.UsedBytes / size.SizeBytes:0} % in use" });
        }

        progress.WriteLine("indexing: queries");
        string[] words = Words(documents);
        int questions = quick ? 500 : Questions;
        Ask(environment, words, questions / 4);
        double[] idle = Ask(environment, words, questions);
        (double[] busy, double rate) = AskWhileIndexing(environment, writer, documents, words, questions, cancellationToken);
        foreach ((string name, double share) in new[] { ("median", 0.5), ("99 %", 0.99), ("99.99 %", 0.9999) })
        {
            rows.Add(new BenchRow($"query while indexing, {name}", "µs", false, Statistics.Percentile(busy, share))
            {
                Peers = new Dictionary<string, double> { ["nothing else"] = Statistics.Percentile(idle, share) },
                Goals = share > 0.999 ? [new Goal(1 / 3.0, "nothing else")] : [],
            });
        }

        rows.Add(new BenchRow("entries replaced meanwhile", "documents/s", true, rate));
        return Task.FromResult<IReadOnlyList<BenchRow>>(rows);
    }

    /// <summary>Words that one text in 200 to 2,000 has.</summary>
    private static string[] Words(SearchDocument[] documents)
    {
        var counts = new Dictionary<string, int>(StringComparer.Ordinal);
        foreach (SearchDocument document in documents)
            foreach (string word in document.Text.Split(' ', StringSplitOptions.RemoveEmptyEntries).Distinct())
                counts[word] = counts.GetValueOrDefault(word) + 1;
        return [.. counts.Where(pair => pair.Value > documents.Length / 2_000 && pair.Value < documents.Length / 200).Select(pair => pair.Key).Order(StringComparer.Ordinal).Take(200)];
    }

    private static void Put(IndexWriter writer, SearchDocument[] documents, int from, int count, CancellationToken cancellationToken)
    {
        IndexBatch batch = writer.BeginBatch();
        byte[] key = new byte[sizeof(int)];
        for (int i = from; i < from + count; i++)
        {
            SearchDocument document = documents[i % documents.Length];
            BinaryPrimitives.WriteInt32BigEndian(key, i % documents.Length);
            batch.BeginEntry(key);
            batch.AddText(0, Encoding.UTF8.GetBytes(document.Text));
            batch.AddText(1, Encoding.UTF8.GetBytes(document.Group));
            batch.AddLong(2, document.Number);
            batch.AddLong(3, document.Day);
            batch.EndEntry();
            if (batch.Count == BatchSize || i + 1 == from + count)
                writer.Commit(batch, writer.LastEtag + 1, cancellationToken);
        }
    }

    private static (double[] Times, double Rate) AskWhileIndexing(
        StorageEnvironment environment, IndexWriter writer, SearchDocument[] documents, string[] words, int questions, CancellationToken cancellationToken)
    {
        int put = 0;
        bool ended = false;
        var indexing = new Thread(() =>
        {
            while (!Volatile.Read(ref ended))
            {
                Put(writer, documents, put, BatchSize, cancellationToken);
                put += BatchSize;
            }
        });
        long began = Stopwatch.GetTimestamp();
        indexing.Start();
        double[] times = Ask(environment, words, questions);
        Volatile.Write(ref ended, true);
        indexing.Join();
        return (times, put / Stopwatch.GetElapsedTime(began).TotalSeconds);
    }

    private static double[] Ask(StorageEnvironment environment, string[] words, int questions)
    {
        double[] times = new double[questions];
        for (int i = 0; i < times.Length; i++)
        {
            var request = new SearchRequest
            {
                Query = new FullTextQuery("text", words[i % words.Length], All: false),
                Sort = [new SortKey("", SortKind.Score, Descending: true)],
                Take = 10,
            };
            long began = Stopwatch.GetTimestamp();
            using (var searcher = new IndexSearcher(environment))
            using (SearchResults results = searcher.Search(request))
            {
                while (results.MoveNext())
                {
                }
            }

            times[i] = Stopwatch.GetElapsedTime(began).TotalMicroseconds;
        }

        return times;
    }
}
