using System.Globalization;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Search;

/// <summary>
/// Asks the questions of every kind of all engines, in turns, and makes two rows of each kind: half of the questions, and 99 %,
/// are answered within.
/// </summary>
internal static class KindRows
{
    /// <summary>How long an engine is asked until it is the turn of the next.</summary>
    private const double TurnMilliseconds = 100;

    /// <summary>Until code is compiled as it will stay, of engines with a compiler.</summary>
    private const double WarmUpMilliseconds = 1_000;

    /// <summary>An engine without a compiler that takes longer for all questions of a kind is asked once.</summary>
    private const double MostMicroseconds = 1_000_000;

    /// <summary>Measures all kinds.</summary>
    public static List<BenchRow> Measure(
        SearchIndexes indexes, IReadOnlyList<SearchQuestion> questions, bool quick, TextWriter progress,
        CancellationToken cancellationToken)
    {
        var rows = new List<BenchRow>();
        foreach (IGrouping<string, SearchQuestion> kind in questions.GroupBy(question => question.Kind))
        {
            cancellationToken.ThrowIfCancellationRequested();
            SearchQuestion[] asked = [.. kind];
            (double[][] times, double[][] firsts) = Ask(indexes.Engines, asked, quick);
            double half = Statistics.Percentile(times[0], 0.5), most = Statistics.Percentile(times[0], 0.99);
            Dictionary<string, double> halves = [], mosts = [];
            for (int i = 1; i < times.Length; i++)
            {
                halves.Add(indexes.Engines[i].Name, Statistics.Percentile(times[i], 0.5));
                mosts.Add(indexes.Engines[i].Name, Statistics.Percentile(times[i], 0.99));
            }

            progress.WriteLine(
                $"search, {indexes.Corpus.Name}: {kind.Key}, p50 {half:0.0} µs, "
                    + $"{string.Join(", ", halves.Select(peer => $"{peer.Key} {peer.Value:0.0}"))}");
            rows.Add(
                new BenchRow($"{kind.Key}, p50", "µs", false, half)
                {
                    Peers = halves,
                    Goals = [.. Goals(asked[0])],
                    Note = Firsts(firsts)
                });
            if (asked.Length > 1)
                rows.Add(new BenchRow($"{kind.Key}, p99", "µs", false, most) { Peers = mosts, Goals = [new Goal(1, "Lucene")] });
        }

        return rows;
    }

    /// <summary>What the median of a kind has to reach.</summary>
    private static IEnumerable<Goal> Goals(SearchQuestion question)
    {
        switch (question.Form)
        {
            case SearchForm.Any when question.Words.Length > 1:
            case SearchForm.CountAny or SearchForm.Phrase or SearchForm.Facet:
                yield return new Goal(question.Form == SearchForm.CountAny ? 10 : 3, "Lucene");
                break;
            case SearchForm.Prefix:
                yield return new Goal(1, "Lucene");
                break;
            default:
                yield return new Goal(10, "Lucene");
                break;
        }

        // SQLite counts nothing that it is not asked to count.
        if (question.Form is SearchForm.RangeByNumber or SearchForm.AllByDay && !question.CountsRange)
            yield return new Goal(1, "SQLite");
    }

    /// <summary>The same of first times, ours first.</summary>
    private static string Firsts(double[][] firsts) =>
        "first of a turn: "
            + string.Join(
                " / ",
                firsts.Select(times => Statistics.Percentile(times, 0.5))
                    .Select(half => half.ToString(half < 100 ? "0.0" : "#,0", CultureInfo.InvariantCulture)));

    /// <summary>
    /// By engine, the median over rounds of each question in microseconds: of the medians of the turns, and of the first times of
    /// the turns.
    /// </summary>
    public static (double[][] Times, double[][] Firsts) Ask(List<ISearchEngine> engines, SearchQuestion[] questions, bool quick)
    {
        int rounds = quick ? 1 : 7;
        List<SearchAnswer?>[][] answers = [.. engines.Select(_ => questions.Select(_ => new List<SearchAnswer?>()).ToArray())];
        HashSet<ISearchEngine> once = Check(engines, questions, answers);
        if (!quick)
        {
            foreach (ISearchEngine engine in engines.Where(engine => engine.HasCompiler))
                engine.Ask(questions, WarmUpMilliseconds);
        }

        for (int round = 0; round < rounds; round++)
        {
            for (int i = 0; i < engines.Count; i++)
            {
                int turn = (i + round) % engines.Count;
                if (once.Contains(engines[turn]))
                    continue;
                SearchAnswer?[] said = engines[turn].Ask(questions, quick ? 0 : TurnMilliseconds);
                for (int place = 0; place < questions.Length; place++)
                    answers[turn][place].Add(said[place]);
            }
        }

        return (Of(answer => answer.Microseconds), Of(answer => answer.FirstMicroseconds));

        double[][] Of(Func<SearchAnswer, double> time) =>
            [.. answers.Select(
                mine => mine.Select(each => Statistics.Median(each.Select(answer => answer is null ? 0 : time(answer))))
                    .ToArray())];
    }

    /// <summary>
    /// Holds the answers against each other; returns the engines that took so long that they are asked once: this is then the
    /// time that counts.
    /// </summary>
    private static HashSet<ISearchEngine> Check(
        List<ISearchEngine> engines, SearchQuestion[] questions, List<SearchAnswer?>[][] kept)
    {
        SearchAnswer?[][] answers = [.. engines.Select(engine => engine.Ask(questions))];
        for (int i = 0; i < questions.Length; i++)
        {
            SearchAnswer ours = answers[0][i] ?? throw new InvalidOperationException($"'{questions[i].Line}' has no answer.");
            for (int engine = 1; engine < engines.Count; engine++)
            {
                if (answers[engine][i] is not { } theirs)
                    continue;
                AnswerCheck.Compare(questions[i], ours, theirs, engines[engine].Name);
            }
        }

        HashSet<ISearchEngine> once = [];
        for (int engine = 0; engine < engines.Count; engine++)
        {
            if (engines[engine].HasCompiler || answers[engine].Sum(answer => answer?.Microseconds ?? 0) < MostMicroseconds)
                continue;
            once.Add(engines[engine]);
            for (int i = 0; i < questions.Length; i++)
                kept[engine][i].Add(answers[engine][i]);
        }

        return once;
    }
}
