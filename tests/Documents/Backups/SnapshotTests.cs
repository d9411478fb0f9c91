using System.Text;
using Treepie.Backups;
using Treepie.Storage;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Backups;

/// <summary>
/// Snapshots of a database, their increments and its log: what comes back is the database of exactly one commit, with its
/// indexes.
/// </summary>
public sealed class SnapshotTests : IDisposable
{
    private readonly TemporaryDirectory _files = new();
    private readonly EncryptionKey _key = EncryptionKey.Generate();
    private readonly EncryptionKey _databaseKey = EncryptionKey.Generate();
    private readonly Random _random = new(Seed.Next());

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Target => Path.Combine(_files.Path, "restored");

    public void Dispose()
    {
        _files.Dispose();
        _key.Dispose();
        _databaseKey.Dispose();
    }

    [Theory]
    [InlineData(BackupCompression.ZstdFastest, false, false, false)]
    [InlineData(BackupCompression.GzipFastest, true, false, true)]
    [InlineData(BackupCompression.ZstdOptimal, true, true, false)]
    [InlineData(BackupCompression.None, true, true, true)]
    [InlineData(BackupCompression.None, false, false, false)]
    public async Task A_database_comes_back_as_it_was_with_its_indexes(
        BackupCompression compression, bool isSealed, bool isEncrypted, bool isTargetEncrypted)
    {
        await using Database database = Open("source", isEncrypted);
        await RandomDatabase.FillAsync(database, _random, 300, Cancel);
        List<string> before = DatabaseText.Of(database), indexes = DatabaseText.IndexesOf(database);
        using var backup = new MemoryStream();
        var options = new BackupOptions
        {
            Kind = BackupKind.Snapshot,
            Compression = compression,
            EncryptionKey = isSealed ? _key : null
        };
        BackupReport report = await database.BackupAsync(backup, options, null, Cancel);
        Assert.Equal(
            (BackupKind.Snapshot, false, true, isSealed, backup.Length),
            (report.Kind, report.IsIncremental, report.IsWhole, report.IsEncrypted, report.StoredBytes));
        Assert.Equal((database.Id, database.LastEtag, 3), (report.DatabaseId, report.LastEtag, report.Counts.Indexes));
        Assert.Equal(report.Link, BackupLink.Parse(report.Link!.ToString()));

        var restore = new RestoreOptions
        {
            AllowPlain = true,
            BackupKey = isSealed ? _key : null,
            Database = new DatabaseOptions { EncryptionKey = isTargetEncrypted ? _databaseKey : null }
        };
        backup.Position = 0;
        BackupReport verified = await Database.VerifyBackupAsync(backup, restore, null, Cancel);
        backup.Position = 0;
        BackupReport restored = await Database.RestoreAsync(backup, Target, restore, null, Cancel);
        Assert.Equal((report.Counts, report.LastCommit, report.Pages), (verified.Counts, verified.LastCommit, verified.Pages));
        Assert.Equal(
            (report.Counts, report.LastCommit, report.StoredBytes), (restored.Counts, restored.LastCommit, restored.StoredBytes));
        Assert.Equal(
            3,
            Directory.GetDirectories(Path.Combine(Target, "indexes"))
                .Count(
                    folder => Directory.Exists(Path.Combine(folder, "store"))
                        && (!isTargetEncrypted || Path.GetFileName(folder).StartsWith("index.", StringComparison.Ordinal))));

        await using Database again = Database.Open(Target, restore.Database);
        Assert.Equal(isTargetEncrypted, again.IsEncrypted);
        Assert.Equal(before, DatabaseText.Of(again));
        Assert.Equal(indexes, DatabaseText.IndexesOf(again));
        Assert.All(
            again.Indexes.List(), index => Assert.False(index.IsStale, $"'{index.Name}' came back, and is not built again."));
        Assert.Empty(again.Check(Cancel).Problems);
        await again.WriteAsync(new WriteBatch().Put("after/1", "{}"u8.ToArray()), Cancel);
        Assert.Equal(BackupFault.Foreign, (await Assert.ThrowsAsync<BackupException>(
            () => again.BackupAsync(Stream.Null, options with { Since = report.Link, AllowPlain = true }, null, Cancel))).Fault);
    }

