using System.Buffers.Binary;
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

    /// <summary>
    /// Links that lead one way only, or to a layer that a node does not have: entries are removed and added until the damage is
    /// found, if it is.
    /// </summary>
    [Fact]
    public void Changes_of_a_field_with_damaged_links_end_well_or_with_a_report()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var options = new VectorFieldOptions(IsQuantised: true, Edges: 4, IndexingCandidates: 8);
        int reports = 0;
        for (int round = 0; round < 80; round++)
        {
            using StorageEnvironment environment = MemoryEnvironment.Open();
            List<long> ids = [.. Enumerable.Range(0, 60).Select(static id => (long)id)];
            Change(environment, options, writer => ids.ForEach(id => writer.Add(id, [Draw(random)], default)));
            environment.Write(
                transaction =>
                {
                    Tree links = transaction.GetOrCreateTree("links.0");
                    byte[] key = new byte[VectorKey.Bytes];
                    VectorKey.Write(key, (uint)random.Next(ids.Count));
                    Assert.True(links.TryGet(key, out ReadOnlySpan<byte> value));
                    links.Put(key, DamageLinks(value.ToArray(), random));
                    return true;
                },
                TestContext.Current.CancellationToken);
            for (int step = 0; step < 12; step++)
            {
                long removed = ids[random.Next(ids.Count)], added = 100 + step;
                try
                {
                    Change(environment, options, writer =>
                    {
                        writer.Remove([removed], default);
                        writer.Add(added, [Draw(random)], default);
                    });
                    ids.Remove(removed);
                }
                catch (CorruptionException error)
                {
                    Assert.Contains("Reset the index", error.Message, StringComparison.Ordinal);
                    reports++;
                    break;
                }
                catch (Exception error)
                {
                    throw new InvalidOperationException($"seed {seed}, round {round}, step {step}: {error.Message}", error);
                }
            }
        }

        Assert.True(reports > 20, $"seed {seed}: only {reports} reports");
    }

    private static void Change(StorageEnvironment environment, VectorFieldOptions options, Action<VectorFieldWriter> change) =>
        environment.Write(
            transaction =>
            {
                var writer = new VectorFieldWriter(transaction, 0, options);
                change(writer);
                writer.Flush();
                return true;
            },
            TestContext.Current.CancellationToken);

    /// <summary>The links of a node without its last layer, without one link, or with one that leads elsewhere.</summary>
    private static byte[] DamageLinks(byte[] value, Random random)
    {
        var layers = new List<List<uint>>();
        for (int at = 1; layers.Count < value[0];)
        {
            var layer = new List<uint>();
            for (int left = value[at++]; left > 0; left--, at += sizeof(uint))
                layer.Add(BinaryPrimitives.ReadUInt32LittleEndian(value.AsSpan(at)));
            layers.Add(layer);
        }

        List<uint> damaged = layers[random.Next(layers.Count)];
        switch (random.Next(4))
        {
            case 0:
                layers.RemoveAt(layers.Count - 1);
                break;
            case 1 when damaged.Count > 0:
                damaged.RemoveAt(random.Next(damaged.Count));
                break;
            case 2 when damaged.Count > 0:
                damaged[random.Next(damaged.Count)] = (uint)random.Next(60);
                break;
            default:
                damaged.Add((uint)random.Next(60));
                break;
        }

        var bytes = new List<byte> { (byte)layers.Count };
        Span<byte> number = stackalloc byte[sizeof(uint)];
        foreach (List<uint> layer in layers)
        {
            bytes.Add((byte)layer.Count);
            foreach (uint node in layer)
            {
                BinaryPrimitives.WriteUInt32LittleEndian(number, node);
                bytes.AddRange(number);
            }
        }

        return [.. bytes];
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
