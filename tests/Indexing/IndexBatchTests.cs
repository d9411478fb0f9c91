using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

public sealed class IndexBatchTests
{
    private static readonly DateTime _time = new(2026, 11, 21, 0, 0, 0, DateTimeKind.Utc);

    /// <summary>Fields of every kind.</summary>
    private static readonly IndexSchema _schema = new(
    [
        .. RandomData.Schema.Fields, new IndexField("place", FieldAnalysis.Spatial),
        new IndexField("vector", FieldAnalysis.Vector) { Vector = new VectorFieldOptions { Dimensions = 3 } },
    ]);

    [Fact]
    public void Batches_put_together_are_to_the_byte_what_one_is()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var data = new RandomData(random);
        using StorageEnvironment whole = MemoryEnvironment.Open(), together = MemoryEnvironment.Open();
        var one = new IndexWriter(whole, _schema);
        var many = new IndexWriter(together, _schema);
        IndexBatch batch = one.BeginBatch(), joined = many.BeginBatch(), part = many.BeginBatch();
        for (int round = 1; round <= 6; round++)
        {
            for (int left = random.Next(1, 12); left > 0; left--)
            {
                for (int i = random.Next(40); i > 0; i--)
                {
                    Action<IndexBatch> change = Change(random, data, $"docs/{random.Next(120)}");
                    change(batch);
                    change(part);
                }

                joined.Append(part);
                part.Clear();
                Assert.Equal((batch.Count, batch.SizeBytes), (joined.Count, joined.SizeBytes));
            }

            one.Commit(batch, round, TestContext.Current.CancellationToken);
            many.Commit(joined, round, TestContext.Current.CancellationToken);
            Assert.True(Content(whole).SequenceEqual(Content(together)), $"seed {seed}, round {round}");
        }
    }

    [Fact]
    public void A_batch_takes_no_other_of_another_index_nor_itself()
    {
        using StorageEnvironment first = MemoryEnvironment.Open(), second = MemoryEnvironment.Open();
        IndexBatch batch = new IndexWriter(first, _schema).BeginBatch(),
            foreign = new IndexWriter(second, RandomData.Schema).BeginBatch();
        Assert.Throws<ArgumentException>(() => batch.Append(foreign));
        Assert.Throws<ArgumentException>(() => batch.Append(batch));
        IndexBatch open = new IndexWriter(first, _schema).BeginBatch();
        open.BeginEntry("a"u8);
        Assert.Throws<InvalidOperationException>(() => batch.Append(open));
    }

    /// <summary>Something that can be done twice.</summary>
    private static Action<IndexBatch> Change(Random random, RandomData data, string key)
    {
        byte[] id = Encoding.UTF8.GetBytes(key);
        int what = random.Next(12);
        if (what < 2)
            return batch => batch.Delete(id);

        (int Field, FieldValue Value)[] values = [.. data.Entry()];
        int place = RandomData.Schema.Fields.Count;
        double latitude = random.Next(-80, 80), longitude = random.Next(-170, 170);
        float[] vector = [random.NextSingle(), random.NextSingle(), 1];
        byte[] stored = [(byte)random.Next(256), (byte)random.Next(256)];
        return batch =>
        {
            batch.BeginEntry(id);
            foreach ((int field, FieldValue value) in values)
                IndexFixture.Add(batch, field, value);
            if (what < 6)
                batch.AddPoint(place, latitude, longitude);
            if (what is > 4 and < 8)
                batch.AddVector(place + 1, vector);
            if (what < 5)
                batch.AddStored(what, stored);
            if (what == 11)
                batch.FailEntry(key, "refused", _time);
            else if (what == 10)
                batch.EndEntry(key, "half refused", _time);
            else
                batch.EndEntry();
        };
    }

    /// <summary>Every key and value of every tree.</summary>
    private static List<string> Content(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        var content = new List<string>();
        foreach (string name in read.TreeNames.Order(StringComparer.Ordinal))
        {
            using Cursor cursor = read.FindTree(name)!.OpenCursor(); // it is one of them
            for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
                content.Add($"{name}: {Convert.ToHexString(cursor.Key)} = {Convert.ToHexString(cursor.Value)}");
        }

        return content;
    }
}
