using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Destinations;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Lifecycle;

/// <summary>Tombstones go when nobody needs them any more, and not before.</summary>
public sealed class TombstoneCleaningTests : IDisposable
{
    private static readonly IndexDefinition _byName = new()
    {
        Name = "ByName",
        Collections = ["Users"],
        Fields = [new() { Name = "Name" }]
    };

    private readonly TemporaryDirectory _folder = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Tombstones_of_every_kind_go_from_an_age_on()
    {
        var clock = new ManualClock();
        await using Database database = Database.Open(_folder.Path, new DatabaseOptions { TimeProvider = clock });
        await WriteAndDeleteAsync(database, "users/1");
        Assert.Equal(0, await database.CleanTombstonesAsync(TimeSpan.FromHours(1), Cancel));
        long all = TombstonesOf(database);
        Assert.True(all >= 5, $"{all}");
        clock.Now = clock.Now.AddHours(2);
        await WriteAndDeleteAsync(database, "users/2");
        Assert.Equal(all, await database.CleanTombstonesAsync(TimeSpan.FromHours(1), Cancel));
        Assert.Equal(TombstonesOf(database), await database.CleanTombstonesAsync(null, Cancel));
        Assert.Equal(0, TombstonesOf(database));
        Assert.Equal(0, await database.CleanTombstonesAsync(null, Cancel));
    }

    [Fact]
    public async Task A_step_leaves_no_tombstone_before_the_etag_that_it_records()
    {
        await using Database database = Database.Open(_folder.Path);
        for (int i = 0; i < 5; i++)
            await WriteAndDeleteAsync(database, $"users/{i}");
        long all = TombstonesOf(database);
        for (long purged = 0; purged < all;)
        {
            purged += await database.Environment.WriteAsync(
                static transaction => new TombstoneWriter(transaction).Purge(long.MaxValue, 3), Cancel);
            using DatabaseSnapshot snapshot = database.BeginRead();
            using LogReader documents = snapshot.Tombstones(), others = snapshot.Kinds.Deletions();
            Assert.True(!documents.MoveNext() || documents.Etag > snapshot.PurgedUpTo);
            Assert.True(!others.MoveNext() || others.Etag > snapshot.PurgedUpTo);
        }

        Assert.Equal(0, TombstonesOf(database));
    }

    [Fact]
    public async Task A_tombstone_of_a_clock_that_was_ahead_holds_back_no_later_one()
    {
        var clock = new ManualClock();
        await using Database database = Database.Open(_folder.Path, new DatabaseOptions { TimeProvider = clock });
        clock.Now = clock.Now.AddYears(10);
        await WriteAndDeleteAsync(database, "users/1");
        clock.Now = clock.Now.AddYears(-10);
        await WriteAndDeleteAsync(database, "users/2");
        long all = TombstonesOf(database);
        Assert.Equal(0, await database.CleanTombstonesAsync(TimeSpan.FromHours(1), Cancel)); // the age of the first is unknown
        clock.Now = clock.Now.AddHours(2);
        Assert.Equal(all, await database.CleanTombstonesAsync(TimeSpan.FromHours(1), Cancel));

        clock.Now = clock.Now.AddYears(10);
        await WriteAndDeleteAsync(database, "users/1");
        clock.Now = clock.Now.AddYears(-10);
        await WriteAndDeleteAsync(database, "users/2");
        await database.CleanTombstonesAsync(null, Cancel);
        Assert.Equal(0, TombstonesOf(database));
    }

    [Theory]
    [InlineData(-3650)]
    [InlineData(-1)]
    public async Task No_tombstone_goes_early_while_the_clock_is_behind_or_after_it(int days)
    {
        TimeSpan age = TimeSpan.FromHours(12);
        var clock = new ManualClock();
        await using Database database = Database.Open(_folder.Path, new DatabaseOptions { TimeProvider = clock });
        await WriteAndDeleteAsync(database, "users/1");
        clock.Now = clock.Now.AddHours(1);
        DateTimeOffset right = clock.Now;
        clock.Now = right.AddDays(days);
        Assert.Equal(0, await database.CleanTombstonesAsync(age, Cancel));
        await WriteAndDeleteAsync(database, "users/2");
        long all = TombstonesOf(database);
        Assert.Equal(0, await database.CleanTombstonesAsync(age, Cancel));

        clock.Now = right.AddHours(11.5);
        long first = await database.CleanTombstonesAsync(age, Cancel);
        Assert.InRange(first, 1, all - 1);
        await WriteAndDeleteAsync(database, "users/3");
        clock.Now = clock.Now.AddHours(11);
        Assert.Equal(0, await database.CleanTombstonesAsync(age, Cancel)); // the second may be as young as the third
        clock.Now = clock.Now.AddHours(1.5);
        await database.CleanTombstonesAsync(age, Cancel);
        Assert.Equal(0, TombstonesOf(database));
    }

