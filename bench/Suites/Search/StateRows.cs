using System.Diagnostics;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;

namespace Treepie.Bench.Suites.Search;

/// <summary>What the warm, quiet index does not show: opening it, memory, answers while it is written to, growth.</summary>
internal static class StateRows
{
    private static readonly string[] _selective = ["term_low", "and_mm", "and_ml", "range_sort"];
    private static readonly string[] _opened = ["term_med", "and_hh", "range_sort"];
    private static readonly string[] _mixed = ["term_med", "and_hm", "or_mm", "phrase3", "term_sort_num"];

    /// <summary>Memory while all questions are asked, each process for itself. Closes our index.</summary>
    public static IEnumerable<BenchRow> Memory(
        SearchIndexes indexes, IReadOnlyList<SearchQuestion> questions, LuceneProcess? lucene)
    {
        const int Passes = 3;
        const double MiB = 1 << 20;
        double heap = -1, anonymous = -1;
        if (lucene is not null)
        {
            lucene.Send("clear");
            lucene.Read();
            for (int pass = 0; pass < Passes; pass++)
                indexes.Engines[1].Ask(questions);
            double[] memory = lucene.Ask("memory");
            (heap, anonymous) = (memory[1] / MiB, memory[2] / MiB);
        }

        indexes.Engines[0].Dispose();
        string file = Path.Combine(indexes.ScratchPath, "questions.tsv");
        SearchProcess.Write(file, questions);
        SearchProcess ours = SearchProcess.Ask(indexes.OurPath, file, Passes);
        yield return SearchIndexes.Row(
            "managed memory while asking, most", "MiB", false, ours.HeapMiB, heap, goals: new Goal(10, "Lucene"));
        yield return SearchIndexes.Row(
            "memory without files while asking, the runtime's included", "MiB", false, ours.PrivateMiB, anonymous);
    }

    /// <summary>
    /// Opening the index and asking one question: code compiled, files in memory and not; and all of it in a process of its own.
    /// Our index is closed.
    /// </summary>
    public static IEnumerable<BenchRow> Opening(
        SearchIndexes indexes, IReadOnlyList<SearchQuestion> questions, LuceneProcess? lucene, bool quick)
    {
        if (lucene is not null)
        {
            lucene.Send("close");
            lucene.Read();
        }

        foreach (SearchQuestion question in questions.Where(question => _opened.Contains(question.Kind))
            .DistinctBy(question => question.Kind))
        {
            foreach (bool isCold in (bool[])[false, true])
                yield return Opening(indexes, question, isCold, lucene, quick ? 1 : 15);
        }

        SearchQuestion simple = questions.First(question => _opened.Contains(question.Kind));
        using var classes = new Scratch();
        bool isCompiled = lucene is not null && LuceneProcess.TryCompile(classes.Path);
        List<double> ours = [], theirs = [];
        for (int round = 0; round < (quick ? 1 : 7); round++)
        {
            ours.Add(SearchOpening.First(indexes.OurPath, simple));
            if (isCompiled)
                theirs.Add(LuceneProcess.First(classes.Path, indexes.LucenePath, simple.Line));
        }

        yield return SearchIndexes.Row(
            $"a new process to its first answer, {simple.Kind}", "ms", false, Statistics.Median(ours),
            theirs.Count == 0 ? -1 : Statistics.Median(theirs)) with
        {
            Spread = Statistics.Spread(ours),
            Note = "mostly the start of the runtime and its compiler",
        };
    }

    private static BenchRow Opening(
        SearchIndexes indexes, SearchQuestion question, bool isCold, LuceneProcess? lucene, int rounds)
    {
        const double MostMs = 5;
        List<double> ours = [], theirs = [];
        for (int round = 0; round < rounds; round++)
        {
            (double open, double ask) = SearchOpening.Once(indexes.OurPath, question, isCold);
            ours.Add(open + ask);
            if (lucene is null)
                continue;
            if (isCold)
                PageCache.Drop(indexes.LucenePath);
            theirs.Add(lucene.Ask("cold", indexes.LucenePath, question.Line)[1] / 1e6);
        }

        Goal[] goals = isCold ? [new Goal(50, "Lucene"), Goal.AtMost(1)] : [];
        return SearchIndexes.Row(
            $"open and first answer, {(isCold ? "nothing" : "files")} in memory, {question.Kind}", "ms", false,
            Statistics.Median(ours), theirs.Count == 0 ? -1 : Statistics.Median(theirs), goals: goals) with
        {
            Limit = isCold ? MostMs : null,
            Spread = Statistics.Spread(ours),
        };
    }

