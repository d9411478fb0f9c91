using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Tests.Journal;

public sealed class JournalHeaderTests
{
    private const int SectorsOfBlock = JournalFileHeader.BlockBytes / PendingWrite.SectorBytes;

    private readonly Random _random = new(1); // sessions draw different salts

    /// <summary>
    /// Regression test: the first session after a crash begins a use with the last frame and loses power while writing the
    /// header, which leaves garbage after it. The next session does the same in the same file, and of its header only the
    /// trailing zeros reach the disk. The header of the first session was then valid again, without its frame, and the log
    /// ended before an acknowledged transaction.
    /// </summary>
    [Fact]
    public void A_header_that_a_crash_damaged_behind_its_record_counts_at_once_and_not_later()
    {
        var disk = new SimulatedDisk(_random);
        using (StorageEnvironment environment = Open(disk))
        {
            Put(environment, 1);
            Put(environment, 2);
            disk.PowerOff();
        }

        var damaged = new HashSet<long>();
        DiskImage first = CrashInHeader(new PowerLoss(disk).None().Build(), loss =>
        {
            CrashOutcome outcome = loss.All();
            for (int dimension = 0; dimension < loss.Sectors; dimension++)
            {
                if (loss.Sector(dimension).Number == 0)
                    continue;

                damaged.Add(loss.Sector(dimension).Number);
                outcome = outcome.With(dimension, CrashOutcome.Damage(_random));
            }

            return outcome;
        });
        Assert.Equal(SectorsOfBlock - 1, damaged.Count);

        DiskImage second = CrashInHeader(first, loss =>
        {
            CrashOutcome outcome = loss.None();
            for (int dimension = 0; dimension < loss.Sectors; dimension++)
                if (damaged.Contains(loss.Sector(dimension).Number))
                    outcome = outcome.With(dimension, loss.Options[dimension] - 1);
            return outcome;
        });

        using StorageEnvironment last = Open(new SimulatedDisk(_random, second));
        using ReadTransaction read = last.BeginRead();
        Tree tree = read.FindTree("t")!; // created by the first transaction
        Assert.True(tree.Contains([(byte)2]), "What was acknowledged is gone.");
    }

    /// <summary>Runs a session that begins to write and loses power while the header of its use is written.</summary>
    private DiskImage CrashInHeader(DiskImage start, Func<PowerLoss, CrashOutcome> choose)
    {
        var disk = new SimulatedDisk(_random, start);
        DiskImage? left = null;
        using StorageEnvironment environment = Open(disk);
        disk.Acting = (kind, name) =>
        {
            if (kind != DiskOperation.Sync || !name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal)
                || new PowerLoss(disk) is not { Sectors: SectorsOfBlock } loss || loss.Sector(0).Number != 0)
                return;

            left = choose(loss).Build();
            disk.PowerOff();
        };
        Assert.ThrowsAny<Exception>(() => Put(environment, 3));
        disk.Acting = null;
        return left!; // the write only fails there
    }

    private StorageEnvironment Open(SimulatedDisk disk) => StorageEnvironment.Open(
        new World(disk, new SimulatedClock(), _random, IsBackgroundAllowed: false), SmallDisk.Options);

    private static void Put(StorageEnvironment environment, byte key) =>
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put([key], [key]));
}
