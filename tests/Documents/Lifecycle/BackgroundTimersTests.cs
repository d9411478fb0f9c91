using System.Globalization;
using System.Text;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Documents.Tests.Kinds;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Packing;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Lifecycle;

/// <summary>
/// When background work runs: each task at its own frequency, whatever else fails or is changed meanwhile, and not at all where
/// there is nothing to do.
/// </summary>
public sealed class BackgroundTimersTests : IDisposable
{
    private static readonly TimeSpan _minute = TimeSpan.FromMinutes(1);

    private readonly TemporaryDirectory _directory = new();
    private readonly FiringClock _clock = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_database_whose_values_are_gone_can_be_closed()
    {
        await using var catalog = new DatabaseCatalog(
            Path.Combine(_directory.Path, "catalog"), new DatabaseOptions { TimeProvider = _clock });
        Database database = catalog.Create("db");
        await PutValueAsync(database, "a", 1);
        await PutValueAsync(database, "b", 2);
        Assert.False(catalog.Close("db"));
        _clock.Advance(_minute);
        await GoneAsync(database, "a");
        await database.Lifecycle.RunAsync(Cancel);
        Assert.False(catalog.Close("db")); // one is left
        _clock.Advance(_minute);
        await database.Lifecycle.RunAsync(Cancel);
        Assert.False(database.HasWork);
        await PutValueAsync(database, "c", 1);
        Assert.True(database.HasWork);
        await database.WriteAsync(new WriteBatch().DeleteCompareExchange("c", database.LastEtag), Cancel);
        await database.Lifecycle.RunAsync(Cancel);
        Assert.True(catalog.Close("db"));
    }

    [Fact]
    public async Task Values_that_expire_make_no_task_run_more_often()
    {
        await using Database database = Open();
        await PutAsync(database, "d/1", "@expires");
        await PutAsync(database, "d/2", "@expires");
        await PutAsync(database, "d/3", "@expires");
        await database.Lifecycle.SetAsync(
            LifecycleTask.Expiration, new LifecycleSettings { Frequency = TimeSpan.FromHours(1), MaxItemsPerRun = 1 }, Cancel);
        await PutValueAsync(database, "v/1", 1);
        await PutValueAsync(database, "v/2", 1_000);
        _clock.Advance(_minute);
        await GoneAsync(database, "v/1");
        Assert.Equal(3, database.GetStatistics().DocumentCount);
        _clock.Advance(TimeSpan.FromMinutes(59));
        await Eventually.TrueAsync(() => database.GetStatistics().DocumentCount == 2, "a document of the first hour is gone");
    }

