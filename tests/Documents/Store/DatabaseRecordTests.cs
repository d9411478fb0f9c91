using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexing.Queries;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Store;

/// <summary>Everything that is set of a database, replaced as a whole.</summary>
public sealed class DatabaseRecordTests : IDisposable
{
    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private static DatabaseRecord Whole => new()
    {
        Lifecycle = new Dictionary<LifecycleTask, LifecycleSettings>
        {
            [LifecycleTask.Refresh] = new() { Frequency = TimeSpan.FromSeconds(7) },
        },
        Revisions = new RevisionsConfiguration { Default = new RevisionsRule { MinimumToKeep = 3 } },
        TimeSeries = Policies("By1Hour"),
        Compression = new DocumentCompressionConfiguration { Collections = ["Orders"] },
        Analyzers = [new AnalyzerDefinition("Plain", """{"Filters":["LowerCase"]}""")],
        Sorters = [new SorterDefinition("Kinds", """{"Values":["b","a"]}""")],
        Settings = new Dictionary<string, ReadOnlyMemory<byte>> { ["mine"] = """{"a":1}"""u8.ToArray() },
    };

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task A_record_is_there_at_once_also_after_reopening_and_goes_as_a_whole()
    {
        await using (Database database = Open())
        {
            long empty = database.GetRecord().Etag;
            await database.SetRecordAsync(Whole, empty, Cancel);
            AssertWhole(database);
            await Assert.ThrowsAsync<ConcurrencyException>(() => database.SetRecordAsync(new DatabaseRecord(), empty, Cancel));
            AssertWhole(database);
        }

        await using Database again = Open();
        AssertWhole(again);
        DatabaseRecord read = again.GetRecord();
        Assert.NotEqual(0, read.Etag);
        await again.SetRecordAsync(read, read.Etag, Cancel);
        Assert.Equal(read.Etag, again.GetRecord().Etag);
        await again.SetRecordAsync(new DatabaseRecord(), read.Etag, Cancel);
        Assert.False(again.Lifecycle.IsScheduled || again.TimeSeriesPolicies.IsScheduled);
        Assert.True(again.Settings.Get("mine") is null && again.Revisions.Configuration is null);
        Assert.Empty(again.Sorters.List());
        Assert.Empty(again.Indexes.Analyzers.List());
    }

    [Fact]
    public async Task What_could_not_be_read_again_is_refused_and_changes_nothing()
    {
        await using Database database = Open();
        await database.SetRecordAsync(Whole, database.GetRecord().Etag, Cancel);
        DatabaseRecord before = database.GetRecord();
        var compression = new DocumentCompressionConfiguration(); // of revisions alone
        var revisions = new RevisionsConfiguration { Default = new RevisionsRule { MinimumToKeep = -1 } };
        TimeSeriesConfiguration series = Policies("By1Hour") with { PolicyCheckFrequency = TimeSpan.Zero };
        foreach (DatabaseRecord bad in (DatabaseRecord[])[
            before with { Compression = compression }, before with { Revisions = revisions }, before with { TimeSeries = series }])
            await Assert.ThrowsAsync<InvalidDocumentException>(() => database.SetRecordAsync(bad, before.Etag, Cancel));
        await Assert.ThrowsAsync<InvalidDocumentException>(() => database.Compression.ConfigureAsync(compression, Cancel));
        await Assert.ThrowsAsync<InvalidDocumentException>(() => database.Revisions.ConfigureAsync(revisions, Cancel));
        await Assert.ThrowsAsync<InvalidDocumentException>(() => database.TimeSeriesPolicies.ConfigureAsync(series, Cancel));
        Assert.Equal(before.Etag, database.GetRecord().Etag);
        AssertWhole(database);
    }