    /// <summary>
    /// Answers while a thread indexes all documents again, next to answers in quiet. Our index is closed, and another one
    /// afterwards. What is asked as long as compilers are busy with the code that indexes has a row of its own: all else in the
    /// suite is asked when they are done, and Lucene's are, as it has made its index in the process that answers.
    /// </summary>
    public static IEnumerable<BenchRow> WhileIndexing(
        SearchIndexes indexes, IReadOnlyList<SearchQuestion> questions, LuceneProcess? lucene, bool quick)
    {
        SearchQuestion[] mixed = [.. MixedOf(questions)];
        double seconds = quick ? 0.2 : 12;
        using var ours = new TreepieVerses(indexes.OurPath);
        Ask(ours, mixed, seconds / 4);
        double[] quiet = Ask(ours, mixed, seconds);
        double[] first, busy;
        using (new SearchLoad(ours, indexes.LinesPath))
        {
            first = Ask(ours, mixed, seconds);
            busy = Ask(ours, mixed, seconds);
        }

        double[] theirQuiet = [], theirFirst = [], theirBusy = [];
        if (lucene is not null)
        {
            var theirs = new LuceneVerses(lucene, indexes.LucenePath);
            theirQuiet = Ask(theirs, mixed, seconds);
            lucene.Send("feed", indexes.LucenePath, indexes.LinesPath, SearchLoad.BatchSize);
            lucene.Read();
            theirFirst = Ask(theirs, mixed, seconds);
            theirBusy = Ask(theirs, mixed, seconds);
            lucene.Ask("rest");
        }

        foreach ((double share, string name) in ((double, string)[])[(0.5, "p50"), (0.99, "p99"), (0.9999, "p99.99")])
        {
            double calm = Statistics.Percentile(quiet, share);
            yield return SearchIndexes.Row($"mixed questions in quiet, {name}", "µs", false, calm, Of(theirQuiet, share));
            yield return SearchIndexes.Row(
                $"mixed questions while a thread indexes, {name}", "µs", false, Statistics.Percentile(busy, share),
                Of(theirBusy, share),
                    goals: share > 0.999 ? [Goal.AtMost(3)] : []) with
            { Limit = share > 0.999 ? calm : null, Note = share > 0.999 ? "limit: in quiet" : null };
        }

        const double Slowest = 0.9999;
        yield return SearchIndexes.Row(
            "mixed questions in the first 12 s of indexing, p99.99", "µs", false, Statistics.Percentile(first, Slowest),
            Of(theirFirst, Slowest)) with
        {
            Limit = Statistics.Percentile(quiet, Slowest),
            Note = "the code that indexes is compiled meanwhile; limit: in quiet",
        };
    }

    /// <summary>The questions that are asked while a thread indexes.</summary>
    public static IEnumerable<SearchQuestion> MixedOf(IEnumerable<SearchQuestion> questions) =>
        questions.Where(question => _mixed.Contains(question.Kind));

    /// <summary>
    /// The page behind a position, of an order by number: the first, and one so far behind that skipping would read ten thousand
    /// hits. Our index is closed.
    /// </summary>
    public static BenchRow Paging(SearchIndexes indexes, bool quick)
    {
        const int Pages = 1_000;
        using var ours = new TreepieVerses(indexes.OurPath);
        ReadOnlyMemory<byte> far = default;
        for (int page = 1; page < Pages; page++)
            far = ours.Page(far).Position;
        List<double> first = [], last = [];
        for (int round = 0; round < (quick ? 1 : 2_000); round++)
        {
            first.Add(ours.Page(default).Microseconds);
            last.Add(ours.Page(far).Microseconds);
        }

        double near = Statistics.Median(first.Skip(first.Count / 2));
        return new BenchRow(
            $"ten more by their position, page {Pages:N0} of an order by number", "µs", false,
            Statistics.Median(last.Skip(last.Count / 2)))
        { Limit = near, Note = "limit: page 1" };
    }