    [Fact]
    public async Task A_task_that_fails_keeps_neither_values_nor_other_tasks_from_running()
    {
        await using Database database = Open();
        var host = new InterceptedHost(database);
        using var lifecycle = new DocumentLifecycle(host);
        await lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings(), Cancel);
        await lifecycle.SetAsync(LifecycleTask.Refresh, new LifecycleSettings(), Cancel);
        await lifecycle.RunAsync(Cancel); // scans older documents
        await PutAsync(database, "d/1", "@expires");
        await PutAsync(database, "d/2", "@refresh");
        await PutValueAsync(database, "v", 0);
        host.FailWrite(2); // the first one deletes the value
        await Assert.ThrowsAsync<DiskFullException>(() => lifecycle.RunAsync(Cancel));
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            Assert.Null(snapshot.CompareExchange("v"));
            Assert.False(snapshot.Due.HasDue(DueAction.Refresh, long.MaxValue));
            Assert.True(snapshot.Due.HasDue(DueAction.Expire, long.MaxValue));
        }

        Assert.Equal(1, await lifecycle.RunAsync(Cancel));
    }

    [Fact]
    public async Task The_timer_of_a_task_reports_its_failure_and_values_still_expire()
    {
        await using Database database = Open();
        var host = new InterceptedHost(database);
        await PutValueAsync(database, "v", 2);
        using var lifecycle = new DocumentLifecycle(host);
        database.Lifecycle.Dispose(); // the other one does it
        await lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings(), Cancel);
        await PutAsync(database, "d/1", "@expires");
        host.FailWrite(1);
        _clock.Advance(_minute);
        await Eventually.TrueAsync(() => lifecycle.LastError is DiskFullException, "the failure is reported");
        await Eventually.TrueAsync(
            () =>
            {
                _clock.Advance(_minute);
                return lifecycle.LastError is null;
            },
            "a later run succeeds");
        await GoneAsync(database, "v");
        await Eventually.TrueAsync(() => database.GetStatistics().DocumentCount == 0, "the document is gone");
    }

    [Fact]
    public async Task Values_expire_on_a_full_disk()
    {
        var disk = new SimulatedDisk(new Random(1)) { CapacityBytes = 16 << 20 };
        var options = new StorageOptions
        {
            MaxDataFileBytes = 64 << 20,
            ScratchReserveBytes = 256 << 20,
            ScratchBudgetBytes = 4 << 20,
            FirstJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 512 << 10,
        };
        StorageEnvironment environment = StorageEnvironment.Open(
            new World(disk, TimeProvider.System, new Random(1), IsBackgroundAllowed: false), options);
        await using var database = new Database(
            _directory.Path, environment, new DatabaseOptions { Name = "full", TimeProvider = new ManualClock() });
        await PutValueAsync(database, "v", 0);
        foreach (int bytes in (int[])[20_000, 1_000, 10])
            await FillAsync(database, bytes);
        Assert.Equal(1, await database.Lifecycle.RunAsync(Cancel));
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Null(snapshot.CompareExchange("v"));
        KindInvariants.Check(database);
    }

    private static Task<DiskFullException> FillAsync(Database database, int bytes) => Assert.ThrowsAsync<DiskFullException>(async () =>
    {
        for (int i = 0; i < 10_000; i++)
            await database.WriteAsync(
                new WriteBatch().Put($"d/{bytes}/{i}", Encoding.UTF8.GetBytes($"{{\"a\":\"{new string('x', bytes)}\"}}")),
                Cancel);
    });

    [Fact]
    public async Task The_last_setting_of_a_task_is_in_force_though_an_earlier_one_is_applied_late()
    {
        await using Database database = Open();
        var host = new InterceptedHost(database);
        using var lifecycle = new DocumentLifecycle(host);
        await RaceAsync(
            host, settings => lifecycle.SetAsync(LifecycleTask.Expiration, settings, Cancel), new LifecycleSettings());
        Assert.Null(lifecycle.Get(LifecycleTask.Expiration));
        Assert.False(lifecycle.IsScheduled);
    }

    [Fact]
    public async Task The_last_policies_are_in_force_though_earlier_ones_are_applied_late()
    {
        await using Database database = Open();
        var host = new InterceptedHost(database);
        using var policies = new TimeSeriesPolicies(host);
        await RaceAsync(host, configuration => policies.ConfigureAsync(configuration, Cancel), Hourly());
        Assert.Null(policies.Configuration);
        Assert.False(policies.IsScheduled);
    }

    [Fact]
    public async Task The_last_configuration_of_compression_is_in_force_though_an_earlier_one_is_applied_late()
    {
        await using Database database = Open();
        var host = new InterceptedHost(database);
        using var compression = new DocumentCompression(host, new BodyDictionaries(isSecret: false));
        await RaceAsync(
            host, configuration => compression.ConfigureAsync(configuration, Cancel),
            new DocumentCompressionConfiguration { AllCollections = true });
        Assert.Null(compression.Configuration);
        Assert.False(compression.HasWork);
    }

    /// <summary>
    /// Sets something, and removes it again when it was read to be applied and is not applied yet. Whoever removes it need not
    /// wait for that, but may.
    /// </summary>
    private static async Task RaceAsync<T>(InterceptedHost host, Func<T?, Task> set, T first)
        where T : class
    {
        Task? last = null;
        // Without the lock, the later one is applied well within this time; with it, it waits for the earlier one.
        host.BehindNextRead(() => (last = Task.Run(() => set(null))).Wait(TimeSpan.FromSeconds(2)));
        await set(first);
        Assert.NotNull(last);
        await last;
    }

    [Fact]
    public async Task An_interval_that_is_set_again_does_not_begin_anew()
    {
        using var fired = new SemaphoreSlim(0);
        using var run = new PeriodicRun(
            _clock,
            _ =>
            {
                fired.Release();
                return Task.CompletedTask;
            });
        for (int i = 0; i < 10; i++)
        {
            run.Schedule(TimeSpan.FromMinutes(10));
            _clock.Advance(_minute);
        }

        Assert.True(await fired.WaitAsync(Eventually.Patience, Cancel));
        run.Schedule(_minute);
        await FiresWithinMinutesAsync();
        run.Schedule(null);
        Assert.False(run.IsScheduled);
        run.Schedule(_minute);
        await FiresWithinMinutesAsync();

        // A run that has not quite ended when the timer fires takes the place of the next. A thread of the pool runs it, which
        // may be long in coming.
        async Task FiresWithinMinutesAsync()
        {
            int minutes = 0;
            do
            {
                Assert.True(minutes++ < 9, "the new interval is in force");
                _clock.Advance(_minute);
            }
            while (!await fired.WaitAsync(TimeSpan.FromSeconds(5), Cancel));
        }
    }

    [Fact]
    public async Task Changes_of_a_record_put_nothing_off_that_they_do_not_concern()
    {
        await using Database database = Open();
        await database.Lifecycle.SetAsync(
            LifecycleTask.Expiration, new LifecycleSettings { Frequency = TimeSpan.FromMinutes(10) }, Cancel);
        await PutAsync(database, "d/1", "@expires");
        for (int change = 0; change < 2; change++)
        {
            DatabaseRecord record = database.GetRecord();
            await database.SetRecordAsync(
                record with
                {
                    Settings = new Dictionary<string, ReadOnlyMemory<byte>>
                    {
                        ["mine"] = Encoding.UTF8.GetBytes($"{{\"n\":{change}}}"),
                    },
                }, record.Etag, Cancel);
            _clock.Advance(TimeSpan.FromMinutes(5));
        }

        await Eventually.TrueAsync(() => database.GetStatistics().DocumentCount == 0, "the document is gone");
    }

    [Fact]
    public async Task Compression_goes_through_all_documents_again_only_when_its_configuration_changes()
    {
        await using Database database = Open();
        await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8), Cancel);
        await database.Compression.ConfigureAsync(new DocumentCompressionConfiguration { Collections = ["a"] }, Cancel);
        await database.Compression.RunAsync(null, Cancel);
        Assert.False(database.Compression.HasWork);
        DatabaseRecord record = database.GetRecord();
        await database.SetRecordAsync(record, record.Etag, Cancel);
        Assert.False(database.Compression.HasWork);
        await database.SetRecordAsync(
            record with { Compression = new DocumentCompressionConfiguration { AllCollections = true } }, record.Etag, Cancel);
        Assert.True(database.Compression.HasWork);
    }

    private static TimeSeriesConfiguration Hourly() => new TimeSeriesConfiguration().With(
        "Data", new TimeSeriesRules { Policies = [new TimeSeriesPolicy("Hourly", TimeSeriesPeriod.Of(TimeSpan.FromHours(1)))] });

    private static async Task GoneAsync(Database database, string key) => await Eventually.TrueAsync(
        () =>
        {
            using DatabaseSnapshot snapshot = database.BeginRead();
            return snapshot.CompareExchange(key) is null;
        },
        $"the value '{key}' is gone");

    private static string In(Database database, int minutes) => database.Options.TimeProvider.GetUtcNow().AddMinutes(minutes)
        .ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture);

    private static Task<IReadOnlyList<WriteResult>> PutValueAsync(Database database, string key, int minutes) => database.WriteAsync(
        new WriteBatch().PutCompareExchange(
            key, Encoding.UTF8.GetBytes($"{{\"Object\":1,\"@metadata\":{{\"@expires\":\"{In(database, minutes)}\"}}}}"), 0),
        Cancel);

    /// <summary>Stores a document that is due now.</summary>
    private static Task<IReadOnlyList<WriteResult>> PutAsync(Database database, string id, string member) => database.WriteAsync(
        new WriteBatch().Put(id, Encoding.UTF8.GetBytes($"{{\"@metadata\":{{\"{member}\":\"{In(database, 0)}\"}}}}")), Cancel);

    private Database Open() =>
        Database.Open(Path.Combine(_directory.Path, "data"), new DatabaseOptions { TimeProvider = _clock });
}
