using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// Rewriting the same bytes can be torn like any other write. So data that recovery may need is rewritten only if there is
/// another copy of it, or not at all.
/// </summary>
public sealed class MetaCopyOrderTests
{
    [Theory]
    [InlineData(-1, MetaPage.CopyBytes)]
    [InlineData(0, 0)]
    [InlineData(MetaPage.CopyBytes, MetaPage.CopyBytes)]
    public void The_only_whole_copy_of_the_meta_page_is_written_last(int damaged, int writtenFirst)
    {
        var disk = new SimulatedDisk(new Random(1));
        using (StorageEnvironment environment = StorageEnvironment.Open(
            new World(disk, TimeProvider.System, new Random(1), false), SmallDisk.Options))
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));

        using IFile file = disk.Open(FormatLimits.DataFileName, create: false, writable: true);
        MetaPage meta = DataFile.ReadMeta(disk, file);
        long offset = (long)meta.Slot * PageLayout.SizeBytes;
        if (damaged >= 0)
            file.Write(new byte[512], offset + damaged);
        Assert.Equal(meta.Checkpoint, DataFile.ReadMeta(disk, file).Checkpoint);

        disk.Story = [];
        DataFile.MakeDurable(disk, file, meta);

        string[] writes = [.. disk.Story.Where(line => line.Contains("Write", StringComparison.Ordinal))];
        Assert.Equal(2, writes.Length);
        Assert.Contains($" at {offset + writtenFirst}, ", writes[0], StringComparison.Ordinal);
        Assert.Contains($" at {offset + MetaPage.CopyBytes - writtenFirst}, ", writes[1], StringComparison.Ordinal);
    }

    [Fact]
    public void Pages_that_a_meta_page_of_unknown_fate_names_are_not_written_again()
    {
        var disk = new SimulatedDisk(new Random(1));
        using StorageEnvironment environment = StorageEnvironment.Open(
            new World(disk, TimeProvider.System, new Random(1), false), SmallDisk.Options);
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));
        environment.Checkpoint(TestContext.Current.CancellationToken);
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "w"u8));
        int syncs = 0;
        disk.Acting = (operation, name) =>
        {
            if (operation == DiskOperation.Sync && name == FormatLimits.DataFileName && ++syncs == 2)
                throw new StorageException("The sync of the meta page fails.");
        };
        string[] first = CheckpointWrites(
            disk, () => Assert.Throws<StorageException>(() => environment.Checkpoint(TestContext.Current.CancellationToken)));
        disk.Acting = null;

        string[] second = CheckpointWrites(disk, () => environment.Checkpoint(TestContext.Current.CancellationToken));

        Assert.True(first.Length >= 2, string.Join('\n', first)); // a leaf, the catalogue and the bitmap
        Assert.NotEmpty(second); // the other bitmap
        Assert.Empty(first.Intersect(second));
    }

    /// <summary>The writes to the data file after the meta pages.</summary>
    private static string[] CheckpointWrites(SimulatedDisk disk, Action checkpoint)
    {
        disk.Story = [];
        checkpoint();
        return [
            .. disk.Story.Where(line => line.Contains($"Write '{FormatLimits.DataFileName}'", StringComparison.Ordinal))
                .Select(line => line[line.IndexOf("Write", StringComparison.Ordinal)..])
                .Where(
                    line => !line.Contains(" at 0,", StringComparison.Ordinal)
                        && !line.Contains(" at 8192,", StringComparison.Ordinal))];
    }
}
