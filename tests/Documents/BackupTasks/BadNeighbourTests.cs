using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Destinations;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.BackupTasks;

/// <summary>Whatever goes wrong with one database, or with finding out what is due, the backups of others go on.</summary>
public sealed class BadNeighbourTests : IAsyncDisposable
{
    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new();
    private readonly DatabaseCatalog _catalog;
    private readonly List<string> _warned = [];

    public BadNeighbourTests()
    {
        _catalog = new DatabaseCatalog(Path.Combine(_files.Path, "data"), new DatabaseOptions { TimeProvider = _clock });
        _catalog.Create("a");
        _catalog.Create("b");
    }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private BackupTask Task => new()
    {
        Name = "often",
        FullSchedule = "* * * * *",
        Destinations = [new DestinationSettings { Address = Path.Combine(_files.Path, "place") }]
    };

    public async ValueTask DisposeAsync()
    {
        await _catalog.DisposeAsync();
        _files.Dispose();
    }

    [Theory]
    [InlineData(typeof(InvalidOperationException))]
    [InlineData(typeof(KeyNotFoundException))]
    [InlineData(typeof(IOException))]
    [InlineData(typeof(UnauthorizedAccessException))]
    public async Task A_database_that_fails_in_whatever_way_does_not_keep_another_from_its_backup(Type error)
    {
        var source = new BadSource(_catalog);
        await using var scheduler = new BackupScheduler(source, new DestinationProviders(), _clock) { Warn = _warned.Add };
        long id = await scheduler.PutAsync("b", Task, Cancel);
        await scheduler.PutAsync("a", Task, Cancel);
        source.ErrorOfA = () => (Exception)Activator.CreateInstance(error, "is broken")!;
        _clock.Now = _clock.Now.AddMinutes(2);
        Assert.Equal(1, await scheduler.RunDueAsync(Cancel));
        Assert.NotNull(scheduler.Find("b", id)?.State.LastFull);
        Assert.Contains("'a'", Assert.Single(_warned), StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_schedule_goes_on_after_an_error_of_all()
    {
        var source = new BadSource(_catalog) { ErrorOfAll = static () => new InvalidOperationException("no names") };
        using var warned = new SemaphoreSlim(0);
        await using var scheduler = new BackupScheduler(source, new DestinationProviders())
        {
            Warn = _ => warned.Release(),
        };
        scheduler.Start();
        Assert.True(await warned.WaitAsync(Eventually.Patience, Cancel), "nothing was said of the error");
        await scheduler.PutAsync("b", Task, Cancel); // wakes it
        Assert.True(await warned.WaitAsync(Eventually.Patience, Cancel), "it looks for what is due no longer");
    }

    private sealed class BadSource(DatabaseCatalog catalog) : IBackupSource
    {
        private readonly CatalogBackupSource _all = new(catalog);

        public Func<Exception>? ErrorOfA { get; set; }

        public Func<Exception>? ErrorOfAll { get; set; }

        public IReadOnlyList<string> Names => ErrorOfAll is { } error ? throw error() : _all.Names;

        public bool MayHaveTasks(string name) => _all.MayHaveTasks(name);

        public IBackupLease Enter(string name) => name == "a" && ErrorOfA is { } error ? throw error() : _all.Enter(name);
    }
}
