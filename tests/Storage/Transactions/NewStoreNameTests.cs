using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// A store whose creation was interrupted before its file name was durable. The next opening must make it durable before
/// anything is built on it.
/// </summary>
public sealed class NewStoreNameTests
{
    private readonly SimulatedDisk _disk = new(new Random(1)) { MapsSeeWrites = true };
    private bool _fails = true;

    public NewStoreNameTests() => _disk.Acting = (kind, name) =>
    {
        if (_fails && kind == DiskOperation.SyncDirectory)
            throw new StorageException("The directory cannot be synced.");
        if (kind == DiskOperation.Create && name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal))
            Assert.True(
                _disk.IsNameDurable(FormatLimits.DataFileName),
                "A journal file is created beside a data file that a loss of power may take away.");
    };

    [Theory]
    [InlineData(Durability.Durable)]
    [InlineData(Durability.Relaxed)]
    public void What_is_acknowledged_after_a_creation_that_failed_late_survives_a_loss_of_power(Durability durability)
    {
        Assert.Throws<StorageException>(() => Open(durability));
        _fails = false;
        using (StorageEnvironment environment = Open(durability))
        {
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));
            if (durability == Durability.Relaxed)
                environment.Checkpoint();
            _disk.Restart(new PowerLoss(_disk).None().Build());
            _disk.PowerOff(); // so that closing writes nothing
        }

        _disk.Resume();
        using StorageEnvironment again = Open(durability);
        using var read = again.BeginRead();
        Assert.True(read.FindTree("t")!.Contains("k"u8)); // it was acknowledged
    }

    private StorageEnvironment Open(Durability durability) =>
        StorageEnvironment.Open(
            new World(_disk, new SimulatedClock(), new Random(1), IsBackgroundAllowed: false), new StorageOptions
            {
                MaxDataFileBytes = 64 << 20,
                ScratchReserveBytes = 64 << 20,
                ScratchBudgetBytes = 1 << 20,
                FirstJournalFileBytes = 16 << 10,
                MaxJournalFileBytes = 32 << 10,
                Durability = durability,
            });
}
