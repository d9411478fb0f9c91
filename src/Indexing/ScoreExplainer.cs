using System.Globalization;
using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing;

/// <summary>
/// Explains the scores of entries: the conditions of the query as a tree, each with its contribution, taken from the same
/// operators that compute scores. Created once and used for each hit. Not thread-safe; must be disposed before the searcher that
/// created it.
/// </summary>
/// <remarks>
/// A sum is computed over the parts from left to right in single precision; within an AND the parts are added up first, those of
/// an OR are added to the surrounding sum one by one. So the numbers add up to the score exactly.
/// </remarks>
public sealed class ScoreExplainer : IDisposable
{
    private readonly QueryContext _context;
    private readonly QueryCompiler _compiler;
    private readonly Node _root;

    private readonly ScoreExplainer? _changes;

    /// <summary>
    /// Explains scores of an index together with changes it does not contain yet; statistics cover both. Takes ownership of
    /// <paramref name="combined"/>.
    /// </summary>
    internal ScoreExplainer(CombinedIndex combined, IndexQuery query)
        : this(combined.Main, query)
    {
        try
        {
            _changes = new ScoreExplainer(combined.Tail, query);
        }
        catch
        {
            _context.Dispose();
            throw;
        }
    }

    internal ScoreExplainer(QueryContext context, IndexQuery query)
    {
        _context = context;
        _compiler = new QueryCompiler(context, isScored: true);
        try
        {
            Node whole = Build(query, 1);
            Operator boosted = DocumentBoostOperator.Over(context, whole.Operator);
            _root = boosted == whole.Operator ? whole : new Node("boost of the document, times:", boosted, 1, [whole]);
        }
        catch
        {
            context.Dispose();
            throw;
        }
    }

    private sealed record Node(string What, Operator Operator, float Boost, IReadOnlyList<Node> Parts, TextQuery? Word = null);

    /// <summary>Explains the score of an entry; 0 and no parts if it does not match.</summary>
    public ScoreExplanation Explain(long entryId) =>
        _changes is not null && entryId >= _context.View.State.NextEntryId ? _changes.Explain(entryId) : Explain(_root, entryId);

    /// <inheritdoc/>
    public void Dispose()
    {
        _context.Dispose();
        _changes?.Dispose();
    }

    private ScoreExplanation Explain(Node node, long id)
    {
        Span<float> score = [0];
        node.Operator.Score(
            id >> PostingWindow.SizeBits, [(ushort)(id & (PostingWindow.Size - 1))], score, node.Boost, allMatch: false);
        if (score[0] == 0)
            return new ScoreExplanation(0, node.What, []);

        return node.Word is { } word
            ? new ScoreExplanation(score[0], node.What, Term(word, node.Boost, id))
            : new ScoreExplanation(
                score[0], node.What, [.. node.Parts.Select(part => Explain(part, id)).Where(part => part.Score != 0)]);
    }

    private Node Build(IndexQuery query, float boost)
    {
        Operator compiled = _compiler.Compile(query);
        switch (query)
        {
            case AndQuery:
                return new Node(
                    "sum of all of:", compiled, boost, [.. QueryCompiler.Flatten(query).Select(clause => Build(clause, boost))]);
            case OrQuery:
                return new Node(
                    "sum of those that match:", compiled, boost,
                    [.. QueryCompiler.Flatten(query).Select(clause => Build(clause, boost))]);
            case IntersectQuery together:
                return Build(new OrQuery(together.Clauses), boost);
            case BoostQuery inner:
                return new Node(
                    string.Create(CultureInfo.InvariantCulture, $"boost by {inner.Factor} of:"), compiled, boost,
                    [Build(inner.Clause, boost * inner.Factor)]);
            case FullTextQuery text when !IsOnePattern(text):
                Node[] parts = [.. Parts(text).Select(part => Build(part, boost))];
                return parts.Length == 1
                    ? parts[0]
                    : new Node(text.All ? "sum of all words:" : "sum of the words that match:", compiled, boost, parts);
            case TextQuery text when Words(text).Count == 1 && _compiler.IsFullText(_context.View.Field(text.Field)):
                return new Node(
                    $"{text.Field}: word '{Encoding.UTF8.GetString(Words(text)[0].Form)}'", compiled, boost, [], text);
            case PhraseQuery { Slop: 0 } phrase:
                return Build(new TextQuery(phrase.Field, phrase.Text), boost);
            default:
                return new Node(Describe(query), compiled, boost, []);
        }
    }

