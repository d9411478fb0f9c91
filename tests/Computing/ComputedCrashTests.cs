using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexes.Computed;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Extraction;
using Treepie.Indexes.Reducing;
using Treepie.Indexes.States;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Kinds;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>
/// The power fails while an index with fan-out and references is built, at every operation of the disk; each time it goes on from
/// what it finds. In the end it equals one that was built at once.
/// </summary>
public sealed class ComputedCrashTests
{
    private const string OverDocuments =
        "from o in docs.Orders let c = LoadDocument(o.Company, \"Companies\") let boss = LoadDocument(c.Boss, \"Companies\") "
            + "from l in o.Lines select new { Line = l, Name = c.Name, Boss = boss.Name }";

    private const string OverCounters =
        "from n in counters.Orders let o = LoadDocument(n.DocumentId, \"Orders\") let c = LoadDocument(o.Company, \"Companies\") "
            + "from l in o.Lines select new { Line = l, Name = c.Name, n.Value }";

    private const string OverTimeSeries =
        "from s in timeSeries.Orders.S from e in s.Entries let c = LoadDocument(e.Tag, \"Companies\") select new { Line = "
            + "e.Value, Name = c.Name, At = e.Timestamp }";

    private const string MapInCSharp =
        "from o in docs.Orders let c = LoadDocument(o.Company, \"Companies\") from l in o.Lines "
            + "select new { Name = c.Name, Count = 1, Total = l }";

    private const string ReduceInCSharp =
        "from r in results group r by r.Name into g select new { Name = g.Key, Count = g.Sum(x => x.Count), "
            + "Total = g.Sum(x => x.Total) }";

    private const string MapInJavaScript =
        "map('Orders', o => { const c = load(o.Company, 'Companies'); return o.Lines.map(l => ({ Name: c?.Name ?? null, "
            + "Count: 1, Total: l })); })";

    private const string ReduceInJavaScript =
        "groupBy(x => ({ Name: x.Name })).aggregate(g => ({ Name: g.key.Name, Count: g.values.reduce((s, v) => s + v.Count, 0), "
            + "Total: g.values.reduce((s, v) => s + v.Total, 0) }))";

