using System.Diagnostics;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Bench.Suites.Search;

namespace Treepie.Bench.Suites;

/// <summary>Full-text queries over verses, beside SQLite's FTS5; the numbers of hits must be the same.</summary>
internal sealed class SearchSuite : ISuite
{
    private const int Verses = 200_000;
    private const int BatchSize = 10_000;
    private const string Fts = "SQLite FTS5";

    public string Name => "search";

    public string Question =>
        """
        How fast are words found in 200,000 English verses (signs left out, so that both cut the same words): the best ten by BM25 with the exact number of hits, and counts? One caller, one thread, everything in the memory of the system, several queries of each kind, the
        median of the times of each query, the mean over the queries. SQLite FTS5 keeps no texts (content=''), is told not to sync and is optimized after loading; its best ten come without the number of hits, which is asked apart once
        and must be ours. Sizes are of the files of an index of one text and one number field (ours) and of one text field (SQLite).
        """;

    public Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        Verse[] verses = Verse.Load(quick ? Verses / 40 : Verses);
        using var ourFiles = new Scratch();
        using var theirFiles = new Scratch();
        progress.WriteLine($"search: indexing {verses.Length} verses");
        long began = Stopwatch.GetTimestamp();
        using var ours = new VerseIndex(ourFiles.Path);
        ours.Load(verses, BatchSize, cancellationToken);
        double ourSeconds = Stopwatch.GetElapsedTime(began).TotalSeconds;

        SqliteVerses? theirs = Sqlite.IsPresent ? new SqliteVerses(Path.Combine(theirFiles.Path, "verses.db")) : null;
        began = Stopwatch.GetTimestamp();
        theirs?.Load(verses, BatchSize);
        double theirSeconds = Stopwatch.GetElapsedTime(began).TotalSeconds;

        var rows = new List<BenchRow>
        {
            Row("indexing", "verses/s", true, verses.Length / ourSeconds, theirs is null ? null : verses.Length / theirSeconds),
            Row("size of the index", "MB", false, ourFiles.SizeBytes / 1e6, theirs is null ? null : theirFiles.SizeBytes / 1e6),
        };
        foreach (IGrouping<string, SearchQuestion> kind in SearchQuestion.All.GroupBy(question => question.Kind))
        {
            progress.WriteLine($"search: {kind.Key}");
            var ourTimes = new List<double>();
            var theirTimes = new List<double>();
            foreach (SearchQuestion question in kind)
            {
                cancellationToken.ThrowIfCancellationRequested();
                long total = ours.Ask(question).Total;
                if (theirs is not null && theirs.Count(question.Fts) is var expected && expected != total)
                    throw new InvalidOperationException($"'{question.Fts}': {total} hits, SQLite finds {expected}.");
                ourTimes.Add(Measure(quick, () => ours.Ask(question)));
                if (theirs is not null)
                    theirTimes.Add(Measure(quick, () => question.Top > 0 ? theirs.Top(question.Fts) : theirs.Count(question.Fts)));
            }

            rows.Add(Row(kind.Key, "µs", false, ourTimes.Average(), theirs is null ? null : theirTimes.Average()));
        }

        theirs?.Dispose();
        return Task.FromResult<IReadOnlyList<BenchRow>>(rows);
    }

    private static BenchRow Row(string name, string unit, bool higherIsBetter, double ours, double? theirs) =>
        new(name, unit, higherIsBetter, ours)
        {
            Peers = theirs is { } value ? new Dictionary<string, double> { [Fts] = value } : new Dictionary<string, double>(),
            Goals = [new Goal(1, Fts)],
        };

    /// <summary>The median time of one query in microseconds: as often as fits into a quarter of a second, at least five times.</summary>
    private static double Measure<T>(bool quick, Func<T> ask)
    {
        var times = new List<double>();
        ask();
        for (long began = Stopwatch.GetTimestamp(); times.Count < (quick ? 2 : 5) || (!quick && times.Count < 1_000 && Stopwatch.GetElapsedTime(began).TotalSeconds < 0.25);)
        {
            long started = Stopwatch.GetTimestamp();
            ask();
            times.Add(Stopwatch.GetElapsedTime(started).TotalMicroseconds);
        }

        return Statistics.Median(times);
    }
}
