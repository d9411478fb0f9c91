using System.Diagnostics;
using System.Globalization;
using System.Runtime;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Search;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Storage;

namespace Treepie.Bench.Suites.Indexing;

/// <summary>
/// Asks while another thread indexes, and says of every late answer what happened during it: a collection of garbage, another
/// thread on its processor, pages touched for the first time, and how much of it was computed, which a busy machine changes
/// little. For one who wants to know why some answers are late.
/// </summary>
internal static class IndexingProfile
{
    /// <summary>
    /// First argument of the process: then documents, questions, size of batches, and <c>quiet</c> or <c>plain</c> for the thread
    /// that indexes.
    /// </summary>
    public const string Verb = "indexing-profile";

    /// <summary>
    /// First argument of the process that asks what the suite <c>search</c> asks meanwhile: then a folder with an index that may
    /// be written to, files of documents and questions, and seconds.
    /// </summary>
    public const string SearchVerb = "search-while";

    private const double LateMicroseconds = 1_000;

    /// <summary>What the process of <see cref="Verb"/> does.</summary>
    public static void Run(int count, int questions, int batchSize, bool isQuiet)
    {
        SearchDocument[] documents = SearchCorpus.Verses(count).Documents;
        using var folder = new Scratch();
        using StorageEnvironment environment = StorageEnvironment.Open(
            folder.Path, new StorageOptions { Durability = Durability.Relaxed, IsBackgroundQuiet = isQuiet });
        using var load = new IndexingLoad(environment, documents, batchSize);
        ProcessCounters before = ProcessCounters.Now;
        TimeSpan pauses = GC.GetTotalPauseDuration();
        int[] collections = Collections();
        load.PutAll(CancellationToken.None);
        Say("indexing alone", documents.Length, before, pauses, collections);
        environment.Checkpoint();
        SearchRequest[] requests = [.. IndexingLoad.Words(documents).Select(IndexingLoad.Request)];
        Action<int> ask = i => Ask(environment, requests[i % requests.Length]);
        Ask(ask, i => i < questions / 4);
        Ask(ask, i => i < questions).Print("nothing else");

        before = ProcessCounters.Now;
        pauses = GC.GetTotalPauseDuration();
        collections = Collections();
        load.Begin(isQuiet);
        Answers busy = Ask(ask, i => i < questions);
        long put = load.End();
        Say("while asking", put, before, pauses, collections);
        busy.Print("while indexing");
        Console.WriteLine(
            string.Join("  ", load.Commits.Select(ms => ms.ToString("0", CultureInfo.InvariantCulture))) + "  ms, batches");
    }

    private static int[] Collections() => [GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2)];

    private static void Say(string what, long documents, ProcessCounters before, TimeSpan pauses, int[] collections)
    {
        ProcessCounters used = ProcessCounters.Now.Since(before);
        int[] now = Collections();
        GCMemoryInfo last = GC.GetGCMemoryInfo(GCKind.Any);
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{what}: {documents:N0} documents, {documents / used.CpuSeconds:N0} a CPU-second, "
                + $"{used.AllocatedBytes / Math.Max(1, documents):N0} bytes allocated each, collections "
                + $"{now[0] - collections[0]}/{now[1] - collections[1]}/{now[2] - collections[2]}, "
                + $"{(GC.GetTotalPauseDuration() - pauses).TotalMilliseconds:0.0} ms of pauses, heap {last.HeapSizeBytes >> 20} "
                + $"MiB, {(GCSettings.IsServerGC ? "server" : "workstation")}"));
    }

    /// <summary>
    /// What the process of <see cref="SearchVerb"/> does: in quiet, then twice while a thread indexes, first while its code is
    /// compiled.
    /// </summary>
    public static void RunSearch(string folder, string documents, string questions, double seconds)
    {
        SearchQuestion[] mixed = [.. StateRows.MixedOf(SearchProcess.Read(questions))];
        using var ours = new TreepieVerses(folder);
        Action<int> ask = i => ours.Ask(mixed[i % mixed.Length]);
        Ask(ask, For(seconds / 4));
        Ask(ask, For(seconds)).Print("nothing else");
        using (new SearchLoad(ours, documents))
        {
            Ask(ask, For(seconds)).Print("as it begins to index");
            Ask(ask, For(seconds)).Print("while indexing");
        }
    }

    private static Func<int, bool> For(double seconds)
    {
        long began = Stopwatch.GetTimestamp();
        return _ => Stopwatch.GetElapsedTime(began).TotalSeconds < seconds;
    }

    private static void Ask(StorageEnvironment environment, SearchRequest request)
    {
        using var searcher = new IndexSearcher(environment);
        using SearchResults results = searcher.Search(request);
        while (results.MoveNext())
        {
        }
    }

    private static Answers Ask(Action<int> ask, Func<int, bool> goesOn)
    {
        var answers = new Answers();
        using var thread = new ThreadFigures();
        for (int i = 0; goesOn(i); i++)
        {
            double pause = GC.GetTotalPauseDuration().TotalMicroseconds;
            (long switches, double wait, long faults) = thread.Read();
            int second = GC.CollectionCount(2), first = GC.CollectionCount(1);
            double processor = ThreadClock.Microseconds;
            long began = Stopwatch.GetTimestamp();
            ask(i);
            double time = Stopwatch.GetElapsedTime(began).TotalMicroseconds;
            processor = ThreadClock.Microseconds - processor;
            answers.Times.Add(time);
            answers.Computed.Add(processor);
            if (time < LateMicroseconds)
                continue;
            (long switchesNow, double waitNow, long faultsNow) = thread.Read();
            answers.Late.Add(new Late(
                i, time, processor, GC.GetTotalPauseDuration().TotalMicroseconds - pause, GC.CollectionCount(1)
                    - first, GC.CollectionCount(2) - second, switchesNow - switches, waitNow - wait, faultsNow - faults));
        }

        return answers;
    }

    /// <summary>A late answer, and what was counted during it.</summary>
    private sealed record Late(
        int Question, double Microseconds, double Computed, double PauseMicroseconds, int Generation1, int Generation2,
        long Switches, double WaitMicroseconds, long Faults);

    /// <summary>Times of answers, in microseconds: by the clock, and what of it the thread computed.</summary>
    private sealed class Answers
    {
        private static readonly double[] _shares = [0.5, 0.99, 0.999, 0.9999, 1];

        public List<double> Times { get; } = [];

        public List<double> Computed { get; } = [];

        public List<Late> Late { get; } = [];

        public void Print(string what)
        {
            Console.WriteLine(
                $"{what}: {Times.Count:N0} answers, of 50, 99, 99.9, 99.99, 100 %: {Of(Times)} µs, computed {Of(Computed)} µs; "
                    + $"late: {Late.Count}");
            foreach (Late each in Late.OrderByDescending(each => each.Microseconds).Take(25))
                Console.WriteLine($"    {each}");
        }

        private static string Of(List<double> times) =>
            string.Join(
                "  ", _shares.Select(share => Statistics.Percentile(times, share).ToString("0.0", CultureInfo.InvariantCulture)));
    }
}
