using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Destinations;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.BackupTasks;

/// <summary>Each destination keeps what it must by itself: backups elsewhere do not make its own superfluous.</summary>
public sealed class RetentionOfPlacesTests : IAsyncDisposable
{
    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new();
    private readonly DatabaseCatalog _catalog;
    private readonly Places _places = new();
    private readonly BackupScheduler _scheduler;

    public RetentionOfPlacesTests()
    {
        _catalog = new DatabaseCatalog(Path.Combine(_files.Path, "data"), new DatabaseOptions { TimeProvider = _clock });
        _catalog.Create("shop");
        _scheduler = new BackupScheduler(new CatalogBackupSource(_catalog), new DestinationProviders(_places), _clock);
    }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string A => "test:" + Path.Combine(_files.Path, "a");

    private string B => "test:" + Path.Combine(_files.Path, "b");

    public async ValueTask DisposeAsync()
    {
        await _scheduler.DisposeAsync();
        await _catalog.DisposeAsync();
        _files.Dispose();
    }

    [Fact]
    public async Task The_last_backup_of_a_destination_that_cannot_be_written_stays_there()
    {
        long id = await PutAsync(A, B);
        for (int day = 0; day < 10; day++)
        {
            await RunAsync(id);
            _places.Full = B;
        }

        string first = Assert.Single(await NamesAsync(B));
        Assert.Equal(3, (await NamesAsync(A)).Count);
        Assert.Equal(
            [B], Assert.Single(_scheduler.Find("shop", id)!.State.Kept, backup => backup.Object == first).Addresses);

        _places.Full = null;
        for (int day = 0; day < 4; day++)
            await RunAsync(id);
        Assert.Equal(await NamesAsync(A), await NamesAsync(B));
        Assert.Equal(await NamesAsync(A), _scheduler.Find("shop", id)!.State.Kept.Select(static backup => backup.Object));
    }

    [Fact]
    public async Task Backups_at_a_destination_that_the_task_has_no_longer_are_forgotten_and_not_deleted()
    {
        long id = await PutAsync(A, B);
        for (int day = 0; day < 2; day++)
            await RunAsync(id);
        await PutAsync(id, A);
        for (int day = 0; day < 5; day++)
            await RunAsync(id);
        Assert.Equal(2, (await NamesAsync(B)).Count);
        Assert.Equal(await NamesAsync(A), _scheduler.Find("shop", id)!.State.Kept.Select(static backup => backup.Object));
    }

    private Task<long> PutAsync(params string[] places) => PutAsync(0, places);

    private Task<long> PutAsync(long id, params string[] places) => _scheduler.PutAsync(
        "shop",
        new BackupTask
        {
            Id = id,
            Name = "daily",
            Proves = false,
            KeepFor = TimeSpan.FromDays(2),
            KeepAtLeast = 1,
            Destinations = [.. places.Select(static place => new DestinationSettings { Address = place })],
        },
        Cancel);

    private async Task RunAsync(long id)
    {
        await _catalog.Find("shop")!.WriteAsync(new WriteBatch().Put($"a/{_clock.Now.Day}", "{}"u8.ToArray()), Cancel);
        await _scheduler.RunAsync("shop", id, BackupRunKind.Full, 0, null, Cancel);
        _clock.Now = _clock.Now.AddDays(1);
    }

    private async Task<List<string>> NamesAsync(string address)
    {
        using BackupDestination place = _places.Open(new DestinationSettings { Address = address });
        return
        [
            .. (await BackupName.ListAsync(place, "shop", Cancel)).OrderBy(static point => point.TakenAt)
                .Select(static point => point.Object),
        ];
    }

    /// <summary>Folders, one of which takes nothing new.</summary>
    private sealed class Places : DestinationProvider
    {
        public string? Full { get; set; }

        public override bool Takes(string address) => address.StartsWith("test:", StringComparison.Ordinal);

        public override BackupDestination Open(DestinationSettings settings) => new Place(
            new FolderDestination(settings.Address["test:".Length..]), settings.Address, settings.Address == Full);
    }

    private sealed class Place(FolderDestination folder, string address, bool isFull) : BackupDestination
    {
        public override string Address => address;

        public override bool IsLocal => true;

        public override Task ProbeAsync(long expectedBytes, CancellationToken cancellationToken = default) =>
            Task.CompletedTask;

        public override Task<BackupUpload> CreateAsync(string name, CancellationToken cancellationToken = default) => isFull
            ? throw new DestinationException(DestinationFault.NoRoom, "It is full.")
            : folder.CreateAsync(name, cancellationToken);

        public override Task<IReadOnlyList<BackupObject>> ListAsync(
            string prefix, CancellationToken cancellationToken = default) => folder.ListAsync(prefix, cancellationToken);

        public override Task<Stream> OpenAsync(string name, CancellationToken cancellationToken = default) =>
            folder.OpenAsync(name, cancellationToken);

        public override Task DeleteAsync(string name, CancellationToken cancellationToken = default) =>
            folder.DeleteAsync(name, cancellationToken);

        protected override void Dispose(bool disposing)
        {
            if (disposing)
                folder.Dispose();
            base.Dispose(disposing);
        }
    }
}
