using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Tests.Model;

/// <summary>Random entries and queries from small alphabets, so that values meet: any kind of value in any field.</summary>
public sealed class RandomData(Random random, bool singleValues = false)
{
    public static readonly IndexSchema Schema = new(
    [
        new IndexField("name"),
        new IndexField("tag", FieldAnalysis.Keyword),
        new IndexField("number"),
        new IndexField("text", FieldAnalysis.FullText),
        new IndexField("mixed"),
        new IndexField("rare"),
    ]);

    /// <summary>Kinds of <see cref="Leaf"/>.</summary>
    public const int Leaves = 17;

    private static readonly string[] _words =
        ["a", "b", "ab", "abc", "ABC", "Abd", "zebra", "Ärger", "ärger", "ΣΊΣΥΦΟΣ", "σίσυφος", "x10", "x9", "x009", "10", "9", "5", "true", "", "éa", "longer than eight", "longer than nine", "longer THAN eight"];

    private static readonly double[] _doubles =
    [
        0, -0.0, 0.5, -0.5, 5, 5.5, 1e18, -1e18, 9007199254740992, 1e300, double.PositiveInfinity, double.NegativeInfinity,
        double.NaN, 9.3e18
    ];
    private static readonly long[] _longs =
        [0, 1, -1, 5, 10, 9, 9007199254740993, 9007199254740992, long.MaxValue, long.MinValue, long.MaxValue - 1];

    private readonly RandomPatterns _patterns = new(random);

    public IEnumerable<(int Field, FieldValue Value)> Entry()
    {
        for (int field = 0; field < Schema.Fields.Count; field++)
        {
            int values = field == 5
                ? (random.Next(50) == 0 ? 1 : 0)
                : random.Next(10) switch { 0 => 0, 1 when !singleValues => 2, 2 when !singleValues => 3, _ => 1 };
            for (int i = 0; i < values; i++)
                yield return (field, Value(field));
        }
    }

    /// <summary>A range over a field, of numbers or of texts.</summary>
    public RangeQuery Range(string name)
    {
        FieldValue low = Value(4);
        FieldValue high = Value(4);
        if (NaiveText.IsNumber(low) != NaiveText.IsNumber(high) || NaiveText.IsNull(low) || NaiveText.IsNull(high))
            (low, high) = (FieldValue.Of(random.NextInt64(-900, 900)), FieldValue.Of(random.Next(-900, 900) / 4.0));
        return new RangeQuery(
            name, random.Next(5) == 0 ? null : low, random.Next(2) == 0, random.Next(5) == 0 ? null : high, random.Next(2) == 0);
    }

    /// <summary>
    /// In data of single values the field "number" holds nothing but numbers and nulls, so that it can be walked.
    /// </summary>
    public FieldValue Value(int field) => random.Next(12) switch
    {
        0 => FieldValue.Null,
        1 when field is 4 => FieldValue.Of(random.Next(2) == 0),
        2 or 3 or 4 when field is 4 or 2 => FieldValue.Of(_doubles[random.Next(_doubles.Length)]),
        5 or 6 or 7 when field is 4 or 2 => FieldValue.Of(_longs[random.Next(_longs.Length)]),
        _ when field is 2 =>
            random.Next(2) == 0 ? FieldValue.Of(random.NextInt64(-1000, 1000)) : FieldValue.Of(random.Next(-4000, 4000) / 4.0),
        _ when field is 3 => FieldValue.Of(Text(random.Next(0, 12))),
        _ => FieldValue.Of(Word()),
    };

    public string Word() =>
        random.Next(4) switch { 0 => _words[random.Next(_words.Length)], 1 => "w" + random.Next(4), _ => "w" + random.Next(60) };

    public string Text(int words) =>
        string.Join(random.Next(2) == 0 ? " " : " - ", Enumerable.Range(0, words).Select(_ => Word()));

