using System.Diagnostics;
using System.Globalization;
using Treepie.Indexing;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Queries;
using Treepie.Storage;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Bench.Suites.Search;

/// <summary>
/// Measures the figures that the planner reckons with, each by a query that is made to go the way it stands for, and prints them
/// beside those it has. The least of many rounds counts, so that a busy machine says nearly the same as a quiet one.
/// </summary>
internal sealed class SearchCosts : IDisposable
{
    /// <summary>
    /// First argument of the process that measures: then the folder of an index of verses, and two frequent words.
    /// </summary>
    public const string Verb = "search-costs";

    private const int Rounds = 400;
    private const long Numbers = 1_000_000;

    private readonly StorageEnvironment _environment;
    private readonly FullTextQuery _first;
    private readonly AndQuery _both;

    private SearchCosts(string folder, string word, string other)
    {
        _environment = StorageEnvironment.Open(folder);
        _first = new FullTextQuery("text", word, All: true);
        _both = new AndQuery([_first, new FullTextQuery("text", other, All: true)]);
    }

    /// <summary>What the process of <see cref="Verb"/> does.</summary>
    public static void Run(string folder, string word, string other)
    {
        using var costs = new SearchCosts(folder, word, other);
        costs.Print();
    }

    public void Dispose() => _environment.Dispose();

    private static string Say(string name, double measured, double model) =>
        string.Create(CultureInfo.InvariantCulture, $"{name,-16} {measured,9:0.0} ns   the model has {model,7:0} ns");

    private static RangeQuery Range(double share) =>
        new("num", FieldValue.Of(0L), true, FieldValue.Of((long)(Numbers * share)), false);

    private void Print()
    {
        using var searcher = new IndexSearcher(_environment);
        double entries = searcher.EntryCount, windows = Math.Ceiling(entries / 4_096);
        SortKey[] byNumber = [new SortKey("num", SortKind.Long)];
        var count = new SearchRequest { Query = _both, Take = 0 };
        double hits = searcher.Search(new SearchRequest { Query = _first, Take = 0 }).TotalCount;

        // Two lists in each window: one fills it, one is combined with it.
        Console.WriteLine(
            Say(
                nameof(CostModel.ListWindow), Least(count, new PlanHints { Probe = ProbeHint.Windows }, out _) / windows / 2,
                CostModel.ListWindow));
        double byProbe = Least(count, new PlanHints { Probe = ProbeHint.Entries }, out QueryCounters probed);
        Console.WriteLine(Say(nameof(CostModel.ListProbe), byProbe / Math.Max(1, probed.EntriesScanned), CostModel.ListProbe));

        double gathered = Least(
            new SearchRequest { Query = Range(0.05), Take = 0 }, new PlanHints { Range = RangeHint.Gather },
            out QueryCounters terms);
        Console.WriteLine(
            Say(nameof(CostModel.GatheredTerm), gathered / Math.Max(1, terms.TermsScanned), CostModel.GatheredTerm));
        double compared = Least(
            new SearchRequest { Query = Range(0.05), Take = 0 }, new PlanHints { Range = RangeHint.Column }, out _);
        Console.WriteLine(Say(nameof(CostModel.ColumnWindow), compared / windows, CostModel.ColumnWindow));

        var ordered = new SearchRequest { Query = _first, Sort = byNumber, Take = 10 };
        double sorted = Least(ordered with { OrderHint = OrderHint.Sort }, PlanHints.None, out _)
            - Least(new SearchRequest { Query = _first, Take = 0 }, PlanHints.None, out _);
        Console.WriteLine(Say(nameof(CostModel.ColumnValue), sorted / hits, CostModel.ColumnValue));
        double walked = Least(ordered with { OrderHint = OrderHint.Walk, Take = 5_000 }, PlanHints.None, out QueryCounters steps);
        Console.WriteLine(
            Say("walk, a term", walked / Math.Max(1, steps.TermsScanned), CostModel.WalkStep + CostModel.KeptProbe));

        double groups = searcher.Terms("tr", null, int.MaxValue).Count;
        Console.WriteLine(
            Say(nameof(CostModel.FacetWindow), Least(FacetHint.Terms) / windows / Math.Max(1, groups), CostModel.FacetWindow));
        Console.WriteLine(Say(nameof(CostModel.FacetValue), Least(FacetHint.Values) / hits, CostModel.FacetValue));
    }

    private double Least(SearchRequest request, PlanHints hints, out QueryCounters counters)
    {
        var options = new QueryOptions { Hints = hints };
        double least = double.MaxValue;
        counters = default;
        for (int round = 0; round < Rounds; round++)
        {
            long began = Stopwatch.GetTimestamp();
            using var searcher = new IndexSearcher(_environment);
            using SearchResults results = searcher.Search(request, options);
            counters = results.Counters;
            least = Math.Min(least, Stopwatch.GetElapsedTime(began).TotalNanoseconds);
        }

        return least;
    }

    private double Least(FacetHint hint)
    {
        var request = new FacetRequest(_first, [new FacetQuery { Field = "tr", Hint = hint }]);
        double least = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            long began = Stopwatch.GetTimestamp();
            using var searcher = new IndexSearcher(_environment);
            searcher.Facets(request);
            least = Math.Min(least, Stopwatch.GetElapsedTime(began).TotalNanoseconds);
        }

        return least;
    }
}
