using System.Globalization;
using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Tests.Spatial;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Tests.Model;

/// <summary>
/// Random entries with fields of every kind of analysis, and queries and orders of every kind over them, for tests that compare
/// two indexes which must answer alike.
/// </summary>
internal sealed class EveryKind(Random random)
{
    public static readonly IndexSchema Schema = new(
    [
        new IndexField("name"),
        new IndexField("number"),
        new IndexField("place", FieldAnalysis.Spatial),
        new IndexField("text", FieldAnalysis.FullText),
        new IndexField("vector", FieldAnalysis.Vector) { Vector = new VectorFieldOptions(Dimensions) },
        new IndexField("tag", FieldAnalysis.Keyword),
    ]);

    private const int Dimensions = 4;

    /// <summary>An entry: what is added to a batch, by field.</summary>
    public sealed record Entry(string Key, IReadOnlyList<(int Field, Action<IndexBatch> Add)> Values)
    {
        /// <summary>Puts it into a batch, with the fields of a range.</summary>
        public void Put(IndexBatch batch, int firstField = 0, int endField = int.MaxValue)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes(Key));
            foreach ((int field, Action<IndexBatch> add) in Values)
                if (field >= firstField && field < endField)
                    add(batch);
            batch.EndEntry();
        }
    }

    public Entry Draw(string key)
    {
        var values = new List<(int, Action<IndexBatch>)>();
        for (int field = 0; field < Schema.Fields.Count; field++)
        {
            int number = field;
            for (int i = random.Next(8) switch { 0 => 0, 1 => 2, _ => 1 }; i > 0; i--)
                values.Add((number, random.Next(15) == 0 ? batch => batch.AddNull(number) : Value(number)));
        }

        return new Entry(key, values);
    }

    public SearchRequest Request()
    {
        SortKey? sort = random.Next(8) switch
        {
            0 => new SortKey("", SortKind.Score, Descending: true),
            1 => new SortKey("name", SortKind.Text, random.Next(2) == 0),
            2 => new SortKey("number", SortKind.Double, random.Next(2) == 0, random.Next(2) == 0),
            3 => new SortKey("number", SortKind.Long, random.Next(2) == 0),
            4 => new SortKey("tag", SortKind.AlphaNumeric, random.Next(2) == 0),
            5 => new SortKey("", SortKind.Key, random.Next(2) == 0),
            6 => new SortKey(
                "place", SortKind.Distance, random.Next(2) == 0, Centre: Place(), RoundToKm: random.Next(2) == 0 ? 0 : 1_000),
            _ => null,
        };
        return new SearchRequest
        {
            Query = Query(2),
            Sort = sort is null ? [] : [sort],
            Skip = random.Next(3) == 0 ? random.Next(10) : 0,
            Take = random.Next(3) == 0 ? random.Next(20) : long.MaxValue,
        };
    }

    public IndexQuery Query(int depth)
    {
        if (depth > 0 && random.Next(2) == 0)
        {
            IndexQuery[] clauses = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => Query(depth - 1))];
            return random.Next(4) switch
            {
                0 or 1 => new AndQuery(clauses),
                2 => new OrQuery(clauses),
                _ => new AndQuery([clauses[0], new NotQuery(Leaf(random.Next(7)))]),
            };
        }

        return Leaf(random.Next(11));
    }

    /// <summary>A query of one condition; from 7 on, of a kind whose hits depend on all other entries.</summary>
    public IndexQuery Leaf(int kind) => kind switch
    {
        0 => new TermQuery("name", FieldValue.Of(Word())),
        1 => new RangeQuery(
            "number", FieldValue.Of((long)random.Next(-50, 50)), random.Next(2) == 0, FieldValue.Of(random.Next(100) / 2.0),
            true),
        2 => new FullTextQuery("text", $"{Word()} {Word()}", random.Next(2) == 0),
        3 => new PhraseQuery("text", $"{Word()} {Word()}", random.Next(3)),
        4 => new ExistsQuery(Schema.Fields[random.Next(Schema.Fields.Count)].Name),
        5 => new SpatialQuery("place", (SpatialRelation)random.Next(4), Shape()),
        6 => new PrefixQuery("tag", "w1"),
        7 => Nearest(),
        8 => Like(),
        9 => new FusionQuery(
            [
                new FusionClause(new VectorQuery("vector", Vector(), 10, IsExact: true)),
                new FusionClause(new TermQuery("name", FieldValue.Of(Word())), 2),
            ],
            FusionMethod.ReciprocalRank, random.Next(1, 30)),
        _ => new MatchAllQuery(),
    };

    /// <summary>By a vector, by several, or by those of an entry.</summary>
    private VectorQuery Nearest()
    {
        var one = new VectorQuery("vector", Vector(), random.Next(1, 20), IsExact: true);
        return random.Next(4) switch
        {
            0 => one with { Others = [Vector(), Vector()] },
            1 => one with { Vector = [], OfEntry = Key(), MinimumSimilarity = 0.2f },
            _ => one,
        };
    }

    /// <summary>By texts, by an entry, or by the first of some entries.</summary>
    private MoreLikeThisQuery Like()
    {
        string[] texts = [$"{Word()} {Word()} {Word()}"];
        var options = new MoreLikeThisOptions { Fields = ["text"], MinTermFrequency = 1, MinDocumentFrequency = 2 };
        return random.Next(3) switch
        {
            0 => new MoreLikeThisQuery(Key(), null, options),
            1 => new MoreLikeThisQuery(null, null, options) { First = Leaf(random.Next(7)) },
            _ => new MoreLikeThisQuery(null, _ => texts, options),
        };
    }

    private string Key() => string.Create(CultureInfo.InvariantCulture, $"docs/{random.Next(90)}");

    private string Word() => string.Create(CultureInfo.InvariantCulture, $"w{random.Next(12)}");

    private Action<IndexBatch> Value(int field)
    {
        switch (Schema.Fields[field].Name)
        {
            case "number":
                double number = random.Next(-200, 200) / 4.0;
                return batch => batch.AddDouble(field, number);
            case "place" when random.Next(3) == 0:
                Geometry shape = Shape();
                return batch => batch.AddShape(field, shape);
            case "place":
                GeoPoint place = Place();
                return batch => batch.AddPoint(field, place.Latitude, place.Longitude);
            case "vector":
                float[] vector = Vector();
                return batch => batch.AddVector(field, vector);
            default:
                bool isText = Schema.Fields[field].Analysis == FieldAnalysis.FullText;
                string text = isText ? string.Join(' ', Enumerable.Range(0, random.Next(9)).Select(_ => Word())) : Word();
                return batch => batch.AddText(field, Encoding.UTF8.GetBytes(text));
        }
    }

    private Geometry Shape() => random.Next(2) == 0
        ? Geometry.Around(Place(), random.Next(5_000))
        : Geometry.Parse(RandomShapes.DrawStar(random).Wkt, cancellationToken: TestContext.Current.CancellationToken);

    private GeoPoint Place() => RandomShapes.Place(random);

    private float[] Vector() => [.. Enumerable.Range(0, Dimensions).Select(_ => random.NextSingle() - 0.5f)];

    /// <summary>Asks two indexes the same, of which one may have a tail, and compares the answers.</summary>
    public static void Compare(IndexSearcher expected, IndexSearcher actual, SearchRequest request, IndexTail? tail = null)
    {
        List<(string Key, double Score)> wanted = Read(expected.Search(request)),
            found = Read(tail is null ? actual.Search(request) : actual.Search(request, tail));
        string what = $"{IndexFixture.Describe(request)}\nexpected {Text(wanted)}\nactual   {Text(found)}";
        if (request.Sort is not [{ Kind: SortKind.Score }])
        {
            Assert.True(wanted.Select(hit => hit.Key).SequenceEqual(found.Select(hit => hit.Key)), what);
            return;
        }

        // Scores are sums of floats, so entries whose scores are equal but for their last bits may stand in either order.
        Assert.True(wanted.Count == found.Count, what);
        for (int i = 0; i < wanted.Count; i++)
            Assert.True(Math.Abs(wanted[i].Score - found[i].Score) <= 1e-4 * Math.Max(1, wanted[i].Score), what);
    }

    private static string Text(List<(string Key, double Score)> hits) =>
        string.Join(' ', hits.Select(hit => string.Create(CultureInfo.InvariantCulture, $"{hit.Key}({hit.Score:G4})")));

    private static List<(string Key, double Score)> Read(SearchResults results)
    {
        using (results)
        {
            var hits = new List<(string, double)>();
            while (results.MoveNext())
                hits.Add((Encoding.UTF8.GetString(results.Key), results.Score));
            return hits;
        }
    }
}
