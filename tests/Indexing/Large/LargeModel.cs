using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;

namespace Treepie.Indexing.Tests.Large;

/// <summary>
/// An entry as it was put: words of the text by value and position, of the title, and what its other fields have.
/// </summary>
public sealed record LargeEntry(
    string Key, string[][] Text, string[] Title, FieldValue[] Numbers, string[] Kinds, FieldValue Boost);

/// <summary>
/// The oracle for indexes of many entries: by word the entries that have it, and nothing else. Every clause is evaluated over all
/// entries; scores are BM25 in double precision. Entries are numbered in the order of their ids.
/// </summary>
public sealed class LargeModel
{
    private readonly Dictionary<string, LargeEntry> _byKey = new(StringComparer.Ordinal);
    private readonly Dictionary<string, long> _order = new(StringComparer.Ordinal);
    private readonly List<Dictionary<string, List<(int Entry, int Frequency)>>> _words = [[], []];
    private readonly Dictionary<string, List<int>> _kinds = [];
    private LargeEntry[] _entries = [];
    private int[][] _lengths = [[], []];
    private readonly int[] _withTerms = new int[2];
    private readonly double[] _averages = new double[2];
    private readonly Dictionary<string, int> _places = new(StringComparer.Ordinal);
    private long _next;

    public IReadOnlyList<LargeEntry> Entries => _entries;

    public int Count => _entries.Length;

    /// <summary>Words of the texts, those together that about as many entries have.</summary>
    public List<List<string>> WordsByCount { get; private set; } = [];

    /// <summary>The number of an entry.</summary>
    public int PlaceOf(string key) => _places[key];

    public void Put(LargeEntry entry)
    {
        _byKey[entry.Key] = entry;
        _order[entry.Key] = _next++;
    }

    public void Delete(string key)
    {
        _byKey.Remove(key);
        _order.Remove(key);
    }

    public LargeModel Copy()
    {
        var copy = new LargeModel { _next = _next };
        foreach ((string key, LargeEntry entry) in _byKey)
            (copy._byKey[key], copy._order[key]) = (entry, _order[key]);
        return copy;
    }

    /// <summary>Takes what was put and deleted.</summary>
    public void Commit()
    {
        _entries = [.. _byKey.Values.OrderBy(entry => _order[entry.Key])];
        _lengths = [new int[_entries.Length], new int[_entries.Length]];
        _words.ForEach(field => field.Clear());
        _kinds.Clear();
        _places.Clear();
        for (int i = 0; i < _entries.Length; i++)
        {
            _places[_entries[i].Key] = i;
            foreach (string[] value in _entries[i].Text)
                AddWords(0, i, value);
            AddWords(1, i, _entries[i].Title);
            foreach (string kind in _entries[i].Kinds.Distinct())
            {
                if (!_kinds.TryGetValue(kind, out List<int>? list))
                    _kinds[kind] = list = [];
                list.Add(i);
            }
        }

        WordsByCount = [
            .. _words[0].GroupBy(word => (int)(2 * Math.Log2(word.Value.Count)))
                .Select(group => group.Select(word => word.Key).Order(StringComparer.Ordinal).ToList())];
        for (int field = 0; field < 2; field++)
        {
            _withTerms[field] = _lengths[field].Count(length => length > 0);
            _averages[field] = _lengths[field].Sum(length => (long)length) / (double)Math.Max(1, _withTerms[field]);
        }
    }

    private void AddWords(int field, int entry, string[] text)
    {
        _lengths[field][entry] += text.Length;
        foreach (string word in text)
        {
            if (!_words[field].TryGetValue(word, out List<(int Entry, int Frequency)>? list))
                _words[field][word] = list = [];
            if (list.Count > 0 && list[^1].Entry == entry)
                list[^1] = (entry, list[^1].Frequency + 1);
            else
                list.Add((entry, 1));
        }
    }

    /// <summary>Which entries match, and what each scores.</summary>
    public LargeAnswer Ask(IndexQuery query, bool hasBoosts)
    {
        LargeAnswer answer = Ask(query, 1.0);
        for (int i = 0; hasBoosts && i < _entries.Length; i++)
            if (NaiveText.IsNumber(_entries[i].Boost))
                answer.Scores[i] *= BoostLimits.OfEntry(Number(_entries[i].Boost));
        return answer;
    }