    [Fact]
    public async Task An_index_that_began_after_tombstones_were_cleaned_goes_on_where_it_was()
    {
        const int Documents = 20_000, Enough = 64;
        var options = new DatabaseOptions { Indexing = new IndexingOptions { MaxBatchChanges = 8 } };
        Database database = Database.Open(_folder.Path, options);
        try
        {
            using (var batch = new WriteBatch())
            {
                for (int i = 0; i < Documents; i++)
                    batch.Put($"users/{i}", System.Text.Encoding.UTF8.GetBytes(
                        $"{{\"Name\":\"{i}\",\"@metadata\":{{\"@collection\":\"Users\"}}}}"));
                await database.WriteAsync(batch, Cancel);
            }

            await database.WriteAsync(new WriteBatch().Delete("users/0"), Cancel);
            Assert.Equal(1, await database.CleanTombstonesAsync(null, Cancel));
            database.Indexes.Put(_byName);
            await Eventually.TrueAsync(() => Task.FromResult(Statistics().EntryCount >= Enough), "some of it is indexed");
            database.Indexes.Control.Pause();
            Assert.InRange(Statistics().LastIndexedEtag, 1, Documents);
            await database.DisposeAsync();

            database = Database.Open(_folder.Path, options);
            database.Indexes.Control.Pause();
            Assert.InRange(Statistics().EntryCount, Enough, Documents);
        }
        finally
        {
            await database.DisposeAsync();
        }

        IndexStatistics Statistics() => Assert.Single(database.Indexes.List());
    }

