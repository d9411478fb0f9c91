using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Store;

/// <summary>Analyzers, sorters and settings that all databases of a catalogue share.</summary>
public sealed class SharedDefinitionsTests : IDisposable
{
    private const string WithoutAccents = """{"Filters":["LowerCase","Accents"]}""", WithAccents = """{"Filters":["LowerCase"]}""";

    private readonly TemporaryDirectory _folder = new();
    private DatabaseCatalog _catalog;

    public SharedDefinitionsTests() => _catalog = new DatabaseCatalog(_folder.Path);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _catalog.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task A_shared_analyzer_is_used_by_every_database_and_rebuilds_indexes_when_it_changes()
    {
        Database one = await CreateAsync("one"), two = await CreateAsync("two");
        Assert.Throws<InvalidIndexDefinitionException>(() => one.Indexes.Put(Index));
        _catalog.Shared.PutAnalyzers(new AnalyzerDefinition("Plain", WithoutAccents));
        one.Indexes.Put(Index);
        two.Indexes.Put(Index);
        Assert.Equal((1, 1), (await CountAsync(one, "creme"), await CountAsync(two, "creme")));

        two.Indexes.Analyzers.Put(new AnalyzerDefinition("PLAIN", WithAccents)); // its own takes precedence
        await SwappedAsync(two);
        Assert.Equal((1, 0), (await CountAsync(one, "creme"), await CountAsync(two, "creme")));
        _catalog.Shared.PutAnalyzers(new AnalyzerDefinition("Plain", WithAccents));
        await SwappedAsync(one);
        Assert.Equal((0, 1), (await CountAsync(one, "creme"), await CountAsync(two, "crème")));
    }

    [Fact]
    public async Task It_is_there_after_a_restart_and_reaches_databases_that_were_closed_when_it_changed()
    {
        _catalog.Shared.PutAnalyzers(new AnalyzerDefinition("Plain", WithoutAccents));
        Database one = await CreateAsync("one");
        one.Indexes.Put(Index);
        Assert.Equal(1, await CountAsync(one, "creme"));
        Reopen();
        Assert.Equal("Plain", Assert.Single(_catalog.Shared.Analyzers).Name);
        _catalog.Shared.PutAnalyzers(new AnalyzerDefinition("Plain", WithAccents)); // no database is open
        one = _catalog.Find("one")!;
        await SwappedAsync(one);
        Assert.Equal((0, 1), (await CountAsync(one, "creme"), await CountAsync(one, "crème")));
    }

    [Fact]
    public async Task Indexes_keep_an_analyzer_that_is_shared_no_longer_until_they_are_defined_anew()
    {
        _catalog.Shared.PutAnalyzers(new AnalyzerDefinition("Plain", WithoutAccents));
        Database one = await CreateAsync("one");
        one.Indexes.Put(Index);
        Assert.Equal(1, await CountAsync(one, "creme"));
        Assert.True(_catalog.Shared.DeleteAnalyzer("plain"));
        Assert.False(_catalog.Shared.DeleteAnalyzer("plain"));
        one.Indexes.Analyzers.Put(new AnalyzerDefinition("Unrelated", "{}")); // looks at all indexes
        Reopen();
        one = _catalog.Find("one")!;
        await SwappedAsync(one);
        Assert.Equal(1, await CountAsync(one, "creme"));
        Assert.Throws<InvalidIndexDefinitionException>(() => one.Indexes.Put(Index with { Name = "Another" }));
    }

    [Fact]
    public async Task Definitions_that_are_not_valid_change_nothing_and_leave_no_folder_behind()
    {
        Assert.Empty(_catalog.Shared.Analyzers);
        Assert.Empty(_catalog.Shared.Sorters);
        Assert.Equal((null, 0), _catalog.Shared.Setting("x"));
        Assert.False(_catalog.Shared.DeleteAnalyzer("x"));
        Assert.False(_catalog.Shared.DeleteSorter("x"));
        await _catalog.Shared.SetSettingAsync("x", null, Cancel);
        Assert.False(Directory.Exists(Path.Combine(_folder.Path, "shared")));
        Assert.Throws<InvalidAnalyzerException>(
            () => _catalog.Shared.PutAnalyzers(new AnalyzerDefinition("Good", "{}"), new AnalyzerDefinition("Bad", "class X {}")));
        Assert.Throws<InvalidSorterException>(() => _catalog.Shared.PutSorters(new SorterDefinition("Bad", "{}")));
        Assert.Empty(_catalog.Shared.Analyzers);
        Assert.Empty(_catalog.Shared.Sorters);
        await _catalog.Shared.SetSettingAsync("x", "{}"u8.ToArray(), Cancel);
        long etag = _catalog.Shared.Setting("x").Etag;
        Reopen();
        (ReadOnlyMemory<byte>? json, long again) = _catalog.Shared.Setting("x");
        Assert.Equal(("{}", etag), (System.Text.Encoding.UTF8.GetString(json!.Value.Span), again));
    }

    [Fact]
    public async Task A_shared_sorter_orders_queries_of_every_database_until_it_changes_or_goes()
    {
        Database one = await CreateAsync("one");
        _catalog.Shared.PutSorters(new SorterDefinition("Kinds", """{"Values":["Tea","Crème"]}"""));
        const string Query = "from Notes order by custom(Text, 'Kinds')";
        Assert.Equal(["notes/2", "notes/1"], (await one.AskAsync(Query)).Ids);
        one.Sorters.Put(new SorterDefinition("kinds", """{"Values":["Crème","Tea"]}"""));
        Assert.Equal(["notes/1", "notes/2"], (await one.AskAsync(Query)).Ids);
        one.Sorters.Delete("Kinds");
        Assert.Equal(["notes/2", "notes/1"], (await one.AskAsync(Query)).Ids);
        _catalog.Shared.DeleteSorter("Kinds");
        await Assert.ThrowsAsync<InvalidQueryException>(() => one.AskAsync(Query));
    }

