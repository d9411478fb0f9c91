using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Tests.Model;

/// <summary>The oracle: entries in a list, every query a scan over all of them, every order a full sort.</summary>
public sealed class NaiveIndex(IndexSchema schema)
{
    private readonly Dictionary<string, NaiveEntry> _byKey = new(StringComparer.Ordinal);
    private long _next;

    public IndexSchema Schema => schema;

    public int Count => _byKey.Count;

    public IReadOnlyCollection<NaiveEntry> Entries => _byKey.Values;

    public void Put(string key, IEnumerable<(int Field, FieldValue Value)> values)
    {
        var fields =
            System.Collections.Immutable.ImmutableDictionary<int, System.Collections.Immutable.ImmutableList<FieldValue>>.Empty;
        foreach ((int field, FieldValue value) in values)
            fields = fields.SetItem(field, fields.GetValueOrDefault(field, []).Add(value));
        _byKey[key] = new NaiveEntry(key, _next++, fields);
    }

    public void Delete(string key) => _byKey.Remove(key);

    public NaiveIndex Copy()
    {
        var copy = new NaiveIndex(schema) { _next = _next };
        foreach ((string key, NaiveEntry entry) in _byKey)
            copy._byKey.Add(key, entry);
        return copy;
    }

    /// <summary>Keys and scores of all hits, in order.</summary>
    public List<(string Key, double Score)> Search(SearchRequest request, Func<NaiveEntry, ulong>? random = null)
    {
        bool scored = request.Sort.Any(sort => sort.Kind == SortKind.Score);
        List<(NaiveEntry Entry, double Score)> hits =
            [.. _byKey.Values.OrderBy(entry => entry.Order).Where(entry => Matches(request.Query, entry))
                .Select(entry => (entry, scored ? Score(request.Query, entry, 1) : 0))];
        IOrderedEnumerable<(NaiveEntry Entry, double Score)> ordered = hits.OrderBy(_ => 0);
        foreach (SortKey sort in request.Sort)
        {
            ordered = ordered.ThenBy(hit => hit, Comparer<(NaiveEntry Entry, double Score)>.Create((x, y) =>
                sort.Kind switch
                {
                    SortKind.Score => Direct(x.Score.CompareTo(y.Score), sort),
                    SortKind.Random => random!(x.Entry).CompareTo(random(y.Entry)), // given where random orders are asked for
                    SortKind.Key => Direct(NaiveText.CompareText(x.Entry.Key, y.Entry.Key), sort),
                    SortKind.AlphaNumericKey => Direct(NaiveText.CompareAlphaNumeric(x.Entry.Key, y.Entry.Key), sort),
                    _ => Compare(x.Entry, y.Entry, sort),
                }));
        }

        return [.. ordered.Select(hit => (hit.Entry.Key, hit.Score))];
    }

