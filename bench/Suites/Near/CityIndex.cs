using System.Buffers.Binary;
using System.Text.Json;
using Treepie.Bench.Measuring;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Storage;

namespace Treepie.Bench.Suites.Near;

/// <summary>Cities in an index of ours, and in an array for the loop that every answer is checked against.</summary>
internal sealed class CityIndex : IDisposable
{
    private static readonly IndexSchema _schema = new([new IndexField("at", FieldAnalysis.Spatial)]);

    private readonly StorageEnvironment _environment;

    public CityIndex(string path, GeoPoint[] cities, CancellationToken cancellationToken)
    {
        Cities = cities;
        _environment = StorageEnvironment.Open(path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(_environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        byte[] key = new byte[sizeof(int)];
        for (int i = 0; i < cities.Length; i++)
        {
            BinaryPrimitives.WriteInt32BigEndian(key, i);
            batch.BeginEntry(key);
            batch.AddPoint(0, cities[i].Latitude, cities[i].Longitude);
            batch.EndEntry();
        }

        writer.Commit(batch, 1, cancellationToken);
    }

    public GeoPoint[] Cities { get; }

    /// <summary>The first cities of the data set.</summary>
    public static GeoPoint[] Load(int most) => [.. Corpus.Load(DataSet.Cities, most).Select(Parse)];

    public long CountWithin(Geometry shape)
    {
        using var searcher = new IndexSearcher(_environment);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = new SpatialQuery("at", SpatialRelation.Within, shape), Take = 0 });
        return results.TotalCount;
    }

    /// <summary>The distance of the last of the nearest ten, of all or of those in a shape.</summary>
    public double TenthDistance(GeoPoint centre, Geometry? shape)
    {
        using var searcher = new IndexSearcher(_environment);
        IndexQuery query = shape is null ? new MatchAllQuery() : new SpatialQuery("at", SpatialRelation.Within, shape);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = query, Sort = [new SortKey("at", SortKind.Distance, Centre: centre)], Take = 10 });
        double distance = 0;
        while (results.MoveNext())
            distance = results.Place?.DistanceKm ?? 0;
        return distance;
    }

    /// <summary>The same by looking at every city.</summary>
    public long LoopWithin(GeoPoint centre, double radiusKm)
    {
        long count = 0;
        foreach (GeoPoint city in Cities)
            count += Earth.DistanceKm(centre, city) <= radiusKm ? 1 : 0;
        return count;
    }

    /// <summary>The same by measuring every city.</summary>
    public double LoopTenth(GeoPoint centre)
    {
        var nearest = new PriorityQueue<double, double>();
        foreach (GeoPoint city in Cities)
        {
            double distance = Earth.DistanceKm(centre, city);
            nearest.Enqueue(distance, -distance);
            if (nearest.Count > 10)
                nearest.Dequeue();
        }

        return nearest.Peek();
    }

    public void Dispose() => _environment.Dispose();

    private static GeoPoint Parse(byte[] line)
    {
        using JsonDocument city = JsonDocument.Parse(line);
        JsonElement location = city.RootElement.GetProperty("location");
        return new GeoPoint(location.GetProperty("lat").GetDouble(), location.GetProperty("lng").GetDouble());
    }
}