    [Fact]
    public async Task A_database_that_cannot_rebuild_its_indexes_keeps_no_other_from_it_and_is_named()
    {
        _catalog.Shared.PutAnalyzers(new AnalyzerDefinition("Plain", WithoutAccents));
        Database one = await CreateAsync("one"), two = await CreateAsync("two");
        one.Indexes.Put(Index);
        two.Indexes.Put(Index);
        Assert.Equal((1, 1), (await CountAsync(one, "creme"), await CountAsync(two, "creme")));
        string indexes = Path.Combine(one.DataDirectory, "indexes");
        Directory.Move(indexes, indexes + ".away");
        await File.WriteAllTextAsync(indexes, "", Cancel);

        StorageException error = Assert.Throws<StorageException>(
            () => _catalog.Shared.PutAnalyzers(new AnalyzerDefinition("Plain", WithAccents)));
        Assert.Contains("are stored", error.Message, StringComparison.Ordinal);
        Assert.Contains("'one'", error.Message, StringComparison.Ordinal);
        await SwappedAsync(two);
        Assert.Equal((1, 0), (await CountAsync(one, "creme"), await CountAsync(two, "creme")));
        File.Delete(indexes);
        Directory.Move(indexes + ".away", indexes);
        Reopen();
        one = _catalog.Find("one")!;
        await SwappedAsync(one);
        Assert.Equal(0, await CountAsync(one, "creme"));
    }

    [Fact]
    public async Task Databases_work_while_what_they_share_cannot_be_read()
    {
        _catalog.Shared.PutAnalyzers(new AnalyzerDefinition("Plain", WithoutAccents));
        Database one = await CreateAsync("one");
        one.Indexes.Put(Index);
        Assert.Equal(1, await CountAsync(one, "creme"));
        _catalog.Dispose();
        foreach (string file in Directory.GetFiles(Path.Combine(_folder.Path, "shared"), "*", SearchOption.AllDirectories))
            await File.WriteAllBytesAsync(file, Enumerable.Repeat((byte)0x5A, (int)new FileInfo(file).Length).ToArray(), Cancel);
        _catalog = new DatabaseCatalog(_folder.Path);
        one = _catalog.Find("one")!;
        Assert.Equal(1, await CountAsync(one, "creme"));
        one.Indexes.Analyzers.Put(new AnalyzerDefinition("Unrelated", "{}")); // looks at all indexes
        await SwappedAsync(one);
        Assert.Equal(1, await CountAsync(one, "creme"));
        Assert.ThrowsAny<StorageException>(() => _catalog.Shared.Analyzers);
        Assert.ThrowsAny<StorageException>(() => _catalog.Shared.Setting("x"));
        Assert.ThrowsAny<StorageException>(() => one.Indexes.Put(Index with { Name = "Another" }));
    }

    [Fact]
    public async Task A_setting_and_its_etag_are_of_one_change()
    {
        using var stop = new CancellationTokenSource();
        await _catalog.Shared.SetSettingAsync("x", "{}"u8.ToArray(), Cancel);
        Task reading = Task.Run(
            () =>
            {
                var known = new Dictionary<long, string>();
                while (!stop.IsCancellationRequested)
                {
                    (ReadOnlyMemory<byte>? json, long etag) = _catalog.Shared.Setting("x");
                    string text = System.Text.Encoding.UTF8.GetString(json!.Value.Span);
                    Assert.Equal(text, known.TryAdd(etag, text) ? text : known[etag]);
                }
            },
            Cancel);
        for (int i = 0; i < 300 && !reading.IsCompleted; i++)
            await _catalog.Shared.SetSettingAsync("x", System.Text.Encoding.UTF8.GetBytes($"{{\"N\":{i}}}"), Cancel);
        await stop.CancelAsync();
        await reading;
    }

    private static IndexDefinition Index { get; } = new()
    {
        Name = "Notes",
        Collections = ["Notes"],
        Fields = [new IndexFieldDefinition { Name = "Text", Indexing = FieldIndexing.Search, Analyzer = "Plain" }],
    };

    private async Task<Database> CreateAsync(string name)
    {
        Database database = _catalog.Create(name);
        await database.PutAsync("notes/1", """{"Text":"Crème"}""", "Notes");
        await database.PutAsync("notes/2", """{"Text":"Tea"}""", "Notes");
        return database;
    }

    private static async Task<int> CountAsync(Database database, string word) =>
        (await database.AskAsync($"from index 'Notes' where search(Text, '{word}')")).Ids.Count();

    private static async Task SwappedAsync(Database database)
    {
        Assert.True(await database.Indexes.WaitForNonStaleAsync(TimeSpan.FromMinutes(1), null, Cancel));
        while (database.Indexes.List()
            .Any(static index => index.Name.StartsWith(IndexCatalogue.ReplacementPrefix, StringComparison.Ordinal)))
            await Task.Yield();
    }

    private void Reopen()
    {
        _catalog.Dispose();
        _catalog = new DatabaseCatalog(_folder.Path);
    }
}