    [Theory]
    [InlineData(OverDocuments)]
    [InlineData(OverCounters)]
    [InlineData(OverTimeSeries)]
    [InlineData(MapInCSharp, ReduceInCSharp)]
    [InlineData(MapInJavaScript, ReduceInJavaScript)]
    public async Task An_index_that_lost_power_again_and_again_equals_one_built_at_once(string text, string? reduce = null)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var run = new IndexRunner();
        using JsonDocument json = JsonDocument.Parse(
            $"{{\"Name\":\"X\",\"Maps\":[{JsonSerializer.Serialize(text)}],\"Reduce\":{JsonSerializer.Serialize(reduce)}}}");
        StaticIndexMapping mapping = ComputedDefinition.Compile(
            IndexDefinition.FromJson(json.RootElement), new TextComputingEngine());
        var disk = new SimulatedDisk(random) { MapsSeeWrites = random.Next(2) == 0 };
        int crashes = 0;
        for (int round = 0; round < 80; round++)
        {
            await ChangeAsync(run.Database, random, round);
            disk.CrashAt = disk.Operations + random.Next(14);
            try
            {
                using StorageEnvironment environment = Open(disk, random);
                var writer = new IndexWriter(environment, mapping.Schema);
                for (int step = random.Next(1, 6); step > 0; step--)
                {
                    Index(run.Database, mapping, writer, environment, random.Next(1, 60));
                    if (random.Next(4) == 0)
                        environment.Checkpoint(TestContext.Current.CancellationToken);
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
        Finish(run.Database, mapping, last);
        Assert.Empty(last.Check(TestContext.Current.CancellationToken).Problems);
        using StorageEnvironment once = Open(new SimulatedDisk(random), random);
        Finish(run.Database, mapping, once);
        List<string> expected = Entries(once);
        Assert.NotEmpty(expected);
        Assert.True(expected.SequenceEqual(Entries(last)), $"seed {seed}");
    }

    private static StorageEnvironment Open(SimulatedDisk disk, Random random) => StorageEnvironment.Open(
        new World(disk, new SimulatedClock(), random, IsBackgroundAllowed: false),
        new StorageOptions { Durability = Durability.Relaxed, ScratchBudgetBytes = 1 << 20 });

    private static async Task ChangeAsync(Database database, Random random, int round)
    {
        var batch = new WriteBatch();
        for (int i = random.Next(1, 30); i > 0; i--)
        {
            bool isOrder = random.Next(3) > 0;
            string id = string.Create(
                CultureInfo.InvariantCulture, $"{(isOrder ? "orders" : "companies")}/{random.Next(isOrder ? 150 : 12)}");
            string reference = string.Create(CultureInfo.InvariantCulture, $"companies/{random.Next(12)}");
            if (random.Next(5) == 0)
                batch.Delete(id);
            else
                batch.Put(id, Encoding.UTF8.GetBytes(isOrder
                    ? $"{{\"Company\":\"{reference}\",\"Lines\":["
                        + $"{string.Join(',', Enumerable.Range(0, random.Next(5)).Select(_ => random.Next(9)))}],\"@metadata\":{{\"@collection\":\"Orders\"}}}}"
                    : $"{{\"Name\":\"n{round}\",\"Boss\":\"{reference}\",\"@metadata\":{{\"@collection\":\"Companies\"}}}}"));
        }

        await database.WriteAsync(batch, TestContext.Current.CancellationToken);
        using DatabaseSnapshot snapshot = database.BeginRead();
        batch = new WriteBatch();
        DateTime start = new(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        for (int i = random.Next(1, 20); i > 0; i--)
        {
            string id = string.Create(CultureInfo.InvariantCulture, $"orders/{random.Next(150)}");
            DateTime from = start.AddMinutes(random.Next(20));
            if (!snapshot.TryGet(id, out _))
                continue;
            if (random.Next(4) == 0)
                batch.DeleteCounter(id, "n").TimeSeries(id, "S", [], [(from, from.AddMinutes(5))]);
            else
                batch.IncrementCounter(id, "n", random.Next(1, 9))
                    .TimeSeries(id, "S", [new TimeSeriesPoint(from, [random.Next(9)], $"companies/{random.Next(12)}")]);
        }

        await database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    /// <summary>Indexes some changes; false if there are no more.</summary>
    private static bool Index(
        Database database, StaticIndexMapping mapping, IndexWriter writer, StorageEnvironment environment, int most)
    {
        var extractor = new FieldExtractor(mapping);
        MapBatch batch = mapping.Reduction is { } reduction
            ? new ResultBatch(
                writer, new ResultWriter(reduction.Map, reduction.Reduce.Keys, TimeProvider.System),
                new Reducer(reduction.Reduce, extractor, TimeProvider.System, new ReduceCounters()),
                new MappingAgain(reduction.Map, environment), new MapCounters(), new ReduceCounters(), outputs: null)
            : new ComputedBatch(
                mapping.Map!, // it computes
                new ComputedEntries(mapping.Map!, extractor, TimeProvider.System, writer.BeginBatch()), writer, environment,
                new MapCounters());
        using DatabaseSnapshot snapshot = database.BeginRead();
        using var feed = new MappedChanges(snapshot, mapping, writer.LastEtag);
        long reached = writer.LastEtag;
        bool more = feed.MoveNext();
        for (int i = 0; more && i < most; i++)
        {
            if (!batch.Add(feed))
                break;
            reached = feed.Etag;
            more = feed.MoveNext();
        }

        Assert.True(batch.TryCommit(more ? reached : snapshot.LastEtag, TestContext.Current.CancellationToken));
        return more;
    }

    private static void Finish(Database database, StaticIndexMapping mapping, StorageEnvironment environment)
    {
        var writer = new IndexWriter(environment, mapping.Schema);
        while (Index(database, mapping, writer, environment, 1_000))
        {
            // There are more.
        }
    }

    private static List<string> Entries(StorageEnvironment environment)
    {
        var entries = new List<string>();
        using var searcher = new IndexSearcher(environment);
        using SearchResults hits = searcher.Search(
            new SearchRequest { Query = new MatchAllQuery(), Take = long.MaxValue }, TestContext.Current.CancellationToken);
        while (hits.MoveNext())
            entries.Add(
                Convert.ToHexString(hits.Key) + ": "
                    + (hits.Stored.TryGet(Reducer.ObjectSlot, out ReadOnlySpan<byte> json) ? Encoding.UTF8.GetString(json) : "")
                    + string.Join(
                        "; ",
                        (searcher.Entry(hits.Key) ?? []).Select(
                            field => $"{field.Field}={string.Join(',', field.Terms)}{(field.HasNull ? "null" : "")}")));
        entries.Sort(StringComparer.Ordinal);
        return entries;
    }
}