    public bool Matches(IndexQuery query, NaiveEntry entry) => query switch
    {
        MatchAllQuery => true,
        MatchNoneQuery => false,
        TermQuery term => IsEqual(entry, Field(term.Field), term.Value),
        InQuery list => list.Values.Any(value => IsEqual(entry, Field(list.Field), value)),
        AllInQuery list => list.Values.All(value => IsEqual(entry, Field(list.Field), value)),
        RangeQuery range => InRange(entry, range),
        PrefixQuery prefix => AnyTerm(
            entry, Field(prefix.Field), term => term.StartsWith(Folded(prefix.Field, prefix.Prefix), StringComparison.Ordinal)),
        SuffixQuery suffix => AnyTerm(
            entry, Field(suffix.Field), term => term.EndsWith(Folded(suffix.Field, suffix.Suffix), StringComparison.Ordinal)),
        ExistsQuery exists => entry.Has(Field(exists.Field)),
        FullTextQuery text => FullText(entry, text),
        PhraseQuery phrase =>
            PhraseFrequency(entry, Field(phrase.Field), NaiveText.Words(phrase.Text), phrase.Slop, phrase.Ordered) > 0,
        TextQuery text when Analysis(Field(text.Field)) != FieldAnalysis.FullText =>
            IsEqual(entry, Field(text.Field), FieldValue.Of(text.Text)),
        TextQuery text => Matches(new PhraseQuery(text.Field, text.Text, text.Slop), entry),
        ContainsQuery part =>
            AnyTerm(entry, Field(part.Field), term => term.Contains(Folded(part.Field, part.Text), StringComparison.Ordinal)),
        WildcardQuery wildcard => AnyTerm(
            entry, Field(wildcard.Field), term => NaivePatterns.IsWildcard(term, Folded(wildcard.Field, wildcard.Pattern))),
        RegexQuery regex => AnyTerm(entry, Field(regex.Field), term => IsRegex(term, regex)),
        FuzzyQuery fuzzy => FuzzyWords(fuzzy) is { Count: > 0 } words
            && words.TrueForAll(word => AnyTerm(entry, Field(fuzzy.Field), term => IsNear(term, word, fuzzy))),
        AndQuery all => all.Clauses.All(clause => Matches(clause, entry)),
        OrQuery any => any.Clauses.Any(clause => Matches(clause, entry)),
        NotQuery not => !Matches(not.Clause, entry),
        BoostQuery boost => Matches(boost.Clause, entry),
        _ => throw new NotSupportedException(query.GetType().Name),
    };

    private List<string> FuzzyWords(FuzzyQuery fuzzy) => NaiveText.Terms(Analysis(Field(fuzzy.Field)), FieldValue.Of(fuzzy.Text));

    private static bool IsNear(string term, string word, FuzzyQuery fuzzy)
    {
        int edits = fuzzy.Similarity >= 1
            ? (int)fuzzy.Similarity
            : Math.Min(2, (int)((1 - (decimal)fuzzy.Similarity) * word.EnumerateRunes().Count()));
        return edits == 0 ? term == word : NaivePatterns.IsNear(term, word, edits, fuzzy.Prefix);
    }

    /// <summary>The platform's, which is right for the characters and expressions of the tests.</summary>
    private static bool IsRegex(string term, RegexQuery regex)
    {
        string pattern = regex.IsWhole ? $"^(?:{regex.Pattern})$" : regex.Pattern;
        return System.Text.RegularExpressions.Regex.IsMatch(
            term, pattern,
            System.Text.RegularExpressions.RegexOptions.CultureInvariant
                | System.Text.RegularExpressions.RegexOptions.NonBacktracking);
    }

    public int Field(string name) => schema.IndexOf(name);

    private FieldAnalysis Analysis(int field) => schema.Fields[field].Analysis;

    private string Folded(string field, string text) =>
        Analysis(Field(field)) == FieldAnalysis.Keyword ? text : NaiveText.Fold(text);

    /// <summary>The number that the entry sorts by; null if that is none.</summary>
    public double? FirstNumber(NaiveEntry entry, int field) =>
        SortValue(entry, new SortKey(schema.Fields[field].Name, SortKind.Double)) is { } value
            ? NaiveText.IsNumber(value) && value.Kind == FieldValueKind.Long ? value.Long : value.Double
            : null;

    /// <summary>The terms of an entry.</summary>
    public IEnumerable<string> TermsOf(NaiveEntry entry, int field) => Terms(entry, field);

    private IEnumerable<string> Terms(NaiveEntry entry, int field) =>
        entry.Of(field).SelectMany(value => NaiveText.Terms(Analysis(field), value));

    private bool AnyTerm(NaiveEntry entry, int field, Func<string, bool> test) => Terms(entry, field).Any(test);

