using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests;

/// <summary>
/// The number of reads needed for opening: independent of the amount of data, and proportional to the journal since the last
/// checkpoint.
/// </summary>
public sealed class OpenTimeTests
{
    private static readonly StorageOptions _options = new() { MaxDataFileBytes = 16L << 30, ScratchReserveBytes = 256 << 20 };

    [Fact]
    public void Opening_reads_as_little_of_eight_gigabytes_as_of_one_megabyte()
    {
        (int small, int smallWrite) = Count(pages: 64);
        (int large, int largeWrite) = Count(pages: 1 << 20);
        Assert.Equal(small, large);
        Assert.InRange(largeWrite, 0, smallWrite + 20); // the first write searches for a free page once, and finds none
    }

    [Fact]
    public void Opening_reads_more_with_a_longer_journal_tail()
    {
        int before = 0;
        foreach (int writes in new[] { 1, 10, 100 })
        {
            var disk = new SimulatedDisk(new Random(1));
            using (StorageEnvironment environment = Open(disk))
            {
                for (int i = 0; i < writes; i++)
                    environment.Write(
                        transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(i), new byte[100]));
                disk.PowerOff();
            }

            disk.Crash();
            int start = Reads(disk);
            using StorageEnvironment again = Open(disk);
            int reads = Reads(disk) - start;
            Assert.InRange(reads, before + writes / 2, 40 + (writes * 3));
            before = reads;
        }
    }

    private static (int Open, int FirstWrite) Count(int pages)
    {
        var disk = new SimulatedDisk(new Random(1));
        using (StorageEnvironment environment = Open(disk))
        {
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));
            environment.Commits.RunExclusive(() => environment.State.Space.Allocate(pages)); // simulates that much data
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("l"u8, "v"u8));
        }

        Assert.True(disk.Image().Files[FormatLimits.DataFileName].Length > (long)pages * PageLayout.SizeBytes);
        int start = Reads(disk);
        using StorageEnvironment again = Open(disk);
        int open = Reads(disk) - start;
        again.Write(transaction => transaction.GetOrCreateTree("t").Put("m"u8, "v"u8));
        return (open, Reads(disk) - start - open);
    }

    private static int Reads(SimulatedDisk disk) => disk.Count(DiskOperation.Read) + disk.Count(DiskOperation.Load);

    private static StorageEnvironment Open(SimulatedDisk disk) =>
        StorageEnvironment.Open(new World(disk, TimeProvider.System, new Random(1), false), _options);
}
