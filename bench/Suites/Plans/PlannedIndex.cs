using System.Buffers.Binary;
using System.Diagnostics;
using System.Globalization;
using System.Text;
using Treepie.Indexing;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Bench.Suites.Plans;

/// <summary>An index of made entries, and random requests that can be answered in several ways.</summary>
internal sealed class PlannedIndex : IDisposable
{
    private const int Numbers = 1_000_000;
    private const double Shortest = 20;
    private const string Order = "how to find the first in order";

    private static readonly int[] _rarities = [2, 7, 30, 200, 1_000, 5_000];

    private static readonly IndexSchema _schema = new(
        [new IndexField("kind", FieldAnalysis.LowerCaseKeyword), new IndexField("number"), new IndexField("other")]);

    private readonly StorageEnvironment _environment;
    private readonly Random _random = new(11);

    /// <summary>Makes the index: of each rarity r one entry in r has a kind, and all have two random numbers.</summary>
    public PlannedIndex(string path, int entries, CancellationToken cancellationToken)
    {
        _environment = StorageEnvironment.Open(path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(_environment, _schema);
        byte[] key = new byte[sizeof(int)];
        for (int from = 0; from < entries; from += 50_000)
        {
            IndexBatch batch = writer.BeginBatch();
            for (int i = from; i < Math.Min(entries, from + 50_000); i++)
            {
                BinaryPrimitives.WriteInt32BigEndian(key, i);
                batch.BeginEntry(key);
                foreach (int rarity in _rarities)
                    if (_random.Next(rarity) == 0)
                        batch.AddText(0, Encoding.UTF8.GetBytes(Kind(rarity)));
                batch.AddLong(1, _random.Next(Numbers));
                batch.AddLong(2, _random.Next(Numbers));
                batch.EndEntry();
            }

            writer.Commit(batch, from + 1, cancellationToken);
        }
    }

    /// <summary>Draws a request: one or two kinds, perhaps a range, perhaps an order.</summary>
    public SearchRequest Draw()
    {
        var clauses = new List<IndexQuery>();
        for (int i = _random.Next(3); i > 0; i--)
            clauses.Add(new TermQuery("kind", FieldValue.Of(Kind(_rarities[_random.Next(_rarities.Length)]))));
        if (clauses.Count == 0 || _random.Next(2) == 0)
        {
            long low = _random.Next(Numbers), width = (long)(Numbers * Math.Pow(10, -4 * _random.NextDouble()));
            clauses.Add(new RangeQuery("number", FieldValue.Of(low), true, FieldValue.Of(low + width), true));
        }

        string? order = _random.Next(4) switch { 0 => null, 1 => "number", _ => "other" };
        return new SearchRequest
        {
            Query = clauses.Count == 1 ? clauses[0] : new AndQuery(clauses),
            Sort = order is null ? [] : [new SortKey(order, SortKind.Long, _random.Next(2) == 0)],
            Take = _random.Next(3) switch { 0 => 10, 1 => 200, _ => order is null ? 0 : 25 },
        };
    }

    /// <summary>
    /// Measures a request in the way that is chosen for it, and in each way that it can be made to go.
    /// </summary>
    /// <param name="request">The request.</param>
    /// <param name="rounds">How often; the least time counts.</param>
    public Comparison Compare(SearchRequest request, int rounds)
    {
        SearchRequest byValue = request with { OrderHint = OrderHint.Sort };
        SearchRequest walking = request with { OrderHint = OrderHint.Walk };
        double sorted = Time(byValue, PlanHints.None, rounds), walked = Time(walking, PlanHints.None, rounds);
        double fastest = Math.Min(sorted, walked);
        foreach (PlanHints hints in (PlanHints[])
        [
            new() { Range = RangeHint.Gather }, new() { Range = RangeHint.Column }, new() { Probe = ProbeHint.Windows },
            new() { Probe = ProbeHint.Entries },
        ])
            fastest = Math.Min(fastest, Time(request, hints, rounds));
        double taken = Time(request, PlanHints.None, rounds);
        double found = Time(request with { Sort = [], Take = 0 }, PlanHints.None, rounds);
        return new Comparison(taken, Math.Min(taken, fastest), Error(walking, sorted, walked, found));
    }

    public void Dispose() => _environment.Dispose();

    /// <summary>
    /// By how much the costs of two ways to an order, with the time of finding the hits, compare otherwise than their times do,
    /// as a factor from 1 on; null where there is one way only, or either time is too short to be measured.
    /// </summary>
    private double? Error(SearchRequest walking, double sorted, double walked, double found)
    {
        using var searcher = new IndexSearcher(_environment);
        using SearchResults results = searcher.Search(
            walking, new QueryOptions { Plan = PlanDetail.Counts }, CancellationToken.None);
        PlanDecision? decision = results.Plan?.Decisions.FirstOrDefault(static decision => decision.Question == Order);
        if (decision is not { Cost: > 0 and var walk, NotTaken: [{ Cost: > 0 and var sort, Name: var other }, ..] }
            || !other.StartsWith("read", StringComparison.Ordinal)
            || Math.Min(sorted, walked) < Shortest)
            return null;
        double finding = found * 1_000; // costs are nanoseconds
        double factor = (walk + finding) / (sort + finding) / (walked / sorted);
        return Math.Max(factor, 1 / factor);
    }

    private double Time(SearchRequest request, PlanHints hints, int rounds)
    {
        var options = new QueryOptions { Hints = hints };
        double least = double.MaxValue;
        for (int i = 0; i < rounds; i++)
        {
            long began = Stopwatch.GetTimestamp();
            using (var searcher = new IndexSearcher(_environment))
            using (searcher.Search(request, options, CancellationToken.None))
            {
            }

            least = Math.Min(least, Stopwatch.GetElapsedTime(began).TotalMicroseconds);
        }

        return least;
    }

    private static string Kind(int rarity) => string.Create(CultureInfo.InvariantCulture, $"in{rarity}");
}

/// <summary>One request in several ways.</summary>
/// <param name="Taken">Time of the way that is chosen, in µs.</param>
/// <param name="Fastest">Time of the fastest way, in µs.</param>
/// <param name="Error">The factor by which predicted and measured times differ, compared between two ways to its order.</param>
internal sealed record Comparison(double Taken, double Fastest, double? Error);