    private bool IsEqual(NaiveEntry entry, int field, FieldValue value)
    {
        if (value.Kind == FieldValueKind.Null)
            return !entry.Has(field) || entry.Of(field).Any(NaiveText.IsNull);
        if (NaiveText.IsNull(value))
            return false;
        if (NaiveText.IsNumber(value) && Analysis(field) != FieldAnalysis.FullText)
            return entry.Of(field).Any(mine => NaiveText.IsNumber(mine) && NaiveText.CompareNumbers(mine, value) == 0);

        List<string> wanted = NaiveText.Terms(Analysis(field), value);
        return wanted.Count > 0 && wanted.All(term => Terms(entry, field).Contains(term));
    }

    private bool InRange(NaiveEntry entry, RangeQuery range)
    {
        int field = Field(range.Field);
        if ((range.Low ?? range.High) is { } bound && NaiveText.IsNumber(bound) && Analysis(field) != FieldAnalysis.FullText)
        {
            return entry.Of(field).Any(value => NaiveText.IsNumber(value)
                && (range.Low is not { } low || Above(NaiveText.CompareNumbers(value, low), range.LowInclusive))
                && (range.High is not { } high || Above(NaiveText.CompareNumbers(high, value), range.HighInclusive)));
        }

        return AnyTerm(entry, field, term =>
            (range.Low is not { } low
                || Above(NaiveText.CompareText(term, Folded(range.Field, NaiveText.TextOf(low))), range.LowInclusive))
            && (range.High is not { } high
                || Above(NaiveText.CompareText(Folded(range.Field, NaiveText.TextOf(high)), term), range.HighInclusive)));
    }

    private static bool Above(int order, bool inclusive) => order > 0 || (order == 0 && inclusive);

    private bool FullText(NaiveEntry entry, FullTextQuery query)
    {
        List<NaivePart> parts = NaivePart.Of(query, Analysis(Field(query.Field)));
        bool Hit(NaivePart part) => PartMatches(entry, Field(query.Field), part);
        return parts.Count > 0 && (query.All ? parts.All(Hit) : parts.Any(Hit));
    }

    private bool PartMatches(NaiveEntry entry, int field, NaivePart part) => part.IsPhrase
        ? PhraseFrequency(entry, field, [.. part.Words.Select(word => word.Text)], slop: 0, ordered: false) > 0
        : part.Words.All(word => AnyTerm(entry, field, term => Matches(term, word)));

    private static double PhraseFrequency(NaiveEntry entry, int field, List<string> words, int slop, bool ordered) =>
        NaivePhrase.Frequency(
            NaiveText.Positions(entry.Of(field)).ToLookup(place => place.Word, place => place.Position), words, slop, ordered);

    private static bool Matches(string term, (string Text, bool Prefix, bool Suffix) word) => (word.Prefix, word.Suffix) switch
    {
        (true, true) => term.Contains(word.Text, StringComparison.Ordinal),
        (true, false) => term.StartsWith(word.Text, StringComparison.Ordinal),
        (false, true) => term.EndsWith(word.Text, StringComparison.Ordinal),
        _ => term == word.Text,
    };

    private double Score(IndexQuery query, NaiveEntry entry, double boost)
    {
        switch (query)
        {
            case NotQuery:
                return 0;
            case BoostQuery inner:
                return Score(inner.Clause, entry, boost * inner.Factor);
            case AndQuery all:
                return Matches(query, entry) ? all.Clauses.Sum(clause => Score(clause, entry, boost)) : 0;
            case OrQuery any:
                return any.Clauses.Sum(clause => Score(clause, entry, boost));
            case FullTextQuery text:
                return ScoreParts(entry, text, boost);
            case PhraseQuery phrase:
                return boost * ScorePhrase(entry, Field(phrase.Field), NaiveText.Words(phrase.Text), phrase.Slop, phrase.Ordered);
            case TextQuery text when Analysis(Field(text.Field)) == FieldAnalysis.FullText:
                return Score(new PhraseQuery(text.Field, text.Text, text.Slop), entry, boost);
            case FuzzyQuery fuzzy:
                return Matches(query, entry) ? boost * FuzzyWords(fuzzy).Count : 0;
            case AllInQuery list:
                return Matches(query, entry)
                    ? Math.Max(0, list.Values.Distinct().Sum(value => Score(new TermQuery(list.Field, value), entry, boost)))
                    : 0;
            default:
                return Matches(query, entry) ? boost : 0;
        }
    }

