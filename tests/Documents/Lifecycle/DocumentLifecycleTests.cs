using System.Globalization;
using System.Text;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Documents.Tests.Kinds;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Storage;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Lifecycle;

public sealed class DocumentLifecycleTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly ManualClock _clock = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_document_is_deleted_at_its_time_and_not_before()
    {
        await using Database database = Open();
        await database.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings(), Cancel);
        await PutAsync(database, "d/1", "@expires", 10);
        await PutAsync(database, "d/2", "@expires", 20);
        await PutAsync(database, "d/3", "@expires", 10);
        await database.WriteAsync(new WriteBatch().Put("d/3", "{}"u8), Cancel); // it lives on
        Assert.Equal(0, await database.Lifecycle.RunAsync(Cancel));
        _clock.Now += TimeSpan.FromMinutes(10);
        Assert.Equal(1, await database.Lifecycle.RunAsync(Cancel));
        Assert.Equal(["d/2", "d/3"], Ids(database));
        _clock.Now -= TimeSpan.FromDays(400);
        Assert.Equal(0, await database.Lifecycle.RunAsync(Cancel));
        _clock.Now += TimeSpan.FromDays(401);
        Assert.Equal(1, await database.Lifecycle.RunAsync(Cancel));
        Assert.Equal(["d/3"], Ids(database));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_compare_exchange_value_is_deleted_at_its_time_though_no_task_is_on()
    {
        Database database = Open();
        Assert.False(database.Lifecycle.IsScheduled);
        await database.WriteAsync(new WriteBatch().PutCompareExchange("lives", Value("1"), 0), Cancel);
        Assert.False(database.Lifecycle.IsScheduled);
        await database.WriteAsync(
            new WriteBatch().PutCompareExchange("Goes", Value("1", 10), 0)
                .PutCompareExchange("changed", Value("1", 10), 0)
                .PutCompareExchange("later", Value("1", 20), 0),
            Cancel);
        Assert.True(database.Lifecycle.IsScheduled);
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            await database.WriteAsync(
                new WriteBatch().PutCompareExchange("changed", Value("2"), snapshot.CompareExchange("changed")!.Index), Cancel);
            await database.WriteAsync(
                new WriteBatch().PutCompareExchange("lives", Value("2", 15), snapshot.CompareExchange("lives")!.Index), Cancel);
        }

        // Reopened, and restored from a dump, they still go.
        using var backup = new MemoryStream();
        await database.BackupAsync(backup, null, null, Cancel);
        await database.DisposeAsync();
        await using (Database reopened = Open())
            await AssertGoAsync(reopened);
        backup.Position = 0;
        string restored = Path.Combine(_directory.Path, "restored");
        await Database.RestoreAsync(backup, restored, null, null, Cancel);
        _clock.Now -= TimeSpan.FromMinutes(30);
        await using Database other = Database.Open(restored, new DatabaseOptions { TimeProvider = _clock });
        await AssertGoAsync(other);
        InvalidDocumentException bad = Assert.Throws<InvalidDocumentException>(
            () => new WriteBatch().PutCompareExchange("x", """{"Object":1,"@metadata":{"@expires":"soon"}}"""u8, 0));
        Assert.Contains("the compare-exchange value 'x'", bad.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_value_that_expires_is_waited_for_whoever_gave_up_its_write()
    {
        const int Rounds = 200;
        int kept = 0;
        for (int i = 0; i < Rounds; i++)
        {
            string directory = Path.Combine(_directory.Path, "given-up");
            await using (Database database = Database.Open(directory, new DatabaseOptions { TimeProvider = _clock }))
            {
                long before = database.GetStatistics().LastEtag;
                using var stop = new CancellationTokenSource();
                using var started = new Barrier(2);
                Task write = Task.Run(
                    async () =>
                    {
                        started.SignalAndWait(Cancel);
                        await database.WriteAsync(new WriteBatch().PutCompareExchange("a", Value("1", 10), 0), stop.Token);
                    },
                    Cancel);
                if (i == 0)
                    await stop.CancelAsync(); // certainly before it begins
                started.SignalAndWait(Cancel);
                Thread.SpinWait(i * 200); // before it begins, while it is synced, after it
                if (i == Rounds - 1)
                    await write; // certainly after it
                await stop.CancelAsync();
                await ((Task)write.ContinueWith(static _ => { }, TaskScheduler.Default));
                using DatabaseSnapshot snapshot = database.BeginRead();
                bool isThere = snapshot.CompareExchange("a") is not null;
                Assert.Equal(write.IsCompletedSuccessfully, isThere);
                Assert.Equal(isThere, database.Lifecycle.IsScheduled);
                Assert.Equal(isThere, database.WaitForChangeAsync(before, Cancel).IsCompletedSuccessfully);
                kept += isThere ? 1 : 0;
            }

            Directory.Delete(directory, recursive: true);
        }

        Assert.InRange(kept, 1, Rounds - 1);
    }

    private async Task AssertGoAsync(Database database)
    {
        Assert.True(database.Lifecycle.IsScheduled);
        foreach ((int minutes, string[] left) in ((int, string[])[])[
            (5, ["changed", "Goes", "later", "lives"]), (5, ["changed", "later", "lives"]), (5, ["changed", "later"]),
            (15, ["changed"])])
        {
            _clock.Now += TimeSpan.FromMinutes(minutes);
            await database.Lifecycle.RunAsync(Cancel);
            using DatabaseSnapshot snapshot = database.BeginRead();
            Assert.Equal(left, snapshot.CompareExchangeStartingWith("").Select(static one => one.Key));
        }

        KindInvariants.Check(database);
    }

    private byte[] Value(string json, int? minutes = null)
    {
        if (minutes is not { } after)
            return Encoding.UTF8.GetBytes($"{{\"Object\":{json}}}");
        string time = (_clock.Now + TimeSpan.FromMinutes(after)).ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture);
        return Encoding.UTF8.GetBytes($"{{\"Object\":{json},\"@metadata\":{{\"@expires\":\"{time}\"}}}}");
    }

    [Fact]
    public async Task A_refresh_gives_a_new_change_vector_and_takes_the_time_away()
    {
        await using Database database = Open();
        await database.Lifecycle.SetAsync(LifecycleTask.Refresh, new LifecycleSettings(), Cancel);
        await database.WriteAsync(new WriteBatch().Put("d/1", Json("\"@refresh\":\"2026-01-31T12:00:10Z\",\"a\":1")), Cancel);
        (string before, _) = Read(database, "d/1");
        _clock.Now += TimeSpan.FromMinutes(1);
        Assert.Equal(1, await database.Lifecycle.RunAsync(Cancel));
        (string after, string metadata) = Read(database, "d/1");
        Assert.NotEqual(before, after);
        Assert.Equal("{\"a\":1}", metadata);
        Assert.Equal(0, await database.Lifecycle.RunAsync(Cancel));
    }

    [Fact]
    public async Task An_archived_document_is_marked()
    {
        await using Database database = Open();
        await database.Lifecycle.SetAsync(LifecycleTask.Archival, new LifecycleSettings(), Cancel);
        await database.WriteAsync(
            new WriteBatch()
                .Put("d/1", Json("\"@archive-at\":\"2026-01-31T12:00:10\""))
                .Put("d/2", Json("\"a\":1,\"@archive-at\":\"2026-01-31T13:00:10+01:00\"")),
            Cancel);
        _clock.Now += TimeSpan.FromMinutes(1);
        Assert.Equal(2, await database.Lifecycle.RunAsync(Cancel));
        Assert.Equal("{\"@archived\":true}", Read(database, "d/1").Metadata);
        Assert.Equal("{\"a\":1,\"@archived\":true}", Read(database, "d/2").Metadata);
    }

    [Fact]
    public async Task What_is_disabled_or_over_the_limit_of_a_run_waits()
    {
        await using Database database = Open();
        for (int i = 0; i < 10; i++)
            await PutAsync(database, $"d/{i}", "@expires", 1);
        _clock.Now += TimeSpan.FromMinutes(2);
        Assert.Equal(0, await database.Lifecycle.RunAsync(Cancel));
        await database.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings { IsDisabled = true }, Cancel);
        Assert.Equal(0, await database.Lifecycle.RunAsync(Cancel));
        await database.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings { MaxItemsPerRun = 7 }, Cancel);
        Assert.Equal(7, await database.Lifecycle.RunAsync(Cancel));
        Assert.Equal(3, await database.Lifecycle.RunAsync(Cancel));
    }

    [Fact]
    public async Task Documents_of_before_there_was_an_index_of_times_are_picked_up()
    {
        await using (Database database = Open())
        {
            using (var batch = new WriteBatch())
            {
                for (int i = 0; i < 3000; i++)
                    batch.Put($"d/{i:d4}", Json(i % 3 == 0 ? "\"@expires\":\"2026-01-31T12:00:10Z\"" : "\"a\":1"));
                await database.WriteAsync(batch, Cancel);
            }

            // as an older version left it
            database.Environment.Write(static transaction => transaction.DropTree(TreeNames.Due), Cancel);
        }

        await using Database reopened = Open();
        _clock.Now += TimeSpan.FromMinutes(2);
        await PutAsync(reopened, "e/1", "@expires", -1);
        await reopened.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings(), Cancel);
        Assert.Equal(1001, await reopened.Lifecycle.RunAsync(Cancel));
        Assert.Equal(2000, reopened.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task A_value_of_before_values_expired_does_once_it_is_written_again_with_the_same_time()
    {
        await using Database database = Open();
        await database.WriteAsync(new WriteBatch().PutCompareExchange("a", Value("1", 5), 0), Cancel);
        database.Environment.Write(static transaction => transaction.DropTree(TreeNames.Due), Cancel); // as it was left
        using (DatabaseSnapshot snapshot = database.BeginRead())
            await database.WriteAsync(
                new WriteBatch().PutCompareExchange("a", Value("2", 5), snapshot.CompareExchange("a")!.Index), Cancel);
        _clock.Now += TimeSpan.FromMinutes(6);
        Assert.Equal(1, await database.Lifecycle.RunAsync(Cancel));
    }

    [Fact]
    public async Task A_value_expires_after_a_salvage()
    {
        await using (Database database = Open())
            await database.WriteAsync(
                new WriteBatch().PutCompareExchange("a", Value("1", 5), 0).PutCompareExchange("b", Value("1"), 0), Cancel);
        using (StorageEnvironment environment = StorageEnvironment.Open(Path.Combine(_directory.Path, "documents")))
        {
            environment.Write(static transaction => transaction.GetOrCreateTree(SalvagedDocuments.Mark).Count, Cancel);
            new SalvagedDocuments(environment).RunIfMarked();
        }

        await using Database salvaged = Open();
        KindInvariants.Check(salvaged);
        Assert.True(salvaged.Lifecycle.IsScheduled);
        _clock.Now += TimeSpan.FromMinutes(6);
        Assert.Equal(1, await salvaged.Lifecycle.RunAsync(Cancel));
        using DatabaseSnapshot snapshot = salvaged.BeginRead();
        Assert.Equal(["b"], snapshot.CompareExchangeStartingWith("").Select(static one => one.Key));
    }

    [Fact]
    public async Task Settings_and_times_survive_reopening_dumps_and_restores()
    {
        using var backup = new MemoryStream();
        await using (Database database = Open())
        {
            await database.Lifecycle.SetAsync(
                LifecycleTask.Expiration, new LifecycleSettings { Frequency = TimeSpan.FromSeconds(90), MaxItemsPerRun = 5 },
                Cancel);
            await PutAsync(database, "d/1", "@expires", 1);
            await PutAsync(database, "d/2", "@expires", 3);
        }

        await using (Database database = Open())
        {
            Assert.Equal(
                new LifecycleSettings { Frequency = TimeSpan.FromSeconds(90), MaxItemsPerRun = 5 },
                database.Lifecycle.Get(LifecycleTask.Expiration));
            Assert.Null(database.Lifecycle.Get(LifecycleTask.Refresh));
            await database.BackupAsync(backup, cancellationToken: Cancel);
        }

        _clock.Now += TimeSpan.FromMinutes(2);
        backup.Position = 0;
        string restored = Path.Combine(_directory.Path, "restored");
        await Database.RestoreAsync(backup, restored, cancellationToken: Cancel);
        await using (Database database = Database.Open(restored, new DatabaseOptions { TimeProvider = _clock }))
        {
            Assert.Equal(1, await database.Lifecycle.RunAsync(Cancel));
            Assert.Equal(["d/2"], Ids(database));
        }

        backup.Position = 0;
        await using Database imported = Database.Open(
            Path.Combine(_directory.Path, "imported"), new DatabaseOptions { TimeProvider = _clock });
        await imported.ImportAsync(backup, cancellationToken: Cancel);
        Assert.Equal(1, await imported.Lifecycle.RunAsync(Cancel));
        Assert.Equal(["d/2"], Ids(imported));
        KindInvariants.Check(imported);
    }

    [Theory]
    [InlineData("\"tomorrow\"")]
    [InlineData("5")]
    [InlineData("{}")]
    [InlineData("\"2026-13-01T00:00:00Z\"")]
    public async Task What_is_no_time_is_refused_by_name(string value)
    {
        await using Database database = Open();
        foreach (string member in (string[])["@expires", "@refresh", "@archive-at"])
        {
            using var batch = new WriteBatch();
            InvalidDocumentException error = Assert.Throws<InvalidDocumentException>(
                () => batch.Put("d/1", Json($"\"{member}\":{value}")));
            Assert.Contains($"'{member}' in the metadata of document 'd/1'", error.Message, StringComparison.Ordinal);
            Assert.Equal(0, batch.Count);
        }

        await Assert.ThrowsAsync<InvalidDocumentException>(
            () => database.Lifecycle.SetAsync(
                LifecycleTask.Refresh, new LifecycleSettings { Frequency = TimeSpan.Zero }, Cancel));
        await Assert.ThrowsAsync<InvalidDocumentException>(
            () => database.Lifecycle.SetAsync(LifecycleTask.Refresh, new LifecycleSettings { MaxItemsPerRun = 0 }, Cancel));
        Assert.Equal(0, database.LastEtag);
    }

    [Fact]
    public async Task Random_work_agrees_with_a_dictionary_of_times()
    {
        var random = new Random(Seed.Next());
        var times = new Dictionary<string, DateTimeOffset?>(StringComparer.Ordinal);
        Database database = Open();
        await database.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings(), Cancel);
        for (int step = 0; step < 400; step++)
        {
            string id = $"d/{random.Next(30)}";
            switch (random.Next(6))
            {
                case 0:
                    await database.WriteAsync(new WriteBatch().Delete(id), Cancel);
                    times.Remove(id);
                    break;
                case 1:
                    await database.WriteAsync(new WriteBatch().Put(id, "{}"u8), Cancel);
                    times[id] = null;
                    break;
                case 2 when times.ContainsKey(id):
                    await database.WriteAsync(new WriteBatch().IncrementCounter(id, "c"), Cancel); // touches it
                    break;
                case 3:
                    _clock.Now += TimeSpan.FromMinutes(random.Next(-5, 20));
                    await database.Lifecycle.RunAsync(Cancel);
                    foreach (string gone in times.Where(pair => pair.Value <= _clock.Now)
                        .Select(static pair => pair.Key)
                        .ToList())
                        times.Remove(gone);
                    Assert.Equal(times.Keys.Order(StringComparer.Ordinal), Ids(database).Order(StringComparer.Ordinal));
                    break;
                case 4 when random.Next(10) == 0:
                    await database.DisposeAsync();
                    database = Open();
                    break;
                default:
                    int minutes = random.Next(1, 30);
                    times[id] = _clock.Now + TimeSpan.FromMinutes(minutes);
                    await PutAsync(database, id, "@expires", minutes);
                    break;
            }
        }

        KindInvariants.Check(database);
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Equal(
                times.Values.Count(static time => time is not null),
                snapshot.Due.Due(DueAction.Expire, long.MaxValue, int.MaxValue).Count);
        await database.DisposeAsync();
    }

    private Database Open() =>
        Database.Open(Path.Combine(_directory.Path, "data"), new DatabaseOptions { TimeProvider = _clock });

    private static byte[] Json(string metadata) => Encoding.UTF8.GetBytes($"{{\"@metadata\":{{{metadata}}}}}");

    private Task<IReadOnlyList<WriteResult>> PutAsync(Database database, string id, string member, int minutes) =>
        database.WriteAsync(
            new WriteBatch().Put(
                id,
                Json(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"\"{member}\":\"{_clock.Now.UtcDateTime.AddMinutes(minutes):O}\""))), Cancel);

    private static List<string> Ids(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        var ids = new List<string>();
        using DocumentCursor cursor = snapshot.ByEtag();
        while (cursor.MoveNext())
            ids.Add(cursor.Current.IdText());
        return ids;
    }

    private static (string ChangeVector, string Metadata) Read(Database database, string id)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet(id, out Document document));
        return (document.ChangeVector, Encoding.UTF8.GetString(document.Metadata));
    }
}
