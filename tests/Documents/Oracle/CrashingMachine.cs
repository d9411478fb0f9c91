using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Oracle;

/// <summary>
/// A machine with a simulated disk for the documents and one for each index, which all lose power at once. Only the definitions
/// of indexes are in real files. Operations of disks are counted across all disks.
/// </summary>
internal sealed class CrashingMachine : IDisposable
{
    private readonly Lock _lock = new();
    private readonly TemporaryDirectory _folder = new();
    private readonly Dictionary<string, SimulatedDisk> _indexes = new(StringComparer.Ordinal);
    private readonly Random _random;
    private readonly bool _mapsSeeWrites;
    private readonly SimulatedDisk _documents;
    private CancellationTokenSource _off = new();
    private long _operationsLeft = long.MaxValue;

    public CrashingMachine(int seed)
    {
        _random = new Random(seed);
        _mapsSeeWrites = _random.Next(2) == 0;
        _documents = NewDisk();
    }

    /// <summary>Cancelled when the power fails.</summary>
    public CancellationToken Off => _off.Token;

    /// <summary>Losses of power while something was written.</summary>
    public int Crashes { get; private set; }

    /// <summary>Opens the database.</summary>
    public Database Open()
    {
        StorageEnvironment environment = Open(_documents, new StorageOptions());
        try
        {
            return new Database(
                _folder.Path, environment, new DatabaseOptions { Name = "crashing" }, openIndexStore: OpenIndex);
        }
        catch
        {
            environment.Dispose();
            throw;
        }
    }

    /// <summary>Lets the power fail at one of the next operations.</summary>
    public void FailWithin(int operations)
    {
        lock (_lock)
            Volatile.Write(ref _operationsLeft, _random.Next(1, operations));
    }

    /// <summary>Ends the process of the database at once: the disks have lost power, or what was written last.</summary>
    public async Task EndAsync(Database database, bool losesPower)
    {
        if (Off.IsCancellationRequested)
            Crashes++;
        TurnOff();
        try
        {
            await database.DisposeAsync();
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            // It cannot write any more.
        }

        foreach (SimulatedDisk disk in (SimulatedDisk[])[_documents, .. _indexes.Values])
        {
            if (losesPower)
                disk.Crash();
            else
                disk.Resume();
        }

        _off.Dispose();
        _off = new CancellationTokenSource();
        Volatile.Write(ref _operationsLeft, long.MaxValue);
    }

    public void Dispose()
    {
        _off.Dispose();
        _folder.Dispose();
    }

    private StorageEnvironment OpenIndex(string path, StorageOptions options)
    {
        SimulatedDisk? disk;
        lock (_lock)
        {
            // A real directory stands for the disk, so that the engine can delete it.
            if (!Directory.Exists(path) || !_indexes.TryGetValue(path, out disk))
                _indexes[path] = disk = NewDisk();
            Directory.CreateDirectory(path);
            if (_off.IsCancellationRequested)
                disk.PowerOff();
        }

        return Open(disk, options);
    }

    private StorageEnvironment Open(SimulatedDisk disk, StorageOptions options)
    {
        Random random;
        lock (_lock)
            random = new Random(_random.Next());
        return StorageEnvironment.Open(
            new World(disk, new SimulatedClock(), random, IsBackgroundAllowed: false) { PagesPerBitmap = 64 },
            options with { ScratchBudgetBytes = 1 << 20 });
    }

    private SimulatedDisk NewDisk() => new(new Random(_random.Next()))
    {
        MapsSeeWrites = _mapsSeeWrites,
        Acting = (kind, _) =>
        {
            bool isWrite = kind is not (DiskOperation.Open or DiskOperation.Read or DiskOperation.Load);
            if (isWrite && Interlocked.Decrement(ref _operationsLeft) == 0)
                TurnOff();
        },
    };

    private void TurnOff()
    {
        lock (_lock)
        {
            _documents.PowerOff();
            foreach (SimulatedDisk disk in _indexes.Values)
                disk.PowerOff();
            _ = _off.CancelAsync(); // not on this thread, which may hold locks of the engine
        }
    }
}