    [Fact]
    public async Task The_database_cleans_by_itself_what_is_old_enough()
    {
        var clock = new FiringClock();
        await using Database database = Database.Open(
            _folder.Path, new DatabaseOptions { TimeProvider = clock, TombstoneRetention = TimeSpan.Zero });
        await WriteAndDeleteAsync(database, "users/1");
        Assert.NotEqual(0, TombstonesOf(database));
        clock.Advance(TimeSpan.FromMinutes(11));
        await Eventually.TrueAsync(() => Task.FromResult(TombstonesOf(database) == 0), "the tombstones are gone");
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_index_that_is_off_misses_no_deletion_whether_or_not_the_database_is_closed(bool isClosed)
    {
        Database database = Database.Open(_folder.Path);
        try
        {
            database.Indexes.Put(_byName);
            await database.PutAsync("users/1", """{"Name":"Ada"}""", "Users");
            await database.PutAsync("users/2", """{"Name":"Bob"}""", "Users");
            Assert.Equal(2, (await database.AskAsync("from index ByName")).Total);
            database.Indexes.Control.Set("ByName", static settings => settings with { IsDisabled = true });
            await database.WriteAsync(new WriteBatch().Delete("users/1"), Cancel);
            await database.PutAsync("users/3", """{"Name":"Cid"}""", "Users");
            Assert.Equal(0, await database.CleanTombstonesAsync(null, Cancel));
            if (isClosed)
            {
                await database.DisposeAsync();
                database = Database.Open(_folder.Path);
                Assert.Equal(0, await database.CleanTombstonesAsync(null, Cancel));
            }

            database.Indexes.Control.Set("ByName", static settings => settings with { IsDisabled = false });
            Assert.Equal(2, (await database.AskAsync("from index ByName where Name != 'Zoe'")).Total);
            Assert.Equal(2, Assert.Single(database.Indexes.List()).EntryCount);
            Assert.Equal(1, await CleanBehindIndexesAsync(database));
        }
        finally
        {
            await database.DisposeAsync();
        }
    }

    [Fact]
    public async Task An_index_that_no_change_concerns_holds_nothing_and_is_not_built_anew()
    {
        Database database = Database.Open(_folder.Path);
        try
        {
            database.Indexes.Put(_byName);
            await database.PutAsync("users/1", """{"Name":"Ada"}""", "Users");
            Assert.Equal(1, (await database.AskAsync("from index ByName")).Total);
            await database.PutAsync("films/1", "{}", "Films");
            await database.WriteAsync(new WriteBatch().Delete("films/1"), Cancel);
            Assert.Equal(1, await CleanBehindIndexesAsync(database));
            await database.DisposeAsync();
            database = Database.Open(_folder.Path);
            database.Indexes.Control.Pause();
            Assert.Equal(1, Assert.Single(database.Indexes.List()).EntryCount);
            Assert.Equal(database.LastEtag, Assert.Single(database.Indexes.List()).LastIndexedEtag);
        }
        finally
        {
            await database.DisposeAsync();
        }
    }

    [Fact]
    public async Task An_index_from_before_what_was_cleaned_is_built_anew()
    {
        string indexes = Path.Combine(_folder.Path, "indexes"), kept = Path.Combine(_folder.Path, "kept");
        await using (Database database = Database.Open(_folder.Path))
        {
            database.Indexes.Put(_byName);
            await database.PutAsync("users/1", """{"Name":"Ada"}""", "Users");
            await database.PutAsync("users/2", """{"Name":"Bob"}""", "Users");
            Assert.Equal(2, (await database.AskAsync("from index ByName")).Total);
        }

        Copy(indexes, kept);
        await using (Database database = Database.Open(_folder.Path))
        {
            await database.WriteAsync(new WriteBatch().Delete("users/1"), Cancel);
            Assert.Equal(1, await CleanBehindIndexesAsync(database));
        }

        // As after a loss of power, which may take the last commits of an index.
        Directory.Delete(indexes, recursive: true);
        Directory.Move(kept, indexes);
        await using (Database database = Database.Open(_folder.Path))
        {
            Assert.Equal(1, (await database.AskAsync("from index ByName where Name != 'Zoe'")).Total);
            Assert.Equal(1, Assert.Single(database.Indexes.List()).EntryCount);
        }
    }

    [Fact]
    public async Task What_the_next_increment_of_a_backup_has_to_hold_stays()
    {
        await using var catalog = new DatabaseCatalog(_folder.Path, new DatabaseOptions());
        await using var scheduler = new BackupScheduler(
            new CatalogBackupSource(catalog), new DestinationProviders());
        Database database = catalog.Create("shop");
        string place = Path.Combine(_folder.Path, "place");
        var task = new BackupTask
        {
            Name = "nightly",
            Kind = BackupKind.Logical,
            FullSchedule = "0 2 * * *",
            Destinations = [new DestinationSettings { Address = place }],
        };
        await WriteAndDeleteAsync(database, "users/1");
        await database.PutAsync("users/2", "{}", "Users");
        long id = await scheduler.PutAsync("shop", task, Cancel);
        await scheduler.RunAsync("shop", id, isFull: true, cancellationToken: Cancel);
        Assert.NotEqual(0, await database.CleanTombstonesAsync(null, Cancel));
        await database.WriteAsync(new WriteBatch().Delete("users/2"), Cancel);
        Assert.Equal(0, await database.CleanTombstonesAsync(null, Cancel));
        BackupRunReport increment = await scheduler.RunAsync("shop", id, isFull: false, cancellationToken: Cancel);
        Assert.Equal((true, 1L), (increment.Report?.IsIncremental, increment.Report?.Counts.Tombstones));
        Assert.Equal(1, await database.CleanTombstonesAsync(null, Cancel));
        await database.PutAsync("users/2", "{}", "Users");
        await database.WriteAsync(new WriteBatch().Delete("users/2"), Cancel);
        await scheduler.SetDisabledAsync("shop", id, isDisabled: true);
        Assert.Equal(1, await database.CleanTombstonesAsync(null, Cancel));
    }

    /// <summary>
    /// Cleans when the indexes have caught up, which may take longer on a busy machine than the cleaning waits for them.
    /// </summary>
    private static async Task<long> CleanBehindIndexesAsync(Database database)
    {
        Assert.True(await database.Indexes.WaitForNonStaleAsync(Eventually.Patience, null, Cancel));
        return await database.CleanTombstonesAsync(null, Cancel);
    }

    private static async Task WriteAndDeleteAsync(Database database, string id)
    {
        await using AttachmentUpload upload = database.BeginUpload();
        await upload.WriteAsync("content"u8.ToArray(), Cancel);
        await upload.CompleteAsync(Cancel);
        using (var batch = new WriteBatch(database.Options))
        {
            batch.Put(id, """{"@metadata":{"@collection":"Users"}}"""u8.ToArray())
                .PutAttachment(id, "a", "x/y", upload)
                .IncrementCounter(id, "likes", 1)
                .TimeSeries(id, "heart", [new TimeSeriesPoint(DateTime.UnixEpoch, [1])]);
            batch.PutCompareExchange("best/" + id, """{"Object":1}"""u8.ToArray(), 0);
            await database.WriteAsync(batch, Cancel);
        }

        using (DatabaseSnapshot snapshot = database.BeginRead())
        using (var deletions = new WriteBatch(database.Options))
        {
            deletions.Delete(id);
            deletions.DeleteCompareExchange("best/" + id, snapshot.CompareExchange("best/" + id)!.Index);
            await database.WriteAsync(deletions, Cancel);
        }
    }

    private static long TombstonesOf(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.TombstoneCount + Enum.GetValues<Kind>().Sum(kind => snapshot.Kinds.DeletedCount(kind));
    }

    private static void Copy(string from, string to)
    {
        foreach (string path in Directory.GetFiles(from, "*", SearchOption.AllDirectories))
        {
            string copy = Path.Combine(to, Path.GetRelativePath(from, path));
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            File.Copy(path, copy);
        }
    }
}