    /// <summary>The parts of a full-text query that contain words, each as its own query; a pattern is one part.</summary>
    private IEnumerable<IndexQuery> Parts(FullTextQuery query)
    {
        foreach ((string part, bool isQuoted) in TextCompiler.Parts(query.Text))
        {
            var text = new TextQuery(query.Field, part);
            if (!isQuoted && IsPattern(part))
                yield return query with { Text = part };
            else if (Words(text).Count > 0)
                yield return text;
        }
    }

    private static bool IsOnePattern(FullTextQuery query) =>
        TextCompiler.Parts(query.Text).Take(2).ToArray() is [(string only, false)] && IsPattern(only);

    private static bool IsPattern(string part) => part.Contains('*', StringComparison.Ordinal);

    private IReadOnlyList<TokenList.Token> Words(TextQuery text) =>
        _compiler.Words(_context.View.Field(text.Field), Encoding.UTF8.GetBytes(text.Text));

    /// <summary>The BM25 factors for one word. Their product is the score.</summary>
    private List<ScoreExplanation> Term(TextQuery word, float boost, long id)
    {
        int field = _context.View.Field(word.Field);
        byte[] form = Words(word)[0].Form;
        string dictionary = TreeNames.Terms(field);
        if (!_context.View.TryGetTerm(dictionary, form, out TermPayload payload))
            return [];

        LengthFactors factors = _context.Factors(field);
        long having = _context.EntriesWith(field, form, payload.EntryCount);
        long entries = factors.Statistics.EntriesWithTerms;
        float idf = (float)Bm25.Idf(entries, having);
        int frequency = TermFrequency.Of(_context.View, dictionary, form, id);
        float factor = factors.Of(id);
        string average = (factors.Statistics.TotalTerms / (double)Math.Max(1, entries)).ToString(
            "0.##", CultureInfo.InvariantCulture);
        var parts = new List<ScoreExplanation>();
        if (boost != 1)
            parts.Add(new ScoreExplanation(boost, "boost", []));
        parts.Add(
            new ScoreExplanation(
                idf,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"rarity, ln(1 + (N - n + 0.5) / (n + 0.5)): n = {having} entries have it of N = {entries}"),
                []));
        parts.Add(new ScoreExplanation(
            frequency / (frequency + factor),
            string.Create(
                CultureInfo.InvariantCulture,
                $"frequency, f / (f + k): f = {frequency} times, k = {factor} by the length of the entry (k1 = {Bm25.K1}, b = "
                    + $"{Bm25.B}, average {average} words)"),
            []));
        return parts;
    }

    private static string Describe(IndexQuery query) => query switch
    {
        TextQuery text => $"{text.Field}: phrase '{text.Text}'",
        PhraseQuery phrase => $"{phrase.Field}: '{phrase.Text}' within {phrase.Slop}",
        FullTextQuery text => $"{text.Field}: pattern '{text.Text}'",
        TermQuery term => $"{term.Field}: equal",
        InQuery list => $"{list.Field}: one of {list.Values.Count} values",
        AllInQuery list => $"{list.Field}: all of {list.Values.Count} values",
        RangeQuery range => $"{range.Field}: range",
        PrefixQuery prefix => $"{prefix.Field}: starts with '{prefix.Prefix}'",
        SuffixQuery suffix => $"{suffix.Field}: ends with '{suffix.Suffix}'",
        ContainsQuery contains => $"{contains.Field}: contains '{contains.Text}'",
        WildcardQuery wildcard => $"{wildcard.Field}: wildcard '{wildcard.Pattern}'",
        RegexQuery regex => $"{regex.Field}: expression '{regex.Pattern}'",
        FuzzyQuery fuzzy => $"{fuzzy.Field}: nearly '{fuzzy.Text}'",
        ExistsQuery exists => $"{exists.Field}: exists",
        MoreLikeThisQuery => "like the other",
        FusionQuery => "places in several lists",
        MatchAllQuery => "every entry",
        _ => query.GetType().Name.Replace("Query", "", StringComparison.Ordinal),
    };
}