    private double ScoreParts(NaiveEntry entry, FullTextQuery query, double boost)
    {
        if (!FullText(entry, query))
            return 0;

        int field = Field(query.Field);
        double sum = 0;
        foreach (NaivePart part in NaivePart.Of(query, Analysis(field)).Where(part => PartMatches(entry, field, part)))
        {
            if (part.IsPhrase)
            {
                sum += boost * ScorePhrase(entry, field, [.. part.Words.Select(word => word.Text)], slop: 0, ordered: false);
                continue;
            }

            foreach ((string text, bool prefix, bool suffix) in part.Words)
                sum += prefix || suffix || Analysis(field) != FieldAnalysis.FullText
                    ? boost
                    : boost * TermScore(entry, field, text);
        }

        return sum;
    }

    private double ScorePhrase(NaiveEntry entry, int field, List<string> words, int slop, bool ordered)
    {
        double frequency = PhraseFrequency(entry, field, words, slop, ordered);
        return words.Count == 1 && frequency > 0
            ? TermScore(entry, field, words[0])
            : words.Sum(word => Idf(field, word)) * Saturated(entry, field, frequency);
    }

    private double TermScore(NaiveEntry entry, int field, string term) =>
        Idf(field, term) * Saturated(entry, field, Terms(entry, field).Count(mine => mine == term));

    private double Saturated(NaiveEntry entry, int field, double frequency)
    {
        double average = _byKey.Values.Select(other => Terms(other, field).Count()).Where(length => length > 0).Average();
        return frequency / (frequency + (Bm25.K1 * (1 - Bm25.B + (Bm25.B * Terms(entry, field).Count() / average))));
    }

    private double Idf(int field, string term)
    {
        int entries = _byKey.Values.Count(other => Terms(other, field).Any());
        int documents = _byKey.Values.Count(other => Terms(other, field).Contains(term));
        return Math.Log(1 + ((entries - documents + 0.5) / (documents + 0.5)));
    }

    private int Compare(NaiveEntry x, NaiveEntry y, SortKey sort)
    {
        FieldValue? left = SortValue(x, sort);
        FieldValue? right = SortValue(y, sort);
        if (left is null || right is null)
        {
            if (left is null && right is null)
                return 0;
            bool first = sort.NullsFirst ?? !sort.Descending;
            return (left is null) == first ? -1 : 1;
        }

        int order = sort.Kind switch
        {
            SortKind.Long or SortKind.Double => NaiveText.CompareNumbers(left.Value, right.Value),
            SortKind.AlphaNumeric => NaiveText.CompareAlphaNumeric(left.Value.Text!, right.Value.Text!), // texts by SortValue
            _ => NaiveText.CompareText(left.Value.Text!, right.Value.Text!), // texts by SortValue
        };
        return Direct(order, sort);
    }

    private static int Direct(int order, SortKey sort) => sort.Descending ? -order : order;

    /// <summary>The first value that is not null, as the kind of order sees it.</summary>
    private FieldValue? SortValue(NaiveEntry entry, SortKey sort)
    {
        int field = Field(sort.Field);
        FieldValue value = entry.Of(field).FirstOrDefault(mine => !NaiveText.IsNull(mine));
        if (NaiveText.IsNull(value))
            return null;
        if (sort.Kind is SortKind.Text or SortKind.AlphaNumeric)
            return FieldValue.Of(NaiveText.Terms(Analysis(field), value)[0]);
        if (!NaiveText.IsNumber(value))
            return null;
        if (sort.Kind == SortKind.Double)
            return value.Kind == FieldValueKind.Double ? value : FieldValue.Of((double)value.Long);

        // Conversion in .NET saturates, as the index does.
        return value.Kind == FieldValueKind.Long ? value : FieldValue.Of((long)value.Double);
    }
}
