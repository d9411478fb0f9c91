using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Tests.Model;

/// <summary>The oracle: entries in a list, every query a scan over all of them, every order a full sort.</summary>
public sealed class NaiveIndex(IndexSchema schema)
{
    private readonly Dictionary<string, NaiveEntry> byKey = new(StringComparer.Ordinal);
    private long next;

    public IndexSchema Schema => schema;

    public int Count => byKey.Count;

    public IReadOnlyCollection<NaiveEntry> Entries => byKey.Values;

    public void Put(string key, IEnumerable<(int Field, FieldValue Value)> values)
    {
        var fields = System.Collections.Immutable.ImmutableDictionary<int, System.Collections.Immutable.ImmutableList<FieldValue>>.Empty;
        foreach ((int field, FieldValue value) in values)
            fields = fields.SetItem(field, fields.GetValueOrDefault(field, []).Add(value));
        byKey[key] = new NaiveEntry(key, next++, fields);
    }

    public void Delete(string key) => byKey.Remove(key);

    public NaiveIndex Copy()
    {
        var copy = new NaiveIndex(schema) { next = next };
        foreach ((string key, NaiveEntry entry) in byKey)
            copy.byKey.Add(key, entry);
        return copy;
    }

    /// <summary>Keys and scores of all hits, in order.</summary>
    public List<(string Key, double Score)> Search(SearchRequest request, Func<NaiveEntry, ulong>? random = null)
    {
        bool scored = request.Sort.Any(sort => sort.Kind == SortKind.Score);
        List<(NaiveEntry Entry, double Score)> hits =
            [.. byKey.Values.OrderBy(entry => entry.Order).Where(entry => Matches(request.Query, entry))
                .Select(entry => (entry, scored ? Score(request.Query, entry, 1) : 0))];
        IOrderedEnumerable<(NaiveEntry Entry, double Score)> ordered = hits.OrderBy(_ => 0);
        foreach (SortKey sort in request.Sort)
        {
            ordered = ordered.ThenBy(hit => hit, Comparer<(NaiveEntry Entry, double Score)>.Create((x, y) =>
                sort.Kind switch
                {
                    SortKind.Score => Direct(x.Score.CompareTo(y.Score), sort),
                    SortKind.Random => random!(x.Entry).CompareTo(random(y.Entry)), // given where random orders are asked for
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
        PrefixQuery prefix => AnyTerm(entry, Field(prefix.Field), term => term.StartsWith(Folded(prefix.Field, prefix.Prefix), StringComparison.Ordinal)),
        SuffixQuery suffix => AnyTerm(entry, Field(suffix.Field), term => term.EndsWith(Folded(suffix.Field, suffix.Suffix), StringComparison.Ordinal)),
        ExistsQuery exists => entry.Has(Field(exists.Field)),
        FullTextQuery text => FullText(entry, text),
        AndQuery all => all.Clauses.All(clause => Matches(clause, entry)),
        OrQuery any => any.Clauses.Any(clause => Matches(clause, entry)),
        NotQuery not => !Matches(not.Clause, entry),
        BoostQuery boost => Matches(boost.Clause, entry),
        _ => throw new NotSupportedException(query.GetType().Name),
    };

    private int Field(string name) => schema.IndexOf(name);

    private FieldAnalysis Analysis(int field) => schema.Fields[field].Analysis;

    private string Folded(string field, string text) =>
        Analysis(Field(field)) == FieldAnalysis.Keyword ? text : NaiveText.Fold(text);

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
            (range.Low is not { } low || Above(NaiveText.CompareText(term, Folded(range.Field, NaiveText.TextOf(low))), range.LowInclusive))
            && (range.High is not { } high || Above(NaiveText.CompareText(Folded(range.Field, NaiveText.TextOf(high)), term), range.HighInclusive)));
    }

    private static bool Above(int order, bool inclusive) => order > 0 || (order == 0 && inclusive);

    private bool FullText(NaiveEntry entry, FullTextQuery query)
    {
        List<List<(string Text, bool Prefix, bool Suffix)>> parts = Parts(query);
        bool Hit(List<(string Text, bool Prefix, bool Suffix)> part) => part.All(word => AnyTerm(entry, Field(query.Field), term => Matches(term, word)));
        return parts.Count > 0 && (query.All ? parts.All(Hit) : parts.Any(Hit));
    }

    private static bool Matches(string term, (string Text, bool Prefix, bool Suffix) word) => (word.Prefix, word.Suffix) switch
    {
        (true, true) => term.Contains(word.Text, StringComparison.Ordinal),
        (true, false) => term.StartsWith(word.Text, StringComparison.Ordinal),
        (false, true) => term.EndsWith(word.Text, StringComparison.Ordinal),
        _ => term == word.Text,
    };

    private List<List<(string Text, bool Prefix, bool Suffix)>> Parts(FullTextQuery query)
    {
        var parts = new List<List<(string, bool, bool)>>();
        foreach (string part in query.Text.Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            List<string> words = NaiveText.Terms(Analysis(Field(query.Field)), FieldValue.Of(part.Trim('*')));
            if (part.Trim('*').Length == 0)
                parts.Add([("", true, false)]);
            else if (words.Count > 0)
                parts.Add([.. words.Select((word, i) => (word, part.EndsWith('*') && i == words.Count - 1, part.StartsWith('*') && i == 0))]);
        }

        return parts;
    }

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
            case AllInQuery list:
                return Matches(query, entry) ? Math.Max(0, list.Values.Distinct().Sum(value => Score(new TermQuery(list.Field, value), entry, boost))) : 0;
            default:
                return Matches(query, entry) ? boost : 0;
        }
    }

    private double ScoreParts(NaiveEntry entry, FullTextQuery query, double boost)
    {
        List<List<(string Text, bool Prefix, bool Suffix)>> parts = Parts(query);
        if (!FullText(entry, query))
            return 0;

        int field = Field(query.Field);
        double sum = 0;
        foreach (List<(string Text, bool Prefix, bool Suffix)> part in parts)
        {
            if (!part.All(word => AnyTerm(entry, field, term => Matches(term, word))))
                continue;
            foreach ((string text, bool prefix, bool suffix) in part)
                sum += prefix || suffix || Analysis(field) != FieldAnalysis.FullText ? boost : boost * TermScore(entry, field, text);
        }

        return sum;
    }

    private double TermScore(NaiveEntry entry, int field, string term)
    {
        List<int> lengths = [.. byKey.Values.Select(other => Terms(other, field).Count()).Where(length => length > 0)];
        int frequency = Terms(entry, field).Count(mine => mine == term);
        int documents = byKey.Values.Count(other => Terms(other, field).Contains(term));
        double idf = Math.Log(1 + ((lengths.Count - documents + 0.5) / (documents + 0.5)));
        return idf * frequency / (frequency + (Bm25.K1 * (1 - Bm25.B + (Bm25.B * Terms(entry, field).Count() / lengths.Average()))));
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
