using System.Buffers;
using System.Diagnostics;
using System.Globalization;
using System.Text;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Plans;
using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Bench.Suites;

/// <summary>Whether plans are chosen well, and whether a query that looks like another takes much longer.</summary>
internal sealed class PlansSuite : ISuite
{
    private const string Simple = "the simpler query";

    public string Name => "plans";

    public string Question =>
        """
        Does the planner choose well, and is any query much slower than an equivalent one? 400 random requests over a generated
        index of 500,000 entries: terms of six frequencies, ranges of every width, orders by the range's field or another. Each
        runs as the planner chooses and in every way that can be forced (order: reading the value of every hit, or walking; range:
        terms gathered, or columns compared; terms: windows combined, or entries looked up), the least time of seven each;
        requests below 20 µs are left out. *Predicted beside measured*: the ratio of the predicted costs of the two ways to an
        order, including the time of finding the hits, divided by the ratio of their times. Then queries over 100,000 generated
        documents, each compared with a simpler one. One thread, everything in memory.
        """;

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var rows = new List<BenchRow>();
        Choose(rows, quick, progress, cancellationToken);
        await FallAsync(rows, quick, progress, cancellationToken);
        return rows;
    }

    private static void Choose(List<BenchRow> rows, bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        progress.WriteLine("plans: choices");
        using var files = new Scratch();
        using var index = new PlannedIndex(files.Path, quick ? 10_000 : 500_000, cancellationToken);
        Comparison[] all = [.. Enumerable.Range(0, quick ? 10 : 400).Select(_ => index.Compare(index.Draw(), quick ? 1 : 7))];
        Comparison[] slow = [.. all.Where(one => quick || one.Taken > 20)];
        double[] lost = [.. slow.Select(one => one.Taken / one.Fastest).Order()];
        double[] errors = [.. slow.Where(one => one.Error is not null).Select(one => one.Error ?? 1).Order()];
        if (lost.Length == 0 || errors.Length == 0)
        {
            if (!quick)
                throw new InvalidOperationException("No request could be answered in two ways.");
            return; // the few of a quick run may all be too short to be compared
        }

        rows.Add(new BenchRow("requests compared", "requests", true, slow.Length));
        rows.Add(Factor("way taken, beside the fastest: median", Statistics.Percentile(lost, 0.5), null));
        rows.Add(Factor("way taken, beside the fastest: worst", lost[^1], 4));
        const string predicted = "predicted beside measured, ways to an order:";
        rows.Add(Factor($"{predicted} median", Statistics.Percentile(errors, 0.5), null));
        rows.Add(Factor($"{predicted} 95th percentile", Statistics.Percentile(errors, 0.95), 4));
        rows.Add(Factor($"{predicted} worst", errors[^1], null));
    }

    private static BenchRow Factor(string name, double value, double? most) => new(name, "×", false, value)
    {
        Limit = most is null ? null : 1,
        Goals = most is { } goal ? [Goal.AtMost(goal)] : [],
    };

    private static async Task FallAsync(
        List<BenchRow> rows, bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        progress.WriteLine("plans: queries beside simpler ones");
        int documents = quick ? 2_000 : 100_000, many = quick ? 20 : 1_000, patterns = quick ? 5 : 100;
        using var files = new Scratch();
        await using Database database = Database.Open(files.Path);
        var random = new Random(7);
        for (int from = 0; from < documents; from += 1_000)
        {
            var batch = new WriteBatch();
            for (int i = from; i < from + 1_000; i++)
            {
                string json = string.Create(
                    CultureInfo.InvariantCulture,
                    $$"""{"N":{{random.Next(documents)}},"M":{{random.Next(100)}},"T":"{{Word(random)}}",""")
                    + "\"@metadata\":{\"@collection\":\"Rows\"}}";
                batch.Put(string.Create(CultureInfo.InvariantCulture, $"rows/{i}"), Encoding.UTF8.GetBytes(json));
            }

            await database.WriteAsync(batch, cancellationToken);
        }

        (int Low, int High)[] pairs = [
            .. Enumerable.Range(0, many).Select(_ => random.Next(documents)).Select(low => (low, low + 3))];
        string[] words = [.. Enumerable.Range(0, patterns).Select(_ => Word(random)[..4])];
        foreach ((string name, string query, string simple, double most) in (IEnumerable<(string, string, string, double)>)
        [
            ("two bounds, beside 'between'", "where N >= 500 and N < 700", "where N between 500 and 699", 1.5),
            (
                $"or of {many:N0} pairs of bounds, beside 'between'",
                "where " + string.Join(" or ", pairs.Select(pair => $"(N >= {pair.Low} and N < {pair.High})")),
                "where " + string.Join(" or ", pairs.Select(pair => $"N between {pair.Low} and {pair.High - 1}")), 4),
            (
                $"and of {patterns * 3:N0} ranges, beside one",
                "where " + string.Join(
                    " and ", Enumerable.Range(0, patterns * 3).Select(i => $"N >= {500 + i} and N < {9_000 - i}")),
                "where N between 799 and 8700", 30),
            (
                $"or of {patterns:N0} regexes, beside one",
                "where " + string.Join(" or ", words.Select(word => $"regex(T, '{word}.*z')")),
                $"where regex(T, '{words[0]}.*z')", 10),
            (
                $"or of {patterns:N0} endings, beside one",
                "where " + string.Join(" or ", words.Select(word => $"endsWith(T, '{word}')")),
                $"where endsWith(T, '{words[0]}')", 10),
            (
                "startsWith(id()), first 25, beside their ids", "where startsWith(id(), 'rows/1') limit 25",
                $"where id() in ({string.Join(',', Enumerable.Range(100, 25).Select(i => $"'rows/{i}'"))})", 1.5),
            ("a deep page of a scan, beside the first", $"limit {documents - 100}, 25", "limit 25", 3),
            (
                "a deep page of an order, beside the first", $"order by N as long limit {documents / 2}, 25",
                "order by N as long limit 25", 20),
            ("not of nearly all, beside its opposite", "where M != 5 limit 25", "where M = 5 limit 25", 3),
        ])
        {
            cancellationToken.ThrowIfCancellationRequested();
            await AskAsync(database, query, wait: true);
            await AskAsync(database, simple, wait: true);
            double ours = await TimeAsync(database, query, quick), theirs = await TimeAsync(database, simple, quick);
            rows.Add(new BenchRow(name, "µs", false, ours)
            {
                Peers = new Dictionary<string, double> { [Simple] = theirs },
                Goals = [new Goal(1 / most)],
            });
        }
    }

    private static async Task<double> TimeAsync(Database database, string query, bool quick)
    {
        double least = double.MaxValue;
        for (int i = 0; i < (quick ? 1 : 25); i++)
        {
            long began = Stopwatch.GetTimestamp();
            await AskAsync(database, query, wait: false);
            least = Math.Min(least, Stopwatch.GetElapsedTime(began).TotalMicroseconds);
        }

        return least;
    }

    private static async Task AskAsync(Database database, string query, bool wait)
    {
        var output = new ArrayBufferWriter<byte>();
        using QueryResults results = await database.QueryAsync(
            new QueryRequest
            {
                Text = "from Rows " + query,
                CountsResults = false,
                WaitForNonStaleResults = wait,
                WaitTimeout = TimeSpan.FromMinutes(5),
            });
        for (int i = 0; i < 100 && results.MoveNext(); i++)
            results.WriteCurrent(output);
    }

    private static string Word(Random random) =>
        string.Create(8, random, static (word, random) =>
        {
            for (int i = 0; i < word.Length; i++)
                word[i] = (char)('a' + random.Next(26));
        });
}
