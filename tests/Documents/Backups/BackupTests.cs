using System.Globalization;
using System.Text;
using Treepie.Backups;
using Treepie.Storage;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Backups;

/// <summary>What was backed up is what is restored: all of it, of one moment, in every compression, sealed or not.</summary>
public sealed class BackupTests : IDisposable
{
    private readonly TemporaryDirectory _files = new();
    private readonly EncryptionKey _key = EncryptionKey.Generate();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Target => Path.Combine(_files.Path, "restored");

    public void Dispose()
    {
        _files.Dispose();
        _key.Dispose();
    }

    [Theory]
    [InlineData(BackupCompression.ZstdFastest, false, "zstd")]
    [InlineData(BackupCompression.ZstdOptimal, true, "zstd")]
    [InlineData(BackupCompression.GzipFastest, false, "gzip")]
    [InlineData(BackupCompression.GzipOptimal, true, "gzip")]
    [InlineData(BackupCompression.None, false, "none")]
    [InlineData(BackupCompression.None, true, "none")]
    public async Task A_database_with_something_of_everything_comes_back_as_it_was(
        BackupCompression compression, bool isSealed, string name)
    {
        var random = new Random(Seed.Next());
        await using Database database = Open("source");
        await RandomDatabase.FillAsync(database, random, 600, Cancel);
        List<string> before = DatabaseText.Of(database), indexes = DatabaseText.IndexesOf(database);
        Assert.Contains(before, line => line.Contains("DocumentCount = 0", StringComparison.Ordinal));

        using var backup = new MemoryStream();
        var options = new BackupOptions { Compression = compression, EncryptionKey = isSealed ? _key : null };
        BackupReport report = await database.BackupAsync(backup, options, null, Cancel);
        Assert.Equal(
            (name, isSealed, true, backup.Length), (report.Compression, report.IsEncrypted, report.IsWhole, report.StoredBytes));
        Assert.Equal(
            (database.Name, database.Id, database.LastEtag, 3),
            (report.DatabaseName, report.DatabaseId, report.LastEtag, report.Counts.Indexes));

        var restore = new RestoreOptions { AllowPlain = true, BackupKey = isSealed ? _key : null };
        backup.Position = 0;
        BackupReport verified = await Database.VerifyBackupAsync(backup, restore, null, Cancel);
        backup.Position = 0;
        BackupReport restored = await Database.RestoreAsync(backup, Target, restore, null, Cancel);
        Assert.Equal(
            (report.ContentHash, report.Counts, report.JsonBytes), (verified.ContentHash, verified.Counts, verified.JsonBytes));
        Assert.Equal(
            (report.ContentHash, report.Counts, report.StoredBytes),
            (restored.ContentHash, restored.Counts, restored.StoredBytes));

        await using Database again = Database.Open(Target);
        Assert.Equal(before, DatabaseText.Of(again));
        Assert.Equal(indexes, DatabaseText.IndexesOf(again));
        Assert.Empty(again.Check(Cancel).Problems);
        Assert.Equal(["restored", "source"], Directory.GetFileSystemEntries(_files.Path).Select(Path.GetFileName).Order());
        Assert.Equal(report.ContentHash, (await again.BackupAsync(Stream.Null, null, null, Cancel)).ContentHash);
        Assert.Equal(8, await again.NextIdentityAsync("INVOICES", Cancel));
        Assert.Equal(33, (await again.NextHiLoRangeAsync(new HiLoRequest("users", 0, DateTime.UnixEpoch, 0), Cancel)).Low);
    }

    [Fact]
    public async Task An_empty_database_comes_back_empty()
    {
        await using Database database = Open("source");
        using var backup = new MemoryStream();
        BackupReport report = await database.BackupAsync(backup, new BackupOptions { EncryptionKey = _key }, null, Cancel);
        Assert.Equal(new BackupCounts(0, 0, 0, 0, 0), report.Counts);
        backup.Position = 0;
        await Database.RestoreAsync(backup, Target, new RestoreOptions { AllowPlain = true, BackupKey = _key }, null, Cancel);
        await using Database again = Database.Open(Target);
        Assert.Equal(DatabaseText.Of(database), DatabaseText.Of(again));
    }

