using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Journal;

/// <summary>
/// A clean close leaves no more journal than a session starts with. If the last checkpoint could not be written, it leaves
/// all of it.
/// </summary>
public sealed class JournalGiveBackTests
{
    private static readonly StorageOptions _options = new()
    {
        MaxDataFileBytes = 64 << 20,
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 8 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 256 << 10,
    };

    private readonly SimulatedDisk _disk = new(new Random(1));

    [Fact]
    public void A_clean_close_deletes_large_files_and_the_next_session_goes_on_without_them()
    {
        int key = 0;
        for (int session = 0; session < 3; session++)
        {
            using (StorageEnvironment environment = Open())
            {
                using (ReadTransaction read = environment.BeginRead())
                    Assert.Equal(key, read.FindTree("t")?.Count ?? 0);
                for (int end = key + 200; key < end; key++)
                    Put(environment, key);
                Assert.True(environment.GetStatistics().JournalBytes > 256 << 10);
                Assert.Empty(environment.Check().Problems);
            }

            Assert.All(Journal(), name => Assert.True(_disk.Bytes(name).Length <= _options.FirstJournalFileBytes, name));
        }
    }

    [Fact]
    public void Closing_throws_nothing_at_whatever_change_of_the_disk_the_power_fails()
    {
        bool isOver = false;
        for (int at = 0; !isOver; at++)
        {
            StorageEnvironment environment = Open();
            for (int key = 0; key < 200; key++)
                Put(environment, key);
            _disk.CrashAt = _disk.Operations + at;
            environment.Dispose();
            isOver = !_disk.HasCrashed;
            _disk.Crash();
        }

        using StorageEnvironment again = Open();
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(200, read.FindTree("t")!.Count);
        Assert.Empty(again.Check().Problems);
    }

    [Fact]
    public void Files_whose_deletion_no_sync_made_durable_do_no_harm_when_they_are_back()
    {
        using (StorageEnvironment environment = Open())
            for (int key = 0; key < 200; key++)
                Put(environment, key);
        _disk.Restart(new PowerLoss(_disk).None().Build());
        Assert.Contains(Journal(), name => _disk.Bytes(name).Length > _options.FirstJournalFileBytes);
        using StorageEnvironment again = Open();
        Put(again, 200);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(201, read.FindTree("t")!.Count);
        Assert.Empty(again.Check().Problems);
    }

    [Fact]
    public void Where_the_last_checkpoint_fails_the_journal_stays_even_if_the_mark_of_the_clean_close_before_could_not_be_taken_away()
    {
        using (StorageEnvironment environment = Open())
            Put(environment, 0);
        int writes = 0;
        bool fails = true;
        _disk.Acting = (kind, name) =>
        {
            // The first two writes restore the meta page that was found; the next one would remove the mark of the clean close.
            if (fails && name == FormatLimits.DataFileName && kind == DiskOperation.Write && ++writes > 2)
                throw new StorageException("The data file cannot be written.");
        };
        int committed = 1;
        using (StorageEnvironment environment = Open())
        {
            for (; committed < 100; committed++)
                Put(environment, committed);
            Assert.True(environment.GetStatistics().CheckpointFailures > 0);
        }

        Assert.True(writes > 3);
        fails = false;
        using StorageEnvironment again = Open();
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(committed, read.FindTree("t")!.Count);
        Assert.Empty(again.Check().Problems);
    }

    private static void Put(StorageEnvironment environment, int key) =>
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[1500]));

    private List<string> Journal() =>
        [.. _disk.List().Where(name => name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal))];

    private StorageEnvironment Open() =>
        StorageEnvironment.Open(new World(_disk, new SimulatedClock(), new Random(1), IsBackgroundAllowed: false), _options);
}
