using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Catalogue;

/// <summary>Schemas are kept as they were given, bad ones are refused, and the structures of an index are measured.</summary>
public sealed class SchemaTests
{
    [Fact]
    public void A_schema_is_read_back_as_it_was_written()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 60; round++)
        {
            using var store = new TemporaryStore();
            var schema = new IndexSchema(
            [
                .. Enumerable.Range(0, random.Next(1, 12)).Select(i => random.Next(6) switch
                {
                    0 => new IndexField("v" + i, FieldAnalysis.Vector)
                    {
                        Vector = random.Next(3) == 0 ? null : new VectorFieldOptions(
                            random.Next(0, 2_000), (VectorMetric)random.Next(3), random.Next(2) == 0, random.Next(4, 65),
                            random.Next(8, 1_025)),
                    },
                    1 => new IndexField("é" + i, FieldAnalysis.FullText, "StandardAnalyzer"),
                    2 => new IndexField("s" + i, FieldAnalysis.Spatial),
                    3 => new IndexField("k" + i, FieldAnalysis.Keyword) { Boost = random.Next(1, 9) },
                    _ => new IndexField("f" + i),
                }),
            ]);
            _ = new IndexWriter(store.Environment, schema);
            store.Reopen();
            using var searcher = new IndexSearcher(store.Environment);
            Assert.Equal(schema.Fields, searcher.Schema.Fields);
        }
    }

    [Fact]
    public void Fields_that_cannot_be_are_refused_by_name()
    {
        Refused("twice", new IndexField("a"), new IndexField("a"));
        Refused("half of a surrogate pair", new IndexField("a\uD83D"));
        Refused("unknown analysis 99", new IndexField("a", (FieldAnalysis)99));
        Refused("has the boost NaN", new IndexField("a") { Boost = float.NaN });
        Refused("has the boost -1", new IndexField("a") { Boost = -1 });
        Refused("is not a vector field", new IndexField("a") { Vector = new VectorFieldOptions(2) });
        Refused("has vectors of -1 numbers", Vectors(new VectorFieldOptions(-1)));
        Refused("has vectors of 1000000 numbers", Vectors(new VectorFieldOptions(1_000_000)));
        Refused("with 3 edges", Vectors(new VectorFieldOptions(2) { Edges = 3 }));
        Refused("with 65 edges", Vectors(new VectorFieldOptions(2) { Edges = 65 }));
        Refused("7 candidates", Vectors(new VectorFieldOptions(2) { IndexingCandidates = 7 }));
        Refused("compared by 99", Vectors(new VectorFieldOptions(2, (VectorMetric)99)));
        Refused("set IsQuantised", Vectors(new VectorFieldOptions(2, VectorMetric.Hamming)));
        Refused("only a full-text field", new IndexField("a", FieldAnalysis.Keyword, "StandardAnalyzer"));
        Refused("There is no analyzer 'None'", new IndexField("a", FieldAnalysis.FullText, "None"));

        static IndexField Vectors(VectorFieldOptions options) => new("a", FieldAnalysis.Vector) { Vector = options };

        static void Refused(string message, params IndexField[] fields)
        {
            using var store = new TemporaryStore();
            IndexSchemaException error = Assert.Throws<IndexSchemaException>(
                () => new IndexWriter(store.Environment, new IndexSchema(fields)));
            Assert.Contains(message, error.Message, StringComparison.Ordinal);
            using ReadTransaction read = store.Environment.BeginRead();
            Assert.Empty(read.TreeNames); // nothing was written
        }
    }

    [Fact]
    public void The_structures_of_an_index_are_all_measured()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 500, keys: 400);
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        IReadOnlyList<IndexStructureSize> sizes = searcher.MeasureStructures(TestContext.Current.CancellationToken);
        Assert.Equal(sizes.Select(size => size.SizeBytes).OrderDescending(), sizes.Select(size => size.SizeBytes));
        Assert.Single(sizes, size => size is { Structure: "keys", Field: null, Keys: > 0 });
        Assert.All(sizes, size => Assert.InRange(size.UsedBytes, 1, size.SizeBytes));
        foreach (string field in (string[])["name", "tag", "number", "text", "mixed"])
        {
            IndexStructureSize terms = sizes.Single(size => size.Structure == "terms" && size.Field == field);
            Assert.True(terms.Keys > 0);
        }

        // Each page and each key of each tree of the index is counted once.
        using ReadTransaction read = fixture.Environment.BeginRead();
        List<TreeSize> trees = [.. read.TreeNames.Select(name => read.FindTree(name)).OfType<Tree>()
            .Select(tree => tree.Measure(TestContext.Current.CancellationToken))];
        Assert.Equal(trees.Sum(tree => tree.SizeBytes), sizes.Sum(size => size.SizeBytes));
        Assert.Equal(trees.Sum(tree => tree.Keys), sizes.Sum(size => size.Keys));
    }

    [Fact]
    public void Stored_bytes_come_back_by_their_slots()
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, new IndexSchema([new IndexField("name")]));
        IndexBatch batch = writer.BeginBatch();
        var expected = new List<SortedDictionary<int, byte[]>>();
        for (int i = 0; i < 300; i++)
        {
            var slots = new SortedDictionary<int, byte[]>();
            for (int slot = random.Next(3) == 0 ? 20 : 0; slot < 20; slot += random.Next(1, 9))
            {
                byte[] value = new byte[random.Next(4) == 0 ? random.Next(600) : random.Next(6)];
                random.NextBytes(value);
                slots.Add(slot, value);
            }

            expected.Add(slots);
            batch.BeginEntry(BitConverter.GetBytes(i + 1));
            foreach ((int slot, byte[] value) in slots)
                batch.AddStored(slot, value);
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(store.Environment);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = new MatchAllQuery() }, TestContext.Current.CancellationToken);
        foreach (SortedDictionary<int, byte[]> slots in expected)
        {
            Assert.True(results.MoveNext());
            StoredRecord stored = results.Stored;
            Assert.Equal(slots.Count == 0, stored.IsEmpty);
            for (int slot = 0; slot < 20; slot++)
            {
                Assert.Equal(slots.ContainsKey(slot), stored.TryGet(slot, out ReadOnlySpan<byte> value));
                Assert.True(value.SequenceEqual(slots.GetValueOrDefault(slot, [])));
            }
        }
    }
}
