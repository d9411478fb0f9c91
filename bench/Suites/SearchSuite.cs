using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;
using Treepie.Bench.Suites.Search;

namespace Treepie.Bench.Suites;

/// <summary>
/// Full-text search beside Lucene 8 and SQLite: questions of 23 kinds over one corpus, indexing, memory. Answers must be equal.
/// </summary>
internal sealed class SearchSuite : ISuite
{
    /// <summary>Takes so many documents of each corpus instead of all: for a look in passing.</summary>
    private const string CountVariable = "TREEPIE_SEARCH_DOCUMENTS";

    private const int QuickDocuments = 5_000;
    /// <summary>Questions of each kind.</summary>
    public const int QuestionsOfAKind = 40;

    private readonly Func<int, SearchCorpus> _corpus;

    private SearchSuite(string name, string texts, Func<int, SearchCorpus> corpus)
    {
        _corpus = corpus;
        Name = name;
        Question =
            $"""
        How fast are searches over {texts}, compared with Lucene 8 and SQLite? A text field with positions, two number fields, one group field. All engines read the same file, with
        tokenized texts (the numbers of words and of distinct words are checked), and commit every 10,000 documents durably. Queries of 23 kinds: words h are in at least 3 % of the texts, m in 0.05 to 0.5 %, l in fewer; *any* of them, *all*, as a
        phrase, a prefix, a range of numbers; the best ten by BM25, or the first ten by number; counts; hits by group. One caller, one thread, all data in the system's cache, code compiled. The engines take turns, in which each repeats its queries for a tenth of a second. The time of a query is the median of
        its times in a turn, and of these the median of seven turns; a row is the median, or the 99th percentile, of the queries. *First of a turn*: the median query on its first run in a turn, when the processor's caches hold data of the previous engine. SQLite runs once if it takes a second for the queries of a kind. Treepie counts hits exactly, except in sorts with a range and in rows marked *hits not counted*; Lucene stops counting at a thousand, its default, and SQLite counts only where counts are measured.
        Lucene runs and measures in its own Java process: mapped files, no query cache, one segment (merged after indexing), points allowed for sorts, text lengths stored exactly instead of in four bits, so that scores can be compared:
        they are equal to 1e-5, totals and positions exactly. *Processor time* counts all threads of a separate process, including compilers and collectors, but not the thread that samples the memory. *Managed memory* is the peak of the heap while all queries ran three times, including garbage not yet collected:
        for Treepie in a process that does nothing else, sampled every 10 ms, with young garbage collected at 1 MiB (docs/decisions/0017); for Lucene the sum of the peaks of its heap's parts (at most 1 GB). *Nothing in memory*: code is compiled, the index was closed, and
        its files were dropped from the system's cache. *Sizes*: both store words with frequencies, positions and text lengths, ids by key and keys by id, numbers in order and by document, groups by document and by name. Treepie also stores the words of each text, which
        it uses to remove entries at once and to find similar texts. They correspond to Lucene's term vectors, which only its second figure includes. *While a thread indexes*, it commits every 1,000 documents durably, as fast as it can, and has done so for 12 seconds
        before queries are measured, so that compilers are warm, as in all other rows; Lucene's are warm from the beginning, since it built its index in the process that answers. Those 12 seconds have a row of their own.
        """;
    }

    /// <summary>Over 631,996 English verses.</summary>
    public static SearchSuite OfVerses { get; } = new(
        "search", "631,996 English verses", most => SearchCorpus.Verses(Math.Min(most, 632_000)));

    /// <summary>Over a million made texts.</summary>
    public static SearchSuite OfMadeTexts { get; } = new(
        "search-made", "a million made texts with words by Zipf's law", most => SearchCorpus.Zipf(Math.Min(most, 1_000_000)));

    /// <summary>How many documents of each corpus are wanted; null: as the suite says.</summary>
    public static int? MostDocuments =>
        Environment.GetEnvironmentVariable(CountVariable) is { } text ? int.Parse(text, CultureInfo.InvariantCulture) : null;

    public string Name { get; }

    public string Question { get; }

    public Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        int most = MostDocuments ?? (quick ? QuickDocuments : int.MaxValue);
        if (LuceneProcess.Absence is { } absence)
            progress.WriteLine($"search: Lucene is left out, {absence}");
        using LuceneProcess? lucene = LuceneProcess.Absence is null ? new LuceneProcess() : null;
        return Task.FromResult<IReadOnlyList<BenchRow>>(Measure(_corpus(most), lucene, quick, progress, cancellationToken));
    }

    private static BenchRow[] Measure(
        SearchCorpus corpus, LuceneProcess? lucene, bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        using var indexes = SearchIndexes.Make(corpus, lucene, withSqlite: true, progress);
        IReadOnlyList<SearchQuestion> questions = SearchQuestions.Make(corpus, quick ? 4 : QuestionsOfAKind);
        List<BenchRow> kinds = KindRows.Measure(indexes, questions, quick, progress, cancellationToken);
        SearchQuestion[] otherwise =
        [
            .. questions.Where(
                question => question.IsScored
                    && (question.Form == SearchForm.Phrase || question.Kind.Contains("hh", StringComparison.Ordinal)))
                .Select(question => question with { Kind = question.Kind + ", hits not counted", Counts = false }),
            .. questions.Where(question => question.Form is SearchForm.RangeByNumber or SearchForm.TermRangeByNumber)
                .Select(question => question with { Kind = question.Kind + ", hits counted", CountsRange = true }),
        ];
        List<BenchRow> counted = KindRows.Measure(indexes, otherwise, quick, progress, cancellationToken);
        progress.WriteLine($"search, {corpus.Name}: memory, opening, growth, while indexing");
        List<BenchRow> states = [.. StateRows.Memory(indexes, questions, lucene)];
        states.AddRange(StateRows.Opening(indexes, questions, lucene, quick));
        states.Add(StateRows.Paging(indexes, quick));
        states.AddRange(StateRows.Growth(indexes, questions, quick, progress));
        states.AddRange(StateRows.WhileIndexing(indexes, questions, lucene, quick));
        return [.. indexes.Rows, .. kinds, .. counted, .. states];
    }
}
