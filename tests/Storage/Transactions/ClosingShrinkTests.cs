using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>A small store with much free space is shrunk when it is closed.</summary>
public sealed class ClosingShrinkTests
{
    private const int Keys = 10_000;

    /// <summary>
    /// Checkpoints are so rare that each of them writes most pages, because shrinking leaves two megabytes unchanged.
    /// </summary>
    private static readonly StorageOptions _options = SmallDisk.Options with
    {
        ScratchBudgetBytes = 32 << 20,
        MaxJournalFileBytes = 1 << 20,
        ClosingShrinkBytes = 64 << 10,
    };

    [Fact]
    public void A_store_that_was_changed_at_random_is_closed_without_its_free_pages()
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random);
        Model expected = new();
        long before;
        using (StorageEnvironment environment = Open(disk, random, _options))
        {
            Change(environment, random, expected);
            before = environment.GetStatistics().DataFileBytes;
        }

        using StorageEnvironment again = Open(disk, random, _options);
        StorageStatistics statistics = again.GetStatistics();
        Assert.True(statistics.DataFileBytes < before * 9 / 10, $"{statistics.DataFileBytes} of {before} bytes");
        Assert.InRange(statistics.FreePages, 0, 320); // shrinking leaves up to 256 free pages in the middle
        using ReadTransaction read = again.BeginRead();
        expected.AssertEqual(read);
        Assert.Empty(again.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void What_would_not_move_and_what_is_large_stays_as_it_is(bool isSnapshot)
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random);
        StorageOptions options = _options with { ClosingShrinkBytes = isSnapshot ? 64 << 10 : long.MaxValue };
        long moved = 0;
        using (StorageEnvironment environment = Open(disk, random, options))
        {
            if (isSnapshot)
                environment.CreateSnapshot("kept", TestContext.Current.CancellationToken);
            Change(environment, random, new Model());
            environment.Checkpoint(TestContext.Current.CancellationToken);
            moved = environment.State.Current.TransactionId;
        }

        using StorageEnvironment again = Open(disk, random, options);
        Assert.Equal(moved, again.State.Current.TransactionId); // shrinking makes commits
    }

    [Fact]
    public void A_disk_that_fails_meanwhile_loses_nothing()
    {
        SmallDisk.Repeat(6, seed =>
        {
            var random = new Random(seed);
            var disk = new SimulatedDisk(random);
            Model expected = new();
            StorageEnvironment environment = Open(disk, random, _options);
            Change(environment, random, expected);
            disk.FailAt = disk.Operations + random.Next(200);
            environment.Dispose();
            disk.FailAt = -1;
            using StorageEnvironment again = Open(disk, random, _options);
            using ReadTransaction read = again.BeginRead();
            expected.AssertEqual(read);
            Assert.Empty(again.Check(TestContext.Current.CancellationToken).Problems);
        });
    }

    private static StorageEnvironment Open(SimulatedDisk disk, Random random, StorageOptions options) =>
        StorageEnvironment.Open(new World(disk, TimeProvider.System, random, IsBackgroundAllowed: false), options);

    private static void Change(StorageEnvironment environment, Random random, Model expected)
    {
        for (int i = 0; i < 40; i++)
        {
            environment.Write(transaction =>
            {
                Tree tree = transaction.GetOrCreateTree("t");
                for (int j = 0; j < 300; j++)
                {
                    byte[] key = BitConverter.GetBytes(random.Next(Keys)), value = new byte[random.Next(1000)];
                    random.NextBytes(value);
                    tree.Put(key, value);
                    expected.Tree("t")[key] = value;
                }

                return true;
            });
        }
    }
}
