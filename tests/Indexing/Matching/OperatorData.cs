using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Tests.Spatial;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// An index with a field of each kind, whose lists are short, long and full, with gaps between its windows; changes it has not
/// seen; and queries that are compiled into each kind of operator.
/// </summary>
internal sealed class OperatorData : IDisposable
{
    private const int Dimensions = 3;

    /// <summary>Words of which each is in a part of all texts.</summary>
    private static readonly double[] _often = [0.97, 0.6, 0.3, 0.1, 0.05, 0.02, 0.01, 0.004];

    private readonly Random _random;
    private readonly TemporaryStore _store = new();
    private readonly IndexSchema _schema;
    private readonly bool _hasBoosts;
    private readonly long[] _ids;
    private readonly long[] _idsWithChanges;
    private int _keys;

    public OperatorData(Random random, bool hasBoosts)
    {
        (_random, _hasBoosts) = (random, hasBoosts);
        _schema = new IndexSchema(
        [
            new IndexField("text", FieldAnalysis.FullText), new IndexField("title", FieldAnalysis.FullText) { Boost = 2.5f },
            new IndexField("name"), new IndexField("number"), new IndexField("several"),
            new IndexField("place", FieldAnalysis.Spatial),
            new IndexField("vector", FieldAnalysis.Vector) { Vector = new VectorFieldOptions(Dimensions) },
            .. hasBoosts ? [new IndexField(IndexSchema.BoostField)] : Array.Empty<IndexField>(),
        ]);
        var writer = new IndexWriter(_store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        foreach (int entries in new[] { 9_000, 4_500, 700 })
        {
            for (int i = 0; i < entries; i++)
                Put(batch, _keys++);
            Change(batch, entries / 20);
            if (_keys > 9_000)
            {
                for (int i = 4_096; i < 8_192; i++) // a window of which nothing is left
                    batch.Delete(Key(i));
            }

            writer.Commit(batch, writer.LastEtag + 1, TestContext.Current.CancellationToken);
            LeaveGap(random.Next(2) == 0 ? random.Next(4_096) : random.Next(300_000));
        }

        var everything = new SearchRequest { Query = new MatchAllQuery() };
        Searcher = new IndexSearcher(_store.Environment);
        Tail = new IndexTail(Searcher);
        IndexBatch changes = Tail.BeginBatch();
        for (int i = 0; i < 300; i++)
            Put(changes, _keys++);
        Change(changes, 300);
        Tail.Fill(changes, TestContext.Current.CancellationToken);
        _ids = Ids(Searcher.Search(everything));
        _idsWithChanges = [.. _ids, .. Ids(Searcher.Search(everything, Tail))];
    }

    public IndexSearcher Searcher { get; }

    public IndexTail Tail { get; }

    /// <summary>Whether queries are about the index and its changes.</summary>
    public bool HasChanges { get; set; }

    public void Dispose()
    {
        Tail.Dispose();
        Searcher.Dispose();
        _store.Dispose();
    }

    /// <summary>A query of conditions within conditions.</summary>
    public IndexQuery Query(int depth)
    {
        if (depth == 0 || _random.Next(5) < 2)
            return Leaf(_random.Next(Leaves));
        IndexQuery[] clauses = [.. Enumerable.Range(0, _random.Next(2, 5)).Select(_ => Query(depth - 1))];
        return _random.Next(6) switch
        {
            0 or 1 => new AndQuery(clauses),
            2 or 3 => new OrQuery(clauses),
            4 => new BoostQuery(clauses[0], _random.Next(5) switch { 0 => 0, 1 => 0.01f, 2 => 100, _ => 1.5f }),
            _ => new NotQuery(clauses[0]),
        };
    }

    /// <summary>A query of each kind, one after the other.</summary>
    public IndexQuery OfKind(int kind) => kind switch
    {
        < Leaves => Leaf(kind),
        Leaves => new MatchNoneQuery(),
        Leaves + 1 => new AndQuery([Leaf(0), Leaf(6), Leaf(12)]),
        Leaves + 2 => new OrQuery([Leaf(3), Leaf(12)]),
        Leaves + 3 => new NotQuery(Leaf(6)),
        _ => new BoostQuery(Leaf(12), 2),
    };

    /// <summary>Any of a few words with long lists.</summary>
    public IndexQuery FrequentWords { get; } = new FullTextQuery("text", "w1 w2 w3", All: false);

    /// <summary>Number of kinds of <see cref="OfKind"/>.</summary>
    public const int Kinds = Leaves + 5;

    private const int Leaves = 20;

    /// <summary>A query of one condition.</summary>
    private IndexQuery Leaf(int kind) => kind switch
    {
        0 => new FullTextQuery(Field(), Word(), All: true),
        1 => new FullTextQuery(Field(), Words(_random.Next(2, 6)), All: true),
        2 or 3 => new FullTextQuery(Field(), Words(_random.Next(2, 6)), All: false),
        4 => new PhraseQuery(Field(), Words(2), _random.Next(2) * _random.Next(4), _random.Next(2) == 0),
        5 => new PhraseQuery(Field(), Words(_random.Next(2, 5))),
        6 => new TermQuery("name", FieldValue.Of(Name())),
        7 => new TermQuery("several", _random.Next(4) == 0 ? FieldValue.Null : FieldValue.Of((long)_random.Next(60))),
        8 => new InQuery("name", [.. Enumerable.Range(0, _random.Next(2, 14)).Select(_ => FieldValue.Of(Name()))]),
        9 => Range("number", 40_000),
        10 => Range("several", 60),
        11 => new PrefixQuery(_random.Next(2) == 0 ? "text" : "name", "r" + _random.Next(10)),
        12 => new ExistsQuery(_schema.Fields[_random.Next(_schema.Fields.Count)].Name),
        13 => new SpatialQuery("place", SpatialRelation.Within, Circle()),
        14 => new SpatialQuery("place", SpatialRelation.Disjoint, Shape()),
        15 => new VectorQuery("vector", Vector(), _random.Next(1, 300), IsExact: _random.Next(2) == 0),
        16 => new EntriesQuery(
            [.. _random.GetItems(HasChanges ? _idsWithChanges : _ids, _random.Next(1, 900)).Distinct().Order()]),
        17 => new KeyQuery([.. Enumerable.Range(0, _random.Next(1, 20)).Select(_ => "e/" + _random.Next(_keys))], IsPrefix: true),
        18 => new RangeQuery("name", FieldValue.Of(Name()), _random.Next(2) == 0, null, false),
        _ => _random.Next(3) switch
        {
            0 => new MatchAllQuery(),
            1 => new SpatialQuery("place", SpatialRelation.Intersects, Shape()),
            _ => Like(),
        },
    };

    private static long[] Ids(SearchResults results)
    {
        using (results)
        {
            var ids = new List<long>();
            while (results.MoveNext())
                ids.Add(results.EntryId);
            return [.. ids];
        }
    }

    private MoreLikeThisQuery Like() => new(
        "e/" + _random.Next(_keys), null,
        new MoreLikeThisOptions { Fields = ["text"], MinTermFrequency = 1, MinDocumentFrequency = 1, MaxQueryTerms = 6 });

    private RangeQuery Range(string field, int most)
    {
        int low = _random.Next(most), high = low + _random.Next(most);
        return new RangeQuery(
            field, _random.Next(5) == 0 ? null : FieldValue.Of((long)low), _random.Next(2) == 0,
            _random.Next(5) == 0 ? null : FieldValue.Of(high / 2.0), _random.Next(2) == 0);
    }

    private void LeaveGap(int entries) => _store.Environment.Write(transaction =>
    {
        Tree tree = transaction.GetOrCreateTree(TreeNames.Index);
        IndexState state = IndexState.Read(tree);
        state.NextEntryId += entries;
        state.Write(tree);
        return true;
    });

    private void Change(IndexBatch batch, int changes)
    {
        for (int i = 0; i < changes; i++)
        {
            if (_random.Next(2) == 0)
                batch.Delete(Key(_random.Next(_keys)));
            else
                Put(batch, _random.Next(_keys));
        }
    }

    private void Put(IndexBatch batch, int key)
    {
        batch.BeginEntry(Key(key));
        batch.AddText(0, Encoding.UTF8.GetBytes(Text(key)));
        if (_random.Next(3) > 0)
            batch.AddText(1, Encoding.UTF8.GetBytes(Words(_random.Next(1, 4))));
        batch.AddText(2, Encoding.UTF8.GetBytes(Name()));
        if (_random.Next(20) > 0)
            batch.AddLong(3, _random.Next(8) == 0 ? key : _random.Next(20_000));
        for (int i = _random.Next(4); i > 0; i--)
            batch.AddLong(4, _random.Next(60));
        if (_random.Next(40) == 0)
        {
            batch.AddShape(5, Shape());
        }
        else if (_random.Next(10) > 0)
        {
            GeoPoint place = RandomShapes.Place(_random);
            batch.AddPoint(5, place.Latitude, place.Longitude);
        }

        if (_random.Next(30) == 0)
            batch.AddVector(6, Vector());
        if (_hasBoosts && _random.Next(5) == 0)
            batch.AddDouble(7, (_random.NextDouble() * 4) + 0.01);
        batch.EndEntry();
    }

    private string Text(int key)
    {
        var words = new List<string>();
        for (int i = 0; i < _often.Length; i++)
            for (bool isThere = _random.NextDouble() < _often[i]; isThere; isThere = _random.Next(6) == 0)
                words.Add("w" + i);
        if (key / 300 % 5 == 2)
            words.AddRange(["w1", "w2", "part"]);
        for (int i = _random.Next(5); i > 0; i--)
            words.Add("r" + (int)(Math.Pow(_random.NextDouble(), 3) * 600));
        if (_random.Next(200) == 0)
            words.AddRange(Enumerable.Range(0, 90).Select(_ => Word()));
        string[] text = [.. words];
        _random.Shuffle(text);
        return string.Join(' ', text);
    }

    private string Words(int count) => string.Join(' ', Enumerable.Range(0, count).Select(_ => Word()));

    private string Word() => _random.Next(12) switch
    {
        < 8 => "w" + _random.Next(_often.Length),
        8 => "part",
        9 => _random.Next(3) == 0 ? "nowhere" : "w0",
        _ => "r" + _random.Next(600),
    };

    private string Name() => "r" + (int)(Math.Pow(_random.NextDouble(), 4) * 60);

    private string Field() => _random.Next(5) == 0 ? "title" : "text";

    private Geometry Circle() => Geometry.Around(RandomShapes.Place(_random), _random.Next(1, 6_000));

    private Geometry Shape() => _random.Next(2) == 0
        ? Circle()
        : Geometry.Parse(RandomShapes.DrawStar(_random).Wkt, cancellationToken: TestContext.Current.CancellationToken);

    private float[] Vector() => [.. Enumerable.Range(0, Dimensions).Select(_ => _random.NextSingle() - 0.5f)];

    private static byte[] Key(int number) => Encoding.UTF8.GetBytes($"e/{number}");
}
