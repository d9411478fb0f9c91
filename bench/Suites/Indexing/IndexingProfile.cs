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
/// Asks while another thread indexes, and says of every late answer what happened during it: a collection of garbage, another thread on its processor, pages touched for the first time. For
/// one who wants to know why some answers are late.
/// </summary>
internal static class IndexingProfile
{
    /// <summary>First argument of the process: then documents, questions, size of batches, and <c>quiet</c> or <c>plain</c> for the thread that indexes.</summary>
    public const string Verb = "indexing-profile";

    private const double LateMicroseconds = 1_000;

    /// <summary>What the process of <see cref="Verb"/> does.</summary>
    public static void Run(int count, int questions, int batchSize, bool isQuiet)
    {
        SearchDocument[] documents = SearchCorpus.Verses(count).Documents;
        using var folder = new Scratch();
        using StorageEnvironment environment = StorageEnvironment.Open(folder.Path, new StorageOptions { Durability = Durability.Relaxed, IsBackgroundQuiet = isQuiet });
        using var load = new IndexingLoad(environment, documents, batchSize);
        ProcessCounters before = ProcessCounters.Now;
        TimeSpan pauses = GC.GetTotalPauseDuration();
        int[] collections = Collections();
        load.PutAll(CancellationToken.None);
        Say("indexing alone", documents.Length, before, pauses, collections);
        environment.Checkpoint();
        SearchRequest[] requests = [.. IndexingLoad.Words(documents).Select(IndexingLoad.Request)];
        Ask(environment, requests, questions / 4, null);
        var idle = new List<Late>();
        Print("nothing else", Ask(environment, requests, questions, idle), idle);

        before = ProcessCounters.Now;
        pauses = GC.GetTotalPauseDuration();
        collections = Collections();
        load.Begin(isQuiet);
        var late = new List<Late>();
        double[] busy = Ask(environment, requests, questions, late);
        long put = load.End();
        Say("while asking", put, before, pauses, collections);
        Print("while indexing", busy, late);
        Console.WriteLine(string.Join("  ", load.Commits.Select(ms => ms.ToString("0", CultureInfo.InvariantCulture))) + "  ms, batches");
    }

    private static int[] Collections() => [GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2)];

    private static void Say(string what, long documents, ProcessCounters before, TimeSpan pauses, int[] collections)
    {
        ProcessCounters used = ProcessCounters.Now.Since(before);
        int[] now = Collections();
        GCMemoryInfo last = GC.GetGCMemoryInfo(GCKind.Any);
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{what}: {documents:N0} documents, {documents / used.CpuSeconds:N0} a CPU-second, {used.AllocatedBytes / Math.Max(1, documents):N0} bytes allocated each, collections {now[0] - collections[0]}/{now[1] - collections[1]}/{now[2] - collections[2]}, {(GC.GetTotalPauseDuration() - pauses).TotalMilliseconds:0.0} ms of pauses, heap {last.HeapSizeBytes >> 20} MiB, {(GCSettings.IsServerGC ? "server" : "workstation")}"));
    }

    private static void Print(string what, double[] times, List<Late> late)
    {
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{what}: median {Statistics.Median(times):0.0}, 99 % {Statistics.Percentile(times, 0.99):0.0}, 99.9 % {Statistics.Percentile(times, 0.999):0.0}, 99.99 % {Statistics.Percentile(times, 0.9999):0.0}, most {times.Max():0.0} µs; late: {late.Count}"));
        foreach (Late each in late.OrderByDescending(each => each.Microseconds).Take(25))
            Console.WriteLine($"    {each}");
    }

    private static double[] Ask(StorageEnvironment environment, SearchRequest[] requests, int questions, List<Late>? late)
    {
        double[] times = new double[questions];
        using var thread = new ThreadFigures();
        for (int i = 0; i < times.Length; i++)
        {
            double pause = late is null ? 0 : GC.GetTotalPauseDuration().TotalMicroseconds;
            (long switches, long faults) = late is null ? default : thread.Read();
            int second = GC.CollectionCount(2), first = GC.CollectionCount(1);
            long began = Stopwatch.GetTimestamp();
            using (var searcher = new IndexSearcher(environment))
            using (SearchResults results = searcher.Search(requests[i % requests.Length]))
            {
                while (results.MoveNext())
                {
                }
            }

            times[i] = Stopwatch.GetElapsedTime(began).TotalMicroseconds;
            if (late is null || times[i] < LateMicroseconds)
                continue;
            (long switchesNow, long faultsNow) = thread.Read();
            late.Add(new Late(
                i, times[i], GC.GetTotalPauseDuration().TotalMicroseconds - pause, GC.CollectionCount(1) - first, GC.CollectionCount(2) - second, switchesNow - switches, faultsNow - faults, GC.GetGCMemoryInfo(GCKind.Any) is { } info ? info.PromotedBytes >> 10 : 0));
        }

        return times;
    }

    /// <summary>A late answer, and what was counted during it.</summary>
    private sealed record Late(int Question, double Microseconds, double PauseMicroseconds, int Generation1, int Generation2, long Switches, long Faults, long PromotedKiB);
}