    [Fact]
    public async Task An_analyzer_that_an_index_uses_stays_and_with_it_all_else()
    {
        await using Database database = Open();
        await database.SetRecordAsync(Whole, database.GetRecord().Etag, Cancel);
        database.Indexes.Put(
            new IndexDefinition
            {
                Name = "Notes/ByText",
                Collections = ["Notes"],
                Fields = [new IndexFieldDefinition { Name = "Text", Indexing = FieldIndexing.Search, Analyzer = "plain" }],
            });
        long etag = database.GetRecord().Etag;
        InvalidAnalyzerException error = await Assert.ThrowsAsync<InvalidAnalyzerException>(
            () => database.SetRecordAsync(new DatabaseRecord(), etag, Cancel));
        Assert.Contains("Notes/ByText", error.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<InvalidSorterException>(
            () => database.SetRecordAsync(Whole with { Sorters = [new SorterDefinition("x", "{}")] }, etag, Cancel));
        await Assert.ThrowsAsync<InvalidDocumentException>(
            () => database.SetRecordAsync(
                Whole with
                {
                    Revisions = null,
                    Settings = new Dictionary<string, ReadOnlyMemory<byte>> { ["mine"] = "[]"u8.ToArray() },
                }, etag, Cancel));
        AssertWhole(database);
        Assert.Equal(etag, database.GetRecord().Etag);
    }

    [Fact]
    public async Task Of_changes_at_once_none_is_lost()
    {
        await using Database database = Open();
        const int Clients = 8, Changes = 10;
        await Parallel.ForEachAsync(
            Enumerable.Range(0, Clients), Cancel,
            async (_, cancel) =>
            {
                for (int done = 0; done < Changes;)
                {
                    DatabaseRecord record = database.GetRecord();
                    int count = record.Settings.TryGetValue("count", out ReadOnlyMemory<byte> json)
                        ? JsonSerializer.Deserialize<Dictionary<string, int>>(json.Span)!["n"] // written below
                        : 0;
                    var settings = new Dictionary<string, ReadOnlyMemory<byte>>
                    {
                        ["count"] = JsonSerializer.SerializeToUtf8Bytes(new Dictionary<string, int> { ["n"] = count + 1 }),
                    };
                    try
                    {
                        await database.SetRecordAsync(record with { Settings = settings }, record.Etag, cancel);
                        done++;
                    }
                    catch (ConcurrencyException)
                    {
                        // another one was faster
                    }
                }
            });
        Assert.Equal(
            $$"""{"n":{{Clients * Changes}}}""", System.Text.Encoding.UTF8.GetString(database.Settings.Get("count")!.Value.Span));
    }

    [Fact]
    public async Task Policies_of_a_new_record_apply_to_entries_of_before()
    {
        await using Database database = Open();
        await database.SetRecordAsync(Whole, database.GetRecord().Etag, Cancel);
        var start = new DateTime(2024, 3, 1, 0, 0, 0, DateTimeKind.Utc);
        await database.WriteAsync(
            new WriteBatch().Put("d/1", """{"@metadata":{"@collection":"Data"}}"""u8)
                .TimeSeries("d/1", "Heart", [new TimeSeriesPoint(start, [1]), new TimeSeriesPoint(start.AddHours(30), [2])]),
            Cancel);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(2, Count(database, "Heart@By1Hour"));
        DatabaseRecord record = database.GetRecord();
        await database.SetRecordAsync(record with { TimeSeries = Policies("Hourly") }, record.Etag, Cancel);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        Assert.Equal(2, Count(database, "Heart@Hourly"));
    }

    [Fact]
    public async Task What_is_not_valid_any_more_keeps_nobody_from_changing_something_else()
    {
        await using (Database database = Open())
        {
            await database.SetRecordAsync(Whole, database.GetRecord().Etag, Cancel);
            byte[] analyzers = NamedCode.Empty.With([("Plain", """{"Filters":["LowerCase"]}"""), ("Older", """{"Filters":["Gone"]}""")])
                .ToJson()!;
            database.Write(
                writer =>
                {
                    new SettingCommand(CustomAnalyzers.SettingName, analyzers).Apply(writer);
                    writer.Save();
                    return true;
                });
        }

        // By now the program has an analyzer and an order of their names, and cannot build the other analyzer.
        var options = new DatabaseOptions
        {
            Analyzers = new DatabaseOptions().Analyzers.With("Plain", new DatabaseOptions().Analyzers.Get("StandardAnalyzer")),
            CustomOrders = new Dictionary<string, ICustomOrder> { ["Kinds"] = new SameOrder() },
        };
        await using Database later = Database.Open(Path.Combine(_files.Path, "data"), options);
        DatabaseRecord record = later.GetRecord();
        DatabaseRecord changed = record with { Settings = new Dictionary<string, ReadOnlyMemory<byte>>(), Compression = null };
        await later.SetRecordAsync(changed, record.Etag, Cancel);
        Assert.Null(later.Settings.Get("mine"));
        Assert.Equal(["Older", "Plain"], later.Indexes.Analyzers.List().Select(static one => one.Name));
        var added = new AnalyzerDefinition("Added", """{"Filters":["LowerCase"]}""");
        await later.SetRecordAsync(changed with { Analyzers = [.. changed.Analyzers, added] }, later.GetRecord().Etag, Cancel);
        Assert.Equal(3, later.Indexes.Analyzers.List().Count);

        // What is sent otherwise than it is kept is checked as ever.
        long etag = later.GetRecord().Etag;
        await Assert.ThrowsAsync<InvalidAnalyzerException>(
            () => later.SetRecordAsync(
                changed with { Analyzers = [new AnalyzerDefinition("Plain", """{"Filters":[]}""")] }, etag, Cancel));
        await Assert.ThrowsAsync<InvalidSorterException>(
            () => later.SetRecordAsync(
                changed with { Sorters = [new SorterDefinition("Kinds", """{"Values":["c"]}""")] }, etag, Cancel));
        Assert.Throws<InvalidAnalyzerException>(() => record.Check(options));
        await later.SetRecordAsync(new DatabaseRecord(), etag, Cancel);
        Assert.Empty(later.Indexes.Analyzers.List());
    }

    private static int Count(Database database, string series)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.TimeSeries("d/1", series).Count();
    }

    private static TimeSeriesConfiguration Policies(string name) => new()
    {
        Collections = new Dictionary<string, TimeSeriesRules>
        {
            ["Data"] = new() { Policies = [new TimeSeriesPolicy(name, TimeSeriesPeriod.Of(TimeSpan.FromHours(1)))] },
        },
    };

    private static void AssertWhole(Database database)
    {
        Assert.Equal(TimeSpan.FromSeconds(7), database.Lifecycle.Get(LifecycleTask.Refresh)?.Frequency);
        Assert.True(database.Lifecycle.IsScheduled && database.TimeSeriesPolicies.IsScheduled);
        Assert.Equal(3, database.Revisions.Configuration?.Default?.MinimumToKeep);
        Assert.Equal("By1Hour", database.TimeSeriesPolicies.Configuration?.Collections["Data"].Policies[0].Name);
        Assert.Equal(["Orders"], database.Compression.Configuration?.Collections);
        Assert.Equal("Plain", Assert.Single(database.Indexes.Analyzers.List()).Name);
        Assert.Equal("Kinds", Assert.Single(database.Sorters.List()).Name);
        Assert.Equal("""{"a":1}""", System.Text.Encoding.UTF8.GetString(database.Settings.Get("mine")!.Value.Span));
    }

    private Database Open() => Database.Open(Path.Combine(_files.Path, "data"));

    private sealed class SameOrder : ICustomOrder
    {
        public string Name => "Kinds";

        public int WriteKey(SortValue value, Span<byte> key) => 0;
    }
}