    private LargeAnswer Ask(IndexQuery query, double boost)
    {
        switch (query)
        {
            case BoostQuery inner:
                return Ask(inner.Clause, boost * inner.Factor);
            case NotQuery not:
                LargeAnswer inside = Ask(not.Clause, boost);
                return Where(i => !inside.Hits[i], 0);
            case AndQuery all:
                return All([.. all.Clauses.Select(clause => Ask(clause, boost))]);
            case OrQuery any:
                return Any([.. any.Clauses.Select(clause => Ask(clause, boost))]);
            case FullTextQuery text:
                LargeAnswer[] parts =
                    [.. NaivePart.Of(text, FieldAnalysis.FullText).Select(part => Part(Field(text.Field), part, boost))];
                return parts.Length == 0 ? Where(_ => false, 0) : text.All ? All(parts) : Any(parts);
            case PhraseQuery phrase:
                return Phrase(
                    Field(phrase.Field), phrase.Text.Split(' ', StringSplitOptions.RemoveEmptyEntries), phrase.Slop,
                    phrase.Ordered, boost);
            case PrefixQuery prefix:
                return Words(Field(prefix.Field), word => word.StartsWith(prefix.Prefix, StringComparison.Ordinal), boost);
            case WildcardQuery wildcard:
                return Words(Field(wildcard.Field), word => NaivePatterns.IsWildcard(word, wildcard.Pattern), boost);
            case FuzzyQuery fuzzy:
                return Words(
                    Field(fuzzy.Field), word => NaivePatterns.IsNear(word, fuzzy.Text, (int)fuzzy.Similarity, fuzzy.Prefix),
                    boost);
            case TermQuery { Field: "kind" } term:
                return Of(_kinds.GetValueOrDefault(term.Value.Text!, []), boost); // a text
            case InQuery { Field: "kind" } list:
                return Of(list.Values.SelectMany(value => _kinds.GetValueOrDefault(value.Text!, [])), boost); // texts
            case TermQuery number:
                double equal = Number(number.Value);
                return Where(i => Array.Exists(_entries[i].Numbers, value => Number(value) == equal), boost);
            case RangeQuery range:
                return Where(i => Array.Exists(_entries[i].Numbers, value => IsIn(value, range)), boost);
            case MatchAllQuery:
                return Where(_ => true, boost);
            case MatchNoneQuery:
                return Where(_ => false, boost);
            default:
                throw new NotSupportedException(query.GetType().Name);
        }
    }

    /// <summary>A number as a double, which those of the data are without loss.</summary>
    public static double Number(FieldValue value) => value.Kind == FieldValueKind.Long ? value.Long : value.Double;

    private static int Field(string name) => name == "text" ? 0 : 1;

    private static bool IsIn(FieldValue value, RangeQuery range) =>
        (range.Low is not { } low || IsAbove(Number(value).CompareTo(Number(low)), range.LowInclusive))
        && (range.High is not { } high || IsAbove(Number(high).CompareTo(Number(value)), range.HighInclusive));

    private static bool IsAbove(int order, bool inclusive) => order > 0 || (order == 0 && inclusive);

    private LargeAnswer Where(Func<int, bool> test, double score)
    {
        var answer = new LargeAnswer(_entries.Length);
        for (int i = 0; i < _entries.Length; i++)
            if (test(i))
                (answer.Hits[i], answer.Scores[i]) = (true, score);
        return answer;
    }

    private LargeAnswer Of(IEnumerable<int> hits, double score)
    {
        var answer = new LargeAnswer(_entries.Length);
        foreach (int i in hits)
            (answer.Hits[i], answer.Scores[i]) = (true, score);
        return answer;
    }

    private LargeAnswer Words(int field, Func<string, bool> test, double score) =>
        Of(_words[field].Where(pair => test(pair.Key)).SelectMany(pair => pair.Value.Select(posting => posting.Entry)), score);

