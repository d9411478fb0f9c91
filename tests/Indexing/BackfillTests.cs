using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// Fields of every kind are added to an index with entries, group by group, while entries come and go: complete fields answer at
/// each step as in an index that had them from the start, and in the end all do.
/// </summary>
public sealed class BackfillTests
{
    private readonly SortedDictionary<long, (string Key, EveryKind.Entry? Entry)> _log = [];
    private readonly Dictionary<string, long> _etags = [];
    private long _lastEtag;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void Fields_that_are_added_answer_as_those_that_were_there_from_the_start(int firstFields)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var data = new EveryKind(random);
        using var store = new TemporaryStore();
        int fields = firstFields, groups = 0;
        IndexWriter writer = Open(store, fields);
        for (int step = 0; step < 120 || writer.Pending is not null || writer.LastEtag < _lastEtag; step++)
        {
            if (step < 100)
                Change(random, data);
            Index(writer, random.Next(1, 12));
            if (writer.Pending is { } pending)
                Backfill(writer, pending, random);
            if (step > 10 && fields < EveryKind.Schema.Fields.Count && random.Next(10) == 0)
            {
                fields = random.Next(fields + 1, EveryKind.Schema.Fields.Count + 1);
                writer = Open(store, fields);
                groups += writer.Pending is null ? 0 : 1;
            }

            if (random.Next(12) == 0)
            {
                store.Reopen();
                writer = Open(store, fields);
            }

            if (step % 6 == 0)
                Compare(store, writer, data, $"seed {seed}, step {step}");
        }

