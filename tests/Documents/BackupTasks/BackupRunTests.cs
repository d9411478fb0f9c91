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

/// <summary>
/// Runs that end otherwise than they should, or follow a change of their task: what lies at the destinations afterwards is what
/// the task knows of.
/// </summary>
public sealed class BackupRunTests : IAsyncDisposable
{
    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new();
    private readonly WatchedFolders _folders = new();
    private readonly DatabaseCatalog _catalog;
    private readonly BackupScheduler _scheduler;

    public BackupRunTests()
    {
        _catalog = new DatabaseCatalog(Path.Combine(_files.Path, "data"), new DatabaseOptions { TimeProvider = _clock });
        _catalog.Create("shop");
        _scheduler = new BackupScheduler(new CatalogBackupSource(_catalog), new DestinationProviders(_folders), _clock);
    }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Place => Path.Combine(_files.Path, "place");

    private BackupTask Nightly =>
        new() { Name = "nightly", Destinations = [new DestinationSettings { Address = WatchedFolders.AddressOf(Place) }] };

    public async ValueTask DisposeAsync()
    {
        await _scheduler.DisposeAsync();
        await _catalog.DisposeAsync();
        _files.Dispose();
    }

    private Task<BackupRunReport> RunAsync(long id, BackupRunKind kind) => RunAsync(id, kind, Cancel);

    private Task<BackupRunReport> RunAsync(long id, BackupRunKind kind, CancellationToken cancellationToken)
    {
        _clock.Now = _clock.Now.AddMinutes(1);
        return _scheduler.RunAsync("shop", id, kind, cancellationToken: cancellationToken);
    }

    /// <summary>The names of the backups that lie in a folder, oldest first.</summary>
    private static async Task<string[]> PartsAsync(string folder)
    {
        using var place = new FolderDestination(folder);
        return [.. (await BackupName.ListAsync(place, "shop", Cancel)).Select(static point => point.Object).Order()];
    }

    private async Task WriteAsync(string id)
    {
        Database database = _catalog.Find("shop") ?? throw new InvalidOperationException("There is no such database.");
        using var batch = new WriteBatch(database.Options);
        batch.Put(id, Encoding.UTF8.GetBytes("""{"name":"Ada","@metadata":{"@collection":"Users"}}"""));
        await database.WriteAsync(batch, Cancel);
    }

    /// <summary>Each look at it is a second later.</summary>
    private sealed class TickingClock : TimeProvider
    {
        private long _seconds;

        public override DateTimeOffset GetUtcNow() =>
            new DateTimeOffset(2026, 1, 31, 12, 0, 0, TimeSpan.Zero).AddSeconds(Interlocked.Increment(ref _seconds));
    }
}
