using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Spatial;

/// <summary>
/// Places and vectors in random nested combinations with terms and ranges, against a scan of the entries, while they change.
/// </summary>
public sealed class NestedPlaceQueryTests
{
    private static readonly IndexSchema _schema = new([
        new IndexField("place", FieldAnalysis.Spatial), new IndexField("kind"), new IndexField("number"),
        new IndexField("vector", FieldAnalysis.Vector)]);

    private sealed record Entry(GeoPoint? Place, string Kind, long Number, float[]? Vector);

    [Fact]
    public void Random_nested_queries_find_what_a_scan_finds()
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        var model = new Dictionary<string, Entry>();
        for (int round = 0; round < 8; round++)
        {
            Change(random, model, batch);
            writer.Commit(batch, round + 1, TestContext.Current.CancellationToken);
            using var searcher = new IndexSearcher(store.Environment);
            for (int i = 0; i < 40; i++)
            {
                (IndexQuery query, Func<Entry, bool> test) = Draw(random, depth: 3);
                Check(searcher, query, model.Where(pair => test(pair.Value)).Select(pair => pair.Key));
                CheckNearest(
                    random, searcher, query, [.. model.Where(pair => test(pair.Value) && pair.Value.Vector is not null)]);
            }
        }
    }

    private static void Change(Random random, Dictionary<string, Entry> model, IndexBatch batch)
    {
        for (int i = 0; i < 150; i++)
        {
            string key = "docs/" + random.Next(300);
            if (random.Next(5) == 0)
            {
                model.Remove(key);
                batch.Delete(Encoding.UTF8.GetBytes(key));
                continue;
            }

            // A hundred places, so that shapes hold several.
            GeoPoint? place = random.Next(8) == 0
                ? null
                : GridPoint.Of(new GeoPoint(random.Next(-4, 5) * 20, (random.Next(12) * 30) - 180)).Point;
            var entry = new Entry(
                place, "k" + random.Next(3), random.Next(10),
                random.Next(6) == 0 ? null : [.. Enumerable.Range(0, 4).Select(_ => (float)random.NextDouble() - 0.5f)]);
            model[key] = entry;
            batch.BeginEntry(Encoding.UTF8.GetBytes(key));
            if (entry.Place is { } point)
                batch.AddPoint(0, point.Latitude, point.Longitude);
            batch.AddText(1, Encoding.UTF8.GetBytes(entry.Kind));
            batch.AddLong(2, entry.Number);
            if (entry.Vector is not null)
                batch.AddVector(3, entry.Vector);
            batch.EndEntry();
        }
    }

    private static (IndexQuery Query, Func<Entry, bool> Test) Draw(Random random, int depth)
    {
        switch (random.Next(depth > 0 ? 8 : 4))
        {
            case 0:
                string kind = "k" + random.Next(4);
                return (new TermQuery("kind", FieldValue.Of(kind)), entry => entry.Kind == kind);
            case 1:
                long low = random.Next(10);
                return (new RangeQuery("number", FieldValue.Of(low), true, null, false), entry => entry.Number >= low);
            case 2 or 3:
                // The rim never runs through one of the places.
                var centre = new GeoPoint((random.NextDouble() * 180) - 90, (random.NextDouble() * 360) - 180);
                double radius = 100 + (random.NextDouble() * 9_000);
                var relation = (SpatialRelation)(random.Next(3) switch { 0 => 0, 1 => 2, _ => 3 });
                return (new SpatialQuery("place", relation, Geometry.Around(centre, radius)),
                    entry => entry.Place is { } place
                        && RandomShapes.DistanceKm(centre, place) <= radius == (relation != SpatialRelation.Disjoint));
            case 4:
                (IndexQuery negated, Func<Entry, bool> test) = Draw(random, depth - 1);
                return (new NotQuery(negated), entry => !test(entry));
            default:
                bool isAnd = random.Next(2) == 0;
                (IndexQuery Query, Func<Entry, bool> Test)[] clauses =
                    [.. Enumerable.Range(0, random.Next(2, 4)).Select(_ => Draw(random, depth - 1))];
                IReadOnlyList<IndexQuery> queries = [.. clauses.Select(clause => clause.Query)];
                return isAnd
                    ? (new AndQuery(queries), entry => clauses.All(clause => clause.Test(entry)))
                    : (new OrQuery(queries), entry => clauses.Any(clause => clause.Test(entry)));
        }
    }

    private static void Check(IndexSearcher searcher, IndexQuery query, IEnumerable<string> expected)
    {
        string[] wanted = [.. expected.Order(StringComparer.Ordinal)];
        string[] actual = [.. Keys(searcher, query).Order(StringComparer.Ordinal)];
        Assert.True(
            wanted.SequenceEqual(actual), $"{query}\nexpected {string.Join(' ', wanted)}\nactual   {string.Join(' ', actual)}");
    }

    /// <summary>Any filter beside a search by vector: the nearest of those it leaves.</summary>
    private static void CheckNearest(Random random, IndexSearcher searcher, IndexQuery filter, KeyValuePair<string, Entry>[] left)
    {
        float[] wanted = [.. Enumerable.Range(0, 4).Select(_ => (float)random.NextDouble() - 0.5f)];
        int count = random.Next(1, 12);
        string[] expected = [
            .. left.OrderByDescending(pair => Cosine(wanted, pair.Value.Vector ?? []))
                .Take(count)
                .Select(pair => pair.Key)
                .Order(StringComparer.Ordinal)];
        string[] actual =
            [.. Keys(searcher, new AndQuery([filter, new VectorQuery("vector", wanted, count)])).Order(StringComparer.Ordinal)];
        Assert.True(
            expected.SequenceEqual(actual),
            $"{count} nearest of {filter}\nexpected {string.Join(' ', expected)}\nactual   {string.Join(' ', actual)}");
    }

    private static double Cosine(float[] left, float[] right) =>
        left.Zip(right, (x, y) => (double)x * y).Sum() / Math.Sqrt(left.Sum(x => (double)x * x) * right.Sum(x => (double)x * x));

    private static List<string> Keys(IndexSearcher searcher, IndexQuery query)
    {
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = query }, cancellationToken: TestContext.Current.CancellationToken);
        var keys = new List<string>();
        while (results.MoveNext())
            keys.Add(Encoding.UTF8.GetString(results.Key));
        Assert.Equal(results.TotalCount, keys.Count);
        return keys;
    }
}
