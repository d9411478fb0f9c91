using Treepie.Backups;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Backups;

/// <summary>
/// Backups of plain and encrypted databases of a catalogue, restored to plain and encrypted ones, whichever is wanted.
/// </summary>
public sealed class CatalogBackupTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _files = new();
    private readonly byte[] _shopKey = [.. Enumerable.Range(1, 32).Select(value => (byte)value)];
    private readonly byte[] _otherKey = [.. Enumerable.Range(101, 32).Select(value => (byte)value)];
    private readonly DatabaseCatalog _catalog;

    public CatalogBackupTests() => _catalog = new DatabaseCatalog(Path.Combine(_files.Path, "data"));

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _catalog.GiveKey("shop", _shopKey, keep: false);
        await RandomDatabase.FillAsync(_catalog.Create("shop", encrypted: true), new Random(1), 200, Cancel);
        await RandomDatabase.FillAsync(_catalog.Create("plain"), new Random(2), 200, Cancel);
    }

    public ValueTask DisposeAsync()
    {
        _catalog.Dispose();
        _files.Dispose();
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData("shop", false, true)]
    [InlineData("shop", true, true)]
    [InlineData("shop", true, false)]
    [InlineData("plain", false, true)]
    [InlineData("plain", true, true)]
    [InlineData("plain", true, false)]
    public async Task A_backup_becomes_a_plain_or_an_encrypted_database_as_wanted(string name, bool keyIsGiven, bool encrypts)
    {
        Database source = _catalog.Find(name)!; // InitializeAsync has made it
        List<string> before = DatabaseText.Of(source);
        using BackupKey other = BackupKey.From(_otherKey), shop = BackupKey.From(_shopKey);
        using var content = new MemoryStream();
        var options = new BackupOptions();
        BackupReport report = await _catalog.BackupAsync(
            name, content, keyIsGiven ? options.SealedWith(other) : options, null, Cancel);
        Assert.Equal(keyIsGiven || source.IsEncrypted, report.IsEncrypted);

        var restore = new RestoreOptions { AllowPlain = !encrypts };
        if (report.IsEncrypted)
            restore = restore.OpenedWith(keyIsGiven ? other : shop);
        if (encrypts)
            _catalog.GiveKey("again", _otherKey, keep: false);
        content.Position = 0;
        await _catalog.RestoreAsync("again", content, encrypts, restore, null, Cancel);
        Database restored = _catalog.Find("AGAIN")!; // it was restored
        Assert.Equal((encrypts, "again"), (restored.IsEncrypted, restored.Name));
        Assert.Equal(before, DatabaseText.Of(restored));
        Assert.Equal(DatabaseText.IndexesOf(source), DatabaseText.IndexesOf(restored));
        Assert.True(restored.Check(Cancel).IsClean);
        if (encrypts)
            Assert.Empty(Markers.FoundIn(restored.DataDirectory, ["xxxxxxxxxxxxxxxx"]));
    }

    [Fact]
    public async Task A_plain_backup_of_an_encrypted_database_is_made_only_where_somebody_says_so()
    {
        Database shop = _catalog.Find("shop")!; // InitializeAsync has made it
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => shop.BackupAsync(Stream.Null, null, null, Cancel));
        Assert.Equal(BackupFault.PlainNotAllowed, error.Fault);
        Assert.Contains("AllowPlain", error.Message, StringComparison.Ordinal);
        using var content = new MemoryStream();
        BackupReport report = await _catalog.BackupAsync(
            "shop", content, new BackupOptions { AllowPlain = true, Compression = BackupCompression.None }, null, Cancel);
        Assert.False(report.IsEncrypted);
        Assert.Equal((byte)'{', content.ToArray()[0]);
    }

    [Fact]
    public async Task A_sealed_backup_of_a_database_comes_back_with_its_own_key_unasked()
    {
        using var content = new MemoryStream();
        await _catalog.BackupAsync("shop", content, null, null, Cancel);
        _catalog.GiveKey("again", _shopKey, keep: false);
        content.Position = 0;
        await _catalog.RestoreAsync("again", content, encrypted: true, null, null, Cancel);
        content.Position = 0;
        BackupReport imported = await _catalog.ImportAsync("shop", content, null, null, Cancel);
        Assert.True(imported.IsEncrypted);
        content.Position = 0;
        Assert.Equal(
            BackupFault.KeyRefused,
            BackupException.From(
                await Assert.ThrowsAsync<EncryptionKeyException>(
                    () => _catalog.ImportAsync("plain", content, null, null, Cancel)))?.Fault);
    }

    [Fact]
    public async Task Nobody_finds_a_database_while_it_is_restored_and_a_failure_leaves_its_name_free()
    {
        using var content = new MemoryStream();
        await _catalog.BackupAsync("plain", content, null, null, Cancel);
        byte[] whole = content.ToArray();
        string folder = Path.Combine(_catalog.DataDirectory, "databases");
        await Assert.ThrowsAsync<BackupException>(
            () => _catalog.RestoreAsync("again", new MemoryStream(whole[..^100]), false, null, null, Cancel));
        await Assert.ThrowsAsync<ConcurrencyException>(
            () => _catalog.RestoreAsync("plain", new MemoryStream(whole), false, null, null, Cancel));
        await Assert.ThrowsAsync<DatabaseLockedException>(
            () => _catalog.RestoreAsync("again", new MemoryStream(whole), true, null, null, Cancel));
        await Assert.ThrowsAsync<ArgumentException>(
            () => _catalog.RestoreAsync("../again", new MemoryStream(whole), false, null, null, Cancel));
        Assert.Equal(["plain", "shop"], Directory.GetDirectories(folder).Select(Path.GetFileName).Order());

        int looked = 0;
        var progress = new Look(() =>
        {
            looked++;
            Assert.Null(_catalog.Find("again"));
            Assert.DoesNotContain("again", _catalog.Names);
            Assert.Throws<ConcurrencyException>(() => _catalog.Create("again"));
        });
        await _catalog.RestoreAsync("again", new MemoryStream(whole), false, null, progress, Cancel);
        Assert.True(looked > 0);
        Assert.Contains("again", _catalog.Names);
    }

    private sealed class Look(Action action) : IProgress<BackupProgress>
    {
        public void Report(BackupProgress value) => action();
    }
}
