using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Tests.Model;

/// <summary>Changes of entries with fields of every kind, which can be made to several batches.</summary>
internal static class RandomChanges
{
    private static readonly DateTime _time = new(2026, 11, 21, 0, 0, 0, DateTimeKind.Utc);

    /// <summary>Fields of every kind.</summary>
    public static IndexSchema Schema { get; } = new(
    [
        .. RandomData.Schema.Fields, new IndexField("place", FieldAnalysis.Spatial),
        new IndexField("vector", FieldAnalysis.Vector) { Vector = new VectorFieldOptions { Dimensions = 3 } },
    ]);

    /// <summary>Puts or removes the entry of a key, or has it fail.</summary>
    public static Action<IndexBatch> Next(Random random, RandomData data, string key)
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
}