        Assert.True(groups > 0, $"seed {seed}: no field was backfilled");
        Assert.Empty(store.Environment.Check(Token).Problems);
        if (fields < EveryKind.Schema.Fields.Count)
            return;
        using StorageEnvironment whole = Whole(EveryKind.Schema);
        using IndexSearcher expected = new(whole), searcher = new(store.Environment);
        Assert.Equal(EveryKind.Schema.Fields.Count, searcher.CompleteFields);
        for (int i = 0; i < 150; i++)
            EveryKind.Compare(expected, searcher, data.Request());
    }

    [Fact]
    public void A_backfill_that_is_cancelled_changes_nothing_and_can_be_repeated()
    {
        var random = new Random(Seed.Next());
        var data = new EveryKind(random);
        using var store = new TemporaryStore();
        IndexWriter writer = Open(store, 1);
        for (int i = 0; i < 40; i++)
            Change(random, data);
        Index(writer, int.MaxValue);
        writer = Open(store, EveryKind.Schema.Fields.Count);
        Backfill pending = Assert.NotNull(writer.Pending);
        Assert.Equal(new Backfill(1, EveryKind.Schema.Fields.Count, 0), pending);
        IndexBatch batch = Missing(writer, pending, int.MaxValue, out _);
        int count = batch.Count;
        Assert.ThrowsAny<OperationCanceledException>(
            () => writer.CommitBackfill(batch, writer.LastEtag, new CancellationToken(canceled: true)));
        Assert.Equal((pending, count), (writer.Pending, batch.Count));
        writer.CommitBackfill(batch, writer.LastEtag, Token);
        Assert.Null(writer.Pending);
        Assert.Throws<InvalidOperationException>(() => writer.CommitBackfill(batch, writer.LastEtag, Token));
        using StorageEnvironment whole = Whole(EveryKind.Schema);
        using IndexSearcher expected = new(whole), searcher = new(store.Environment);
        for (int i = 0; i < 60; i++)
            EveryKind.Compare(expected, searcher, data.Request());
    }

    [Fact]
    public void Nothing_is_pending_where_no_entry_can_have_the_new_fields()
    {
        using var store = new TemporaryStore();
        Assert.Null(Open(store, 1).Pending);
        Assert.Null(Open(store, 2).Pending); // no entries
        _log.Add(++_lastEtag, ("a", new EveryKind.Entry("a", [])));
        Index(Open(store, 2), 1);
        Assert.Null(new IndexWriter(store.Environment, Schema(3), newFieldsAreEmpty: true).Pending);
        Assert.Equal(new Backfill(3, 5, 0), Open(store, 5).Pending);
        IndexWriter writer = Open(store, 6); // a second group, behind the first
        Assert.Equal(new Backfill(3, 5, 0), writer.Pending);
        Assert.False(writer.TryAddCompound(new CompoundKey("name", "number", CompoundOrder.Double)));
        writer.CommitBackfill(writer.BeginBatch(), 1, Token);
        Assert.Equal(new Backfill(5, 6, 0), writer.Pending);
        using (var searcher = new IndexSearcher(store.Environment))
        {
            Assert.Equal(5, searcher.CompleteFields);
            Assert.True(searcher.IsComplete("vector"));
            Assert.False(searcher.IsComplete("tag"));
            Assert.False(searcher.IsComplete("x"));
        }

        writer.CommitBackfill(writer.BeginBatch(), 1, Token);
        Assert.Null(writer.Pending);
        Assert.True(writer.TryAddCompound(new CompoundKey("name", "number", CompoundOrder.Double)));
    }

    private static IndexSchema Schema(int fields) => new([.. EveryKind.Schema.Fields.Take(fields)]);

    private static IndexWriter Open(TemporaryStore store, int fields) => new(store.Environment, Schema(fields));

    private void Change(Random random, EveryKind data)
    {
        for (int i = random.Next(4); i > 0; i--)
        {
            string key = "docs/" + random.Next(60);
            if (_etags.TryGetValue(key, out long before))
                _log.Remove(before);
            _log.Add(++_lastEtag, (key, random.Next(5) == 0 ? null : data.Draw(key)));
            _etags[key] = _lastEtag;
        }
    }

    /// <summary>Indexes some changes, with the fields that new entries get.</summary>
    private void Index(IndexWriter writer, int most)
    {
        IndexBatch batch = writer.BeginBatch();
        var next = _log.Where(change => change.Key > writer.LastEtag).Take(most).ToArray();
        foreach ((_, (string key, EveryKind.Entry? entry)) in next)
        {
            if (entry is null)
                batch.Delete(Encoding.UTF8.GetBytes(key));
            else
                entry.Put(batch, 0, writer.Pending?.FirstField ?? writer.Schema.Fields.Count);
        }

        writer.Commit(batch, next.Length < most ? _lastEtag : next[^1].Key, Token);
    }

    /// <summary>Gives some entries the pending fields; now and then the first attempt is cancelled.</summary>
    private void Backfill(IndexWriter writer, Backfill pending, Random random)
    {
        IndexBatch batch = Missing(writer, pending, random.Next(1, 20), out long reached);
        if (random.Next(5) == 0 && batch.Count > 0)
            Assert.ThrowsAny<OperationCanceledException>(
                () => writer.CommitBackfill(batch, reached, new CancellationToken(canceled: true)));
        writer.CommitBackfill(batch, reached, Token);
    }

    private IndexBatch Missing(IndexWriter writer, Backfill pending, int most, out long reached)
    {
        IndexBatch batch = writer.BeginBatch();
        var old = _log.Where(change => change.Key > pending.Etag && change.Key <= writer.LastEtag).Take(most).ToArray();
        foreach ((_, (_, EveryKind.Entry? entry)) in old)
            entry?.Put(batch, pending.FirstField, pending.EndField);
        reached = old.Length < most ? writer.LastEtag : old[^1].Key;
        return batch;
    }

    /// <summary>Compares what is complete with an index of nothing else.</summary>
    private void Compare(TemporaryStore store, IndexWriter writer, EveryKind data, string what)
    {
        if (writer.LastEtag < _lastEtag)
            return; // changes have taken the place of the entries that the index has
        using var searcher = new IndexSearcher(store.Environment);
        Assert.Equal(writer.Pending?.FirstField ?? writer.Schema.Fields.Count, searcher.CompleteFields);
        IndexSchema complete = Schema(searcher.CompleteFields);
        using StorageEnvironment whole = Whole(complete);
        using var expected = new IndexSearcher(whole);
        Assert.True(expected.EntryCount == searcher.EntryCount, what);
        foreach ((int kind, string field) in new[]
        {
            (0, "name"), (1, "number"), (5, "place"), (2, "text"), (7, "vector"), (6, "tag"),
        })
        {
            if (complete.IndexOf(field) < 0)
                continue;
            for (int i = 0; i < 6; i++)
                EveryKind.Compare(expected, searcher, new SearchRequest { Query = data.Leaf(kind) });
        }
    }

    /// <summary>An index of some fields that is written at once.</summary>
    private StorageEnvironment Whole(IndexSchema schema)
    {
        StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, schema);
        IndexBatch batch = writer.BeginBatch();
        foreach ((_, EveryKind.Entry? entry) in _log.Values)
            entry?.Put(batch, 0, schema.Fields.Count);
        writer.Commit(batch, _lastEtag, Token);
        return environment;
    }
}
