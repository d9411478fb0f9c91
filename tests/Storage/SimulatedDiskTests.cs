using Treepie.Storage.Files;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests;

/// <summary>What the simulated disk may leave of what was being written: less than this, and the torture proves less.</summary>
public sealed class SimulatedDiskTests
{
    private const int SectorBytes = 512;
    private const int Sectors = 4;
    private const int Draws = 400;

    private readonly SimulatedDisk _disk = new(new Random(1));

    [Theory]
    [InlineData(0)]
    [InlineData(7)]
    public void A_sector_that_is_written_again_as_it_is_may_be_damaged_and_its_neighbours_not(byte content)
    {
        IFile file = Durable(content);
        file.Write(Filled(content, SectorBytes), SectorBytes);

        var damaged = new HashSet<int>();
        bool isPartly = false;
        foreach (byte[] found in Losses())
        {
            for (int sector = 0; sector < Sectors; sector++)
            {
                ReadOnlySpan<byte> bytes = found.AsSpan(sector * SectorBytes, SectorBytes);
                if (!bytes.ContainsAnyExcept(content))
                    continue;

                damaged.Add(sector);
                isPartly |= bytes[0] == content && bytes[1] == content && bytes[2] == content;
            }
        }

        Assert.Equal([1], damaged);
        Assert.True(isPartly, "A sector is never damaged in a part only.");
    }

    [Theory]
    [InlineData(0)]
    [InlineData(7)]
    public void A_write_of_what_is_there_is_on_its_way_until_it_is_synced(byte content)
    {
        IFile file = Durable(content);
        file.Write(Filled(content, 2 * SectorBytes), SectorBytes);
        Assert.Equal(2, new PowerLoss(_disk).Sectors);
        Assert.Empty(new PowerLoss(_disk).ChangedSectors);
        file.Sync();
        Assert.Equal(0, new PowerLoss(_disk).Sectors);
        Assert.All(Losses(), found => Assert.False(found.AsSpan().ContainsAnyExcept(content)));
    }

    [Fact]
    public void A_sector_may_be_torn_between_any_two_of_the_writes_since_the_sync()
    {
        IFile file = Durable(1);
        file.Write(Filled(2, SectorBytes), 0);
        file.Write(Filled(1, SectorBytes), 0);

        bool isTorn = Losses().Any(static found => found[0] == 2 && found[SectorBytes - 1] == 1
            && !found.AsSpan(0, SectorBytes).ContainsAnyExcept((byte)1, (byte)2));
        Assert.True(isTorn, "A write that the next one undid is never found in a part.");
    }

    private static byte[] Filled(byte content, int length)
    {
        var bytes = new byte[length];
        bytes.AsSpan().Fill(content);
        return bytes;
    }

    private IFile Durable(byte content)
    {
        IFile file = _disk.Open("f", create: true, writable: true);
        file.Write(Filled(content, Sectors * SectorBytes), 0);
        file.Sync();
        _disk.SyncDirectory();
        return file;
    }

    private IEnumerable<byte[]> Losses()
    {
        var random = new Random(1);
        for (int i = 0; i < Draws; i++)
            yield return new PowerLoss(_disk).Draw(random, withDamage: true).Build().Files["f"].ToArray();
    }
}
