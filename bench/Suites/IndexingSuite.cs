using System.Diagnostics;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Indexing;
using Treepie.Bench.Suites.Search;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Storage;

namespace Treepie.Bench.Suites;

/// <summary>Where the bytes of an index are, and what indexing at full speed does to queries.</summary>
internal sealed class IndexingSuite : ISuite
{
    private const int Verses = 632_000;
    private const int BatchSize = 10_000;
    private const int Questions = 40_000;
    private const int Documents = 100_000;
    private const double MB = 1e6;

    public string Name => "indexing";

    public string Question =>
        """
        Where are the bytes of an index of 631,996 English verses (a text field with positions, two number fields, one group
        field), after it was tidied as an idle index is? How long do queries for the best ten of a word found in one text of some
        hundreds take while another thread indexes at full speed into the same index, replacing entries in batches of 10,000 at
        low priority as a database does, compared with the same queries on an idle index? One thread runs 40,000 queries;
        percentiles are of single times. And how fast does a database index 100,000 of these texts, stored as JSON documents, with
        one mapping thread beside the writing one, and with two?
        """;

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        SearchDocument[] documents = SearchCorpus.Verses(SearchSuite.MostDocuments ?? (quick ? 5_000 : Verses)).Documents;
        using var folder = new Scratch();
        using StorageEnvironment environment = StorageEnvironment.Open(
            folder.Path, new StorageOptions { Durability = Durability.Relaxed, IsBackgroundQuiet = true });
        using var load = new IndexingLoad(environment, documents, BatchSize);
        progress.WriteLine($"indexing: {documents.Length:N0} documents");
        ProcessCounters before = ProcessCounters.Now;
        long began = Stopwatch.GetTimestamp();
        load.PutAll(cancellationToken);
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        ProcessCounters used = ProcessCounters.Now.Since(before);
        environment.Checkpoint(cancellationToken);
        double untidy = folder.SizeBytes / MB;
        began = Stopwatch.GetTimestamp();
        load.Tidy(cancellationToken);
        double tidying = Stopwatch.GetElapsedTime(began).TotalSeconds;

        List<BenchRow> rows =
        [
            new("documents indexed", "documents/s", true, documents.Length / seconds),
            new("documents indexed, by processor time", "documents/CPU s", true, documents.Length / used.CpuSeconds)
            {
                Note = "one thread; durable two seconds later at most"
            },
            new("garbage made", "bytes a document", false, used.AllocatedBytes / documents.Length),
            new("tidied", "documents/s", true, documents.Length / tidying),
            new("file before it was tidied", "MB", false, untidy),
            new("file", "MB", false, folder.SizeBytes / MB),
        ];
        using (var searcher = new IndexSearcher(environment))
        {
            foreach (IndexStructureSize size in searcher.MeasureStructures(cancellationToken).Take(16))
                rows.Add(
                    new BenchRow(
                        $"of it {size.Structure}{(size.Field is null ? "" : $" of {size.Field}")}", "MB", false,
                        size.SizeBytes / MB)
                    { Note = $"{100.0 * size.UsedBytes / size.SizeBytes:0} % in use" });
        }

        progress.WriteLine("indexing: queries");
        SearchRequest[] requests = [.. IndexingLoad.Words(documents).Select(IndexingLoad.Request)];
        int questions = quick ? 500 : Questions;
        Ask(environment, requests, questions / 4);
        double[] idle = Ask(environment, requests, questions);
        began = Stopwatch.GetTimestamp();
        load.Begin(isQuiet: true);
        double[] busy = Ask(environment, requests, questions);
        double rate = load.End() / Stopwatch.GetElapsedTime(began).TotalSeconds;
        foreach ((string name, double share) in new[] { ("median", 0.5), ("99 %", 0.99), ("99.99 %", 0.9999) })
        {
            rows.Add(new BenchRow($"query while indexing, {name}", "µs", false, Statistics.Percentile(busy, share))
            {
                Peers = new Dictionary<string, double> { ["nothing else"] = Statistics.Percentile(idle, share) },
                Goals = share > 0.999 ? [new Goal(1 / 3.0, "nothing else")] : [],
            });
        }

        rows.Add(new BenchRow("entries replaced meanwhile", "documents/s", true, rate));
        progress.WriteLine("indexing: a database");
        foreach (int mappers in (int[])[1, 2])
            rows.Add(await DatabaseIndexing.RunAsync(documents, quick ? 2_000 : Documents, mappers, cancellationToken));
        return rows;
    }

    private static double[] Ask(StorageEnvironment environment, SearchRequest[] requests, int questions)
    {
        double[] times = new double[questions];
        for (int i = 0; i < times.Length; i++)
        {
            long asked = Stopwatch.GetTimestamp();
            using (var searcher = new IndexSearcher(environment))
            using (SearchResults results = searcher.Search(requests[i % requests.Length]))
            {
                while (results.MoveNext())
                {
                }
            }

            times[i] = Stopwatch.GetElapsedTime(asked).TotalMicroseconds;
        }

        return times;
    }
}
