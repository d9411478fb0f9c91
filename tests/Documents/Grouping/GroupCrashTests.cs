using System.Globalization;
using System.Text;
using Treepie.Computations;
using Treepie.Indexes.Extraction;
using Treepie.Indexes.Fields;
using Treepie.Indexes.Grouping;
using Treepie.Indexes.Reducing;
using Treepie.Indexes.States;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Grouping;

/// <summary>
/// The power fails while groups are reduced, again and again, at every operation of the disk; each time it goes on from what it
/// finds. In the end each group is what LINQ says.
/// </summary>
public sealed class GroupCrashTests
{
    private static readonly GroupDefinition _definition =
        new(
            "Orders", [new GroupKey("City")],
            [
                new(GroupAggregateKind.Sum, "Freight"), new(GroupAggregateKind.Min, "Freight"),
                new(GroupAggregateKind.Max, "Freight")
            ],
            []);

    private readonly SortedDictionary<long, (string Id, string? City, int Freight)> _log = [];
    private readonly Dictionary<string, long> _etags = [];
    private long _lastEtag;

    [Fact]
    public void Groups_that_lost_power_again_and_again_equal_what_LINQ_says()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var disk = new SimulatedDisk(random) { MapsSeeWrites = random.Next(2) == 0 };
        int crashes = 0;
        for (int round = 0; round < 60; round++)
        {
            disk.CrashAt = disk.Operations + random.Next(40);
            try
            {
                using StorageEnvironment environment = Open(disk, random);
                var writer = new IndexWriter(environment, _definition.Schema);
                for (int step = random.Next(2, 12); step > 0; step--)
                {
                    for (int i = random.Next(60); i > 0; i--)
                        Change(random, round);
                    Index(writer, random.Next(1, 200));
                    if (random.Next(4) == 0)
                        environment.Checkpoint(cancellationToken: TestContext.Current.CancellationToken);
                }
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
        var final = new IndexWriter(last, _definition.Schema);
        while (final.LastEtag < _lastEtag)
            Index(final, 1_000);
        Assert.Empty(last.Check(TestContext.Current.CancellationToken).Problems);
        string[] expected =
        [
            .. _log.Values.Where(order => order.City is not null).GroupBy(order => order.City)
                .Select(
                    group => string.Create(
                        CultureInfo.InvariantCulture,
                        $"{{\"City\":\"{group.Key}\",\"count()\":{group.Count()},\"sum(Freight)\":"
                            + $"{group.Sum(order => order.Freight)},\"min(Freight)\":{group.Min(order => order.Freight)},"
                            + $"\"max(Freight)\":{group.Max(order => order.Freight)}}}")).Order(StringComparer.Ordinal),
        ];
        Assert.True(expected.SequenceEqual(Objects(last)), $"seed {seed}");
    }

    private static StorageEnvironment Open(SimulatedDisk disk, Random random) => StorageEnvironment.Open(
        new World(disk, new SimulatedClock(), random, IsBackgroundAllowed: false),
        new StorageOptions { Durability = Durability.Relaxed, ScratchBudgetBytes = 1 << 20 });

    /// <summary>
    /// A document changes: it stands in the log once, at its last change. Most are in one group, which grows beyond a leaf and
    /// shrinks again.
    /// </summary>
    private void Change(Random random, int round)
    {
        string id = string.Create(CultureInfo.InvariantCulture, $"orders/{random.Next(600)}");
        if (_etags.TryGetValue(id, out long before))
            _log.Remove(before);
        bool isDeleted = random.Next(10) < (round % 20 < 10 ? 1 : 7);
        _log.Add(++_lastEtag, (id, isDeleted ? null : random.Next(3) > 0 ? "large" : $"c{random.Next(30)}", random.Next(1_000)));
        _etags[id] = _lastEtag;
    }

    private void Index(IndexWriter writer, int most)
    {
        (long Etag, (string Id, string? City, int Freight) Order)[] next =
            [.. _log.Where(change => change.Key > writer.LastEtag).Take(most).Select(pair => (pair.Key, pair.Value))];
        MappedDocument[] mapped = [.. next.Select(change => Map(change.Order.Id, change.Order.City, change.Order.Freight))];
        var reducer = new Reducer(
            _definition.Reduction.Reduce, new FieldExtractor(_definition), TimeProvider.System, new ReduceCounters());
        writer.Commit(
            writer.BeginBatch(),
            next.Length < most ? _lastEtag : next[^1].Etag,
            (transaction, entries) =>
            {
                entries.Clear();
                reducer.Apply(ReduceState.In(transaction), mapped, entries, TestContext.Current.CancellationToken);
            },
            TestContext.Current.CancellationToken);
    }

    private static MappedDocument Map(string id, string? city, int freight)
    {
        byte[] key = Encoding.UTF8.GetBytes(id);
        if (city is null)
            return new MappedDocument(key, "", [], null, default);
        var output = new MapOutput();
        byte[] json = Encoding.UTF8.GetBytes(
            string.Create(CultureInfo.InvariantCulture, $"{{\"City\":\"{city}\",\"Freight\":{freight}}}"));
        // the map of groups looks at nothing but its document
        _definition.Reduction.Map.Map(new ObjectAsDocument().Of(json), null!, output);
        return new MappedDocument(
            key, id, [new MappedResult(ReduceKey.Of(output[0].Span, _definition.Reduction.Reduce.Keys), output[0].ToArray())],
            null, default);
    }

    private static List<string> Objects(StorageEnvironment environment)
    {
        var objects = new List<string>();
        using var searcher = new IndexSearcher(environment);
        using SearchResults hits = searcher.Search(
            new SearchRequest { Query = new MatchAllQuery(), Take = long.MaxValue }, TestContext.Current.CancellationToken);
        while (hits.MoveNext())
            objects.Add(
                hits.Stored.TryGet(Reducer.ObjectSlot, out ReadOnlySpan<byte> json) ? Encoding.UTF8.GetString(json) : "none");
        objects.Sort(StringComparer.Ordinal);
        return objects;
    }
}
