using System.Globalization;
using Treepie.Indexing.Analysis.Stemming;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// The analyzers that fields can refer to: the built-in ones and the program's own. Immutable and thread-safe.
/// </summary>
/// <remarks>
/// Names are case-insensitive and accepted in all forms used by definitions: <c>StandardAnalyzer</c>,
/// <c>Lucene.Net.Analysis.Standard.StandardAnalyzer</c>,
/// <c>Lucene.Net.Analysis.De.GermanAnalyzer, Lucene.Net.Contrib.Analyzers</c>. Built in: RavenStandardAnalyzer (the default:
/// every word), StandardAnalyzer (without English stop words), SimpleAnalyzer, StopAnalyzer, WhitespaceAnalyzer,
/// LowerCaseWhitespaceAnalyzer, KeywordAnalyzer, LowerCaseKeywordAnalyzer, PatternAnalyzer or PatternAnalyzer(expression),
/// NGramAnalyzer or NGramAnalyzer(min,max), and with stemming EnglishAnalyzer, GermanAnalyzer, FrenchAnalyzer, SpanishAnalyzer,
/// ItalianAnalyzer, PortugueseAnalyzer, DutchAnalyzer, SwedishAnalyzer, NorwegianAnalyzer, DanishAnalyzer, FinnishAnalyzer,
/// RussianAnalyzer, HungarianAnalyzer, RomanianAnalyzer; BrazilianAnalyzer is the same as PortugueseAnalyzer.
/// </remarks>
public sealed class AnalyzerSet
{
    /// <summary>The name of the default analyzer of full-text fields.</summary>
    public const string DefaultName = "RavenStandardAnalyzer";

    /// <summary>The maximum length of an analyzer's name in characters.</summary>
    public const int MaxNameLength = 2_048;

    private readonly Dictionary<string, Analyzer> _byName;

    private AnalyzerSet(Dictionary<string, Analyzer> byName) => _byName = byName;

    /// <summary>The built-in analyzers.</summary>
    public static AnalyzerSet BuiltIn { get; } = new(CreateBuiltIn());

    /// <summary>The names of all analyzers, sorted.</summary>
    public IEnumerable<string> Names => _byName.Keys.Order(StringComparer.OrdinalIgnoreCase);

    /// <summary>Returns a set with an additional analyzer, which replaces one of the same name.</summary>
    /// <param name="name">Letters, digits, <c>_</c>, <c>-</c> and dots; case-insensitive. Indexes store the name: neither the
    /// name nor the behaviour of the analyzer should change.</param>
    /// <param name="analyzer">The analyzer; used concurrently by many threads.</param>
    /// <exception cref="ArgumentException">The name is empty, too long, or contains other characters.</exception>
    public AnalyzerSet With(string name, Analyzer analyzer)
    {
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(analyzer);
        if (name.Length is 0 or > MaxNameLength || !name.All(c => char.IsLetterOrDigit(c) || c is '_' or '-' or '.'))
            throw new ArgumentException(
                $"'{name}' cannot be the name of an analyzer: it has letters, digits, '_', '-' and '.', and at most "
                    + $"{MaxNameLength} characters.",
                nameof(name));
        return new AnalyzerSet(new Dictionary<string, Analyzer>(_byName, _byName.Comparer) { [name] = analyzer });
    }

    /// <summary>Returns an analyzer by name.</summary>
    /// <exception cref="ArgumentException">The analyzer does not exist, or its arguments in parentheses are not valid; the
    /// message says why.</exception>
    public Analyzer Get(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (name.Length > MaxNameLength)
            throw new ArgumentException($"The name of an analyzer has {name.Length} characters; {MaxNameLength} is the most.");
        string wanted = name.Trim();
        if (_byName.TryGetValue(wanted, out Analyzer? found))
            return found;

        int open = wanted.IndexOf('(', StringComparison.Ordinal);
        if (open > 0 && wanted.EndsWith(')'))
            return Create(LastPart(wanted[..open]), wanted[(open + 1)..^1], name);
        return _byName.TryGetValue(LastPart(wanted), out found)
            ? found
            : throw new ArgumentException($"There is no analyzer '{name}'. There are: {string.Join(", ", Names)}.");
    }

    /// <summary>The name of a type without its namespace and assembly.</summary>
    private static string LastPart(string name)
    {
        int comma = name.IndexOf(',', StringComparison.Ordinal);
        string type = (comma < 0 ? name : name[..comma]).Trim();
        return type[(type.LastIndexOf('.') + 1)..];
    }

    private static Analyzer Create(string kind, string argument, string name)
    {
        if (kind.Equals("PatternAnalyzer", StringComparison.OrdinalIgnoreCase))
            return new PatternAnalyzer(argument);
        if (kind.Equals("NGramAnalyzer", StringComparison.OrdinalIgnoreCase))
        {
            string[] sizes = argument.Split(',');
            return sizes.Length == 2
                && int.TryParse(sizes[0], NumberStyles.Integer, CultureInfo.InvariantCulture, out int min)
                && int.TryParse(sizes[1], NumberStyles.Integer, CultureInfo.InvariantCulture, out int max)
                ? new NGramAnalyzer(min, max)
                : throw new ArgumentException(
                    $"'{name}' is not an analyzer: the parentheses contain two whole numbers, as in NGramAnalyzer(2,6).");
        }

        throw new ArgumentException(
            $"'{name}' is not an analyzer: only NGramAnalyzer(2,6) and PatternAnalyzer(expression) take something in "
                + $"parentheses.");
    }

    private static Dictionary<string, Analyzer> CreateBuiltIn()
    {
        var standard = new StandardAnalyzer();
        var built = new Dictionary<string, Analyzer>(StringComparer.OrdinalIgnoreCase)
        {
            [DefaultName] = standard,
            ["StandardAnalyzer"] = new StandardAnalyzer(StopWords.English),
            ["SimpleAnalyzer"] = new LetterAnalyzer(),
            ["StopAnalyzer"] = new LetterAnalyzer(StopWords.English),
            ["WhitespaceAnalyzer"] = new WhitespaceAnalyzer(),
            ["LowerCaseWhitespaceAnalyzer"] = new WhitespaceAnalyzer(isFolded: true),
            ["KeywordAnalyzer"] = new KeywordAnalyzer(isFolded: false),
            ["LowerCaseKeywordAnalyzer"] = new KeywordAnalyzer(isFolded: true),
            ["PatternAnalyzer"] = new PatternAnalyzer(),
            ["NGramAnalyzer"] = new NGramAnalyzer(2, 6),
        };
        foreach ((string language, Stemmer stemmer) in Stemmer.All())
            built.Add(language + "Analyzer", new StemAnalyzer(stemmer));
        built.Add("BrazilianAnalyzer", built["PortugueseAnalyzer"]);
        return built;
    }
}
