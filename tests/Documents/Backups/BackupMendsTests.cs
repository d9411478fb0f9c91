using System.Text;
using Treepie.Backups;
using Treepie.Indexes;
using Treepie.Storage;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Backups;

/// <summary>
/// What a backup says of itself is covered by its hashes, a sealed one does not become plain by accident, and the counts of a
/// chain are those of the whole.
/// </summary>
public sealed class BackupMendsTests : IDisposable
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
    [InlineData("\"Priority\":\"High\"", "\"Priority\":\"Hugh\"")]
    [InlineData("\"LockMode\":\"LockedError\"", "\"LockMade\":\"LockedError\"")]
    [InlineData("\"State\":\"Disabled\"", "\"State\":\"Disabeld\"")]
    public async Task Settings_of_indexes_in_an_uncompressed_dump_are_hashed(string written, string damaged)
    {
        await using Database database = Database.Open(Path.Combine(_files.Path, "source"));
        await RandomDatabase.FillAsync(database, new Random(7), 50, Cancel);
        database.Indexes.Control.Set(
            database.Indexes.List()[0].Name,
            static _ => new IndexSettings
            {
                Priority = IndexPriority.High,
                LockMode = IndexLockMode.LockedError,
                IsDisabled = true
            });
        using var backup = new MemoryStream();
        await database.BackupAsync(backup, new BackupOptions { Compression = BackupCompression.None }, null, Cancel);
        byte[] content = backup.ToArray();
        int at = content.AsSpan().IndexOf(Encoding.UTF8.GetBytes(written));
        Encoding.UTF8.GetBytes(damaged).CopyTo(content.AsSpan(at));
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => Database.VerifyBackupAsync(new MemoryStream(content), null, null, Cancel));
        Assert.Equal(BackupFault.Damaged, error.Fault);
        await Assert.ThrowsAsync<BackupException>(
            () => Database.RestoreAsync(new MemoryStream(content), Target, null, null, Cancel));
        Assert.False(Directory.Exists(Target));
        backup.Position = 0;
        await Database.RestoreAsync(backup, Target, null, null, Cancel);
    }

    [Theory]
    [InlineData(BackupKind.Logical, false)]
    [InlineData(BackupKind.Snapshot, false)]
    [InlineData(BackupKind.Logical, true)]
    [InlineData(BackupKind.Snapshot, true)]
    public async Task A_sealed_backup_becomes_a_plain_database_only_where_that_is_said(BackupKind kind, bool isChain)
    {
        await using Database database = Database.Open(Path.Combine(_files.Path, "source"));
        await database.WriteAsync(new WriteBatch().Put("a/1", "{}"u8.ToArray()), Cancel);
        var parts = new List<BackupPart>();
        BackupLink? link = null;
        for (int step = 0; step < (isChain ? 2 : 1); step++)
        {
            await database.WriteAsync(new WriteBatch().Put($"a/{step}", "{}"u8.ToArray()), Cancel);
            var content = new MemoryStream();
            link =
                (await database.BackupAsync(
                    content, new BackupOptions { Kind = kind, EncryptionKey = _key, Since = link }, null, Cancel)).Link;
            parts.Add(new BackupPart($"part-{step}", _ => ValueTask.FromResult<Stream>(new MemoryStream(content.ToArray()))));
        }

        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => Database.RestoreAsync(parts, Target, new RestoreOptions { BackupKey = _key }, null, Cancel));
        Assert.Equal(BackupFault.PlainNotAllowed, error.Fault);
        Assert.Contains("sealed", error.Message, StringComparison.Ordinal);
        Assert.False(Directory.Exists(Target));
        await Database.VerifyBackupAsync(parts, new RestoreOptions { BackupKey = _key }, null, Cancel);
        using EncryptionKey own = EncryptionKey.Generate();
        await Database.RestoreAsync(
            parts, Target, new RestoreOptions { BackupKey = _key, Database = new DatabaseOptions { EncryptionKey = own } }, null,
            Cancel);
    }

    [Fact]
    public async Task A_verification_of_a_chain_of_dumps_counts_the_whole()
    {
        await using Database database = Database.Open(Path.Combine(_files.Path, "source"));
        await RandomDatabase.FillAsync(database, new Random(9), 80, Cancel);
        var parts = new List<BackupPart>();
        BackupLink? link = null;
        long stored = 0;
        for (int step = 0; step < 3; step++)
        {
            await database.WriteAsync(new WriteBatch().Put($"more/{step}", "{}"u8.ToArray()).Delete($"more/{step - 1}"), Cancel);
            var content = new MemoryStream();
            link = (await database.BackupAsync(content, new BackupOptions { Since = link }, null, Cancel)).Link;
            stored += content.Length;
            parts.Add(new BackupPart($"part-{step}", _ => ValueTask.FromResult<Stream>(new MemoryStream(content.ToArray()))));
        }

        BackupReport verified = await Database.VerifyBackupAsync(parts, null, null, Cancel);
        BackupReport restored = await Database.RestoreAsync(parts, Target, null, null, Cancel);
        Assert.Equal(restored.Counts, verified.Counts);
        Assert.Equal((await database.BackupAsync(Stream.Null, null, null, Cancel)).Counts, verified.Counts);
        Assert.Equal((stored, stored), (verified.StoredBytes, restored.StoredBytes));
    }
}
