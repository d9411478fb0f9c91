using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Writing;

/// <summary>
/// Calls of a batch and of a writer that are refused: each has a named error, and nothing of it stays. Two batches get the same
/// values, one of them wrong ones in between; their indexes must be the same to the byte.
/// </summary>
public sealed class RefusedValuesTests
{
    private static readonly DateTime _time = new(2026, 11, 29, 0, 0, 0, DateTimeKind.Utc);

    private static readonly IndexSchema _schema = new(
    [
        .. EveryKind.Schema.Fields, new IndexField("free", FieldAnalysis.Vector), // its first vector determines its dimensions
    ]);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static int FieldCount => _schema.Fields.Count;

    [Fact]
    public void Refused_values_leave_a_batch_and_its_index_as_they_were()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var data = new EveryKind(random);
        using StorageEnvironment plain = MemoryEnvironment.Open(), tried = MemoryEnvironment.Open();
        IndexWriter left = new(plain, _schema), right = new(tried, _schema);
        IndexBatch good = left.BeginBatch(), batch = right.BeginBatch();
        var seen = new HashSet<int>();
        int etag = 0;
        for (int round = 0; round < 400; round++)
        {
            RefuseClosed(batch, right, random, seen, $"seed {seed}, round {round}");
            byte[] key = Encoding.UTF8.GetBytes("docs/" + random.Next(80));
            if (random.Next(5) == 0)
            {
                good.Delete(key);
                batch.Delete(key);
                continue;
            }

            good.BeginEntry(key);
            batch.BeginEntry(key);
            foreach ((_, Action<IndexBatch> add) in data.Draw("").Values)
            {
                add(good);
                RefuseOpen(batch, right, random, seen, $"seed {seed}, round {round}");
                add(batch);
            }

            if (random.Next(3) == 0)
            {
                float[] vector = [1, random.NextSingle()];
                good.AddVector(FieldCount - 1, vector);
                batch.AddVector(FieldCount - 1, vector);
                RefuseOpen(batch, right, random, seen, $"seed {seed}, round {round}");
            }

            End(random.Next(6), good, batch);
            Assert.Equal((good.Count, good.SizeBytes, good.HeldBytes), (batch.Count, batch.SizeBytes, batch.HeldBytes));
            if (random.Next(20) != 0)
                continue;
            left.Commit(good, ++etag, Token);
            right.Commit(batch, etag, Token);
        }