    [Fact]
    public async Task A_chain_with_its_log_leads_to_each_commit_that_there_was()
    {
        var texts = new List<(long Commit, List<string> Text)>();
        var parts = new List<BackupPart>();
        BackupLink? link = null;
        for (int session = 0; session < 2; session++)
        {
            await using Database database = Open("source", isEncrypted: false);
            if (session == 0)
                await database.KeepLogAsync(8 << 20, Cancel);
            Assert.True(database.GetLogStatus().IsKept);
            for (int step = 0; step < 6; step++)
            {
                for (int i = 0; i < 3; i++)
                {
                    await database.WriteAsync(
                        new WriteBatch().Put($"users/{_random.Next(20)}", Json(_random.Next(5000))), Cancel);
                    BackupReport probe = await database.BackupAsync(
                        Stream.Null, new BackupOptions { Kind = BackupKind.Snapshot, Compression = BackupCompression.None }, null,
                        Cancel);
                    texts.Add((probe.LastCommit, DatabaseText.Of(database)));
                }

                BackupKind kind = link is null || step % 3 == 0 ? BackupKind.Snapshot : BackupKind.Log;
                string name = BackupFileName.For(
                    kind, link is not null, isEncrypted: true, new DateTime(2026, 1, 1, session, step, 0, DateTimeKind.Utc));
                string path = Path.Combine(_files.Path, name);
                BackupReport report = await database.BackupAsync(
                    path, new BackupOptions { Kind = kind, Since = link, EncryptionKey = _key }, null, Cancel);
                Assert.Equal((kind, link is not null), (report.Kind, report.IsIncremental));
                parts.Add(BackupPart.OfFile(path));
                link = report.Link;
            }
        }

        var options = new RestoreOptions { AllowPlain = true, BackupKey = _key };
        long end = texts[^1].Commit;
        BackupReport whole = await Database.VerifyBackupAsync(parts, options, null, Cancel);
        Assert.Equal((end, end, CountOf(texts[^1].Text)), (whole.LastCommit, whole.CountedAtCommit, whole.Counts.Documents));
        // in the midst of the last part
        BackupReport within = await Database.VerifyBackupAsync(
            parts, options with { StopAtCommit = texts[^2].Commit }, null, Cancel);
        Assert.Equal(
            (texts[^2].Commit, CountOf(texts.Find(text => text.Commit == within.CountedAtCommit).Text)),
            (within.LastCommit, within.Counts.Documents));
        foreach ((long commit, List<string> text) in texts.Skip(2).Where((_, index) => index % 5 == 0).Append(texts[^1]))
        {
            BackupReport report = await Database.RestoreAsync(
                parts, Target, options with { StopAtCommit = commit }, null, Cancel);
            Assert.Equal((commit, commit, CountOf(text)), (report.LastCommit, report.CountedAtCommit, report.Counts.Documents));
            await using (Database restored = Database.Open(Target))
                Assert.Equal(text, DatabaseText.Of(restored));
            Directory.Delete(Target, recursive: true);
        }

        parts.RemoveAt(4);
        Assert.Equal(
            BackupFault.LinkMissing,
            (await Assert.ThrowsAsync<BackupException>(
                () => Database.RestoreAsync(
                    parts, Target, options with { StopAtCommit = texts[14].Commit }, null, Cancel))).Fault);
        Assert.False(Directory.Exists(Target));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_content_hash_is_that_of_the_documents_in_every_backup_of_a_state_and_in_what_is_restored(
        bool isTargetEncrypted)
    {
        await using Database database = Open("source", isEncrypted: false);
        await RandomDatabase.FillAsync(database, _random, 200, Cancel);
        var options = new BackupOptions { Kind = BackupKind.Snapshot, HashesContent = true };
        using MemoryStream full = new(), increment = new();
        BackupReport first = await database.BackupAsync(full, options, null, Cancel);
        Assert.Equal((await database.BackupAsync(Stream.Null, null, null, Cancel)).ContentHash, first.ContentHash);
        Assert.Equal(
            first.ContentHash,
            (await database.BackupAsync(
                Stream.Null, options with { Compression = BackupCompression.None }, null, Cancel)).ContentHash);
        await database.WriteAsync(new WriteBatch().Put("users/new", Json(10)), Cancel);
        BackupReport second = await database.BackupAsync(increment, options with { Since = first.Link }, null, Cancel);
        Assert.Equal((await database.BackupAsync(Stream.Null, null, null, Cancel)).ContentHash, second.ContentHash);
        Assert.NotEqual(first.ContentHash, second.ContentHash);
        Assert.Null((await database.BackupAsync(Stream.Null, options with { HashesContent = false }, null, Cancel)).ContentHash);

        Assert.Equal(
            second.ContentHash, (await Database.VerifyBackupAsync([Of(full), Of(increment)], null, null, Cancel)).ContentHash);
        var restore = new RestoreOptions
        {
            Database = new DatabaseOptions { EncryptionKey = isTargetEncrypted ? _databaseKey : null }
        };
        Assert.Equal(
            second.ContentHash,
            (await Database.RestoreAsync([Of(full), Of(increment)], Target, restore, null, Cancel)).ContentHash);
        await using Database restored = Database.Open(Target, restore.Database);
        Assert.Equal(
            second.ContentHash,
            (await restored.BackupAsync(Stream.Null, new BackupOptions { AllowPlain = true }, null, Cancel)).ContentHash);
    }

    [Fact]
    public async Task A_snapshot_under_load_is_one_moment_and_its_indexes_have_seen_no_more_than_it()
    {
        await using Database database = Open("source", isEncrypted: false);
        await RandomDatabase.FillAsync(database, _random, 100, Cancel);
        using var stop = new CancellationTokenSource();
        Task writer = Task.Run(
            async () =>
            {
                for (int i = 0; !stop.IsCancellationRequested; i++)
                    await database.WriteAsync(
                        new WriteBatch().Put("left/1", Count(i)).Put("right/1", Count(i)).Put($"users/{i % 50}", Json(100)),
                        CancellationToken.None);
            },
            Cancel);
        using var backup = new MemoryStream();
        try
        {
            await Eventually.TrueAsync(() => database.LastEtag > 400 || writer.IsFaulted, "the writer writes");
            await database.BackupAsync(backup, new BackupOptions { Kind = BackupKind.Snapshot }, null, Cancel);
        }
        finally
        {
            await stop.CancelAsync();
            await writer;
        }

        backup.Position = 0;
        BackupReport report = await Database.RestoreAsync(backup, Target, null, null, Cancel);
        await using Database restored = Database.Open(Target);
        Assert.Equal(report.LastEtag, restored.LastEtag);
        string left = Body(restored, "left/1"), right = Body(restored, "right/1");
        Assert.Equal(left, right);
        Assert.All(restored.Indexes.List(), index => Assert.True(index.LastIndexedEtag <= restored.LastEtag));
        Assert.True(await restored.Indexes.WaitForNonStaleAsync(Eventually.Patience, null, Cancel));
    }

    [Fact]
    public async Task What_cannot_be_is_refused_by_name()
    {
        await using Database database = Open("source", isEncrypted: false);
        await using Database other = Open("other", isEncrypted: false);
        await database.WriteAsync(new WriteBatch().Put("users/1", Json(10)), Cancel);
        var snapshot = new BackupOptions { Kind = BackupKind.Snapshot };
        using var backup = new MemoryStream();
        BackupLink link = (await database.BackupAsync(backup, snapshot, null, Cancel)).Link!;
        using var logical = new MemoryStream();
        await database.BackupAsync(logical, null, null, Cancel);

        Assert.Equal(
            BackupFault.LogGap,
            await FaultOf(
                () => database.BackupAsync(Stream.Null, snapshot with { Kind = BackupKind.Log, Since = link }, null, Cancel)));
        Assert.Equal(
            BackupFault.LinkMissing,
            await FaultOf(() => database.BackupAsync(Stream.Null, snapshot with { Kind = BackupKind.Log }, null, Cancel)));
        Assert.Equal(
            BackupFault.Foreign,
            await FaultOf(() => other.BackupAsync(Stream.Null, snapshot with { Since = link }, null, Cancel)));
        Assert.Equal(
            BackupFault.Foreign,
            await FaultOf(() => database.BackupAsync(Stream.Null, new BackupOptions { Since = link }, null, Cancel)));
        await Assert.ThrowsAsync<ArgumentException>(
            () => database.BackupAsync(Stream.Null, snapshot with { Collections = ["Users"] }, null, Cancel));
        backup.Position = 0;
        Assert.Equal(BackupFault.NotABackup, await FaultOf(() => other.ImportAsync(backup, null, null, Cancel)));
        BackupPart[] mixed = [Of(backup), Of(logical)];
        Assert.Equal(BackupFault.NotABackup, await FaultOf(() => Database.VerifyBackupAsync(mixed, null, null, Cancel)));
        Assert.Equal(
            BackupFault.NoSuchPoint,
            await FaultOf(
                () => Database.RestoreAsync([Of(logical)], Target, new RestoreOptions { StopAtCommit = 1 }, null, Cancel)));
        Assert.Equal(
            BackupFault.NoSuchPoint,
            await FaultOf(
                () => Database.RestoreAsync([Of(backup)], Target, new RestoreOptions { StopAtCommit = 10_000 }, null, Cancel)));
        Assert.Equal(1, (await Database.VerifyBackupAsync([Of(logical)], null, null, Cancel)).Counts.Documents);
        byte[] damaged = backup.ToArray();
        damaged[damaged.Length / 2] ^= 1;
        Assert.Equal(
            BackupFault.Damaged,
            await FaultOf(() => Database.RestoreAsync(new MemoryStream(damaged), Target, null, null, Cancel)));
        Assert.False(Directory.Exists(Target));
        Assert.Throws<FormatException>(() => BackupLink.Parse("treepie-link-1;00;1"));
    }

    [Theory]
    [InlineData("indexes/Users-1a2b3c4d.3", "Users-1a2b3c4d.3")]
    [InlineData("indexes/../../etc", null)]
    [InlineData("indexes/a/b", null)]
    [InlineData("indexes/..", null)]
    [InlineData("indexes/", null)]
    [InlineData("documents", null)]
    public void A_name_from_a_backup_never_leads_out_of_the_directory(string name, string? folder) =>
        Assert.Equal(folder, SnapshotNames.FolderOf(name));

    private static async Task<BackupFault> FaultOf(Func<Task<BackupReport>> act) =>
        (await Assert.ThrowsAsync<BackupException>(act)).Fault;

    private static BackupPart Of(MemoryStream stream)
    {
        byte[] bytes = stream.ToArray();
        return new BackupPart("part", _ => ValueTask.FromResult<Stream>(new MemoryStream(bytes)));
    }

    private static int CountOf(List<string> text) =>
        text.Count(static line => line.StartsWith("document ", StringComparison.Ordinal));

    private static byte[] Json(int length) =>
        Encoding.UTF8.GetBytes(
            $"{{\"Name\":\"a\",\"Text\":\"{new string('x', length)}\",\"@metadata\":{{\"@collection\":\"Users\"}}}}");

    private static byte[] Count(int number) => Encoding.UTF8.GetBytes($"{{\"n\":{number}}}");

    private static string Body(Database database, string id)
    {
        using Treepie.Store.DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet(id, out Treepie.Store.Document document));
        return Encoding.UTF8.GetString(document.Body);
    }

    private Database Open(string name, bool isEncrypted) =>
        Database.Open(Path.Combine(_files.Path, name), new DatabaseOptions { EncryptionKey = isEncrypted ? _databaseKey : null });
}
