using System.Globalization;
using System.Text;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Destinations;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Storage;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Backups;

/// <summary>
/// Logical backups of what changed: the full one and its increments in their order give the database as it was, and nothing else
/// is taken for a chain.
/// </summary>
public sealed class DumpIncrementTests : IDisposable
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
    [InlineData(BackupCompression.ZstdFastest, false, false)]
    [InlineData(BackupCompression.GzipFastest, true, false)]
    [InlineData(BackupCompression.None, false, true)]
    public async Task Every_state_of_a_random_history_comes_back_from_the_chain_up_to_it(
        BackupCompression compression, bool isSealed, bool isTargetEncrypted)
    {
        var random = new Random(Seed.Next());
        using EncryptionKey databaseKey = EncryptionKey.Generate();
        await using Database database = Open("source");
        await RandomDatabase.FillAsync(database, random, 60, Cancel);
        var options = new BackupOptions { Compression = compression, EncryptionKey = isSealed ? _key : null };
        var restore = new RestoreOptions
        {
            AllowPlain = true,
            BackupKey = options.EncryptionKey,
            Database = new DatabaseOptions { EncryptionKey = isTargetEncrypted ? databaseKey : null }
        };
        var parts = new List<BackupPart>();
        BackupLink? link = null;
        for (int step = 0; step < 12; step++)
        {
            if (step > 0)
                await ChangeAsync(database, random, link!.Dump!.Etag); // there is one since the first step
            (BackupPart part, BackupReport report) = await TakeAsync(database, options with { Since = link }, $"part-{step}");
            parts.Add(part);
            Assert.Equal((step > 0, step == 0, database.LastEtag), (report.IsIncremental, report.IsWhole, report.LastEtag));
            Assert.Equal(report.Link, BackupLink.Parse(report.Link!.ToString()));
            link = report.Link;
            if (step % 3 != 2)
                continue;

            List<string> before = DatabaseText.Of(database), indexes = DatabaseText.IndexesOf(database);
            BackupReport verified = await Database.VerifyBackupAsync(parts, restore, null, Cancel);
            Assert.Equal((report.ContentHash, report.TotalDocuments), (verified.ContentHash, verified.TotalDocuments));
            BackupReport restored = await Database.RestoreAsync(parts, Target, restore, null, Cancel);
            Assert.Equal((report.TotalDocuments, restored.Counts), (restored.Counts.Documents, verified.Counts));
            await using (Database again = Database.Open(Target, restore.Database))
            {
                Assert.Equal(before, DatabaseText.Of(again));
                Assert.Equal(indexes, DatabaseText.IndexesOf(again));
                Assert.Empty(again.Check(Cancel).Problems);
                Assert.Equal(
                    (await database.BackupAsync(Stream.Null, null, null, Cancel)).ContentHash,
                    (await again.BackupAsync(Stream.Null, new BackupOptions { AllowPlain = true }, null, Cancel)).ContentHash);
            }

            Directory.Delete(Target, recursive: true);
        }
    }

    [Fact]
    public async Task Each_backup_of_a_place_is_restored_from_what_it_goes_on_from_whatever_lies_between()
    {
        // As writers leave it that are killed before they take note of what they wrote, and several that share a place.
        var random = new Random(Seed.Next());
        await using Database database = Open("source");
        using BackupDestination place = new DestinationProviders().Open(
            new DestinationSettings { Address = Path.Combine(_files.Path, "place") });
        DateTime now = DateTime.UnixEpoch;
        var taken = new List<(string Name, BackupLink Link, List<string> State, List<string> Indexes, int Parts)>();
        for (int i = 0; i < 14; i++)
        {
            switch (random.Next(3))
            {
                case 0:
                    await database.NextIdentityAsync("invoices", Cancel); // the etag stays
                    break;
                case 1 when i > 0:
                    break; // nothing changes at all
                default:
                    using (var batch = new WriteBatch())
                        await database.WriteAsync(
                            batch.Put(FormattableString.Invariant($"a/{random.Next(4)}"), "{}"u8.ToArray()), Cancel);
                    break;
            }

            int since = i == 0 || random.Next(4) == 0 ? -1 : random.Next(Math.Max(0, i - 3), i);
            string name = BackupName.Of("source", now = now.AddHours(1), BackupKind.Logical, since >= 0, isEncrypted: false);
            string path = Path.Combine(_files.Path, "place", name);
            Directory.CreateDirectory(Path.GetDirectoryName(path)!); // it has a folder
            await using FileStream file = File.Create(path);
            BackupReport report = await database.BackupAsync(
                file, new BackupOptions { Since = since < 0 ? null : taken[since].Link }, null, Cancel);
            taken.Add((
                name, report.Link!, // a logical backup has one
                DatabaseText.Of(database), DatabaseText.IndexesOf(database), since < 0 ? 1 : taken[since].Parts + 1));
        }

        BackupInventory inventory = await BackupInventory.ReadAsync(place, "source", null, Cancel);
        foreach ((string name, BackupLink link, List<string> state, List<string> indexes, int parts) in taken)
        {
            BackupSelection selection = inventory.Select(new RestoreWish { Object = name });
            BackupReport verified = await Database.VerifyBackupAsync(selection.Parts, null, null, Cancel);
            BackupReport restored = await Database.RestoreAsync(selection.Parts, Target, null, null, Cancel);
            Assert.Equal((parts, parts), (verified.PartCount, restored.PartCount));
            Assert.Equal(link.Hash, restored.ContentHash);
            await using (Database again = Database.Open(Target))
            {
                Assert.Equal(state, DatabaseText.Of(again));
                Assert.Equal(indexes, DatabaseText.IndexesOf(again));
            }

            Directory.Delete(Target, recursive: true);
        }
    }

    [Fact]
    public async Task An_increment_without_what_it_goes_on_from_says_what_is_missing()
    {
        await using Database database = Open("source");
        using BackupDestination place = new DestinationProviders().Open(
            new DestinationSettings { Address = Path.Combine(_files.Path, "place") });
        var names = new List<string>();
        BackupLink? link = null;
        for (int i = 0; i < 3; i++)
        {
            using (var batch = new WriteBatch())
                await database.WriteAsync(batch.Put(FormattableString.Invariant($"a/{i}"), "{}"u8.ToArray()), Cancel);
            names.Add(BackupName.Of("source", DateTime.UnixEpoch.AddHours(i), BackupKind.Logical, i > 0, isEncrypted: false));
            string path = Path.Combine(_files.Path, "place", names[i]);
            Directory.CreateDirectory(Path.GetDirectoryName(path)!); // it has a folder
            await using FileStream file = File.Create(path);
            link = (await database.BackupAsync(file, new BackupOptions { Since = link }, null, Cancel)).Link;
        }

        string first = Path.Combine(_files.Path, "place", names[1]);
        await File.WriteAllTextAsync(first, "no backup", Cancel);
        BackupException unread = await AssertMissingAsync();
        Assert.Contains($"'{names[1]}'", unread.Message, StringComparison.Ordinal);
        File.Delete(first);
        Assert.Contains("is not at the place", (await AssertMissingAsync()).Message, StringComparison.Ordinal);
        Assert.False(Directory.Exists(Target));

        async Task<BackupException> AssertMissingAsync()
        {
            BackupInventory inventory = await BackupInventory.ReadAsync(place, "source", null, Cancel);
            BackupException error = await Assert.ThrowsAsync<BackupException>(
                () => Database.RestoreAsync(inventory.Select(new RestoreWish()).Parts, Target, null, null, Cancel));
            Assert.Equal(BackupFault.LinkMissing, error.Fault);
            Assert.Contains($"'{names[2]}'", error.Message, StringComparison.Ordinal);
            return error;
        }
    }

    [Fact]
    public async Task An_increment_holds_only_what_changed()
    {
        await using Database database = Open("source");
        await RandomDatabase.FillAsync(database, new Random(Seed.Next()), 400, Cancel);
        (_, BackupReport full) = await TakeAsync(database, new BackupOptions(), "full");
        using (var batch = new WriteBatch())
            await database.WriteAsync(batch.Put("only/1", "{}"u8.ToArray()).Delete("Ids/0é"), Cancel);
        (BackupPart part, BackupReport increment) = await TakeAsync(
            database, new BackupOptions { Since = full.Link, Compression = BackupCompression.None }, "increment");
        Assert.Equal(new BackupCounts(1, 1, 0, 0, full.Counts.Collections), increment.Counts);
        Assert.Equal(full.Counts.Documents, increment.TotalDocuments); // one came, one went
        using var text = new StreamReader(await part.OpenAsync(Cancel));
        string json = await text.ReadToEndAsync(Cancel);
        Assert.Contains("\"@id\":\"only/1\"", json, StringComparison.Ordinal);
        Assert.DoesNotContain("\"@id\":\"Ids/", json, StringComparison.Ordinal);

        await database.NextIdentityAsync("invoices", Cancel);
        (_, BackupReport identity) = await TakeAsync(database, new BackupOptions { Since = increment.Link }, "identity");
        Assert.Equal(
            (0L, 0L, 0L, full.Counts.Identities),
            (identity.Counts.Documents, identity.Counts.Tombstones, identity.Counts.Indexes, identity.Counts.Identities));
    }

    [Fact]
    public async Task What_is_set_of_indexes_comes_back_is_a_change_by_itself_and_never_replaces_what_is_set_elsewhere()
    {
        await using Database database = Open("source"), other = Open("other");
        await RandomDatabase.FillAsync(database, new Random(Seed.Next()), 100, Cancel);
        string[] names = [.. database.Indexes.List().Select(static index => index.Name)];
        IndexSettings first = new() { Priority = IndexPriority.High },
            second = new() { LockMode = IndexLockMode.LockedError, IsDisabled = true };
        database.Indexes.Control.Set(names[0], _ => first);
        (BackupPart part, BackupReport full) = await TakeAsync(database, new BackupOptions(), "full");
        database.Indexes.Control.Set(names[1], _ => second);
        (BackupPart next, BackupReport increment) = await TakeAsync(
            database, new BackupOptions { Since = full.Link }, "increment");
        Assert.Equal((0L, names.Length), (increment.Counts.Documents, increment.Counts.Indexes));
        await Database.RestoreAsync([part, next], Target, null, null, Cancel);
        await using (Database restored = Database.Open(Target))
            Assert.Equal(
                (first, second, new IndexSettings()),
                (restored.Indexes.Control.Settings(names[0]), restored.Indexes.Control.Settings(
                    names[1]), restored.Indexes.Control.Settings(names[2])));

        (BackupPart both, BackupReport report) = await TakeAsync(database, new BackupOptions(), "both");
        database.Indexes.Control.Set(names[1], _ => new IndexSettings());
        // what is set is no content
        Assert.Equal(report.ContentHash, (await database.BackupAsync(Stream.Null, null, null, Cancel)).ContentHash);
        foreach (Database into in (Database[])[other, database])
        {
            await using Stream stream = await both.OpenAsync(Cancel);
            await into.ImportAsync(stream, null, null, Cancel);
        }

        Assert.Equal((first, second), (other.Indexes.Control.Settings(names[0]), other.Indexes.Control.Settings(names[1])));
        Assert.Equal(new IndexSettings(), database.Indexes.Control.Settings(names[1]));
    }

    [Fact]
    public async Task An_increment_that_is_brought_into_a_database_of_another_history_brings_its_documents()
    {
        await using Database database = Open("source"), other = Open("other");
        await database.WriteAsync(new WriteBatch().Put("users/1", Json(1)).Put("users/2", Json(2)), Cancel);
        (_, BackupReport full) = await TakeAsync(database, new BackupOptions(), "full");
        await database.WriteAsync(new WriteBatch().Put("users/3", Json(3)).Delete("users/2"), Cancel);
        (BackupPart part, _) = await TakeAsync(database, new BackupOptions { Since = full.Link }, "increment");
        await using Stream stream = await part.OpenAsync(Cancel);
        BackupReport imported = await other.ImportAsync(stream, null, null, Cancel);
        Assert.Equal(1, imported.Counts.Documents);
        Assert.Equal(1, imported.Skipped["Tombstones"]);
        Assert.Equal(1, other.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task A_part_that_is_missing_moved_repeated_or_of_another_database_is_named_before_anything_is_restored()
    {
        await using Database database = Open("source"), other = Open("other");
        (BackupPart[] parts, BackupReport[] reports) = await ChainAsync(database, 4);
        (BackupPart foreign, _) = await TakeAsync(other, new BackupOptions(), "foreign");
        (BackupPart pages, _) = await TakeAsync(database, new BackupOptions { Kind = BackupKind.Snapshot }, "pages");
        var dump = new BackupPart("dump", _ => ValueTask.FromResult<Stream>(new MemoryStream("{\"Docs\":[]}"u8.ToArray())));

        await RefuseAsync(BackupFault.LinkMissing, "missing before 'part-3'", parts[0], parts[1], parts[3]);
        await RefuseAsync(BackupFault.LinkMissing, "continues a backup up to etag", parts[1], parts[2]);
        await RefuseAsync(BackupFault.LinkMissing, "increment", parts[1]);
        await RefuseAsync(BackupFault.OutOfOrder, "part-1", parts[0], parts[1], parts[2], parts[1]);
        await RefuseAsync(BackupFault.OutOfOrder, "part-0", parts[0], parts[0]);
        await RefuseAsync(BackupFault.Foreign, "'foreign'", parts[0], foreign);
        await RefuseAsync(BackupFault.NotABackup, "'pages'", parts[0], pages);
        await RefuseAsync(BackupFault.NotABackup, "'part-0'", pages, parts[0]);
        await RefuseAsync(BackupFault.NotABackup, "'dump'", parts[0], dump);
        Assert.Equal(
            BackupFault.NoSuchPoint,
            await FaultOf(() => Database.RestoreAsync(parts, Target, new RestoreOptions { StopAtCommit = 1 }, null, Cancel)));
        Assert.Equal(
            BackupFault.Foreign,
            await FaultOf(() => other.BackupAsync(Stream.Null, new BackupOptions { Since = reports[^1].Link }, null, Cancel)));
        Assert.Equal(
            BackupFault.Foreign,
            await FaultOf(
                () => database.BackupAsync(
                    Stream.Null, new BackupOptions { Kind = BackupKind.Snapshot, Since = reports[^1].Link }, null, Cancel)));
        await Assert.ThrowsAsync<ArgumentException>(
            () => database.BackupAsync(
                Stream.Null, new BackupOptions { Since = reports[^1].Link, Collections = ["Users"] }, null, Cancel));
        Assert.Null((await database.BackupAsync(Stream.Null, new BackupOptions { Collections = ["Users"] }, null, Cancel)).Link);
        Assert.Throws<FormatException>(() => BackupLink.Parse(reports[0].Link!.ToString()[..^1]));
        Assert.False(Directory.Exists(Target));
    }

    [Fact]
    public async Task A_part_that_ends_where_the_right_one_does_and_holds_something_else_is_refused()
    {
        await using Database database = Open("source");
        (BackupPart[] parts, _) = await ChainAsync(database, 2);
        // Somebody restored the full backup and went on from there in another way, to the same etag.
        await Database.RestoreAsync([parts[0]], Target, null, null, Cancel);
        BackupPart other;
        await using (Database twin = Database.Open(Target))
        {
            Assert.Equal(
                BackupFault.Foreign,
                await FaultOf(
                    async () => await twin.BackupAsync(
                        Stream.Null,
                        new BackupOptions { Since = (await database.BackupAsync(Stream.Null, null, null, Cancel)).Link }, null,
                        Cancel)));
            await twin.WriteAsync(new WriteBatch().Put("users/1", Json(99)), Cancel);
            BackupReport own = (await TakeAsync(twin, new BackupOptions(), "own")).Report;
            await twin.WriteAsync(new WriteBatch().Put("users/5", Json(99)), Cancel);
            (other, _) = await TakeAsync(twin, new BackupOptions { Since = own.Link }, "other");
        }

        Directory.Delete(Target, recursive: true);
        await RefuseAsync(BackupFault.LinkMissing, "content hash", parts[0], parts[1], other);
    }

    [Fact]
    public async Task Deletions_that_are_forgotten_end_a_chain_and_damage_in_a_part_is_named()
    {
        await using Database database = Open("source");
        (BackupPart[] parts, BackupReport[] reports) = await ChainAsync(database, 2);
        await database.PurgeTombstonesAsync(database.LastEtag, Cancel); // none lies behind the last part: the chain goes on
        await database.WriteAsync(new WriteBatch().Put("users/7", Json(7)), Cancel);
        (BackupPart next, BackupReport report) = await TakeAsync(
            database, new BackupOptions { Since = reports[^1].Link }, "next");
        await Database.RestoreAsync([.. parts, next], Target, null, null, Cancel);
        await using (Database restored = Database.Open(Target))
            Assert.Equal(DatabaseText.Of(database), DatabaseText.Of(restored));
        Directory.Delete(Target, recursive: true);

        byte[] bytes = await BytesOf(next);
        bytes[bytes.Length / 2] ^= 4;
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => Database.RestoreAsync([.. parts, Of("next", bytes)], Target, null, null, Cancel));
        Assert.StartsWith("'next'", error.Message, StringComparison.Ordinal);
        Assert.False(Directory.Exists(Target));

        await database.WriteAsync(new WriteBatch().Delete("users/7"), Cancel);
        await database.PurgeTombstonesAsync(database.LastEtag, Cancel);
        Assert.Equal(
            BackupFault.LogGap,
            await FaultOf(() => database.BackupAsync(Stream.Null, new BackupOptions { Since = report.Link }, null, Cancel)));
    }

    /// <summary>
    /// Puts, deletions, ids that move between collections and back, identities, indexes that come and go, tombstones that are
    /// forgotten.
    /// </summary>
    private static async Task ChangeAsync(Database database, Random random, long backedUp)
    {
        for (int round = random.Next(1, 6); round > 0; round--)
        {
            using var batch = new WriteBatch();
            for (int command = 0; command < 6; command++)
            {
                string id = random.Next(4) == 0 ? $"IDS/{random.Next(40)}É" : $"Ids/{random.Next(40)}é";
                batch.Delete(id); // an id keeps its collection until it is deleted
                if (random.Next(3) > 0)
                    batch.Put(
                        id,
                        Encoding.UTF8.GetBytes(
                            $"{{\"n\":{random.Next(1000)},\"@metadata\":{{\"@collection\":\"C{random.Next(3)}\"}}}}"));
            }

            await database.WriteAsync(batch, Cancel);
        }

        if (random.Next(3) > 0)
            await RandomDatabase.FillBesideAsync(database, random, 40, Cancel);
        switch (random.Next(5))
        {
            case 0:
                await database.NextIdentityAsync(random.Next(2) == 0 ? "invoices" : $"more{random.Next(3)}", Cancel);
                break;
            case 1:
                (await database.QueryAsync(new QueryRequest { Text = $"from C{random.Next(3)} where n = 5" }, Cancel)).Dispose();
                break;
            case 2 when database.Indexes.List() is [var first, ..]:
                database.Indexes.Delete(first.Name);
                break;
            case 3:
                await database.PurgeTombstonesAsync(random.NextInt64(backedUp + 1), Cancel);
                break;
        }
    }

    private async Task<(BackupPart[] Parts, BackupReport[] Reports)> ChainAsync(Database database, int count)
    {
        var parts = new List<BackupPart>();
        var reports = new List<BackupReport>();
        for (int i = 0; i < count; i++)
        {
            await database.WriteAsync(new WriteBatch().Put($"users/{i}", Json(i)), Cancel);
            (BackupPart part, BackupReport report) = await TakeAsync(
                database, new BackupOptions { Since = reports.LastOrDefault()?.Link },
                string.Create(CultureInfo.InvariantCulture, $"part-{i}"));
            parts.Add(part);
            reports.Add(report);
        }

        return ([.. parts], [.. reports]);
    }

    private async Task<(BackupPart Part, BackupReport Report)> TakeAsync(Database database, BackupOptions options, string name)
    {
        using var backup = new MemoryStream();
        BackupReport report = await database.BackupAsync(backup, options, null, Cancel);
        return (Of(name, backup.ToArray()), report);
    }

    private async Task RefuseAsync(BackupFault fault, string named, params BackupPart[] parts)
    {
        BackupException restoring = await Assert.ThrowsAsync<BackupException>(
            () => Database.RestoreAsync(parts, Target, null, null, Cancel));
        Assert.Equal(fault, restoring.Fault);
        Assert.Contains(named, restoring.Message, StringComparison.Ordinal);
        Assert.Equal(fault, await FaultOf(() => Database.VerifyBackupAsync(parts, null, null, Cancel)));
        Assert.False(Directory.Exists(Target));
    }

    private static async Task<BackupFault> FaultOf(Func<Task> act) => (await Assert.ThrowsAsync<BackupException>(act)).Fault;

    private static BackupPart Of(string name, byte[] bytes) =>
        new(name, _ => ValueTask.FromResult<Stream>(new MemoryStream(bytes)));

    private static async Task<byte[]> BytesOf(BackupPart part)
    {
        using var copy = new MemoryStream();
        await using Stream stream = await part.OpenAsync(Cancel);
        await stream.CopyToAsync(copy, Cancel);
        return copy.ToArray();
    }

    private static byte[] Json(int number) =>
        Encoding.UTF8.GetBytes($"{{\"Name\":\"{number}\",\"@metadata\":{{\"@collection\":\"Users\"}}}}");

    private Database Open(string name) => Database.Open(Path.Combine(_files.Path, name), new DatabaseOptions { Name = name });
}
