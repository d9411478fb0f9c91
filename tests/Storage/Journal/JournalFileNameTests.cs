using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests.Journal;

/// <summary>
/// A killed process leaves journal files whose names were not made durable by a sync. The next process must make them
/// durable before it writes to the files.
/// </summary>
public sealed class JournalFileNameTests
{
    private readonly SimulatedDisk _disk = new(new Random(1)) { MapsSeeWrites = true };

    [Fact]
    public void A_journal_file_of_a_killed_process_survives_a_loss_of_power_once_it_is_used()
    {
        using (StorageEnvironment first = Open())
            Put(first, 0);
        _disk.Restart(_disk.Image());

        // Kill the process as soon as the next journal file exists.
        _disk.Acting = (kind, name) =>
        {
            if (kind == DiskOperation.SyncDirectory
                && _disk.NameChanges.Any(change => change.Name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal)))
                _disk.PowerOff();
        };
        using (StorageEnvironment killed = Open())
            for (int i = 1; !_disk.HasCrashed; i++)
                Assert.True(i < 1000 && (TryPut(killed, i) || _disk.HasCrashed));
        _disk.Acting = null;
        _disk.Resume();

        int last = 0;
        using (StorageEnvironment next = Open())
        {
            for (last = 1000; last < 1012; last++)
            {
                Put(next, last);
                using StorageEnvironment after = StorageEnvironment.Open(
                    new World(
                        new SimulatedDisk(new Random(1), new PowerLoss(_disk).None().Build()), new SimulatedClock(),
                        new Random(1), IsBackgroundAllowed: false), Options());
                using var read = after.BeginRead();
                Assert.True(read.FindTree("t")?.Contains(BitConverter.GetBytes(last)), $"Key {last} was acknowledged.");
            }
        }
    }

    private static bool TryPut(StorageEnvironment environment, int key)
    {
        try
        {
            Put(environment, key);
            return true;
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            return false;
        }
    }

    private static void Put(StorageEnvironment environment, int key) =>
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[1500]));

    private static StorageOptions Options() => new()
    {
        MaxDataFileBytes = 64 << 20,
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 1 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 16 << 10,
    };

    private StorageEnvironment Open() =>
        StorageEnvironment.Open(new World(_disk, new SimulatedClock(), new Random(1), IsBackgroundAllowed: false), Options());
}
