using System.Text;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// The power fails while an index is built, tidied, given fields and compound keys and written down, again and again; each time
/// it continues from what it finds. In the end it answers, and holds of each entry, what one does that was built at one go.
/// </summary>
public sealed class IndexCrashTests
{
    private const int NarrowFields = 3;
    private const int Keys = 90;

    private static readonly IndexSchema _narrow = new([.. RandomData.Schema.Fields.Take(NarrowFields)]);

    private static readonly CompoundKey[] _compounds =
    [
        new("tag", "number", CompoundOrder.Double),
        new("name", "tag", CompoundOrder.Text),
        new("tag", "name", CompoundOrder.Text),
    ];

    private readonly SortedDictionary<long, (string Key, (int Field, FieldValue Value)[]? Values)> _log = [];
    private readonly Dictionary<string, long> _etags = [];
    private long _lastEtag;

    [Fact]
    public void An_index_that_lost_power_again_and_again_equals_one_that_never_did()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var data = new RandomData(random);
        var disk = new SimulatedDisk(random) { MapsSeeWrites = random.Next(2) == 0 };
        bool isWide = false;
        int crashes = 0;
        for (int round = 0; round < 50; round++)
        {
            isWide |= round > 20 && random.Next(8) == 0;
            disk.CrashAt = disk.Operations + random.Next(30);
            try
            {
                using StorageEnvironment environment = Open(disk, random);
                var writer = new IndexWriter(environment, isWide ? RandomData.Schema : _narrow);
                for (int step = random.Next(4, 25); step > 0; step--)
                    Step(environment, writer, random, data);
            }
            catch (Exception) when (disk.HasCrashed)
            {
                crashes++;
            }

            if (disk.HasCrashed || random.Next(2) == 0)
                disk.Crash();
            else
                disk.Resume();
        }

        Assert.True(crashes > 10, $"seed {seed}: only {crashes} crashes");
        using StorageEnvironment last = Open(disk, random);
        var final = new IndexWriter(last, RandomData.Schema);
        while (final.LastEtag < _lastEtag || final.Pending is not null)
            Index(final, 1_000);
        foreach (CompoundKey key in _compounds)
            final.TryAddCompound(key);
        while (final.BuildCompounds(TestContext.Current.CancellationToken))
        {
        }