    public SearchRequest Request()
    {
        var sort = new List<SortKey>();
        for (int i = random.Next(4) - 1; i > 0; i--)
        {
            string field = Schema.Fields[random.Next(5) switch { 3 => 5, var other => other }].Name;
            SortKind kind = (SortKind)random.Next(4);
            if (random.Next(8) == 0)
                kind = random.Next(2) == 0 ? SortKind.Key : SortKind.AlphaNumericKey;
            bool? nulls = random.Next(3) switch { 0 => null, 1 => true, _ => false };
            sort.Add(new SortKey(field, kind, random.Next(2) == 0, nulls));
        }

        return new SearchRequest
        {
            Query = Query(3),
            Sort = sort,
            Skip = random.Next(3) == 0 ? random.Next(40) : 0,
            Take = random.Next(3) switch { 0 => long.MaxValue, 1 => random.Next(30), _ => random.Next(200) },
        };
    }

    public IndexQuery Query(int depth)
    {
        if (depth > 0 && random.Next(2) == 0)
        {
            IndexQuery[] clauses = [.. Enumerable.Range(0, random.Next(4)).Select(_ => Query(depth - 1))];
            return random.Next(5) switch
            {
                0 or 1 => new AndQuery(clauses),
                2 or 3 => new OrQuery(clauses),
                _ => random.Next(3) == 0 ? new BoostQuery(Query(depth - 1), random.Next(1, 5)) : new NotQuery(Query(depth - 1)),
            };
        }

        return Leaf(random.Next(Leaves));
    }

    public IndexQuery Leaf(int kind)
    {
        int field = random.Next(Schema.Fields.Count);
        string name = Schema.Fields[field].Name;
        switch (kind)
        {
            case 0:
                return new MatchAllQuery();
            case 1:
                return new MatchNoneQuery();
            case 2:
                return new InQuery(name, [.. Enumerable.Range(0, random.Next(20)).Select(_ => Value(field))]);
            case 3:
                return new AllInQuery(name, [.. Enumerable.Range(0, random.Next(3)).Select(_ => Value(field))]);
            case 4:
                return Range(name);
            case 5:
                return new PrefixQuery(name, Some(Word()));
            case 6:
                return new SuffixQuery(name, Some(Word()));
            case 7:
                return new ExistsQuery(name);
            case 8:
                string text = string.Join(' ', Enumerable.Range(0, random.Next(4)).Select(_ => random.Next(7) switch
                {
                    6 => '"' + string.Join(' ', Enumerable.Range(0, random.Next(1, 4)).Select(_ => Plain())) + '"',
                    0 => Some(Plain()) + "*",
                    1 => "*" + Some(Plain()),
                    2 => "*" + Some(Plain()) + "*",
                    3 => Plain() + "-" + Plain(),
                    _ => Plain(),
                }));
                return new FullTextQuery(random.Next(4) == 0 ? name : "text", text, random.Next(2) == 0);
            case 9:
                string phrase = string.Join(
                    ' ', Enumerable.Range(0, random.Next(5)).Select(_ => random.Next(3) == 0 ? Plain() : "w" + random.Next(4)));
                return new PhraseQuery("text", phrase, random.Next(2) == 0 ? 0 : random.Next(8), random.Next(2) == 0);
            case 10:
                return new ContainsQuery(name, Some(Word()));
            case 11:
                return new WildcardQuery(name, Pattern());
            case 12:
                return new RegexQuery(name, _patterns.Regex(), random.Next(3) == 0);
            case 13:
                float[] similarities = [0, 0.3f, 0.5f, 0.8f, 1, 2];
                return new FuzzyQuery(
                    name, _patterns.Edited(Word()).Replace("\U0001F600", "", StringComparison.Ordinal),
                    similarities[random.Next(similarities.Length)], random.Next(3) == 0 ? random.Next(3) : 0);
            case 14:
                return new TextQuery(name, random.Next(3) == 0 ? Text(2) : Word(), random.Next(3));
            default:
                return new TermQuery(name, Value(field));
        }
    }

    /// <summary>A word, some of its characters being wildcards.</summary>
    private string Pattern() =>
        string.Concat(
            Word()
                .Select(
                    c => random.Next(5) switch { 0 => "*", 1 => "?", 2 when random.Next(3) == 0 => c + "*", _ => c.ToString() }));

    private string Plain() => Word().Split(' ')[0];

    private string Some(string word) => word[..random.Next(word.Length + 1)];
}
