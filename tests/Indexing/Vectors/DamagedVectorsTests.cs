using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Indexing.Vectors;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Vectors;

/// <summary>Every search in a vector field of which a record is damaged or missing finds something or reports it.</summary>
public sealed class DamagedVectorsTests
{
    private const int Dimensions = 20;

    [Theory]
    [InlineData(VectorMetric.Cosine, false)]
    [InlineData(VectorMetric.Euclidean, true)]
    [InlineData(VectorMetric.Hamming, true)]
    public void Searches_of_a_damaged_field_end_with_an_answer_or_a_report(VectorMetric metric, bool isQuantised)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var options = new VectorFieldOptions(Metric: metric, IsQuantised: isQuantised, Edges: 4, IndexingCandidates: 8);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        environment.Write(transaction =>
        {
            var writer = new VectorFieldWriter(transaction, 0, options);
            for (int id = 0; id < 200; id++)
                writer.Add(id, [Draw(random)], TestContext.Current.CancellationToken);
            writer.Flush();
            return true;
        }, TestContext.Current.CancellationToken);
        string[] trees = isQuantised ? ["vectors.0", "links.0", "nodes.0"] : ["vectors.0", "links.0", "nodes.0", "fullvectors.0"];
        int reports = 0;
        environment.Write(transaction =>
        {
            for (int round = 0; round < 600; round++)
            {
                Tree tree = transaction.GetOrCreateTree(trees[round % trees.Length]);
                (byte[] key, byte[] value) = Any(tree, random);
                if (random.Next(10) == 0)
                    tree.Delete(key);
                else
                    tree.Put(key, Damage.Of(value, random));
                reports += Searches(transaction, options, random, $"seed {seed}, round {round}");
                tree.Put(key, value);
            }

            Assert.Equal(0, Searches(transaction, options, random, $"seed {seed}, without damage"));
            return true;
        }, TestContext.Current.CancellationToken);
        Assert.True(reports > 100, $"seed {seed}: only {reports} reports");
    }

    /// <summary>Searches in every way; returns how many searches reported damage.</summary>
    private static int Searches(WriteTransaction transaction, VectorFieldOptions options, Random random, string what)
    {
        float[] wanted = Draw(random);
        int from = random.Next(100);
        Action<VectorReader>[] searches =
        [
            reader => reader.Walk(wanted, 5, 20, null, long.MaxValue, static () => { }),
            reader => reader.Walk(wanted, 5, 20, id => id % 2 == 0, 60, static () => { }),
            reader => reader.ScanAll(wanted, 5, static () => { }),
            reader => reader.Scan(wanted, 5, Enumerable.Range(from, 100).Select(static id => (long)id), static () => { }),
            reader => Enumerable.Range(from, 100).ToList().ForEach(id => reader.Of(id)),
        ];
        return searches.Count(search =>
        {
            try
            {
                search(new VectorReader(transaction.FindTree, 0, options));
                return false;
            }
            catch (CorruptionException error)
            {
                Assert.Contains("Reset the index", error.Message, StringComparison.Ordinal);
                return true;
            }
            catch (Exception error)
            {
                throw new InvalidOperationException($"{what}: {error.Message}", error);
            }
        });
    }

    private static (byte[] Key, byte[] Value) Any(Tree tree, Random random)
    {
        using Cursor cursor = tree.OpenCursor();
        Assert.True(cursor.MoveFirst());
        for (int steps = random.Next((int)tree.Count); steps > 0; steps--)
            Assert.True(cursor.MoveNext());
        return (cursor.Key.ToArray(), cursor.Value.ToArray());
    }

    private static float[] Draw(Random random) =>
        [.. Enumerable.Range(0, Dimensions).Select(_ => (float)((random.NextDouble() * 2) - 1))];
}