    /// <summary>
    /// How much longer selective questions take than with a tenth of the documents: the same questions, which have ten times the
    /// hits then, and questions for other words, of which each has as many hits in the large index as its counterpart in the
    /// small one.
    /// </summary>
    public static IEnumerable<BenchRow> Growth(
        SearchIndexes indexes, IReadOnlyList<SearchQuestion> questions, bool quick, TextWriter progress)
    {
        const double MostGrowth = 1.5;
        const int BatchSize = 10_000;
        progress.WriteLine($"search, {indexes.Corpus.Name}: growth");
        using var folder = new Scratch();
        using var lines = new Scratch();
        string file = Path.Combine(lines.Path, "documents.tsv");
        SearchCorpus tenth = indexes.Corpus.First(indexes.Corpus.Documents.Length / 10);
        tenth.Write(file);
        SearchProcess.Index("treepie", folder.Path, file, BatchSize);
        using var small = new TreepieVerses(folder.Path);
        using var whole = new TreepieVerses(indexes.OurPath);
        foreach (string kind in _selective)
        {
            SearchQuestion[] mine = [.. questions.Where(question => question.Kind == kind)];
            yield return Row($"{kind}: growth of the median with 10× the documents", mine, mine) with
            {
                Note = kind == "range_sort" ? null : "10× the hits",
            };
        }

        (SearchQuestion[] ofSmall, SearchQuestion[] ofWhole) = AsMany(tenth, indexes.Corpus, 1);
        if (ofSmall.Length > 0)
            yield return Row("a rare word, as many hits: growth of the median with 10× the documents", ofSmall, ofWhole) with
            {
                Note = "words that 8 to 250 texts have, each compared with one that as many have"
            };
        (ofSmall, ofWhole) = AsMany(tenth, indexes.Corpus, 2);
        if (ofSmall.Length > 0)
            yield return Row(
                "a rare word and another one, lists as long: growth of the median with 10× the documents", ofSmall,
                ofWhole) with
            { Note = "as above, with a word that 1,000 texts have or more" };

        BenchRow Row(string name, SearchQuestion[] mine, SearchQuestion[] theirs)
        {
            List<double> growth = [];
            double[] few = new double[mine.Length], many = new double[mine.Length];
            for (int round = 0; round < (quick ? 1 : 15); round++)
            {
                few = Halves(small, mine, few, round);
                many = Halves(whole, theirs, many, round);
                growth.Add(Statistics.Median(many) / Statistics.Median(few));
            }

            return BenchRow.Of(name, "×", false, growth[(growth.Count / 2)..]) with
            {
                Limit = MostGrowth,
                Goals = [Goal.AtMost(1)]
            };
        }
    }

    /// <summary>
    /// Questions for rare words, each with one for a word that as many texts of another corpus have; with two words, the second
    /// frequent and as frequent in both.
    /// </summary>
    private static (SearchQuestion[] Small, SearchQuestion[] Whole) AsMany(SearchCorpus small, SearchCorpus whole, int words)
    {
        const int Fewest = 8, Most = 250, OfEach = 40, Frequent = 1_000;
        ILookup<int, string> few = ByCount(small), many = ByCount(whole);
        (string Few, string Many)[] frequent =
        [
            .. few.Where(group => group.Key >= Frequent && many.Contains(group.Key))
                .OrderBy(group => group.Key)
                .Select(group => (group.First(), many[group.Key].First())),
        ];
        List<SearchQuestion> ofSmall = [], ofWhole = [];
        for (int count = Fewest;
             count <= Most && ofSmall.Count < OfEach && (words == 1 || frequent.Length > 0);
             count += (Most - Fewest) / OfEach)
        {
            if (!few.Contains(count) || !many.Contains(count))
                continue;
            (string theirFew, string theirMany) = words == 1 ? ("", "") : frequent[ofSmall.Count % frequent.Length];
            ofSmall.Add(Question(few[count].First(), theirFew));
            ofWhole.Add(Question(many[count].First(), theirMany));
        }

        return ([.. ofSmall], [.. ofWhole]);

        static SearchQuestion Question(string word, string other) =>
            new("growth", SearchForm.All, other.Length == 0 ? [word] : [word, other]);

        static ILookup<int, string> ByCount(SearchCorpus corpus) =>
            corpus.Frequencies.OrderBy(word => word.Key, StringComparer.Ordinal).ToLookup(word => word.Value, word => word.Key);
    }

    private static double[] Halves(TreepieVerses engine, SearchQuestion[] questions, double[] before, int round) =>
        [.. questions.Select(
            (question, i) => round == 0
                ? engine.Ask(question).Microseconds
                : Math.Min(before[i], engine.Ask(question).Microseconds))];

    private static double Of(double[] times, double share) => times.Length == 0 ? -1 : Statistics.Percentile(times, share);

    private static double[] Ask(ISearchEngine engine, SearchQuestion[] questions, double seconds)
    {
        var times = new List<double>();
        for (long began = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(began).TotalSeconds < seconds;)
            times.AddRange(engine.Ask(questions).Select(answer => answer?.Microseconds ?? 0));
        return [.. times];
    }
}
