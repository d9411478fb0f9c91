using System.Text;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Destinations;
using Treepie.Indexes;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Packing;
using Treepie.Queries;
using Treepie.Schedules;
using Treepie.Sessions;
using Treepie.Storage;
using Treepie.Store;
using Treepie.Writes;
using static Treepie.NativeProgram.Check;

namespace Treepie.NativeProgram;

/// <summary>What a database does without a session: in files, encrypted, compressed, backed up and restored.</summary>
internal static class DatabaseChecks
{
    public static async Task RunAsync(SessionOptions options)
    {
        string folder = Directory.CreateTempSubdirectory("treepie-native-").FullName;
        try
        {
            using var key = EncryptionKey.Generate();
            string path = Path.Combine(folder, "shop");
            await using (Database database = Database.Open(path, new DatabaseOptions { EncryptionKey = key }))
            {
                await WriteAsync(database, options);
                await AskAsync(database, options);
                await FollowAsync(database, options);
                await CompressAsync(database, options);
                await ExpireAsync(database, options);
                await KeepTimesAsync(database);
                await BackUpAsync(database, Path.Combine(folder, "restored"));
                Require(database.Check().IsClean, "the check of the pages");
            }

            using var next = EncryptionKey.Generate();
            using (Database database = Database.Open(path, new DatabaseOptions { EncryptionKey = key }))
            {
                Require(database.RotateEncryptionDataKey(key).PagesWritten > 0, "another data key");
                database.ChangeEncryptionKey(next);
            }

            using Database again = Database.Open(path, new DatabaseOptions { EncryptionKey = next });
            Require(again.IsEncrypted && again.GetStatistics().DocumentCount > 100, "opening it again");
            CompactionReport compacted = again.Compact();
            Require(compacted.BytesAfter <= compacted.BytesBefore && compacted.BytesAfter > 0, "compaction");
            await CatalogueAsync(Path.Combine(folder, "many"));
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static async Task WriteAsync(Database database, SessionOptions options)
    {
        using (var batch = new WriteBatch())
        {
            batch.Put("birds/1", "{\"Name\":\"magpie\",\"@metadata\":{\"@collection\":\"Birds\"}}"u8)
                .Put("birds/", "{\"Name\":\"jay\",\"@metadata\":{\"@collection\":\"Birds\"}}"u8)
                .IncrementCounter("birds/1", "seen", 2);
            IReadOnlyList<WriteResult> written = await database.WriteAsync(batch);
            Require(written.Count == 3 && written[1].Id.StartsWith("birds/", StringComparison.Ordinal), "batches");
        }

        await using (BulkInsert insert = database.BulkInsert())
        {
            for (int i = 0; i < 200; i++)
            {
                string text = new('x', 300);
                await insert.StoreAsync(
                    $"notes/{i}",
                    Encoding.UTF8.GetBytes(
                        $$$"""{"Title":"note {{{i}}}","Text":"{{{text}}}","@metadata":{"@collection":"Notes"}}"""));
            }

            await insert.CountersAsync("notes/1", [CounterOperation.Of(CounterOperationKind.Increment, "read", 4)]);
            await insert.TimeSeriesAsync("notes/1", "reads", [new TimeSeriesPoint(new DateTime(2024, 1, 1), [1])]);
            await insert.CompleteAsync();
        }

        await using (ObjectInsert objects = database.BulkInsert(options))
            await objects.StoreAsync(new Owner { Name = "Eve" });
        using DatabaseSnapshot snapshot = database.BeginRead();
        Require(
            snapshot.TryGet("birds/1", out Document bird) && Encoding.UTF8.GetString(bird.Body) == "{\"Name\":\"magpie\"}"
                && bird.CollectionName == "Birds",
            "snapshots");
        Require(
            snapshot.Collections().Any(collection => collection is { Name: "Notes", DocumentCount: 200 })
                && snapshot.Counter("notes/1", "read")?.Value == 4
                && snapshot.TimeSeries("notes/1", "reads").Count() == 1,
            "bulk insert");
    }

    private static async Task AskAsync(Database database, SessionOptions options)
    {
        database.Indexes.Put(
            new IndexDefinition
            {
                Name = "Notes/ByTitle",
                Collections = ["Notes"],
                Fields = [new IndexFieldDefinition { Name = "Title", Indexing = FieldIndexing.Search, Stored = true }],
            });
        Require(await database.Indexes.WaitForNonStaleAsync(TimeSpan.FromMinutes(1)), "waiting for indexes");
        using QueryResults results = await database.QueryAsync(
            new QueryRequest
            {
                Text = "from index 'Notes/ByTitle' where search(Title, '17') include timings()",
                WithPlan = true,
            });
        Require(
            results.MoveNext() && Encoding.UTF8.GetString(results.Current.Id) == "notes/17" && results.DescribePlan()?.Length > 0,
            "indexes made by hand");
        Require(database.Indexes.List().Any(index => index is { Name: "Notes/ByTitle", EntryCount: 200 }), "figures of indexes");
        Require(
            database.LookInto("Notes/ByTitle").Terms("Title", "a", 10, out _).Contains("note")
                && database.LookInto("Notes/ByTitle").Entry("notes/17") is { Count: > 0 },
            "terms and entries of an index");
        database.Indexes.Control.Pause("Notes/ByTitle");
        Require(database.Indexes.Control.IsPaused("Notes/ByTitle"), "indexes that pause");
        database.Indexes.Control.Resume("Notes/ByTitle");
        Require(await database.NextIdentityAsync("notes") == 1, "identities");
        Require(await database.DeleteByQueryAsync<Note>(note => note.Title == "note 0", options) == 1, "deletions by query");
    }

    private static async Task FollowAsync(Database database, SessionOptions options)
    {
        long before = database.LastEtag;
        await database.RunAsync(
            async session =>
            {
                Owner owner = await session.LoadAsync<Owner>(1) ?? throw new InvalidOperationException("not there");
                owner.Name = "Mallory";
                await session.SaveChangesAsync();
            },
            options);
        var wanted = new ChangesOptions { AfterEtag = before, Collection = "Owners" };
        await foreach (DocumentChange change in database.ChangesAsync(wanted))
        {
            Require(change is { Id: "owners/1", IsDeletion: false }, "changes");
            break;
        }
    }

    private static async Task CompressAsync(Database database, SessionOptions options)
    {
        await database.Compression.ConfigureAsync(new DocumentCompressionConfiguration { Collections = ["Notes"] });
        CompressionReport report = await database.Compression.RunAsync();
        Require(report.Documents > 0 && report.BytesAfter < report.BytesBefore, "compression");
        await using DocumentSession session = database.OpenSession(options);
        List<Note> found = await session.RawQuery<Note>("from Notes where Title = 'note 5'").ToListAsync();
        Require(found is [{ Text.Length: 300 }], "compressed texts");
    }

    private static async Task ExpireAsync(Database database, SessionOptions options)
    {
        await database.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings());
        await using DocumentSession session = database.OpenSession(options);
        var gone = new Owner { Name = "gone" };
        session.Store(gone);
        session.Advanced.GetMetadataFor(gone)["@expires"] = "2020-01-01T00:00:00.0000000Z";
        await session.SaveChangesAsync();
        Require(
            await database.Lifecycle.RunAsync() == 1 && !session.Advanced.Exists($"owners/{gone.Id}"),
            "documents that expire");
    }

    private static async Task KeepTimesAsync(Database database)
    {
        var rules = new TimeSeriesRules { Policies = [new("ByHour", TimeSeriesPeriod.Of(TimeSpan.FromHours(1)))] };
        await database.TimeSeriesPolicies.ConfigureAsync(new TimeSeriesConfiguration().With("Notes", rules));
        await database.TimeSeriesPolicies.RunAsync();
        using DatabaseSnapshot snapshot = database.BeginRead();
        Require(snapshot.TimeSeries("notes/1", "reads@ByHour").Count() == 1, "roll-ups");
    }

    private static async Task BackUpAsync(Database database, string restored)
    {
        using var dump = new MemoryStream();
        BackupReport report = await database.BackupAsync(dump, new BackupOptions { AllowPlain = true });
        Require(report.ContentHash?.Length > 0, "backups");
        dump.Position = 0;
        BackupReport proven = await DatabaseBackups.VerifyBackupAsync(dump);
        Require(proven.ContentHash == report.ContentHash, "proofs of backups");
        dump.Position = 0;
        await DatabaseBackups.RestoreAsync(dump, restored, new RestoreOptions { AllowPlain = true });
        using Database copy = Database.Open(restored);
        Require(copy.GetStatistics().DocumentCount == database.GetStatistics().DocumentCount, "restored databases");

        using var pages = new MemoryStream();
        await database.BackupAsync(pages, new BackupOptions { Kind = BackupKind.Snapshot, AllowPlain = true });
        Require(pages.Length > 0, "backups of pages");
    }

    private static async Task CatalogueAsync(string directory)
    {
        await using var catalog = new DatabaseCatalog(directory);
        Database one = catalog.Create("one");
        string place = Directory.CreateDirectory(Path.Combine(directory, "backups")).FullName;
        await using (var scheduler = new BackupScheduler(new CatalogBackupSource(catalog), new DestinationProviders()))
        {
            BackupRunReport run = await scheduler.RunOnceAsync(
                one.Name, new BackupTask { Name = "now", Destinations = [new() { Address = place }] });
            Require(run.Problem is null && run.Places is [{ IsProven: true }], "tasks of backups");
        }

        Require(
            CronSchedule.Parse("0 2 * * *").Next(new DateTime(2024, 1, 1, 0, 0, 0, DateTimeKind.Utc))
                == new DateTime(2024, 1, 1, 2, 0, 0, DateTimeKind.Utc),
            "schedules");
        Require(catalog.Find("one")?.Name == "one" && catalog.Names is ["one"], "many databases");
        Require(catalog.Delete("one", deleteFiles: true) && catalog.Names.Count == 0, "deleted databases");
    }
}
