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
        How fast is what is looked for found in {texts}, next to Lucene 8 and SQLite? A text field with places, two number fields, one group field. All engines read the same file, whose
        words are cut beforehand (the numbers of words and of different words are checked), and commit every 10,000 documents durably. Questions of 23 kinds: words h are in 3 % of the texts or more, m in 0.05 to 0.5 %, l in fewer; *any* of them, *all*, as a
        phrase, a prefix, between numbers; the best ten by BM25, or the first ten by number; counts; hits by group. One caller, one thread, everything in the memory of the system, compilers warm. The engines take turns, in which each asks its questions again and again for a tenth of a second; a question has the median of
        its times in a turn, and of these the median of seven turns, a row the value within which half, or 99 %, of the questions are. *First of a turn*: the median question the first time, when the caches of the processor hold what the engine before it left there. SQLite is asked once where it takes a second for the questions of a kind. Ours says how many hits there are exactly, but in sorts with a range and where *hits not counted* says so; Lucene stops counting at a thousand, as is its default, and SQLite counts only where it is asked to.
        Lucene runs in its own Java process and takes its times there: mapped files, no query cache, one segment (merged after indexing), points allowed for sorts, lengths of texts kept exactly instead of in four bits, so that scores can be compared:
        they are equal to 1e-5, totals and places exactly. *Processor time* counts all threads of a process of its own, compilers and collectors included, but for the one that looks at the memory. *Managed memory* is the most that the heap held while all questions were asked three times, what is not collected yet included:
        of ours in a process that does nothing else, looked at every 10 ms, with young garbage collected at 1 MiB (docs/decisions/0017); of Lucene the sum of the greatest uses of its heap's parts (at most 1 GB). *Nothing in memory*: code is compiled, the index was closed, and
        the system has forgotten its files. Of *sizes*: both keep words with frequencies, places and lengths of texts, ids by key and keys by id, numbers in order and by document, groups by document and by name; ours also keeps the words of each text, by which
        an entry leaves the index at once and texts like it are found, and which are Lucene's term vectors: it has them in the second figure only. *While a thread indexes* it commits every 1,000 documents durably, as fast as it can, and has done so for 12 seconds
        when the questions count: compilers are warm then, as they are everywhere else, and as Lucene's are from the beginning, since it has made its index in the process that answers. Those 12 seconds have a row of their own.
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
