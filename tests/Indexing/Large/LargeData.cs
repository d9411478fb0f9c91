using System.Globalization;
using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Tests.Large;

/// <summary>
/// Random entries as large indexes have them, and queries about them: words that nearly all texts have, and some, and few;
/// stretches of entries full of a word that others have not, or without one that all others have, or alike to the last word;
/// texts of some words and of hundreds.
/// </summary>
public sealed class LargeData
{
    public const float TitleBoost = 2.5f;

    /// <summary>Words of which each is in a part of all texts.</summary>
    private static readonly double[] _often = [0.97, 0.8, 0.5, 0.3, 0.15, 0.08, 0.04, 0.03, 0.02, 0.01];

    private readonly Random _random;
    private readonly LargeModel _model;
    private readonly int _stretch;
    private readonly int _vocabulary;
    private readonly double _skew;
    private readonly int _longest;
    private readonly bool _hasSeveralValues;
    private readonly bool _areWhole;
    private readonly bool _areComplete;

    /// <param name="random">Draws.</param>
    /// <param name="model">The entries that are asked about.</param>
    public LargeData(Random random, LargeModel model)
    {
        _random = random;
        _model = model;
        _stretch = random.Next(3) switch { 0 => 4_096, 1 => 2_048, _ => 1 + random.Next(20_000) };
        _vocabulary = new[] { 300, 3_000, 30_000 }[random.Next(3)];
        _skew = 1.5 + (3 * random.NextDouble());
        _longest = new[] { 4, 10, 16 }[random.Next(3)];
        _hasSeveralValues = random.Next(4) == 0;
        (_areWhole, _areComplete) = (random.Next(2) == 0, random.Next(2) == 0);
        HasBoosts = random.Next(6) == 0;
        Schema = new IndexSchema(
        [
            new IndexField("text", FieldAnalysis.FullText),
            new IndexField("title", FieldAnalysis.FullText) { Boost = TitleBoost }, new IndexField("number"),
            new IndexField("kind"),
            .. HasBoosts ? [new IndexField(IndexSchema.BoostField)] : Array.Empty<IndexField>(),
        ]);
    }

    public IndexSchema Schema { get; }

    /// <summary>Whether entries have boosts of their own.</summary>
    public bool HasBoosts { get; }

    public static void Put(IndexBatch batch, LargeEntry entry)
    {
        batch.BeginEntry(Encoding.UTF8.GetBytes(entry.Key));
        foreach (string[] value in entry.Text)
            batch.AddText(0, Encoding.UTF8.GetBytes(string.Join(' ', value)));
        batch.AddText(1, Encoding.UTF8.GetBytes(string.Join(' ', entry.Title)));
        foreach (FieldValue number in entry.Numbers)
            IndexFixture.Add(batch, 2, number);
        foreach (string kind in entry.Kinds)
            batch.AddText(3, Encoding.UTF8.GetBytes(kind));
        if (entry.Boost.Kind != FieldValueKind.Null)
            IndexFixture.Add(batch, 4, entry.Boost);
        batch.EndEntry();
    }