    [Fact]
    public async Task A_backup_under_full_write_load_is_one_moment_of_it()
    {
        var random = new Random(Seed.Next());
        await using Database database = Open("source");
        await RandomDatabase.FillAsync(database, random, 2_000, Cancel);
        var log = new List<(long Etag, string Id, int? Number, bool EndsBatch)>();
        using var stop = new CancellationTokenSource();
        var working = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Task writer = Task.Run(() => WriteUntilAsync(database, new Random(random.Next()), log, working, stop.Token), Cancel);
        await working.Task;

        var backups = new List<(MemoryStream Content, BackupReport Report)>();
        for (int i = 0; i < 4; i++)
        {
            var content = new MemoryStream();
            backups.Add(
                (content, await database.BackupAsync(
                    content, new BackupOptions { Compression = (BackupCompression)i }, null, Cancel)));
        }

        await stop.CancelAsync();
        await writer;
        Assert.True(log.Count > 20, "the writer hardly wrote");
        foreach ((MemoryStream content, BackupReport report) in backups)
        {
            var expected = new Dictionary<string, int>(StringComparer.Ordinal);
            bool ended = true;
            foreach ((long etag, string id, int? number, bool endsBatch) in log.Where(entry => entry.Etag <= report.LastEtag))
            {
                ended = endsBatch;
                if (number is { } value)
                    expected[id] = value;
                else
                    expected.Remove(id);
            }

            Assert.True(ended, $"the backup ends at etag {report.LastEtag}, in the middle of a batch");
            content.Position = 0;
            string target = Path.Combine(_files.Path, $"at-{report.LastEtag}-{report.StoredBytes}");
            await Database.RestoreAsync(content, target, null, null, Cancel);
            await using Database restored = Database.Open(target);
            Assert.Equal(report.LastEtag, restored.LastEtag);
            using DatabaseSnapshot snapshot = restored.BeginRead();
            using DocumentCursor cursor = snapshot.ByPrefix(new DocumentPrefix { StartsWith = "load/" });
            var found = new Dictionary<string, int>(StringComparer.Ordinal);
            while (cursor.MoveNext())
                found.Add(
                    cursor.Current.IdText(),
                    int.Parse(Encoding.UTF8.GetString(cursor.Current.Body)[5..^1], CultureInfo.InvariantCulture));
            Assert.Equal(
                expected.OrderBy(entry => entry.Key, StringComparer.Ordinal),
                found.OrderBy(entry => entry.Key, StringComparer.Ordinal));
        }
    }

    [Theory]
    [InlineData("movies.ndjson.gz", "Movies", 12_000)]
    [InlineData("wordnet.ndjson.gz", "Words", 8_000)]
    public async Task Real_documents_come_back_byte_by_byte(string file, string collection, int most)
    {
        string data = DataSets.PathOf(file);
        await using Database database = Open("source");
        await using (BulkInsert bulk = database.BulkInsert())
        {
            int number = 0;
            foreach (string line in DataSets.Lines(data).Take(most))
                await bulk.StoreAsync(
                    $"{collection}/{number++}",
                    Encoding.UTF8.GetBytes($"{line[..^1]},\"@metadata\":{{\"@collection\":\"{collection}\"}}}}"), Cancel);
        }

        string backup = Path.Combine(_files.Path, "all.backup");
        BackupReport report = await database.BackupAsync(backup, new BackupOptions { EncryptionKey = _key }, null, Cancel);
        Assert.Equal(new FileInfo(backup).Length, report.StoredBytes);
        Assert.True(report.StoredBytes < report.JsonBytes / 2);
        await using (FileStream source = File.OpenRead(backup))
            await Database.RestoreAsync(source, Target, new RestoreOptions { AllowPlain = true, BackupKey = _key }, null, Cancel);
        await using Database again = Database.Open(Target);
        Assert.Equal(
            report.ContentHash,
            (await again.BackupAsync(
                Stream.Null, new BackupOptions { Compression = BackupCompression.None }, null, Cancel)).ContentHash);
    }

    [Fact]
    public async Task A_part_of_a_database_is_restored_as_a_part()
    {
        await using Database database = Open("source");
        await RandomDatabase.FillAsync(database, new Random(7), 300, Cancel);
        using var backup = new MemoryStream();
        var options = new BackupOptions { Collections = ["users"], Content = BackupContent.Documents | BackupContent.Identities };
        BackupReport report = await database.BackupAsync(backup, options, null, Cancel);
        Assert.Equal(
            (false, 0L, 0L, 2L), (report.IsWhole, report.Counts.Indexes, report.Counts.Tombstones, report.Counts.Identities));
        backup.Position = 0;
        await Database.RestoreAsync(backup, Target, null, null, Cancel);
        await using Database again = Database.Open(Target);
        using DatabaseSnapshot snapshot = again.BeginRead(), source = database.BeginRead();
        Assert.Equal(
            [source.Collection("Users")! with { LastEtag = 0 }],
            snapshot.AllCollections().Select(collection => collection with { LastEtag = 0 }));
        Assert.Equal((source.LastEtag, report.Counts.Documents), (snapshot.LastEtag, snapshot.DocumentCount));
    }

