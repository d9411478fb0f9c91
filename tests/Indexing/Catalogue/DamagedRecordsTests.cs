using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Tests.Model;
using Treepie.Indexing.Tests.Spatial;
using Treepie.Indexing.Vectors;
using Treepie.Storage;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Catalogue;

/// <summary>
/// Records with sizes and counts in them, read as they were written, and with damaged bytes: either something is read or the
/// index is reported as damaged, and no count makes it allocate more than the record justifies.
/// </summary>
public sealed class DamagedRecordsTests
{
    [Theory]
    [InlineData("schema")]
    [InlineData("backfill")]
    [InlineData("compounds")]
    [InlineData("state")]
    [InlineData("statistics")]
    [InlineData("vectors")]
    public void A_damaged_record_of_the_catalogue_is_read_or_reported(string kind)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("index");
            for (int round = 0; round < 30; round++)
            {
                Func<object?> read = Write(tree, kind, random);
                string written = Text(read());
                (byte[] key, byte[] value) = Only(tree);
                for (int damage = 0; damage < 60; damage++)
                {
                    tree.Put(key, Damage.Of(value, random));
                    ReadOrReport(() => read(), value.Length, $"seed {seed}, {kind}, round {round}");
                }

                tree.Put(key, value);
                Assert.Equal(written, Text(read()));
                tree.Delete(key);
            }

            return true;
        }, TestContext.Current.CancellationToken);
    }

    [Fact]
    public void A_damaged_error_is_read_or_reported()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 200; round++)
        {
            var error = new EntryError(
                new string('l', random.Next(20)), new string('é', random.Next(40)),
                new DateTime(random.NextInt64(DateTime.MaxValue.Ticks), DateTimeKind.Utc));
            byte[] record = ErrorRecord.Write(error);
            Assert.Equal(error, ErrorRecord.Read(record));
            for (int damage = 0; damage < 20; damage++)
                ReadOrReport(() => ErrorRecord.Read(Damage.Of(record, random)), record.Length, $"seed {seed}, round {round}");
        }
    }

    [Fact]
    public void Damaged_places_are_read_or_reported()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 120; round++)
        {
            string wkt = random.Next(4) switch
            {
                0 => RandomShapes.DrawStar(random).Wkt,
                1 => $"GEOMETRYCOLLECTION({RandomShapes.DrawStar(random).Wkt}, POINT(1 2), LINESTRING(3 4, 5 6, 7 9))",
                2 => "MULTIPOINT((1 2), (3 4))",
                _ => "POLYGON((0 0, 10 0, 10 10, 0 10, 0 0), (1 1, 2 1, 2 2, 1 1))",
            };
            Geometry shape = Geometry.Parse(wkt, cancellationToken: TestContext.Current.CancellationToken);
            byte[] record = GeometryRecord.Encode(random.Next(4) == 0 ? Geometry.Around(new GeoPoint(1, 2), 3) : shape);
            Assert.Equal(record, GeometryRecord.Encode(ReadAll(record)));
            for (int damage = 0; damage < 60; damage++)
            {
                byte[] damaged = Damage.Of(record, random);
                ReadOrReport(() => damaged.Length == 0 ? null : ReadAll(damaged), record.Length, $"seed {seed}, round {round}");
            }
        }
    }

    private static Geometry ReadAll(byte[] record)
    {
        ReadOnlySpan<byte> rest = record;
        return GeometryRecord.Read(ref rest, out GridPoint point, []) ?? Geometry.Point(point.Point);
    }

    /// <summary>Writes a random record of a kind; returns how it is read.</summary>
    private static Func<object?> Write(Tree tree, string kind, Random random)
    {
        switch (kind)
        {
            case "schema":
                SchemaRecord.Write(
                    tree, new IndexSchema([.. Enumerable.Range(0, random.Next(1, 9)).Select(i => Field(i, random))]));
                return () => SchemaRecord.Read(tree);
            case "backfill":
                int[] bounds = [.. Enumerable.Range(0, random.Next(2, 6)).Select(i => (i * 70) + random.Next(70))];
                BackfillRecord.Write(
                    tree, [.. bounds.Zip(bounds.Skip(1), (first, end) => new Backfill(first, end, random.NextInt64()))]);
                return () => BackfillRecord.Read(tree);
            case "compounds":
                CompoundRecord.Write(
                    tree,
                    [
                        .. Enumerable.Range(0, random.Next(1, 8)).Select(
                            i => new CompoundRecord(i, random.Next(300), (CompoundOrder)random.Next(3), random.NextInt64())),
                    ]);
                return () => CompoundRecord.Read(tree);
            case "state":
                new IndexState { Etag = random.NextInt64(), NextEntryId = 9, EntryCount = 5, NextWord = random.NextInt64() }
                    .Write(tree);
                return () =>
                {
                    var state = IndexState.Read(tree);
                    return $"{state.Etag} {state.NextEntryId} {state.EntryCount} {state.NextListId} {state.NextWord}";
                };
            case "statistics":
                new FieldStatistics { TotalTerms = random.NextInt64(), ReferenceLength = random.NextDouble() }.Write(tree, 3);
                return () =>
                {
                    var statistics = FieldStatistics.Read(tree, 3);
                    return $"{statistics.TotalTerms} {statistics.ReferenceLength} {statistics.AreNumbersExact}";
                };
            default:
                new VectorState { Dimensions = random.Next(1, 99), NextNode = (uint)random.Next(), Count = random.NextInt64() }
                    .Write(tree);
                return () =>
                {
                    var state = VectorState.Read(tree);
                    return $"{state.Dimensions} {state.Entry} {state.TopLayer} {state.NextNode} {state.Count}";
                };
        }
    }

    private static IndexField Field(int number, Random random) => random.Next(3) switch
    {
        0 => new IndexField("v" + number, FieldAnalysis.Vector)
        {
            Vector = new VectorFieldOptions(random.Next(1, 2_000), VectorMetric.Dot, false, 16, random.Next(8, 1_000)),
        },
        1 => new IndexField("é" + number, FieldAnalysis.FullText, "StandardAnalyzer") { Boost = random.Next(1, 9) / 4f },
        _ => new IndexField("k" + number, FieldAnalysis.Keyword),
    };

    private static string Text(object? read) => read switch
    {
        IndexSchema schema => string.Join("; ", schema.Fields),
        System.Collections.IEnumerable many and not string => string.Join("; ", many.Cast<object>()),
        _ => $"{read}",
    };

    private static (byte[] Key, byte[] Value) Only(Tree tree)
    {
        using Cursor cursor = tree.OpenCursor();
        Assert.True(cursor.MoveFirst());
        return (cursor.Key.ToArray(), cursor.Value.ToArray());
    }

    private static void ReadOrReport(Func<object?> read, int bytes, string what)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        try
        {
            read();
        }
        catch (Exception error) when (error is CorruptionException or IndexSchemaException)
        {
            Assert.Contains("Reset the index", error.Message, StringComparison.Ordinal);
        }
        catch (Exception error)
        {
            Assert.Fail($"{what}: {error}");
        }

        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        Assert.True(allocated < 100_000 + (200L * bytes), $"{what}: {allocated} bytes were allocated");
    }
}