    /// <summary>An entry.</summary>
    /// <param name="key">Its key.</param>
    /// <param name="place">About where its id is.</param>
    /// <param name="growth">How many times as long texts are.</param>
    public LargeEntry Entry(string key, int place, double growth)
    {
        int part = place / _stretch;
        var words = new List<string>();
        if (part % 7 == 3)
        {
            // All alike, or nearly.
            words.AddRange(["w0", "w1", "all" + (part % 3)]);
            if (_random.Next(500) == 0)
                words.Add("w" + _random.Next(_often.Length));
        }
        else
        {
            for (int i = 0; i < _often.Length; i++)
                if (part % 11 != i && _random.NextDouble() < _often[i])
                    words.Add("w" + i);
            if (part % 5 == 1)
                words.Add(_random.Next(40) > 0 ? "all" + (part % 3) : "w" + _random.Next(60));
            for (int i = _random.Next(_longest); i > 0; i--)
                words.Add(_random.Next(8) == 0 ? "c" + (part % 13) : Word());
        }

        int more = _random.Next(400) switch { 0 => _random.Next(250, 700), < 4 => _random.Next(30, 260), _ => 0 };
        for (int i = 0; i < more; i++)
            words.Add(Word());
        if (_random.Next(30) == 0 && words.Count > 0)
            words.AddRange(
                Enumerable.Repeat(words[_random.Next(words.Count)], _random.Next(3) == 0 ? _random.Next(1, 40) : _random.Next(1, 5)));
        for (double left = words.Count * (growth - 1); left >= 1; left--)
            words.Add(Word());
        string[] text = [.. words];
        if (_random.Next(4) > 0)
            _random.Shuffle(text);
        int cut = _random.Next(30) == 0 ? _random.Next(text.Length + 1) : text.Length;
        return new LargeEntry(
            key,
            cut == text.Length ? [text] : [text[..cut], text[cut..]],
            _random.Next(3) == 0
                ? []
                : [.. Enumerable.Range(0, _random.Next(1, 5)).Select(_ => _random.Next(2) == 0 ? Word() : "w" + _random.Next(6))],
            [.. Enumerable.Range(0, _random.Next(12) switch { 0 when !_areComplete => 0, 1 when _hasSeveralValues => 2, _ => 1 })
                .Select(_ => Number(place))],
            [.. Enumerable.Range(0, _random.Next(20) switch { 0 => 0, 1 when _hasSeveralValues => 2, _ => 1 })
                .Select(_ => Kind(place))],
            HasBoosts && _random.Next(4) == 0
                ? FieldValue.Of(_random.Next(5) == 0 ? _random.Next(1, 9) : _random.NextDouble() + 0.01)
                : FieldValue.Null);
    }

    private FieldValue Number(int place) => _random.Next(6) switch
    {
        0 when !_areWhole => FieldValue.Of(_random.Next(4_000) / 4.0),
        1 => FieldValue.Of((long)place),
        2 => FieldValue.Of((long)(place / 3_000)),
        _ => FieldValue.Of((long)_random.Next(-200, 1_000)),
    };

    private string Kind(int place) =>
        _random.Next(3) switch
        {
            0 => "k" + (place / (4 * _stretch)),
            1 => "k" + _random.Next(4),
            _ =>
            "k" + (int)(Math.Pow(_random.NextDouble(), 6) * 80)
        };

    private string Word() => "w" + (int)(Math.Pow(_random.NextDouble(), _skew) * _vocabulary);

    /// <summary>
    /// A word to ask for: one that as many entries have as any other number, in powers of 2, or one that perhaps none has.
    /// </summary>
    private string Asked() => _random.Next(12) switch
    {
        0 => "c" + _random.Next(13),
        1 => "w" + _random.Next(_vocabulary),
        2 => _random.Next(10) == 0 ? "nowhere" : "all" + _random.Next(3),
        < 5 => "w" + _random.Next(_often.Length),
        _ when _model.WordsByCount.Count > 0 => Of(_model.WordsByCount[_random.Next(_model.WordsByCount.Count)]),
        _ => Word(),
    };

    private string Of(List<string> words) => words[_random.Next(words.Count)];

    /// <summary>Nothing but words, perhaps with boosts around them.</summary>
    public IndexQuery Words() => _random.Next(6) == 0
        ? Boosted(new FullTextQuery(Field(), Words(7), _random.Next(2) == 0))
        : new FullTextQuery(Field(), Words(7), _random.Next(3) > 0);

    /// <summary>Words, some of them mostly more than once; those of an entry, or any.</summary>
    private string Words(int most)
    {
        int count = _random.Next(3) == 0 ? _random.Next(1, most + 1) : _random.Next(2, 4);
        string[] words = _random.Next(3) == 0 ? OfEntry(count) : [.. Enumerable.Range(0, count).Select(_ => Asked())];
        for (int i = _random.Next(4); i == 0; i = _random.Next(2))
            words[_random.Next(words.Length)] = words[_random.Next(words.Length)];
        if (_random.Next(3) == 0 && words.Length < most)
            words = [.. words, words[_random.Next(words.Length)]];
        return string.Join(' ', words);
    }