    [Fact]
    public async Task Progress_is_told_and_a_cancelled_backup_leaves_no_file_and_a_cancelled_restore_no_directory()
    {
        await using Database database = Open("source");
        await RandomDatabase.FillAsync(database, new Random(8), 3_000, Cancel);
        string path = Path.Combine(_files.Path, "all.backup");
        var reports = new List<BackupProgress>();
        await database.BackupAsync(path, null, new Synchronous(reports.Add), Cancel);
        Assert.True(reports.Count > 1);
        Assert.Equal(reports[^1].DocumentsTotal, reports[^1].Documents);

        using var stop = new CancellationTokenSource();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => database.BackupAsync(path + "2", null, new Synchronous(_ => stop.Cancel()), stop.Token));
        foreach (BackupStep step in (BackupStep[])[BackupStep.Reading, BackupStep.Comparing])
        {
            using var stopRestore = new CancellationTokenSource();
            await using FileStream source = File.OpenRead(path);
            await Assert.ThrowsAnyAsync<OperationCanceledException>(
                () => Database.RestoreAsync(
                    source, Target, null, new Synchronous(progress => CancelAt(progress, step, stopRestore)), stopRestore.Token));
        }

        Assert.Equal(["all.backup", "source"], Directory.GetFileSystemEntries(_files.Path).Select(Path.GetFileName).Order());
    }

    [Fact]
    public async Task A_marker_is_in_no_sealed_backup_and_in_the_plain_one()
    {
        await using Database database = Open("source");
        using var batch = new WriteBatch();
        batch.Put(
            "marker-id-7d1/1",
            "{\"text\":\"marker-body-7d1\",\"@metadata\":{\"@collection\":\"marker-collection-7d1\",\"marker-key-7d1\":1}}"u8.ToArray());
        await database.WriteAsync(batch, Cancel);
        await database.NextIdentityAsync("marker-identity-7d1", Cancel);
        foreach (BackupCompression compression in Enum.GetValues<BackupCompression>())
        {
            using var plain = new MemoryStream();
            using var hidden = new MemoryStream();
            await database.BackupAsync(plain, new BackupOptions { Compression = compression }, null, Cancel);
            await database.BackupAsync(
                hidden, new BackupOptions { Compression = compression, EncryptionKey = _key }, null, Cancel);
            Assert.True(hidden.ToArray().AsSpan().IndexOf("7d1"u8) < 0);
            if (compression == BackupCompression.None)
                foreach (string marker in (string[])
                [
                    "marker-id-7d1", "marker-body-7d1", "marker-collection-7d1", "marker-key-7d1", "marker-identity-7d1"
                ])
                    Assert.True(plain.ToArray().AsSpan().IndexOf(Encoding.UTF8.GetBytes(marker)) >= 0, marker);
        }
    }

    private static void CancelAt(BackupProgress progress, BackupStep step, CancellationTokenSource stop)
    {
        if (progress.Step == step)
            stop.Cancel();
    }

    private static async Task WriteUntilAsync(
        Database database, Random random, List<(long, string, int?, bool)> log, TaskCompletionSource working,
        CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            using var batch = new WriteBatch();
            var commands = new List<int?>();
            for (int i = 0; i < 10; i++)
            {
                string id = $"load/{random.Next(200)}";
                int? number = random.Next(4) == 0 ? null : random.Next(1_000_000);
                commands.Add(number);
                if (number is { } value)
                    batch.Put(id, Encoding.UTF8.GetBytes($"{{\"n\":{value},\"@metadata\":{{\"@collection\":\"Load\"}}}}"));
                else
                    batch.Delete(id);
            }

            IReadOnlyList<WriteResult> results = await database.WriteAsync(batch, CancellationToken.None);
            for (int i = 0; i < results.Count; i++)
                if (results[i].Etag > 0)
                    log.Add((results[i].Etag, results[i].Id, commands[i], results.Skip(i + 1).All(later => later.Etag == 0)));
            working.TrySetResult();
        }
    }

    private Database Open(string name) => Database.Open(Path.Combine(_files.Path, name));

    private sealed class Synchronous(Action<BackupProgress> action) : IProgress<BackupProgress>
    {
        public void Report(BackupProgress value) => action(value);
    }
}
