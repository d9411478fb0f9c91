using System.Diagnostics;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Locator;
using Treepie.Storage;
using Treepie.Storage.Paging;
using Treepie.Storage.Transactions;
using Scratch = Treepie.Bench.Measuring.Scratch;

namespace Treepie.Bench.Suites;

/// <summary>Where a page lies: the locator beside clearing, dictionary and flat table, in each kind of transaction.</summary>
internal sealed class LocatorSuite : ISuite
{
    private const int Pages = 10_000;
    private const int Asked = 1 << 16;

    public string Name => "locator";

    public string Question =>
        """
        What does it cost to find a page, and to forget all answers before the next command? 10,000 pages of one transaction,
        requested at random: *hot* 64 of them; *way down* the root, one of a hundred branches, one of all, as a change of a tree
        does; *uniform* all. A locator has generation stamps, and 512 entries or, because forgetting costs the same for any
        number, as many more as a command stores pages, up to 16,384; on a miss it asks the structure behind it. *Write*: the real
        page table and frame records of a write transaction, with the check whether the page may be changed. *Read*: the page
        table alone. *Encrypted*: modelled as one more step behind the table, to the record of the decrypted page, with its use
        counted. *Without stamps*: the same locator (of 512 entries), which is cleared to forget. *Dictionary*: page to frame, of
        the pages requested since it was cleared.

        What did not help: 512 entries for every command (a large one evicts its root and branches for leaves that it requests
        once: 0.4 to 0.6 times the flat table); answering without a branch.
        """;

    public Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        progress.WriteLine("locator: a transaction of 10,000 pages");
        using var folder = new Scratch();
        using StorageEnvironment environment = StorageEnvironment.Open(
            folder.Path, new StorageOptions { Durability = Durability.Relaxed });
        IReadOnlyList<BenchRow> rows = environment.Write(
            transaction => Measure(environment, transaction, quick), cancellationToken);
        return Task.FromResult(rows);
    }

    private static List<BenchRow> Measure(StorageEnvironment environment, WriteTransaction transaction, bool quick)
    {
        Treepie.Storage.Trees.Tree tree = transaction.GetOrCreateTree("pages");
        var random = new Random(1);
        Span<byte> key = stackalloc byte[8], value = stackalloc byte[2000];
        while (transaction.Batch.Pages.WrittenCount < Pages)
        {
            random.NextBytes(key);
            tree.Put(key, value);
        }

        PageStore store = environment.State.Store;
        long[] pages =
            [.. transaction.Batch.Pages.Written.Where(page => page.Number >= 0).Select(page => page.Number).Take(Pages)];
        var rows = new List<BenchRow>();
        foreach ((string pattern, Func<int, int> pick) in new (string, Func<int, int>)[]
        {
            ("hot", _ => random.Next(64)),
            ("way down", i => (i % 3) switch { 0 => 0, 1 => 1 + random.Next(100), _ => random.Next(pages.Length) }),
            ("uniform", _ => random.Next(pages.Length)),
        })
        {
            long[] asked = [.. Enumerable.Range(0, Asked).Select(i => pages[pick(i)])];
            foreach (PageQuestion question in Enum.GetValues<PageQuestion>())
                rows.Add(
                    GetRow(
                        $"Get, {question.ToString().ToLowerInvariant()} transaction, {pattern}",
                        new LocatorRun(store, asked, question), question, quick));
        }

        rows.Add(ResetRow(pages, quick));
        return rows;
    }

    private static BenchRow GetRow(string name, LocatorRun run, PageQuestion question, bool quick)
    {
        List<double> locator = [], flat = [], dictionary = [];
        int rounds = quick ? 3 : 61;
        for (int round = -10; round < rounds; round++)
        {
            double a = Time(run.ThroughLocator), b = Time(run.ThroughTable), c = Time(run.ThroughDictionary);
            if (round < 0)
                continue;

            locator.Add(a / Asked);
            flat.Add(b / Asked);
            dictionary.Add(c / Asked);
        }

        return BenchRow.Of(name, "ns", false, locator) with
        {
            Peers = new Dictionary<string, double>
            {
                ["flat table"] = Statistics.Median(flat),
                ["dictionary"] = Statistics.Median(dictionary)
            },
            Goals = question == PageQuestion.Read ? [] : [new Goal(1, "flat table")],
            Note = question == PageQuestion.Read ? "readers use the table directly" : null,
            Reason =
                "the table and the frame record are so near that a hit saves no more than its comparison costs, and the first "
                    + "question for each page pays for both",
        };
    }

    private static BenchRow ResetRow(long[] pages, bool quick)
    {
        var locator = new PageLocator();
        var dictionary = new Dictionary<long, uint>();
        List<double> stamps = [], cleared = [], emptied = [];
        int rounds = quick ? 3 : 61, resets = quick ? 1000 : 200_000;
        for (int round = -3; round < rounds; round++)
        {
            double a = Time(() =>
            {
                for (int i = 0; i < resets; i++)
                    locator.Reset();
                return resets;
            });
            double b = Time(() =>
            {
                for (int i = 0; i < 1000; i++)
                    locator.Clear();
                return 1000;
            });
            foreach (long page in pages.AsSpan(0, Math.Min(pages.Length, 512)))
                dictionary[page] = 1;
            double c = Time(() =>
            {
                dictionary.Clear();
                return 1;
            });
            if (round < 0)
                continue;

            stamps.Add(a / resets);
            cleared.Add(b / 1000);
            emptied.Add(c);
        }

        return BenchRow.Of("Reset", "ns", false, stamps) with
        {
            Peers = new Dictionary<string, double>
            {
                ["without stamps"] = Statistics.Median(cleared),
                ["dictionary"] = Statistics.Median(emptied)
            },
            Goals = [new Goal(10, "without stamps")],
            Note = "the clear once in 65,535 times is in it",
        };
    }

    private static double Time(Func<long> work)
    {
        long began = Stopwatch.GetTimestamp();
        GC.KeepAlive(work());
        return Stopwatch.GetElapsedTime(began).TotalNanoseconds;
    }
}
