using System.Globalization;
using System.Text;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Spatial;

/// <summary>The places of an entry, as the index tells them: those that were added, in their order, after any changes.</summary>
public sealed class EntryPlacesTests
{
    private static readonly string[] _shapes =
    [
        "LINESTRING (179 1, -179 2, -178.5 0)", "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 1 2, 2 2, 1 1))",
        "POLYGON ((-170.25 -60, -50 -70, 70 -60, -170.25 -60))", "CIRCLE (1 2 d=3)",
        "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (0 0, 1 1))",
    ];

    [Fact]
    public void An_entry_has_the_places_that_were_added_to_it()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, new IndexSchema([new IndexField("place", FieldAnalysis.Spatial)]));
        IndexBatch batch = writer.BeginBatch();
        var model = new Dictionary<string, List<string>>();
        for (int round = 1; round <= 12; round++)
        {
            for (int change = 0; change < 40; change++)
            {
                string key = $"docs/{random.Next(70)}";
                batch.BeginEntry(Encoding.UTF8.GetBytes(key));
                model[key] = [.. Enumerable.Range(0, random.Next(4)).Select(_ => Add(batch, random))];
                batch.EndEntry();
            }

            writer.Commit(batch, round, TestContext.Current.CancellationToken);
            using var searcher = new IndexSearcher(environment);
            foreach ((string key, List<string> places) in model)
            {
                IReadOnlyList<IndexEntryField>? fields = searcher.Entry(Encoding.UTF8.GetBytes(key));
                Assert.NotNull(fields);
                Assert.True(
                    places.SequenceEqual(fields.SelectMany(static field => field.Places)), $"seed {seed}, round {round}, {key}");
            }
        }
    }

    /// <summary>Adds a point or a shape; returns its text.</summary>
    private static string Add(IndexBatch batch, Random random)
    {
        if (random.Next(2) == 0)
        {
            double latitude = random.Next(-90, 91), longitude = random.Next(-180, 180) + (random.Next(4) / 4.0);
            batch.AddPoint(0, latitude, longitude);
            return string.Create(CultureInfo.InvariantCulture, $"POINT ({longitude} {latitude})");
        }

        string shape = _shapes[random.Next(_shapes.Length)];
        batch.AddShape(0, Geometry.Parse(shape));
        return shape;
    }
}
