using System.Text;
using Treepie.Backups;
using Treepie.Storage;
using Treepie.Storage.Encryption;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Backups;

/// <summary>
/// A backup that is not as it was written is refused with the reason, and nothing of it is ever seen as a database.
/// </summary>
public sealed class DamagedBackupTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _files = new();
    private readonly EncryptionKey _key = EncryptionKey.Generate();
    private readonly Dictionary<(BackupCompression, bool), byte[]> _backups = [];
    private BackupReport? _report;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Target => Path.Combine(_files.Path, "restored");

    public async ValueTask InitializeAsync()
    {
        await using Database database = Database.Open(Path.Combine(_files.Path, "source"));
        await RandomDatabase.FillAsync(database, new Random(5), 400, Cancel);
        foreach (BackupCompression compression in (BackupCompression[])
        [
            BackupCompression.ZstdFastest, BackupCompression.GzipFastest, BackupCompression.None
        ])
        {
            foreach (bool isSealed in (bool[])[false, true])
            {
                var content = new MemoryStream();
                _report = await database.BackupAsync(
                    content, new BackupOptions { Compression = compression, EncryptionKey = isSealed ? _key : null }, null,
                    Cancel);
                _backups.Add((compression, isSealed), content.ToArray());
            }
        }
    }

    public ValueTask DisposeAsync()
    {
        _files.Dispose();
        _key.Dispose();
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData(BackupCompression.ZstdFastest, true)]
    [InlineData(BackupCompression.GzipFastest, true)]
    [InlineData(BackupCompression.None, true)]
    [InlineData(BackupCompression.ZstdFastest, false)]
    [InlineData(BackupCompression.GzipFastest, false)]
    [InlineData(BackupCompression.None, false)]
    public async Task A_backup_cut_off_anywhere_is_refused_and_leaves_nothing(BackupCompression compression, bool isSealed)
    {
        var random = new Random(Seed.Next());
        byte[] whole = _backups[(compression, isSealed)];
        const int Chunk = SealedWriteStream.DefaultChunkBytes + 32;
        IEnumerable<int> borders = Enumerable.Range(0, 1 + ((whole.Length - 128) / Chunk))
            .Select(chunk => 128 + (chunk * Chunk))
            .Append(whole.Length - 8);
        int[] lengths = [
            .. borders.SelectMany(border => (int[])[border - 1, border, border + 1])
                .Append(0)
                .Concat(Enumerable.Range(0, 10).Select(_ => random.Next(whole.Length)))
                .Concat(Enumerable.Range(1, 20).Select(back => whole.Length - back))];
        // a dump may lack the line's end
        int end = compression == BackupCompression.None && !isSealed ? whole.Length - 1 : whole.Length;
        foreach (int length in lengths.Where(length => length >= 0 && length < end).Distinct())
        {
            Exception error = await FailAsync(whole[..length], isSealed, restores: length % 3 == 0);
            bool isNamed = error is SealedStreamException { Fault: SealedFault.CutOff or SealedFault.NotSealed }
                or BackupException { Fault: BackupFault.CutOff or BackupFault.NotABackup or BackupFault.Damaged }
                    or EncryptionKeyException;
            Assert.True(isNamed, $"{length} of {whole.Length}: {error}");
        }
    }

    [Theory]
    [InlineData(BackupCompression.ZstdFastest, true)]
    [InlineData(BackupCompression.ZstdFastest, false)]
    [InlineData(BackupCompression.GzipFastest, false)]
    [InlineData(BackupCompression.None, false)]
    public async Task A_flipped_bit_is_refused_or_changes_nothing_that_is_restored(BackupCompression compression, bool isSealed)
    {
        var random = new Random(Seed.Next());
        byte[] whole = _backups[(compression, isSealed)];
        for (int round = 0; round < 60; round++)
        {
            byte[] damaged = [.. whole];
            int at = round < 30 ? round : random.Next(whole.Length);
            damaged[at] ^= (byte)(1 << random.Next(8));
            try
            {
                BackupReport report = await ReadAsync(damaged, isSealed, restores: false);
                Assert.False(isSealed, $"byte {at}: a sealed backup was read");
                Assert.True(
                    report.ContentHash is null || (report.ContentHash, report.Counts) == (_report!.ContentHash, _report.Counts),
                    $"byte {at}: other content was taken for whole");
                Assert.True(report.ContentHash is not null || compression == BackupCompression.None, $"byte {at}");
            }
            catch (Exception error) when (error is BackupException or StorageException)
            {
                Assert.DoesNotContain("Exception", error.Message, StringComparison.Ordinal);
            }
        }
    }

    [Fact]
    public async Task Another_key_no_key_and_a_key_too_many_are_each_said()
    {
        using EncryptionKey other = EncryptionKey.Generate();
        byte[] closed = _backups[(BackupCompression.ZstdFastest, true)], open = _backups[(BackupCompression.ZstdFastest, false)];
        Assert.Contains(
            "another key", (await Assert.ThrowsAsync<EncryptionKeyException>(() => RestoreAsync(closed, other))).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "no key was given", (await Assert.ThrowsAsync<EncryptionKeyException>(() => RestoreAsync(closed, null))).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "The backup is plain", (await Assert.ThrowsAsync<EncryptionKeyException>(() => RestoreAsync(open, _key))).Message,
            StringComparison.Ordinal);
        AssertNothingLeft();
    }

    [Fact]
    public async Task Something_else_and_something_more_are_refused_by_name()
    {
        async Task Refuse(BackupFault fault, byte[] content) =>
            Assert.Equal(fault, (await Assert.ThrowsAsync<BackupException>(() => RestoreAsync(content, null))).Fault);

        byte[] plain = _backups[(BackupCompression.None, false)];
        await Refuse(BackupFault.CutOff, []);
        await Refuse(BackupFault.NotABackup, "PK\u0003\u0004 something"u8.ToArray());
        await Refuse(BackupFault.NotABackup, "[1,2]"u8.ToArray());
        await Refuse(BackupFault.CutOff, "{"u8.ToArray());
        await Refuse(BackupFault.Damaged, "{}x"u8.ToArray());
        await Refuse(BackupFault.Damaged, "{\"Docs\" []}"u8.ToArray());
        await Refuse(BackupFault.Damaged, "{\"Other\":[{}{}]}"u8.ToArray());
        await Refuse(BackupFault.Damaged, [.. plain, .. plain]);
        await Refuse(BackupFault.Damaged, Replaced(plain, "\"Documents\":", "\"Dokuments\":"));
        await Refuse(BackupFault.Newer, Replaced(plain, "\"Format\":11,\"DatabaseName\"", "\"Format\":13,\"DatabaseName\""));
        await Refuse(BackupFault.Damaged, Replaced(plain, "\"TreepieManifest\"", "\"SomethingElse!!\""));
        await Refuse(BackupFault.Damaged, Replaced(plain, "\"Moved\"", "\"Mowed\""));
        AssertNothingLeft();
    }

    [Fact]
    public async Task No_room_ends_a_restore_and_leaves_nothing()
    {
        IEnumerable<string> documents = Enumerable.Range(0, 200)
            .Select(number => $"{{\"text\":\"{new string('x', 20_000)}\",\"@metadata\":{{\"@id\":\"a/{number}\"}}}}");
        using var source = new MemoryStream(Encoding.UTF8.GetBytes($"{{\"Docs\":[{string.Join(',', documents)}]}}"));
        await Assert.ThrowsAsync<StorageException>(
            () => Database.RestoreAsync(source, Target, new RestoreOptions { MaxDataFileBytes = 1 << 20 }, null, Cancel));
        AssertNothingLeft();
        await RestoreAsync(_backups[(BackupCompression.None, false)], null);
        Directory.Delete(Target, recursive: true);
        AssertNothingLeft();
    }

    [Fact]
    public async Task What_is_there_is_never_restored_over()
    {
        Directory.CreateDirectory(Target);
        await RestoreAsync(_backups[(BackupCompression.ZstdFastest, false)], null); // empty: as good as absent
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => RestoreAsync(_backups[(BackupCompression.ZstdFastest, false)], null));
        Assert.Equal(BackupFault.TargetExists, error.Fault);
        await using Database database = Database.Open(Target);
        Assert.Equal(_report!.Counts.Documents, database.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task What_a_killed_restore_left_is_done_away_with_by_the_next()
    {
        string left = Path.Combine(_files.Path, "~restoring-restored");
        Directory.CreateDirectory(Path.Combine(left, "documents"));
        await File.WriteAllTextAsync(Path.Combine(left, "documents", "data.treepie"), "half a page", Cancel);
        await File.WriteAllTextAsync(Path.Combine(left, "restore.lock"), "", Cancel);
        await RestoreAsync(_backups[(BackupCompression.GzipFastest, false)], null);
        Assert.False(Directory.Exists(left));
        await using Database database = Database.Open(Target);
        Assert.Equal(_report!.Counts.Documents, database.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task Two_restores_to_one_place_do_not_meet()
    {
        using RestorePlace first = RestorePlace.Begin(Target);
        Assert.Contains("is being restored by somebody else", (await Assert.ThrowsAsync<EnvironmentLockedException>(
            () => RestoreAsync(_backups[(BackupCompression.GzipFastest, false)], null))).Message, StringComparison.Ordinal);
    }

    private static byte[] Replaced(byte[] content, string from, string to)
    {
        byte[] replaced = [.. content], old = Encoding.UTF8.GetBytes(from);
        int at = replaced.AsSpan().IndexOf(old);
        Assert.True(at >= 0 && from.Length == to.Length, from);
        Encoding.UTF8.GetBytes(to).CopyTo(replaced.AsSpan(at));
        return replaced;
    }

    private Task<BackupReport> RestoreAsync(byte[] content, EncryptionKey? key) =>
        Database.RestoreAsync(
            new MemoryStream(content), Target, new RestoreOptions { AllowPlain = true, BackupKey = key }, null, Cancel);

    private Task<BackupReport> ReadAsync(byte[] content, bool isSealed, bool restores) => restores
        ? RestoreAsync(content, isSealed ? _key : null)
        : Database.VerifyBackupAsync(
            new MemoryStream(content), new RestoreOptions { AllowPlain = true, BackupKey = isSealed ? _key : null }, null,
            Cancel);

    private async Task<Exception> FailAsync(byte[] content, bool isSealed, bool restores)
    {
        Exception error = await Assert.ThrowsAnyAsync<Exception>(() => ReadAsync(content, isSealed, restores));
        AssertNothingLeft();
        return error;
    }

    private void AssertNothingLeft() =>
        Assert.Equal(["source"], Directory.GetFileSystemEntries(_files.Path).Select(Path.GetFileName));
}
