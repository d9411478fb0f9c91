using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Bench.Suites.Search;

namespace Treepie.Bench.Suites;

/// <summary>
/// Searches as users write them, beside Lucene 8: texts with filters, boosts, exclusions, plans, facets, orders.
/// </summary>
internal sealed class SearchMixedSuite : ISuite
{
    private const int QuickDocuments = 5_000;

    /// <summary>What an addition may cost, times the same questions without it, unless it costs Lucene as much.</summary>
    private const double MostTimesPlain = 3;

    public string Name => "search-mixed";

    public string Question =>
        """
        What does an addition to a search cost? Ten kinds of queries of the suite `search` (words h are in at least 3 % of the
        631,996 verses, m in 0.05 to 0.5 %; *any* of them, *all*, as a phrase; the best ten by BM25, hits counted), each alone and
        with what users add: a range of a number that 30 % of the texts meet, a keyword that 4 % have, both, both and a second
        range that 80 % meet; a boost of 2.5 of the first word or of the phrase; a frequent word to exclude; a plan with times,
        which Lucene lacks and answers without; counts by group beside the hits; a keyword with the first ten by number instead of
        the best. One caller, one thread, engines in turns, as in `search`; medians of the queries of a kind. Lucene counts hits
        only to a thousand, except where groups are requested, and its filters do not score. Hits and their order are equal, and
        scores except for the 1 that a filter adds. *Times alone*: the row divided by the row without the addition, Treepie /
        Lucene. A row fails where Treepie's is above 3 and above Lucene's.
        """;

    public Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        if (LuceneProcess.Absence is { } absence)
            progress.WriteLine($"{Name}: Lucene is left out, {absence}");
        using LuceneProcess? lucene = LuceneProcess.Absence is null ? new LuceneProcess() : null;
        SearchCorpus corpus = SearchCorpus.Verses(SearchSuite.MostDocuments ?? (quick ? QuickDocuments : 632_000));
        using var indexes = SearchIndexes.Make(corpus, lucene, withSqlite: false, progress);
        IReadOnlyList<SearchQuestion> plain = SearchQuestions.Make(corpus, quick ? 4 : SearchSuite.QuestionsOfAKind);
        var rows = new List<BenchRow>();
        double[] alone = [];
        foreach (IGrouping<string, SearchQuestion> kind in MixedQuestions.Make(corpus, plain).GroupBy(question => question.Kind))
        {
            cancellationToken.ThrowIfCancellationRequested();
            double[] times = [.. KindRows.Ask(indexes.Engines, [.. kind], quick).Times
                .Select(each => Statistics.Percentile(each, 0.5))];
            bool isPlain = !kind.Key.Contains(MixedQuestions.Separator, StringComparison.Ordinal);
            alone = isPlain ? times : alone;
            rows.Add(RowOf(kind.Key, times, isPlain ? null : alone, indexes.Engines));
            progress.WriteLine(
                string.Create(CultureInfo.InvariantCulture, $"{Name}: {kind.Key}, {times[0]:0.0} µs, {rows[^1].Note}"));
        }

        return Task.FromResult<IReadOnlyList<BenchRow>>(rows);
    }

    private static BenchRow RowOf(string kind, double[] times, double[]? alone, List<ISearchEngine> engines)
    {
        var row = new BenchRow(kind, "µs", false, times[0])
        {
            Peers = engines.Skip(1).Zip(times.Skip(1)).ToDictionary(peer => peer.First.Name, peer => peer.Second),
            Goals = [new Goal(3, "Lucene")],
        };
        if (alone is null)
            return row;

        double[] factors = [.. times.Zip(alone, static (mine, without) => mine / without)];
        bool isCliff = factors[0] > MostTimesPlain && factors.Skip(1).All(theirs => theirs < factors[0]);
        string said = string.Join(
            " / ", factors.Select(static factor => factor.ToString("0.00", CultureInfo.InvariantCulture)));
        return row with { Note = $"times alone: {said}{(isCliff ? " ✗" : "")}" };
    }
}