        left.Commit(good, ++etag, Token);
        right.Commit(batch, etag, Token);
        Assert.True(seen.Count >= 50, $"only {seen.Count} kinds of wrong calls were made");
        Assert.True(StoreContent.Of(plain).SequenceEqual(StoreContent.Of(tried)), $"seed {seed}");
    }

    [Fact]
    public void A_batch_of_another_index_is_refused_and_nothing_is_committed()
    {
        using StorageEnvironment first = MemoryEnvironment.Open(), second = MemoryEnvironment.Open();
        var writer = new IndexWriter(first, _schema);
        IndexBatch mine = writer.BeginBatch();
        IndexFixture.Put(mine, "docs/1", (0, FieldValue.Of("a")));
        writer.Commit(mine, 1, Token);
        List<string> before = StoreContent.Of(first);
        IndexSchema turned = new([.. EveryKind.Schema.Fields.Reverse()]), longer = new([.. _schema.Fields, new IndexField("x")]);
        foreach (IndexSchema other in new[] { turned, longer })
        {
            using StorageEnvironment foreign = MemoryEnvironment.Open();
            IndexBatch batch = new IndexWriter(foreign, other).BeginBatch();
            batch.BeginEntry("docs/1"u8);
            batch.AddNull(other.Fields.Count - 1);
            batch.EndEntry();
            ArgumentException error = Assert.Throws<ArgumentException>(() => writer.Commit(batch, 2, Token));
            Assert.Contains("another index", error.Message, StringComparison.Ordinal);
            Assert.Equal((1, 1L), (batch.Count, writer.LastEtag));
            Assert.Equal(before, StoreContent.Of(first));
        }
    }

    [Fact]
    public void Values_of_fields_that_are_pending_come_by_backfill_alone_and_no_others_do()
    {
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, new IndexSchema([.. _schema.Fields.Take(2)]));
        IndexBatch batch = writer.BeginBatch();
        IndexFixture.Put(batch, "docs/1", (0, FieldValue.Of("a")));
        writer.Commit(batch, 1, Token);
        writer = new IndexWriter(environment, EveryKind.Schema);
        Assert.Equal(new Backfill(2, EveryKind.Schema.Fields.Count, 0), writer.Pending);
        List<string> before = StoreContent.Of(environment);

        IndexBatch early = writer.BeginBatch();
        IndexFixture.Put(early, "docs/2", (0, FieldValue.Of("b")), (5, FieldValue.Of("c")));
        ArgumentException error = Assert.Throws<ArgumentException>(() => writer.Commit(early, 2, Token));
        Assert.Contains("'tag'", error.Message, StringComparison.Ordinal);
        Assert.Equal(before, StoreContent.Of(environment));

        IndexBatch late = writer.BeginBatch();
        IndexFixture.Put(late, "docs/1", (1, FieldValue.Of(1L)), (5, FieldValue.Of("c")));
        error = Assert.Throws<ArgumentException>(() => writer.CommitBackfill(late, 1, Token));
        Assert.Contains("'number'", error.Message, StringComparison.Ordinal);
        Assert.Equal(before, StoreContent.Of(environment));
        Assert.NotNull(writer.Pending);
    }

    /// <summary>Ends an entry in each of the ways.</summary>
    private static void End(int way, params IndexBatch[] batches)
    {
        foreach (IndexBatch batch in batches)
        {
            if (way == 0)
                batch.FailEntry("label", "failed", _time);
            else if (way == 1)
                batch.EndEntry("label", "half failed", _time);
            else
                batch.EndEntry();
        }
    }

    private static void RefuseClosed(IndexBatch batch, IndexWriter writer, Random random, HashSet<int> seen, string what)
    {
        int field = random.Next(FieldCount);
        Refuse(
            batch, 0, random.Next(16), seen, what,
            (typeof(ArgumentException), () => batch.BeginEntry([])),
            (typeof(ArgumentException), () => batch.BeginEntry(new byte[IndexBatch.MaxKeyBytes + 1])),
            (typeof(ArgumentException), () => batch.Delete([])),
            (typeof(ArgumentException), () => batch.Delete(new byte[IndexBatch.MaxKeyBytes + 1])),
            (typeof(ArgumentException), () => batch.Append(batch)),
            (typeof(ArgumentNullException), () => batch.Append(null!)), // the wrong argument is the test
            (typeof(InvalidOperationException), batch.EndEntry),
            (typeof(InvalidOperationException), () => batch.EndEntry("l", "m", _time)),
            (typeof(InvalidOperationException), () => batch.FailEntry("l", "m", _time)),
            (typeof(InvalidOperationException), () => batch.AddNull(field)),
            (typeof(InvalidOperationException), () => batch.AddStored(0, "a"u8)),
            (typeof(InvalidOperationException), () => batch.AddLong(1, 1)),
            (typeof(InvalidOperationException), () => batch.AddText(3, "a"u8)),
            (typeof(InvalidOperationException), () => batch.AddPoint(2, 1, 1)),
            (typeof(InvalidOperationException), () => batch.AddVector(4, [1, 2, 3, 4])),
            (typeof(ArgumentNullException), () => writer.Commit(null!, 9, Token))); // the wrong argument is the test
    }

    private static void RefuseOpen(IndexBatch batch, IndexWriter writer, Random random, HashSet<int> seen, string what)
    {
        int outside = random.Next(4) switch { 0 => FieldCount, 1 => int.MaxValue, 2 => int.MinValue, _ => -1 };
        float strange = random.Next(3) switch { 0 => float.NaN, 1 => float.PositiveInfinity, _ => float.NegativeInfinity };
        double beyond = random.Next(3) switch { 0 => double.NaN, 1 => 90.001, _ => -91 };
        int noPlace = random.Next(2) == 0 ? 0 : 4, noVector = random.Next(4), noValue = random.Next(2) == 0 ? 2 : 4;
        (Type, Action)[] calls =
        [
            (typeof(InvalidOperationException), () => batch.BeginEntry("other"u8)),
            (typeof(InvalidOperationException), () => batch.Delete("other"u8)),
            (typeof(InvalidOperationException), () => writer.Commit(batch, 9, Token)),
            (typeof(InvalidOperationException), () => batch.Append(writer.BeginBatch())),
            (typeof(InvalidOperationException), () => writer.BeginBatch().Append(batch)),
            (typeof(ArgumentOutOfRangeException), () => batch.AddNull(outside)),
            (typeof(ArgumentOutOfRangeException), () => batch.NoteInexact(outside)),
            (typeof(ArgumentOutOfRangeException), () => batch.AddText(outside, "a"u8)),
            (typeof(ArgumentOutOfRangeException), () => batch.AddOpaque(outside)),
            (typeof(ArgumentOutOfRangeException), () => batch.AddLong(outside, 1)),
            (typeof(ArgumentOutOfRangeException), () => batch.AddDouble(outside, 1.5)),
            (typeof(ArgumentOutOfRangeException), () => batch.AddDouble(outside, double.NaN)),
            (typeof(ArgumentOutOfRangeException), () => batch.AddBoolean(outside, true)),
            (typeof(ArgumentOutOfRangeException), () => batch.AddPoint(outside, 1, 1)),
            (typeof(ArgumentOutOfRangeException), () => batch.AddShape(outside, Shape)),
            (typeof(ArgumentOutOfRangeException), () => batch.AddVector(outside, [1])),
            (typeof(InvalidOperationException), () => batch.AddPoint(noPlace, 1, 1)),
            (typeof(InvalidOperationException), () => batch.AddShape(noPlace, Shape)),
            (typeof(ArgumentNullException), () => batch.AddShape(2, null!)), // the wrong argument is the test
            (typeof(InvalidGeometryException), () => batch.AddPoint(2, beyond, 1)),
            (typeof(InvalidGeometryException), () => batch.AddPoint(2, 1, 4 * beyond)),
            (typeof(InvalidOperationException), () => batch.AddText(noValue, "a"u8)),
            (typeof(InvalidOperationException), () => batch.AddOpaque(noValue)),
            (typeof(InvalidOperationException), () => batch.AddLong(noValue, 1)),
            (typeof(InvalidOperationException), () => batch.AddDouble(noValue, 1)),
            (typeof(InvalidOperationException), () => batch.AddBoolean(noValue, false)),
            (typeof(InvalidOperationException), () => batch.AddVector(noVector, [1, 2, 3, 4])),
            (typeof(InvalidVectorException), () => batch.AddVector(4, [])),
            (typeof(InvalidVectorException), () => batch.AddVector(4, [1, 2, 3])),
            (typeof(InvalidVectorException), () => batch.AddVector(4, [1, 2, 3, 4, 5])),
            (typeof(InvalidVectorException), () => batch.AddVector(4, [1, strange, 3, 4])),
            (typeof(InvalidVectorException), () => batch.AddVector(FieldCount - 1, [])),
            (typeof(InvalidVectorException), () => batch.AddVector(FieldCount - 1, [strange, 1])),
            (typeof(ArgumentOutOfRangeException), () => batch.AddStored(-1, "a"u8)),
            (typeof(ArgumentNullException), () => batch.EndEntry(null!, "m", _time)), // the wrong arguments are the test
            (typeof(ArgumentNullException), () => batch.EndEntry("l", null!, _time)),
            (typeof(ArgumentNullException), () => batch.FailEntry(null!, "m", _time)),
            (typeof(ArgumentNullException), () => batch.FailEntry("l", null!, _time)),
        ];
        Refuse(batch, 100, random.Next(calls.Length), seen, what, calls);
    }

    private static Geometry Shape { get; } = Geometry.Around(new GeoPoint(1, 2), 3);

    private static void Refuse(
        IndexBatch batch, int group, int which, HashSet<int> seen, string what, params (Type Error, Action Call)[] calls)
    {
        (int, long, long) before = (batch.Count, batch.SizeBytes, batch.HeldBytes);
        (Type error, Action call) = calls[which];
        Exception? thrown = Record.Exception(call);
        Assert.True(
            thrown?.GetType() == error, $"{what}: call {group + which} should be refused with {error.Name}, but: {thrown}");
        Assert.NotEmpty(thrown.Message);
        Assert.True(before == (batch.Count, batch.SizeBytes, batch.HeldBytes), $"{what}: call {group + which} left something");
        seen.Add(group + which);
    }
}
