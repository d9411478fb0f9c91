using System.Diagnostics;
using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Indexing;
using Treepie.Storage;

namespace Treepie.Bench.Suites.Search;

/// <summary>
/// Asks our index alone, for a profiler or for two builds that take turns: by kind, what half and 99 % of the questions are
/// answered within, the same of the least time of each, and bytes of garbage. Times are those of the processor, so that a busy
/// machine changes them little.
/// </summary>
internal static class SearchProfile
{
    /// <summary>
    /// First argument of the process that asks: then folder, file of questions, beginning of the kinds' names, seconds for each
    /// kind, or less 0: so many rounds, for who counts instructions.
    /// </summary>
    public const string Verb = "search-profile";

    /// <summary>
    /// First argument of the process that makes what is asked: then verses or made, how many documents, an empty folder for
    /// index, documents and questions.
    /// </summary>
    public const string MakeVerb = "search-make";

    /// <summary>First argument of the process that says where the bytes of an index are: then its folder.</summary>
    public const string SizesVerb = "search-sizes";

    /// <summary>Behind the kinds' names: hits need not be counted.</summary>
    private const string Uncounted = ":uncounted";

    /// <summary>Behind the kinds' names: hits are counted in ranges by their own order, too.</summary>
    private const string Counted = ":counted";

    /// <summary>What the process of <see cref="MakeVerb"/> does.</summary>
    public static void Make(string texts, int count, string folder)
    {
        const int BatchSize = 10_000, OfEach = 40;
        SearchCorpus corpus = texts == "made" ? SearchCorpus.Zipf(count) : SearchCorpus.Verses(count);
        string lines = Path.Combine(folder, "documents.tsv");
        Directory.CreateDirectory(folder);
        corpus.Write(lines);
        IReadOnlyList<SearchQuestion> questions = SearchQuestions.Make(corpus, OfEach);
        SearchProcess.Write(Path.Combine(folder, "questions.tsv"), questions);
        SearchProcess.Write(Path.Combine(folder, "mixed.tsv"), MixedQuestions.Make(corpus, questions));
        using var ours = new TreepieVerses(Path.Combine(folder, "index"));
        ours.Load(lines, BatchSize, CancellationToken.None);
    }

    /// <summary>What the process of <see cref="SizesVerb"/> does.</summary>
    public static void Sizes(string folder)
    {
        using StorageEnvironment environment = StorageEnvironment.Open(folder);
        using var searcher = new IndexSearcher(environment);
        foreach (IndexStructureSize size in searcher.MeasureStructures(CancellationToken.None))
            Console.WriteLine(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{size.SizeBytes / 1e6,8:0.00} MB  {100.0 * size.UsedBytes / size.SizeBytes,3:0} %  {size.Keys,10:N0}  "
                        + $"{size.Structure} {size.Field}"));
    }

    /// <summary>What the process of <see cref="Verb"/> does.</summary>
    public static void Run(string folder, string file, string kinds, double seconds)
    {
        using var ours = new TreepieVerses(folder);
        bool counts = !kinds.EndsWith(Uncounted, StringComparison.Ordinal);
        bool countsRange = kinds.EndsWith(Counted, StringComparison.Ordinal);
        kinds = kinds.Split(':')[0];
        foreach (IGrouping<string, SearchQuestion> kind in SearchProcess.Read(file)
            .Select(question => question with { Counts = counts, CountsRange = countsRange })
            .GroupBy(question => question.Kind)
            .Where(kind => kind.Key.StartsWith(kinds, StringComparison.Ordinal)))
        {
            SearchQuestion[] questions = [.. kind];
            var times = questions.Select(_ => new List<double>()).ToArray();
            long began = Stopwatch.GetTimestamp();
            for (int pass = 0;
                 seconds < 0 ? pass < -seconds : pass < 8 || Stopwatch.GetElapsedTime(began).TotalSeconds < seconds;
                 pass++)
                for (int i = 0; i < questions.Length; i++)
                {
                    double before = ThreadClock.Microseconds;
                    ours.Ask(questions[i]);
                    times[i].Add(ThreadClock.Microseconds - before);
                }

            // The first half warms up.
            long bytes = GC.GetAllocatedBytesForCurrentThread();
            foreach (SearchQuestion question in questions)
                ours.Ask(question);
            bytes = GC.GetAllocatedBytesForCurrentThread() - bytes;
            double[] each = [.. times.Select(mine => Statistics.Median(mine.Skip(mine.Count / 2)))];
            QueryCounters all = default;
            foreach (SearchQuestion question in questions)
                all += ours.Count(question);
            double[] least = [.. times.Select(mine => mine.Min())];
            int slowest = Array.IndexOf(each, each.Max());
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{kind.Key,-16} p50 {Statistics.Median(each),9:0.0} µs   p99 {Statistics.Percentile(each, 0.99),9:0.0} µs   "
                    + $"least {Statistics.Median(least),9:0.0} and {Statistics.Percentile(least, 0.99),9:0.0} µs   pages "
                    + $"{all.PagesRead / questions.Length} blocks {all.BlocksDecoded / questions.Length} entries "
                    + $"{all.EntriesScanned / questions.Length} scored {all.CandidatesScored / questions.Length} bytes "
                    + $"{bytes / questions.Length}   slowest: {questions[slowest].Line}"));
        }
    }
}
