using System.Diagnostics;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Search;

/// <summary>Asks the questions of every kind of all engines, in turns, and makes two rows of each kind: half of the questions, and 99 %, are answered within.</summary>
internal static class KindRows
{
    /// <summary>Measures all kinds.</summary>
    public static List<BenchRow> Measure(SearchIndexes indexes, IReadOnlyList<SearchQuestion> questions, bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var rows = new List<BenchRow>();
        foreach (IGrouping<string, SearchQuestion> kind in questions.GroupBy(question => question.Kind))
        {
            cancellationToken.ThrowIfCancellationRequested();
            SearchQuestion[] asked = [.. kind];
            double[][] times = Ask(indexes.Engines, asked, quick);
            double half = Statistics.Percentile(times[0], 0.5), most = Statistics.Percentile(times[0], 0.99);
            Dictionary<string, double> halves = [], mosts = [];
            for (int i = 1; i < times.Length; i++)
            {
                halves.Add(indexes.Engines[i].Name, Statistics.Percentile(times[i], 0.5));
                mosts.Add(indexes.Engines[i].Name, Statistics.Percentile(times[i], 0.99));
            }

            progress.WriteLine($"search, {indexes.Corpus.Name}: {kind.Key}, p50 {half:0.0} µs, {string.Join(", ", halves.Select(peer => $"{peer.Key} {peer.Value:0.0}"))}");
            rows.Add(new BenchRow($"{kind.Key}, p50", "µs", false, half) { Peers = halves, Goals = [.. Goals(asked[0])] });
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

    /// <summary>By engine, the median time of each question in microseconds.</summary>
    private static double[][] Ask(List<ISearchEngine> engines, SearchQuestion[] questions, bool quick)
    {
        int rounds = quick ? 1 : 7;
        var times = engines.Select(_ => questions.Select(_ => new List<double>()).ToArray()).ToArray();
        Check(engines, questions, times);
        if (!quick)
        {
            foreach (ISearchEngine engine in engines)
                WarmUp(engine, questions);
        }

        for (int round = 0; round < rounds; round++)
        {
            for (int i = 0; i < engines.Count; i++)
            {
                int turn = (i + round) % engines.Count;
                if (!engines[turn].HasRounds)
                    continue;
                SearchAnswer?[] answers = engines[turn].Ask(questions);
                for (int place = 0; place < questions.Length; place++)
                    times[turn][place].Add(answers[place]?.Microseconds ?? 0);
            }
        }

        return [.. times.Select(mine => mine.Select(each => Statistics.Median(each)).ToArray())];
    }

    /// <summary>Holds the answers against each other; of an engine that is asked once, this is the time that counts.</summary>
    private static void Check(List<ISearchEngine> engines, SearchQuestion[] questions, List<double>[][] times)
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
                if (!engines[engine].HasRounds)
                    times[engine][i].Add(theirs.Microseconds);
            }
        }
    }

    /// <summary>Until code is compiled as it will stay, on both sides; an engine without a compiler needs none.</summary>
    private static void WarmUp(ISearchEngine engine, SearchQuestion[] questions)
    {
        const double Seconds = 1;
        const int Passes = 100;
        long began = Stopwatch.GetTimestamp();
        for (int pass = 0; engine.HasRounds && pass < Passes && (pass < 3 || Stopwatch.GetElapsedTime(began).TotalSeconds < Seconds); pass++)
            engine.Ask(questions);
    }
}
