using System.Globalization;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Search;

/// <summary>
/// The questions of 23 kinds. Words are frequent (h: in 3 % of the texts or more), medium (m: in 0.05 to 0.5 %) or rare (l: in
/// fewer). Those of the file <c>search-kinds.tsv</c> are taken that have the same kind of words in this corpus; the others are
/// drawn from the corpus itself, the same ones on every run.
/// </summary>
internal sealed class SearchQuestions
{
    private const int Seed = 2026;

    private static readonly (string Kind, SearchForm Form, string Classes)[] _kinds =
    [
        ("term_high", SearchForm.Any, "h"), ("term_med", SearchForm.Any, "m"), ("term_low", SearchForm.Any, "l"),
        ("and_hh", SearchForm.All, "hh"), ("and_hm", SearchForm.All, "hm"), ("and_mm", SearchForm.All, "mm"),
        ("and_ml", SearchForm.All, "ml"), ("and_hhm", SearchForm.All, "hhm"),
        ("or_hh", SearchForm.Any, "hh"), ("or_hm", SearchForm.Any, "hm"), ("or_mm", SearchForm.Any, "mm"),
        ("or_hmm", SearchForm.Any, "hmm"), ("or_hhmml", SearchForm.Any, "hhmml"),
        ("phrase2", SearchForm.Phrase, "??"), ("phrase3", SearchForm.Phrase, "???"), ("prefix", SearchForm.Prefix, "m"),
        ("range_sort", SearchForm.RangeByNumber, ""), ("all_sort_day", SearchForm.AllByDay, ""),
        ("term_sort_num", SearchForm.TermByNumber, "h"),
        ("term_range_sort", SearchForm.TermRangeByNumber, "h"), ("count_and_hh", SearchForm.CountAll, "hh"),
        ("count_or_hm", SearchForm.CountAny, "hm"), ("facet_tr", SearchForm.Facet, "h"),
    ];

    private readonly SearchCorpus _corpus;
    private readonly Dictionary<char, string[]> _words;
    private readonly Random _random = new(Seed);

    private SearchQuestions(SearchCorpus corpus)
    {
        _corpus = corpus;
        _words = corpus.Frequencies.GroupBy(word => ClassOf(word.Value))
            .ToDictionary(group => group.Key, group => group.Select(word => word.Key).Order(StringComparer.Ordinal).ToArray());
    }

    /// <summary>Some questions of each kind.</summary>
    public static IReadOnlyList<SearchQuestion> Make(SearchCorpus corpus, int ofEach)
    {
        var maker = new SearchQuestions(corpus);
        ILookup<string, string> file = ReadFile().ToLookup(line => line[0], line => line[1]);
        var all = new List<SearchQuestion>();
        foreach ((string kind, SearchForm form, string classes) in _kinds)
        {
            int count = form == SearchForm.AllByDay ? 1 : ofEach;
            List<SearchQuestion> mine =
                [.. file[kind].Select(text => maker.Parse(kind, form, classes, text)).OfType<SearchQuestion>().Take(count)];
            for (int tries = 0; mine.Count < count && tries < 50 * count; tries++)
            {
                if (maker.Draw(kind, form, classes) is { } drawn)
                    mine.Add(drawn);
            }

            all.AddRange(mine);
        }

        return all;
    }

    private static IEnumerable<string[]> ReadFile() =>
        File.ReadLines(Corpus.PathOf("search-kinds.tsv")).Select(line => line.Split('\t'));

    private SearchQuestion? Parse(string kind, SearchForm form, string classes, string text)
    {
        string[] parts = text.Split(' ');
        int numbers = form is SearchForm.RangeByNumber or SearchForm.TermRangeByNumber ? 2 : 0;
        string[] named = form == SearchForm.AllByDay ? [] : parts[..^numbers];
        bool fits = form == SearchForm.Prefix
            ? _corpus.Frequencies.Keys.Any(word => word.StartsWith(named[0], StringComparison.Ordinal))
            : named.Length == classes.Length && named.Zip(classes).All(pair => Fits(pair.First, pair.Second));
        if (!fits)
            return null;
        return numbers == 0
            ? new SearchQuestion(kind, form, named)
            : new SearchQuestion(
                kind, form, named, long.Parse(parts[^2], CultureInfo.InvariantCulture),
                long.Parse(parts[^1], CultureInfo.InvariantCulture));
    }

    private SearchQuestion? Draw(string kind, SearchForm form, string classes)
    {
        long low = _random.Next(900_000), high = low + (_random.Next(2) == 0 ? 10_000 : 100_000);
        if (form == SearchForm.Phrase)
        {
            string[] text = _corpus.Documents[_random.Next(_corpus.Documents.Length)].Text.Split(' ');
            int start = _random.Next(Math.Max(1, text.Length - classes.Length));
            return text.Length < classes.Length ? null : new SearchQuestion(kind, form, text[start..(start + classes.Length)]);
        }

        if (classes.Any(one => !_words.ContainsKey(one)))
            return null;
        string[] drawn = [.. classes.Select(one => _words[one][_random.Next(_words[one].Length)])];
        if (drawn.Distinct().Count() < drawn.Length)
            return null;
        if (form == SearchForm.Prefix)
            drawn = [drawn[0][..Math.Min(3, drawn[0].Length)]];
        return new SearchQuestion(kind, form, drawn, low, high);
    }

    private bool Fits(string word, char wanted) =>
        _corpus.Frequencies.TryGetValue(word, out int count) && (wanted == '?' || ClassOf(count) == wanted);

    private char ClassOf(int count) => ((double)count / _corpus.Documents.Length) switch
    {
        >= 0.03 => 'h',
        >= 0.005 => '-',
        >= 0.0005 => 'm',
        _ => 'l',
    };
}