    /// <summary>Words that stand together in an entry, or anywhere in it.</summary>
    private string[] OfEntry(int count)
    {
        string[] text = _model.Count == 0 ? [] : _model.Entries[_random.Next(_model.Count)].Text[0];
        if (text.Length == 0)
            return ["w0"];
        int start = _random.Next(text.Length);
        return _random.Next(2) == 0
            ? text[start..Math.Min(text.Length, start + count)]
            : [.. Enumerable.Range(0, count).Select(_ => text[_random.Next(text.Length)])];
    }

    private string Field() => _random.Next(5) == 0 ? "title" : "text";

    public IndexQuery Query(int depth)
    {
        if (depth == 0 || _random.Next(3) > 0)
            return Leaf();
        IndexQuery[] clauses = [.. Enumerable.Range(0, _random.Next(1, 5)).Select(_ => Query(depth - 1))];
        return _random.Next(7) switch
        {
            0 or 1 or 2 => new AndQuery(clauses),
            3 => new AndQuery([.. clauses, new NotQuery(Query(depth - 1))]),
            4 => Boosted(clauses[0]),
            _ => new OrQuery(clauses),
        };
    }

    private BoostQuery Boosted(IndexQuery query) =>
        new(query, _random.Next(6) switch { 0 => 0, 1 => 0.001f, 2 => 1_000, _ => _random.Next(1, 12) / 4f });

    private IndexQuery Leaf() => _random.Next(16) switch
    {
        < 4 => new FullTextQuery(Field(), Words(7), All: true),
        < 7 => new FullTextQuery(Field(), Words(7), All: false),
        7 => new FullTextQuery(Field(), Asked(), All: false),
        8 => new PhraseQuery(Field(), Words(4), _random.Next(2) * _random.Next(4), _random.Next(2) == 0),
        9 => new FullTextQuery(Field(), $"\"{Asked()} {Asked()}\" {(_random.Next(2) == 0 ? Words(3) : "")}", _random.Next(2) == 0),
        10 => Pattern(),
        11 => _random.Next(4) == 0
            ? new TermQuery("number", Number(_random.Next(200_000)))
            : new TermQuery("kind", FieldValue.Of("k" + _random.Next(50))),
        12 => new InQuery("kind", [.. Enumerable.Range(0, _random.Next(1, 5)).Select(_ => FieldValue.Of("k" + _random.Next(60)))]),
        13 => Boosted(new FullTextQuery(Field(), Words(4), _random.Next(2) == 0)),
        14 when _random.Next(3) == 0 => new MatchAllQuery(),
        _ => Range(),
    };

    private IndexQuery Pattern() => _random.Next(5) switch
    {
        0 => new PrefixQuery(Field(), "w" + _random.Next(1, 400).ToString(CultureInfo.InvariantCulture)),
        1 => new WildcardQuery(Field(), "w?" + _random.Next(10)),
        2 => new FuzzyQuery(Field(), Asked(), Similarity: 1, Prefix: _random.Next(3)),
        3 => new FullTextQuery(Field(), $"{Asked()} w{_random.Next(1, 99)}*", _random.Next(2) == 0),
        _ => new FullTextQuery(Field(), $"*{_random.Next(10, 99)} {Words(2)}", _random.Next(2) == 0),
    };

    /// <summary>Hits of a word, or what else, in a range of numbers.</summary>
    public IndexQuery InRange() =>
        new AndQuery(_random.Next(2) == 0 ? [new FullTextQuery(Field(), Asked(), All: true), Range()] : [Range(), Leaf()]);

    private RangeQuery Range()
    {
        FieldValue? low = _random.Next(5) == 0 ? null : Number(_random.Next(150_000)),
            high = _random.Next(5) == 0 ? null : Number(_random.Next(150_000));
        return new RangeQuery("number", low, _random.Next(2) == 0, high, _random.Next(2) == 0);
    }
}
