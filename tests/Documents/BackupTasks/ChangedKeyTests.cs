using System.Security.Cryptography;
using System.Text;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Destinations;
using Treepie.Encryption;
using Treepie.Storage;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.BackupTasks;

/// <summary>Backup tasks of an encrypted database, sealed with its own key, while that changes.</summary>
public sealed class ChangedKeyTests : IAsyncDisposable
{
    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new();
    private readonly DatabaseCatalog _catalog;
    private readonly BackupScheduler _scheduler;

    public ChangedKeyTests()
    {
        string path = Path.Combine(_files.Path, "master.key");
        using (EncryptionKey master = EncryptionKey.Generate())
            KeyFile.Create(path, master);
        _catalog = new DatabaseCatalog(
            Path.Combine(_files.Path, "data"), new DatabaseOptions { TimeProvider = _clock },
            new DatabaseKeySources { MasterKey = KeySource.FromFile(path) });
        _catalog.GiveKey("shop", RandomNumberGenerator.GetBytes(EncryptionKey.SizeBytes));
        _catalog.Create("shop", encrypted: true);
        _scheduler = new BackupScheduler(new CatalogBackupSource(_catalog), new DestinationProviders(), _clock);
    }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask DisposeAsync()
    {
        await _scheduler.DisposeAsync();
        await _catalog.DisposeAsync();
        _files.Dispose();
    }

    [Theory]
    [InlineData(BackupKind.Logical, BackupRunKind.Incremental)]
    [InlineData(BackupKind.Snapshot, BackupRunKind.Incremental)]
    [InlineData(BackupKind.Snapshot, BackupRunKind.Log)]
    public async Task A_chain_ends_where_the_key_changes_so_that_one_key_opens_all_of_it(BackupKind kind, BackupRunKind next)
    {
        var task = new BackupTask
        {
            Name = "chain",
            Kind = kind,
            LogInterval = next == BackupRunKind.Log ? TimeSpan.FromMinutes(1) : null,
            Destinations = [new DestinationSettings { Address = Path.Combine(_files.Path, "place") }],
        };
        long id = await _scheduler.PutAsync("shop", task, Cancel);
        Assert.Equal(BackupRunKind.Full, await RunAsync(id, BackupRunKind.Full));
        Assert.Equal(next, await RunAsync(id, next));
        byte[] key = RandomNumberGenerator.GetBytes(EncryptionKey.SizeBytes);
        _catalog.ChangeKey("shop", key);
        Assert.Equal(BackupRunKind.Full, await RunAsync(id, next));
        Assert.Equal(next, await RunAsync(id, next));

        // What was taken since is all that is needed, with the key of now alone.
        using BackupDestination place = new FolderDestination(task.Destinations[0].Address);
        using EncryptionKey own = EncryptionKey.FromBytes(key);
        IReadOnlyList<RestorePoint> points = await BackupName.ListAsync(place, "shop", Cancel);
        BackupPart[] parts =
        [
            .. points.OrderBy(point => point.TakenAt)
                .Skip(2)
                .Select(point => new BackupPart(point.Object, async stop => await place.OpenAsync(point.Object, stop))),
        ];
        Assert.Equal(2, parts.Length);
        await Database.RestoreAsync(
            parts, Path.Combine(_files.Path, "restored"), new RestoreOptions { BackupKey = own, AllowPlain = true },
            cancellationToken: Cancel);
    }

    /// <summary>Changes a document, and runs the task, which must be proven.</summary>
    private async Task<BackupRunKind> RunAsync(long id, BackupRunKind kind)
    {
        Database shop = _catalog.Find("shop") ?? throw new InvalidOperationException("There is no such database.");
        using var batch = new WriteBatch(shop.Options);
        await shop.WriteAsync(batch.Put("users/1", Encoding.UTF8.GetBytes($"{{\"n\":{_clock.Now.Ticks}}}")), Cancel);
        _clock.Now = _clock.Now.AddMinutes(10);
        BackupRunReport report = await _scheduler.RunAsync("shop", id, kind, cancellationToken: Cancel);
        Assert.Null(report.Problem);
        Assert.True(report.Places[0].IsProven);
        return report.Kind;
    }
}