        Assert.Empty(last.Check(TestContext.Current.CancellationToken).Problems);
        Compare(last, data, seed);
    }

    private static StorageEnvironment Open(SimulatedDisk disk, Random random) => StorageEnvironment.Open(
        new World(disk, new SimulatedClock(), random, IsBackgroundAllowed: false),
        new StorageOptions { Durability = Durability.Relaxed, ScratchBudgetBytes = 1 << 20 });

    private void Step(StorageEnvironment environment, IndexWriter writer, Random random, RandomData data)
    {
        switch (random.Next(7))
        {
            case 2:
                CompoundKey key = _compounds[random.Next(_compounds.Length)];
                if (!writer.TryAddCompound(key) && writer.HasUnbuiltCompounds)
                    writer.BuildCompounds(TestContext.Current.CancellationToken);
                break;
            case 0:
                environment.Checkpoint();
                break;
            case 1:
                writer.Tidy();
                break;
            default:
                for (int i = random.Next(12); i > 0; i--)
                    Change(random, data);
                Index(writer, random.Next(1, 30));
                break;
        }
    }

    /// <summary>A document changes: it stands in the log once, at its last change.</summary>
    private void Change(Random random, RandomData data)
    {
        string key = "docs/" + random.Next(Keys);
        if (_etags.TryGetValue(key, out long before))
            _log.Remove(before);
        _log.Add(++_lastEtag, (key, random.Next(4) == 0 ? null : [.. data.Entry()]));
        _etags[key] = _lastEtag;
    }

    /// <summary>Indexes some changes, and gives some entries the fields they lack.</summary>
    private void Index(IndexWriter writer, int most)
    {
        IndexBatch batch = writer.BeginBatch();
        (long Etag, (string Key, (int Field, FieldValue Value)[]? Values) Change)[] next =
            [.. _log.Where(change => change.Key > writer.LastEtag).Take(most).Select(pair => (pair.Key, pair.Value))];
        foreach ((_, (string key, (int, FieldValue)[]? values)) in next)
            Put(batch, key, values, 0, writer.Pending?.FirstField ?? writer.Schema.Fields.Count);
        writer.Commit(batch, next.Length < most ? _lastEtag : next[^1].Etag, TestContext.Current.CancellationToken);
        if (writer.Pending is not { } pending)
            return;

        var old = _log.Where(change => change.Key > pending.Etag && change.Key <= writer.LastEtag).Take(most).ToArray();
        foreach ((_, (string key, (int, FieldValue)[]? values)) in old)
            if (values is not null)
                Put(batch, key, values, pending.FirstField, pending.EndField);
        writer.CommitBackfill(batch, old.Length < most ? writer.LastEtag : old[^1].Key, TestContext.Current.CancellationToken);
    }

    private static void Put(IndexBatch batch, string key, (int Field, FieldValue Value)[]? values, int first, int end)
    {
        if (values is null)
        {
            batch.Delete(Encoding.UTF8.GetBytes(key));
            return;
        }

        batch.BeginEntry(Encoding.UTF8.GetBytes(key));
        foreach ((int field, FieldValue value) in values)
            if (field >= first && field < end)
                IndexFixture.Add(batch, field, value);
        batch.EndEntry();
    }

    private void Compare(StorageEnvironment environment, RandomData data, int seed)
    {
        using StorageEnvironment scratch = MemoryEnvironment.Open();
        var writer = new IndexWriter(scratch, RandomData.Schema);
        Index(writer, int.MaxValue);
        var model = new NaiveIndex(RandomData.Schema);
        foreach ((string key, (int, FieldValue)[]? values) in _log.Values)
            if (values is not null)
                model.Put(key, values);
        using IndexSearcher searcher = new(environment), expected = new(scratch);
        Assert.Equal(expected.EntryCount, searcher.EntryCount);
        foreach (string key in _etags.Keys)
        {
            byte[] id = Encoding.UTF8.GetBytes(key);
            Assert.True(
                Describe(expected, id) == Describe(searcher, id),
                $"seed {seed}: {key} has {Describe(searcher, id)} instead of {Describe(expected, id)}");
        }

        for (int i = 0; i < 120; i++)
            IndexFixture.Check(searcher, model, data.Request());
        CheckCompounds(searcher, model, data);
    }

    /// <summary>Every value of equality, walked by its compound key.</summary>
    private static void CheckCompounds(IndexSearcher searcher, NaiveIndex model, RandomData data)
    {
        int walked = 0;
        foreach (CompoundKey key in _compounds)
        {
            for (int i = 0; i < 30; i++)
            {
                SortKind kind = key.Order == CompoundOrder.Double ? SortKind.Double : SortKind.Text;
                var request = new SearchRequest
                {
                    Query = new TermQuery(key.EqualField, FieldValue.Of(data.Word())),
                    Sort = [new SortKey(key.OrderField, kind, Descending: i % 2 == 0)],
                    Take = 3 + i,
                    OrderHint = OrderHint.Compound,
                };
                IndexFixture.Check(searcher, model, request);
                using SearchResults results = searcher.Search(
                    request, new QueryOptions { Plan = PlanDetail.Counts }, TestContext.Current.CancellationToken);
                walked += Decisions(results.Plan).Any(
                    static one => one.Chosen.Contains("compound", StringComparison.Ordinal)) ? 1 : 0;
            }
        }

        Assert.True(walked > 0, "no compound key was walked");
    }

    private static IEnumerable<PlanDecision> Decisions(PlanNode? plan) =>
        plan is null ? [] : plan.Decisions.Concat(plan.Children.SelectMany(Decisions));

    private static string Describe(IndexSearcher searcher, byte[] key) => searcher.Entry(key) is { } fields
        ? string.Join(
            "; ",
            fields.Select(
                field =>
                    $"{field.Field}: {string.Join(",", field.Terms.Order(StringComparer.Ordinal))} "
                        + $"{string.Join(",", field.Numbers.Order())} {field.HasNull}").Order(StringComparer.Ordinal))
        : "nothing";
}
