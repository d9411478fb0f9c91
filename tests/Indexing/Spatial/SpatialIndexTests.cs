using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Tests.Support;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Tests.Spatial;

/// <summary>Spatial queries and orders against a scan of all places by plain formulas, while entries come and go.</summary>
public sealed class SpatialIndexTests : IDisposable
{
    private static readonly IndexSchema _schema = new(
        [new IndexField("place", FieldAnalysis.Spatial), new IndexField("kind"), new IndexField("area", FieldAnalysis.Spatial)]);

    /// <summary>Distances are reckoned from the steps of the grid, in kilometres.</summary>
    private const double Step = 2e-5;

    private readonly TemporaryStore _store = new();
    private readonly IndexWriter _writer;
    private readonly IndexBatch _batch;
    private readonly SortedDictionary<string, Entry> _model = new(StringComparer.Ordinal);
    private long _nextId;
    private long _etag;

    public SpatialIndexTests()
    {
        _writer = new IndexWriter(_store.Environment, _schema);
        _batch = _writer.BeginBatch();
    }

    private sealed record Entry(long Id, GeoPoint[] Places, string Kind);

    public void Dispose() => _store.Dispose();

    [Fact]
    public void Circles_polygons_and_distances_are_those_of_a_scan_while_places_change()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 12; round++)
        {
            Change(random, round == 5 ? 9_000 : random.Next(1, 400), keys: 6_000);
            for (int i = 0; i < 12; i++)
            {
                CheckCircle(random);
                CheckStar(random);
                CheckOrder(random);
            }
        }
    }

    [Fact]
    public void Cities_are_found_as_a_scan_finds_them()
    {
        var random = new Random(Seed.Next());
        foreach (string line in DataSets.Lines(DataSets.PathOf("cities.ndjson.gz")))
        {
            using JsonDocument city = JsonDocument.Parse(line);
            JsonElement location = city.RootElement.GetProperty("location");
            string country = city.RootElement.GetProperty("country").GetString() ?? "";
            Put(
                city.RootElement.GetProperty("id").GetString() ?? "",
                [new GeoPoint(location.GetProperty("lat").GetDouble(), location.GetProperty("lng").GetDouble())],
                country.StartsWith('F') ? "a" : "b");
        }

        Commit();
        GeoPoint[] places = [.. _model.Values.SelectMany(entry => entry.Places)];
        for (int i = 0; i < 40; i++)
        {
            GeoPoint near = places[random.Next(places.Length)];
            Compare(Within(near, Math.Pow(10, random.NextDouble() * 4)), entry => entry.Places);
            CheckOrder(random, near);
        }

        Assert.NotEmpty(Keys(new SearchRequest { Query = Within(new GeoPoint(49.255, 4.154), 10 * Earth.KmPerMile) }));
    }

    [Fact]
    public void Points_said_to_be_on_a_border_are_on_it()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 3_000; i++)
            Put("elsewhere/" + i, [RandomShapes.Place(random)], "b");
        for (int round = 0; round < 60; round++)
        {
            // Whole degrees, and up to seven decimals of them; whole squares of the grid at times.
            double unit = round % 4 == 0 ? 22.5 : Math.Pow(10, -random.Next(8));
            double west = At(random.Next(-170, 150)),
                south = At(random.Next(-80, 60)),
                east = At(west + Math.Max(unit, random.Next(1, 20))),
                north = At(south + Math.Max(unit, random.Next(1, 20)));
            double x = At(west + (random.NextDouble() * (east - west))), y = At(south + (random.NextDouble() * (north - south)));
            GeoPoint[] border =
            [
                new(south, west), new(south, east), new(north, west), new(north, east), new(y, west), new(y, east), new(south, x),
                new(north, x)
            ];
            for (int i = 0; i < border.Length; i++)
                Put("border/" + i, [border[i]], "a");
            Commit();
            Geometry box = Geometry.Parse(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"POLYGON(({west} {south}, {east} {south}, {east} {north}, {west} {north}, {west} {south}))"));
            string[] found = Keys(new SearchRequest { Query = new SpatialQuery("place", SpatialRelation.Intersects, box) });
            Assert.Equal(border.Length, found.Count(key => key.StartsWith("border/", StringComparison.Ordinal)));

            double At(double degrees) => Math.Round(Math.Round(degrees / unit) * unit, 7);
        }
    }

    [Fact]
    public void Shapes_are_found_as_their_relations_say()
    {
        var random = new Random(Seed.Next());
        var shapes = new Dictionary<string, Geometry>();
        for (int round = 0; round < 6; round++)
        {
            for (int i = 0; i < 60; i++)
            {
                string key = "shapes/" + random.Next(150);
                if (random.Next(4) == 0)
                {
                    shapes.Remove(key);
                    _batch.Delete(Encoding.UTF8.GetBytes(key));
                    continue;
                }

                shapes[key] = DrawShape(random);
                _batch.BeginEntry(Encoding.UTF8.GetBytes(key));
                _batch.AddShape(2, shapes[key]);
                _batch.EndEntry();
            }

            Commit();
            for (int i = 0; i < 20; i++)
            {
                Geometry wanted = DrawShape(random);
                foreach (SpatialRelation relation in Enum.GetValues<SpatialRelation>())
                {
                    string[] expected = [
                        .. shapes.Where(pair => Holds(relation, pair.Value, wanted))
                            .Select(pair => pair.Key)
                            .Order(StringComparer.Ordinal)];
                    string[] actual = [
                        .. Keys(new SearchRequest { Query = new SpatialQuery("area", relation, wanted) })
                            .Order(StringComparer.Ordinal)];
                    Assert.True(
                        expected.SequenceEqual(actual),
                        $"{relation}: expected {string.Join(' ', expected)}, found {string.Join(' ', actual)}");
                }
            }
        }
    }

    [Fact]
    public void Entries_removed_leave_nothing_in_the_trees_of_the_field()
    {
        var random = new Random(Seed.Next());
        Change(random, 500, keys: 300);
        for (int i = 0; i < 20; i++)
        {
            _batch.BeginEntry(Encoding.UTF8.GetBytes("shapes/" + i));
            Geometry shape = DrawShape(random);
            _batch.AddShape(0, shape);
            if (random.Next(2) == 0)
                _batch.AddShape(0, random.Next(2) == 0 ? shape : DrawShape(random)); // both may stand under the same squares
            _batch.AddPoint(0, 1, 2);
            _batch.EndEntry();
        }

        Commit();
        for (int i = 0; i < 20; i++)
            _batch.Delete(Encoding.UTF8.GetBytes("shapes/" + i));
        foreach (string key in _model.Keys)
            _batch.Delete(Encoding.UTF8.GetBytes(key));
        Commit();
        using Treepie.Storage.Transactions.ReadTransaction read = _store.Environment.BeginRead();
        foreach (string tree in (string[])["points.0", "shapes.0", "cells.0", "covers.0"])
            Assert.Equal(0, read.FindTree(tree)?.Count ?? 0);
    }

    [Fact]
    public void Disjoint_are_entries_with_a_place_elsewhere()
    {
        Put("here", [new GeoPoint(10, 10)], "a");
        Put("there", [new GeoPoint(50, 50)], "a");
        Put("both", [new GeoPoint(10, 10), new GeoPoint(50, 50)], "a");
        Put("nowhere", [], "a");
        Commit();
        Geometry around = Geometry.Around(new GeoPoint(10, 10), 5);
        Assert.Equal(["there"], Keys(new SearchRequest { Query = new SpatialQuery("place", SpatialRelation.Disjoint, around) }));
        Assert.Equal(
            ["here", "both"], Keys(new SearchRequest { Query = new SpatialQuery("place", SpatialRelation.Intersects, around) }));
        Assert.Equal(
            ["here", "both", "there"],
            Keys(
                new SearchRequest
                {
                    Query = new ExistsQuery("place"),
                    Sort = [new SortKey("place", SortKind.Distance, Centre: new GeoPoint(10, 11))]
                }));
        Assert.Equal(["nowhere"], Keys(new SearchRequest { Query = new TermQuery("place", FieldValue.Null) }));
    }

    [Fact]
    public void Nearer_places_score_higher()
    {
        for (int i = 0; i < 20; i++)
            Put($"p{i:00}", [new GeoPoint(10, 10 + (i * 0.01))], "a");
        Commit();
        Geometry circle = Geometry.Around(new GeoPoint(10, 10), 20);
        var request = new SearchRequest
        {
            Query = new SpatialQuery("place", SpatialRelation.Within, circle),
            Sort = [new SortKey("", SortKind.Score, Descending: true)]
        };
        using var searcher = new IndexSearcher(_store.Environment);
        using SearchResults results = searcher.Search(request, TestContext.Current.CancellationToken);
        for (int i = 0; results.MoveNext(); i++)
        {
            double distance = RandomShapes.DistanceKm(new GeoPoint(10, 10), new GeoPoint(10, 10 + (i * 0.01)));
            Assert.Equal($"p{i:00}", Encoding.UTF8.GetString(results.Key));
            Assert.Equal(20 / (20 + distance), results.Score, 1e-4);
        }

        Assert.Equal(19, results.Count);
    }

    [Fact]
    public void A_field_without_places_and_an_order_without_a_centre_are_said()
    {
        using var searcher = new IndexSearcher(_store.Environment);
        Geometry circle = Geometry.Around(new GeoPoint(0, 0), 1);
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        Assert.Throws<IndexQueryException>(
            () => searcher.Search(
                new SearchRequest { Query = new SpatialQuery("kind", SpatialRelation.Within, circle) }, cancellation));
        Assert.Throws<IndexQueryException>(
            () => searcher.Search(
                new SearchRequest { Query = new MatchAllQuery(), Sort = [new SortKey("place", SortKind.Distance)] },
                cancellation));
        Assert.Throws<IndexQueryException>(
            () => searcher.Search(
                new SearchRequest { Query = new MatchAllQuery(), Sort = [new SortKey("place", SortKind.Text)] }, cancellation));
        _batch.BeginEntry("x"u8);
        Assert.Throws<InvalidOperationException>(() => _batch.AddPoint(1, 0, 0));
        Assert.Throws<InvalidOperationException>(() => _batch.AddText(0, "POINT(1 2)"u8));
        Assert.Throws<InvalidGeometryException>(() => _batch.AddPoint(0, double.NaN, 0));
        _batch.EndEntry();
        Commit();
    }

    private static SpatialQuery Within(GeoPoint centre, double radiusKm) =>
        new("place", SpatialRelation.Within, Geometry.Around(centre, radiusKm));

    private static bool Holds(SpatialRelation relation, Geometry value, Geometry wanted) => value.IsPoint
        ? GeometryRelations.Holds(
            relation, new Vertex(GridPoint.Of(value.Centre).Longitude, GridPoint.Of(value.Centre).Latitude), wanted)
        : GeometryRelations.Holds(relation, value, wanted);

    private static Geometry DrawShape(Random random)
    {
        GeoPoint place = RandomShapes.Place(random);
        return random.Next(5) switch
        {
            0 => Geometry.Point(place),
            1 => Geometry.Around(place, Math.Pow(10, random.NextDouble() * 3.5)),
            2 => Geometry.Parse(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"LINESTRING({place.Longitude} {place.Latitude}, {RandomShapes.Turn(place.Longitude + 3)} "
                        + $"{place.Latitude / 2}, {place.Longitude} 0)")),
            _ => Geometry.Parse(RandomShapes.DrawStar(random).Wkt),
        };
    }

    private void Change(Random random, int changes, int keys)
    {
        for (int i = 0; i < changes; i++)
        {
            string key = "places/" + random.Next(keys);
            if (random.Next(5) == 0)
            {
                _model.Remove(key);
                _batch.Delete(Encoding.UTF8.GetBytes(key));
                continue;
            }

            int count = random.Next(12) switch { 0 => 0, 1 => random.Next(2, 4), _ => 1 };
            Put(key, [.. Enumerable.Range(0, count).Select(_ => RandomShapes.Place(random))], random.Next(4) == 0 ? "a" : "b");
        }

        Commit();
    }

    private void Put(string key, GeoPoint[] places, string kind)
    {
        // What the index keeps is what the scan sees.
        _model[key] = new Entry(_nextId++, [.. places.Select(place => GridPoint.Of(place).Point)], kind);
        _batch.BeginEntry(Encoding.UTF8.GetBytes(key));
        foreach (GeoPoint place in places)
            _batch.AddPoint(0, place.Latitude, place.Longitude);
        _batch.AddText(1, Encoding.UTF8.GetBytes(kind));
        _batch.EndEntry();
    }

    private void Commit() => _writer.Commit(_batch, ++_etag);

    private void CheckCircle(Random random)
    {
        GeoPoint centre = RandomShapes.Place(random);
        double radius = random.Next(12) == 0 ? Earth.MaxDistanceKm : Math.Pow(10, random.NextDouble() * 4.3);
        Compare(
            Within(centre, radius), entry => entry.Places,
            place => Math.Abs(RandomShapes.DistanceKm(centre, place) - radius) < Step
                ? -1
                : RandomShapes.DistanceKm(centre, place) <= radius ? 1 : 0);
    }

    private void CheckStar(Random random)
    {
        RandomShapes.Star star = RandomShapes.DrawStar(random);
        Compare(new SpatialQuery("place", SpatialRelation.Within, Geometry.Parse(star.Wkt)), entry => entry.Places, star.Winding);
    }

    private void Compare(SpatialQuery query, Func<Entry, GeoPoint[]> places) => Compare(query, places, place =>
    {
        Circle circle = query.Shape.Circles[0];
        double distance = RandomShapes.DistanceKm(circle.Centre, place);
        return Math.Abs(distance - circle.RadiusKm) < Step ? -1 : distance <= circle.RadiusKm ? 1 : 0;
    });

    /// <summary>Alone, and with another condition; leaves out entries of which two formulas may say different things.</summary>
    private void Compare(SpatialQuery query, Func<Entry, GeoPoint[]> places, Func<GeoPoint, int> test)
    {
        HashSet<string> doubtful =
            [.. _model.Where(pair => places(pair.Value).Any(place => test(place) == -1)).Select(pair => pair.Key)];
        foreach (bool withKind in (bool[])[false, true])
        {
            IndexQuery whole = withKind ? new AndQuery([new TermQuery("kind", FieldValue.Of("a")), query]) : query;
            string[] expected = [
                .. _model.Where(pair => (!withKind || pair.Value.Kind == "a") && places(pair.Value).Any(place => test(place) == 1))
                    .OrderBy(pair => pair.Value.Id)
                    .Select(pair => pair.Key)];
            string[] actual = Keys(new SearchRequest { Query = whole });
            Assert.True(
                expected.Where(key => !doubtful.Contains(key)).SequenceEqual(actual.Where(key => !doubtful.Contains(key))),
                $"{query.Shape.Centre}: a scan finds {expected.Length}, the index {actual.Length}; only in the scan: "
                    + $"{string.Join(' ', expected.Except(actual).Take(5))}; only in the index: "
                    + $"{string.Join(' ', actual.Except(expected).Take(5))}");
        }
    }

    private void CheckOrder(Random random) => CheckOrder(random, RandomShapes.Place(random));

    private void CheckOrder(Random random, GeoPoint centre)
    {
        double roundTo = random.Next(2) == 0 ? 0 : Math.Pow(10, random.Next(0, 4));
        bool descending = random.Next(4) == 0;
        var key = new SortKey("place", SortKind.Distance, descending, Centre: centre, RoundToKm: roundTo);
        IndexQuery query = random.Next(3) switch
        {
            0 => new TermQuery("kind", FieldValue.Of("a")),
            1 =>
            Within(centre, 3_000),
            _ => new MatchAllQuery()
        };
        SearchRequest request = new()
        {
            Query = query,
            Sort = [key],
            Skip = random.Next(3) == 0 ? random.Next(20) : 0,
            Take = random.Next(4) == 0 ? long.MaxValue : random.Next(1, 30)
        };
        if (roundTo > 0)
            request = request with { Sort = [key, new SortKey("kind", SortKind.Text)] };
        string[] bySort = Keys(request with { OrderHint = OrderHint.Sort });
        Assert.Equal(bySort, Keys(request with { OrderHint = OrderHint.Walk }));
        Assert.Equal(bySort, Keys(request));

        // The scan: distances by another formula, so only their order is compared, not that of ties.
        HashSet<string> hits = [.. Keys(new SearchRequest { Query = query })];
        double[] expected = [
            .. hits.Select(hit => Distance(_model[hit], centre, roundTo))
                .OrderBy(distance => distance == double.MaxValue ? distance : descending ? -distance : distance)
                .Skip((int)request.Skip)
                .Take((int)Math.Min(int.MaxValue, request.Take))];
        double[] actual = [.. bySort.Select(hit => Distance(_model[hit], centre, roundTo))];
        Assert.Equal(expected.Length, actual.Length);
        for (int i = 0; i < expected.Length; i++)
            Assert.True(
                expected[i] == actual[i] || Math.Abs(expected[i] - actual[i]) < Step + (roundTo > 0 ? 1.01 : 0),
                $"{i}: {expected[i]} {actual[i]}");
    }

    private static double Distance(Entry entry, GeoPoint centre, double roundTo)
    {
        if (entry.Places.Length == 0)
            return double.MaxValue;
        double distance = entry.Places.Min(place => RandomShapes.DistanceKm(centre, place));
        return roundTo > 0 ? Math.Floor(distance / roundTo) : distance;
    }

    private string[] Keys(SearchRequest request)
    {
        using var searcher = new IndexSearcher(_store.Environment);
        using SearchResults results = searcher.Search(request, TestContext.Current.CancellationToken);
        var keys = new List<string>();
        while (results.MoveNext())
            keys.Add(Encoding.UTF8.GetString(results.Key));
        return [.. keys];
    }
}
