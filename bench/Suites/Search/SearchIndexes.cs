using Treepie.Bench.Measuring;
using Treepie.Bench.Peers;

namespace Treepie.Bench.Suites.Search;

/// <summary>The indexes of one corpus: made, measured while they are made, and open for questions.</summary>
internal sealed class SearchIndexes : IDisposable
{
    private const int BatchSize = 10_000;
    private const double MB = 1e6;

    private readonly Scratch _ourFiles = new();
    private readonly Scratch _luceneFiles = new();
    private readonly Scratch _sqliteFiles = new();
    private readonly Scratch _lines = new();
    private readonly LuceneProcess? _lucene;

    private SearchIndexes(SearchCorpus corpus, LuceneProcess? lucene)
    {
        Corpus = corpus;
        _lucene = lucene;
        corpus.Write(LinesPath);
    }

    /// <summary>What was indexed.</summary>
    public SearchCorpus Corpus { get; }

    /// <summary>The engines, ours first.</summary>
    public List<ISearchEngine> Engines { get; } = [];

    /// <summary>Figures of the making.</summary>
    public List<BenchRow> Rows { get; } = [];

    /// <summary>Folder of our index.</summary>
    public string OurPath => _ourFiles.Path;

    /// <summary>Folder of Lucene's.</summary>
    public string LucenePath => _luceneFiles.Path;

    /// <summary>The file that all read.</summary>
    public string LinesPath => Path.Combine(_lines.Path, "documents.tsv");

    /// <summary>A folder that goes with the indexes.</summary>
    public string ScratchPath => _lines.Path;

    /// <summary>Makes the indexes, one engine after the other.</summary>
    public static SearchIndexes Make(SearchCorpus corpus, LuceneProcess? lucene, bool withSqlite, TextWriter progress)
    {
        var indexes = new SearchIndexes(corpus, lucene);
        try
        {
            indexes.Fill(withSqlite, progress);
            return indexes;
        }
        catch
        {
            indexes.Dispose();
            throw;
        }
    }

    /// <summary>A row with ours, Lucene's and SQLite's figure; a negative one is not there.</summary>
    public static BenchRow Row(
        string name, string unit, bool higherIsBetter, double ours, double lucene, double sqlite = -1, params Goal[] goals)
    {
        var peers = new Dictionary<string, double>();
        if (lucene >= 0)
            peers.Add("Lucene " + LuceneProcess.Version, lucene);
        if (sqlite >= 0)
            peers.Add("SQLite FTS5", sqlite);
        return new BenchRow(name, unit, higherIsBetter, ours) { Peers = peers, Goals = goals };
    }

    public void Dispose()
    {
        foreach (ISearchEngine engine in Engines)
            engine.Dispose();
        _ourFiles.Dispose();
        _luceneFiles.Dispose();
        _sqliteFiles.Dispose();
        _lines.Dispose();
    }

    private void Fill(bool withSqlite, TextWriter progress)
    {
        int count = Corpus.Documents.Length;
        progress.WriteLine($"search, {Corpus.Name}: indexing {count:N0} documents, Treepie");
        SearchProcess ours = SearchProcess.Index("treepie", _ourFiles.Path, LinesPath, BatchSize);
        var opened = new TreepieVerses(_ourFiles.Path);
        Engines.Add(opened);
        if (opened.CountWords() is var words && words != Corpus.Frequencies.Count)
            throw new InvalidOperationException($"The index has {words} words, the corpus {Corpus.Frequencies.Count}.");

        double[] theirs = [-1, -1, -1, -1, -1, -1], merged = [0, 0];
        double luceneMB = -1, luceneMergedMB = -1, luceneWordsMB = -1, sqliteMB = -1;
        if (_lucene is not null)
        {
            progress.WriteLine($"search, {Corpus.Name}: indexing, Lucene");
            theirs = _lucene.Ask("index", _luceneFiles.Path, LinesPath, BatchSize);
            luceneMB = _luceneFiles.SizeBytes / MB;
            merged = _lucene.Ask("merge", _luceneFiles.Path);
            luceneMergedMB = _luceneFiles.SizeBytes / MB;
            using (var withWords = new Scratch())
            {
                _lucene.Ask("index-words", withWords.Path, LinesPath, BatchSize);
                _lucene.Ask("merge", withWords.Path);
                luceneWordsMB = withWords.SizeBytes / MB;
            }

            Engines.Add(new LuceneVerses(_lucene, _luceneFiles.Path));
            double[] terms = _lucene.Ask("terms");
            if (terms[0] != Corpus.Frequencies.Count || terms[1] != Corpus.TotalWords)
                throw new InvalidOperationException(
                    $"Lucene cut the texts into {terms[1]} words, {terms[0]} different ones; the corpus has {Corpus.TotalWords} "
                        + $"and {Corpus.Frequencies.Count}.");
        }

        SearchProcess? third = null;
        if (withSqlite && Sqlite.IsPresent)
        {
            progress.WriteLine($"search, {Corpus.Name}: indexing, SQLite");
            third = SearchProcess.Index("sqlite", _sqliteFiles.Path, LinesPath, BatchSize);
            var opened3 = new SqliteVerses(Path.Combine(_sqliteFiles.Path, "verses.db"));
            opened3.Optimize();
            Engines.Add(opened3);
            sqliteMB = _sqliteFiles.SizeBytes / MB;
        }

        Rows.AddRange(
        [
            Row(
                "indexing, each commit durable", "documents/s", true, count / ours.Seconds, Rate(theirs[1]),
                Rate(third?.Seconds ?? -1)),
            Row(
                "indexing, by processor time, each commit durable", "documents/CPU s", true, count / ours.CpuSeconds,
                Rate(theirs[2]), Rate(third?.CpuSeconds ?? -1), new Goal(2, "Lucene")),
            Row(
                "indexing, by processor time, Lucene merged to one segment", "documents/CPU s", true, count / ours.CpuSeconds,
                Rate(_lucene is null ? -1 : theirs[2] + merged[1])),
            Row("managed memory while indexing, most", "MiB", false, ours.HeapMiB, MiB(theirs[4])),
            Row(
                "memory without files while indexing, most (Lucene: at the end)", "MiB", false, ours.PrivateMiB, MiB(theirs[5]),
                third?.PrivateMiB ?? -1),
            Row(
                "size of the index", "MB", false, _ourFiles.SizeBytes / MB, luceneMergedMB, sqliteMB,
                new Goal(1 / 1.1, "Lucene")) with
            {
                Note = _lucene is null ? null : $"Lucene before its segments are merged into one: {luceneMB:0} MB",
            },
            Row(
                "size of the index, Lucene with the words of each text too", "MB", false, _ourFiles.SizeBytes / MB, luceneWordsMB,
                -1, new Goal(1 / 1.1, "Lucene")) with
            {
                Note = $"of ours, records of entries with these words are {opened.SizeOf("entries") / MB:0.0} MB",
            },
        ]);

        double Rate(double seconds) => seconds > 0 ? count / seconds : -1;
    }

    private static double MiB(double bytes) => bytes < 0 ? -1 : bytes / (1 << 20);
}