    private static LargeAnswer All(LargeAnswer[] clauses)
    {
        var answer = new LargeAnswer(clauses[0].Hits.Length);
        for (int i = 0; i < answer.Hits.Length; i++)
        {
            bool hit = true;
            double sum = 0;
            foreach (LargeAnswer clause in clauses)
            {
                hit &= clause.Hits[i];
                sum += clause.Scores[i];
            }

            (answer.Hits[i], answer.Scores[i]) = (hit, hit ? sum : 0);
        }

        return answer;
    }

    private static LargeAnswer Any(LargeAnswer[] clauses)
    {
        var answer = new LargeAnswer(clauses[0].Hits.Length);
        foreach (LargeAnswer clause in clauses)
        {
            for (int i = 0; i < answer.Hits.Length; i++)
            {
                answer.Hits[i] |= clause.Hits[i];
                answer.Scores[i] += clause.Scores[i];
            }
        }

        return answer;
    }

    private LargeAnswer Part(int field, NaivePart part, double boost)
    {
        if (part.IsPhrase)
            return Phrase(field, [.. part.Words.Select(word => word.Text)], 0, false, boost);
        return All([.. part.Words.Select(word => (word.Prefix, word.Suffix) switch
        {
            (false, false) => Word(field, word.Text, boost),
            (true, false) =>
                Words(field, other => other.StartsWith(word.Text, StringComparison.Ordinal), boost * FieldBoost(field)),
            (false, true) =>
                Words(field, other => other.EndsWith(word.Text, StringComparison.Ordinal), boost * FieldBoost(field)),
            _ => Words(field, other => other.Contains(word.Text, StringComparison.Ordinal), boost * FieldBoost(field)),
        })]);
    }

    private LargeAnswer Word(int field, string word, double boost)
    {
        var answer = new LargeAnswer(_entries.Length);
        double weight = boost * FieldBoost(field) * Idf(field, word), average = _averages[field];
        foreach ((int i, int frequency) in _words[field].GetValueOrDefault(word, []))
            (answer.Hits[i], answer.Scores[i]) = (true, weight * Saturated(field, i, frequency, average));
        return answer;
    }

    private LargeAnswer Phrase(int field, string[] phrase, int slop, bool ordered, double boost)
    {
        var answer = new LargeAnswer(_entries.Length);
        if (phrase.Length == 0)
            return answer;
        if (phrase.Length == 1)
            return Word(field, phrase[0], boost);
        double weight = boost * FieldBoost(field) * phrase.Sum(word => Idf(field, word)), average = _averages[field];
        IEnumerable<int> candidates = phrase.Distinct()
            .Select(word => _words[field].GetValueOrDefault(word, []).Select(posting => posting.Entry))
            .Aggregate((x, y) => x.Intersect(y));
        foreach (int i in candidates)
        {
            double frequency = NaivePhrase.Frequency(
                Positions(field == 0 ? _entries[i].Text : [_entries[i].Title]), phrase, slop, ordered);
            if (frequency > 0)
                (answer.Hits[i], answer.Scores[i]) = (true, weight * Saturated(field, i, frequency, average));
        }

        return answer;
    }

    /// <summary>The words of values by position: between two of them there is a gap.</summary>
    private static ILookup<string, int> Positions(string[][] values)
    {
        int first = 0;
        var places = new List<(string Word, int Position)>();
        foreach (string[] value in values)
        {
            places.AddRange(value.Select((word, i) => (word, first + i)));
            first += value.Length > 0 ? value.Length + 100 : 0;
        }

        return places.ToLookup(place => place.Word, place => place.Position);
    }

    private static double FieldBoost(int field) => field == 0 ? 1 : LargeData.TitleBoost;

    private double Idf(int field, string word) => Bm25.Idf(_withTerms[field], _words[field].GetValueOrDefault(word, []).Count);

    private double Saturated(int field, int entry, double frequency, double average) =>
        frequency / (frequency + (Bm25.K1 * (1 - Bm25.B + (Bm25.B * _lengths[field][entry] / average))));
}

/// <summary>By entry, whether it matches, and what it scores.</summary>
public sealed record LargeAnswer(bool[] Hits, double[] Scores)
{
    public LargeAnswer(int entries)
        : this(new bool[entries], new double[entries])
    {
    }

    public int Total => Hits.Count(hit => hit);
}
