using Treepie.Documents.Tests.Backups;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Store;

/// <summary>
/// A database on a simulated disk whose power fails, and its twin of the same id, which never loses power. Who uses it makes the
/// same changes to both, and compares them.
/// </summary>
internal sealed class PowerLossTwins : IAsyncDisposable
{
    private readonly TemporaryDirectory _indexes = new();
    private readonly TemporaryDirectory _indexesOfTwin = new();
    private readonly EncryptionKey _key = EncryptionKey.Generate();
    private readonly bool _isEncrypted;
    private int _openings;

    public PowerLossTwins(bool isEncrypted)
    {
        _isEncrypted = isEncrypted;
        Seed = Treepie.Tests.Support.Seed.Next();
        Random = new Random(Seed);
        Disk = new SimulatedDisk(new Random(Seed)) { MapsSeeWrites = Random.Next(2) == 0 };
        Twin = Open(new SimulatedDisk(new Random(Seed)), new Random(Seed), null, _indexesOfTwin.Path);
        Database = Open(); // the same draw: of one id
        Assert.Equal(Twin.Id, Database.Id);
    }

    public int Seed { get; }

    /// <summary>What the test draws from.</summary>
    public Random Random { get; }

    public ManualClock Clock { get; } = new();

    public SimulatedDisk Disk { get; }

    public Database Twin { get; }

    /// <summary>The database that loses power; null while it is closed.</summary>
    public Database? Database { get; private set; }

    /// <summary>Losses of power in the middle of work.</summary>
    public int Crashes { get; private set; }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>Opens the database if it is closed, and works on it; the power fails within so many operations of the disk.</summary>
    public async Task RunAsync(int operations, Func<Database, Task> work)
    {
        Disk.CrashAt = Disk.Operations + Random.Next(operations);
        try
        {
            await work(Reopen());
        }
        catch (Exception) when (Disk.HasCrashed)
        {
            Crashes++;
        }
    }

    /// <summary>Closes the database, as far as its disk lets it, and then the power fails, or its process just ends.</summary>
    public async Task CloseAsync(bool losesPower = true)
    {
        try
        {
            if (Database is not null)
                await Database.DisposeAsync();
        }
        catch (Exception) when (Disk.HasCrashed)
        {
        }

        Database = null;
        if (losesPower || Disk.HasCrashed) // closing may be when it fails
            Disk.Crash();
        else
            Disk.Resume();
        Disk.CrashAt = -1;
    }

    /// <summary>The database, opened if it is closed.</summary>
    public Database Reopen() => Database ??= Open();

    /// <summary>Makes a change in one transaction.</summary>
    public static async Task WriteAsync(Database database, Action<WriteBatch> write)
    {
        using var batch = new WriteBatch(database.Options);
        write(batch);
        await database.WriteAsync(batch, Cancel);
    }

    /// <summary>Whether all that can be seen of the database is as in its twin.</summary>
    public bool AreEqual() => DatabaseText.Of(Twin).SequenceEqual(DatabaseText.Of(Reopen()));

    /// <summary>Fails where the database differs from its twin, and says in what.</summary>
    public void AssertEqual() => Assert.Equal(DatabaseText.Of(Twin), DatabaseText.Of(Reopen()));

    public async ValueTask DisposeAsync()
    {
        await Twin.DisposeAsync();
        if (Database is not null)
            await Database.DisposeAsync();
        _indexes.Dispose();
        _indexesOfTwin.Dispose();
        _key.Dispose();
    }

    private Database Open() => Open(Disk, new Random(Seed + _openings++), _isEncrypted ? _key : null, _indexes.Path);

    private Database Open(SimulatedDisk disk, Random random, EncryptionKey? key, string indexes)
    {
        StorageEnvironment environment = StorageEnvironment.Open(
            new World(disk, new SimulatedClock(), random, IsBackgroundAllowed: false) { PagesPerBitmap = 64 },
            new StorageOptions { EncryptionKey = key, ScratchBudgetBytes = 1 << 20 });
        try
        {
            return new Database(indexes, environment, new DatabaseOptions { TimeProvider = Clock, Name = "storm" });
        }
        catch
        {
            environment.Dispose();
            throw;
        }
    }
}
