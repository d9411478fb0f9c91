using System.Text;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Indexes;
using Treepie.Indexing.Analysis;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>What several threads make of documents, and how large batches become.</summary>
public sealed class BatchMapperTests : IDisposable
{
    private static readonly IndexDefinition _everything = new()
    {
        Name = "Everything",
        Collections = ["Users", "Places"],
        Fields =
        [
            new() { Name = "Name", Stored = true }, new() { Name = "Age" }, new() { Name = "Tags", Path = "Tags[]" },
            new() { Name = "Notes", Indexing = FieldIndexing.Search, Analyzer = "EnglishAnalyzer" },
            new() { Name = "At", Spatial = new SpatialFieldDefinition { Wkt = "At" } },
        ],
    };

    private readonly TemporaryDirectory _folder = new();
    private readonly ManualClock _clock = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task An_index_is_the_same_to_the_byte_however_many_threads_map()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using (Database database = Open(1))
            for (int i = 0; i < 24; i++)
                await database.WriteAsync(RandomChanges(random, 100), TestContext.Current.CancellationToken);

        List<string>? expected = null;
        foreach (int mappers in (int[])[1, 2, 5])
        {
            using Database database = Open(mappers);
            if (expected is null)
                database.Indexes.Put(_everything);
            else
                database.Indexes.Reset(_everything.Name);
            Assert.True(
                await database.Indexes.WaitForNonStaleAsync(
                    TimeSpan.FromMinutes(5), cancellationToken: TestContext.Current.CancellationToken));
            Assert.True(Assert.Single(database.Indexes.List()).ErrorCount > 0);
            List<string> content = Content(database.Indexes.Find(_everything.Name)!); // it was put
            expected ??= content;
            Assert.True(expected.SequenceEqual(content), $"seed {seed}: {mappers} mappers make another index than one");
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task A_batch_of_huge_documents_stays_within_its_budget(int mappers)
    {
        const int Documents = 24, WordsOfEach = 8_000;
        using Database database = Open(mappers);
        database.Indexes.Control.Pause();
        database.Indexes.Put(_everything);
        for (int i = 0; i < Documents; i++)
        {
            string text = string.Join(' ', Enumerable.Range(0, WordsOfEach).Select(word => $"w{i}x{word}"));
            await database.WriteAsync(
                Put(new WriteBatch(), $"users/{i}", $$"""{"Notes":"{{text}}"}""", "Users"),
                TestContext.Current.CancellationToken);
        }

        DocumentIndex index = database.Indexes.Find(_everything.Name)!; // it was put
        var context = new IndexingContext(
            database.BeginRead, new ChangeSignal(), TimeProvider.System, AnalyzerSet.BuiltIn,
            database.Options.Indexing with { MaxBatchBytes = 2 << 20 });
        var mapper = new BatchMapper(index, context);
        MapBatch batch = index.BeginBatch(new FieldRange(0, 5), _clock);
        int batches = 0, changes = 0;
        for (long reached = 0, most = 0; ; batches++)
        {
            batch.Clear();
            MappedBatch mapped = mapper.Map(
                batch, new FieldRange(0, 5), reached, long.MaxValue, TestContext.Current.CancellationToken);
            changes += batch.Count;
            reached = mapped.Reached;
            most = Math.Max(most, batch.SizeBytes / Math.Max(1, batch.Count));
            // a piece has 256 KiB: at most three of these
            Assert.True(batch.SizeBytes < (2 << 20) + (4 * most), $"{batch.Count} documents, {batch.SizeBytes} bytes");
            if (mapped.IsComplete)
                break;
        }

        Assert.Equal(Documents, changes);
        Assert.True(batches > 2);
        context.Workers.Dispose();
    }

    [Fact]
    public async Task A_batch_ends_after_so_many_changes_too()
    {
        using Database database = Open(2);
        database.Indexes.Control.Pause();
        database.Indexes.Put(_everything);
        for (int i = 0; i < 10; i++)
            await database.WriteAsync(RandomChanges(new Random(i), 100), TestContext.Current.CancellationToken);
        DocumentIndex index = database.Indexes.Find(_everything.Name)!; // it was put
        var context = new IndexingContext(
            database.BeginRead, new ChangeSignal(), _clock, AnalyzerSet.BuiltIn,
            new IndexingOptions { Mappers = 2, MaxBatchChanges = 200 });
        MappedBatch mapped = new BatchMapper(index, context).Map(
            index.BeginBatch(new FieldRange(0, 5), _clock), new FieldRange(0, 5), 0, long.MaxValue,
            TestContext.Current.CancellationToken);
        Assert.InRange(mapped.Batch.Count, 200, 200 + RangeCut.MaxChanges);
        Assert.False(mapped.IsComplete);
        context.Workers.Dispose();
    }

    [Fact]
    public async Task Documents_that_are_mapped_make_no_garbage()
    {
        const int Documents = 1_000;
        using Database database = Open(1);
        database.Indexes.Control.Pause();
        database.Indexes.Put(new()
        {
            Name = "Plain",
            Collections = ["Users"],
            Fields =
            [
                new() { Name = "Name" }, new() { Name = "Age" }, new() { Name = "Tags", Path = "Tags[]" },
                new() { Name = "Notes", Indexing = FieldIndexing.Search },
                new() { Name = "At", Spatial = new SpatialFieldDefinition { Latitude = "Lat", Longitude = "Lon" } },
            ],
        });
        var documents = new WriteBatch();
        for (int i = 0; i < Documents; i++)
            Put(
                documents, $"users/{i}",
                $$"""{"Name":"n{{i}}","Age":{{i}},"Tags":["a","b"],"Notes":"running \u00e4 word {{i}}","Lat":{{i % 80}},"Lon":12.5}""",
                "Users");
        await database.WriteAsync(documents, TestContext.Current.CancellationToken);

        DocumentIndex index = database.Indexes.Find("Plain")!; // it was put
        var context = new IndexingContext(
            database.BeginRead, new ChangeSignal(), _clock, AnalyzerSet.BuiltIn,
            database.Options.Indexing with { MaxBatchBytes = 64 << 20 });
        var mapper = new BatchMapper(index, context);
        MapBatch batch = index.BeginBatch(new FieldRange(0, 5), _clock);
        long made = long.MaxValue;
        for (int round = 0; round < 3; round++)
        {
            batch.Clear();
            long before = GC.GetAllocatedBytesForCurrentThread();
            mapper.Map(batch, new FieldRange(0, 5), 0, long.MaxValue, TestContext.Current.CancellationToken);
            made = Math.Min(made, GC.GetAllocatedBytesForCurrentThread() - before);
            Assert.Equal(Documents, batch.Count);
        }

        // What is made once for a batch: a snapshot, and what fields are taken out with.
        Assert.True(made < 64 * Documents, $"{made / Documents} bytes of garbage for each document");
        context.Workers.Dispose();
    }

    [Fact]
    public void Options_out_of_range_are_refused()
    {
        foreach (IndexingOptions options in (IndexingOptions[])
            [new() { Mappers = 0 }, new() { IndexesAtWork = 257 }, new() { MaxBatchBytes = 1 }, new()
            {
                MaxBatchChanges = 0
            }, new() { MaxBatchTime = TimeSpan.Zero }])
        {
            Assert.Throws<ArgumentOutOfRangeException>(
                () => Database.Open(_folder.Path, new DatabaseOptions { Indexing = options }));
        }
    }

    private Database Open(int mappers) => Database.Open(
        _folder.Path,
        new DatabaseOptions
        {
            TimeProvider = _clock,
            Indexing = new IndexingOptions
            {
                Mappers = mappers,
                MaxBatchBytes = IndexingOptions.LeastBatchBytes * 2,
                MaxBatchTime = TimeSpan.FromHours(1)
            },
        });

    private static WriteBatch RandomChanges(Random random, int changes)
    {
        var batch = new WriteBatch();
        foreach (int number in Enumerable.Range(0, changes).Select(_ => random.Next(1_500)).Distinct())
        {
            if (random.Next(8) == 0)
            {
                batch.Delete($"users/{number}");
                continue;
            }

            string notes = string.Join(
                ' ',
                Enumerable.Range(0, random.Next(30) == 0 ? 1_500 : random.Next(12))
                    .Select(_ => $"running{random.Next(300)} words"));
            string at = random.Next(9) == 0 ? "NOWHERE" : $"POINT ({random.Next(-90, 90)} {random.Next(-80, 80)})";
            string tags = string.Join(',', Enumerable.Range(0, random.Next(4)).Select(_ => $"\"t{random.Next(9)}\""));
            Put(
                batch, $"users/{number}",
                $$"""{"Name":"n{{random.Next(200)}}","Age":{{random.Next(100)}},"Tags":[{{tags}}],"Notes":"{{notes}}","At":"{{at}}"}""",
                number % 9 == 0 ? "Others" : number % 3 == 0 ? "Places" : "Users");
        }

        return batch;
    }

    private static WriteBatch Put(WriteBatch batch, string id, string body, string collection) =>
        batch.Put(id, Encoding.UTF8.GetBytes($$"""{{body[..^1]}},"@metadata":{"@collection":"{{collection}}"} }"""));

    /// <summary>Every key and value of every tree of an index.</summary>
    private static List<string> Content(DocumentIndex index)
    {
        using ReadTransaction read = index.Store.BeginRead();
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
