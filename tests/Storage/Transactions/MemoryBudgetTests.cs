using System.Buffers.Binary;
using System.Globalization;
using Treepie.Storage.Tests.Files;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// Private memory has one bound for all uses: unwritten pages, pages held by readers, large transactions. The rest is in a file.
/// </summary>
[Collection(nameof(MemoryBudgetTests))]
[CollectionDefinition(nameof(MemoryBudgetTests), DisableParallelization = true)] // it measures the memory of the process
public sealed class MemoryBudgetTests
{
    private const long BudgetBytes = 16 << 20;
    private const long ArenaBytes = 2 << 20;
    private const int Rows = 3_000;
    private const int ValueBytes = 2_000;

    private static readonly StorageOptions _options = new()
    {
        MemoryBudgetBytes = BudgetBytes,
        ScratchBudgetBytes = 4 * BudgetBytes
    };

    [Fact]
    public void Readers_of_many_ages_hold_no_more_memory_than_the_budget_and_read_what_they_read()
    {
        const int Readers = 40;
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path, _options);
        Write(environment, Rows, version: 1);
        environment.Checkpoint();
        long before = OwnMemory();
        var readers = new List<ReadTransaction>();
        long most = 0;
        for (int version = 2; version < Readers + 2; version++)
        {
            Write(environment, Rows, version);
            readers.Add(environment.BeginRead());
            environment.Checkpoint();
            most = Math.Max(most, environment.GetStatistics().ScratchResidentBytes);
        }

        Assert.True(environment.GetStatistics().ScratchBytes > 6 * BudgetBytes, "The readers hold little: nothing is shown.");
        Assert.InRange(most, 0, BudgetBytes + ArenaBytes);
        if (OperatingSystem.IsLinux())
            Assert.InRange(OwnMemory() - before, long.MinValue, BudgetBytes + (48 << 20)); // memory of the runtime

        for (int i = 0; i < readers.Count; i++)
        {
            AssertRows(readers[i], version: i + 2);
            readers[i].Dispose();
        }

        Write(environment, 1, version: 100);
        environment.Checkpoint();
        Write(environment, 1, version: 101);
        environment.Checkpoint();
        Assert.InRange(environment.GetStatistics().ScratchBytes, 0, ArenaBytes);
        Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Fact]
    public void A_transaction_larger_than_the_budget_lies_in_a_file_which_goes_with_it()
    {
        using var directory = new TemporaryDirectory();
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path, _options))
        {
            long before = OwnMemory();
            Write(environment, 20_000, version: 7);
            StorageStatistics now = environment.GetStatistics();
            Assert.True(now.ScratchBytes > 2 * BudgetBytes);
            Assert.Equal(OperatingSystem.IsLinux(), now.SpilledBytes > 0);
            Assert.InRange(now.ScratchResidentBytes, 0, BudgetBytes + ArenaBytes);
            using (ReadTransaction read = environment.BeginRead())
                AssertRows(read, version: 7, rows: 20_000);
            environment.Checkpoint();
            using (ReadTransaction read = environment.BeginRead())
                AssertRows(read, version: 7, rows: 20_000);
            // The transaction's journal frame is completely in memory.
            Assert.InRange(OwnMemory() - before, long.MinValue, 2 * BudgetBytes + (160 << 20));
        }

        Assert.DoesNotContain(
            Directory.GetFiles(directory.Path),
            static file => Path.GetFileName(file).Contains("spill", StringComparison.OrdinalIgnoreCase));
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path, _options))
        {
            using ReadTransaction read = environment.BeginRead();
            AssertRows(read, version: 7, rows: 20_000);
        }
    }

    [Fact]
    public void Where_pages_in_the_file_could_not_be_written_out_nothing_of_it_becomes_durable_and_the_journal_has_it()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only on Linux does scratch lie in a file.");
        using var directory = new TemporaryDirectory();
        var system = new SystemFloor();
        using (StorageEnvironment environment = StorageEnvironment.Open(system.World(directory.Path), _options))
        {
            Write(environment, Rows, version: 6);
            environment.Checkpoint();
            long checkpoints = environment.GetStatistics().Checkpoints;
            Write(environment, 20_000, version: 7);
            Assert.True(environment.GetStatistics().SpilledBytes > 0);
            system.WriteError = 5; // EIO
            StorageException error = Assert.ThrowsAny<StorageException>(() => environment.Checkpoint());
            Assert.Contains("could not write out", error.Message, StringComparison.Ordinal);
            system.WriteError = 0; // the system reports such an error once
            Assert.Throws<WritingStoppedException>(() => Write(environment, 1, version: 8));
            Assert.Equal(checkpoints, environment.GetStatistics().Checkpoints);
        }

        using StorageEnvironment again = StorageEnvironment.Open(directory.Path, _options);
        using ReadTransaction read = again.BeginRead();
        AssertRows(read, version: 7, rows: 20_000);
        Assert.Empty(again.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Theory]
    [InlineData(5)] // EIO
    [InlineData(28)] // ENOSPC
    public void Where_pages_in_the_file_could_not_be_written_out_nothing_that_was_made_from_them_is_committed(int writeError)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only on Linux does scratch lie in a file.");
        using var directory = new TemporaryDirectory();
        var system = new SystemFloor();
        using (StorageEnvironment environment = StorageEnvironment.Open(system.World(directory.Path), _options))
        {
            Write(environment, 20_000, version: 7);
            Assert.True(environment.GetStatistics().SpilledBytes > 0);
            system.WriteError = writeError;
            WritingStoppedException error = Assert.Throws<WritingStoppedException>(() => Write(environment, 1, version: 8));
            Assert.Contains("could not write out", error.Message, StringComparison.Ordinal);
            Assert.DoesNotContain("Free some space", error.Message, StringComparison.Ordinal);
            system.WriteError = 0; // the system reports such an error once
            Assert.Throws<WritingStoppedException>(() => Write(environment, 1, version: 9));
            Assert.ThrowsAny<StorageException>(() => environment.Checkpoint());
        }

        using StorageEnvironment again = StorageEnvironment.Open(directory.Path, _options);
        using ReadTransaction read = again.BeginRead();
        AssertRows(read, version: 7, rows: 20_000);
    }

    [Fact]
    public void Where_writing_has_stopped_a_write_says_so_however_much_waits_for_a_checkpoint()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only on Linux does scratch lie in a file.");
        using var directory = new TemporaryDirectory();
        var system = new SystemFloor();
        using StorageEnvironment environment = StorageEnvironment.Open(
            system.World(directory.Path), _options with { MaxJournalBytes = 16 << 20 });
        Write(environment, Rows, version: 1);
        environment.Checkpoint();
        Write(environment, 20_000, version: 2);
        system.WriteError = 5; // EIO
        Assert.ThrowsAny<StorageException>(() => environment.Checkpoint());
        Assert.True(environment.GetStatistics().JournalBytesSinceCheckpoint > 16 << 20);
        Assert.Throws<WritingStoppedException>(() => Write(environment, 1, version: 3));
    }

    [Fact]
    public void On_a_copy_on_write_file_system_nothing_lies_in_a_file()
    {
        using var directory = new TemporaryDirectory();
        var system = new SystemFloor { FileSystem = "btrfs" };
        using StorageEnvironment environment = StorageEnvironment.Open(system.World(directory.Path), _options);
        Write(environment, 20_000, version: 7);
        Assert.Equal(0, environment.GetStatistics().SpilledBytes);
        using ReadTransaction read = environment.BeginRead();
        AssertRows(read, version: 7, rows: 20_000);
    }

    [Fact]
    public async Task Memory_goes_back_to_the_system_when_nothing_was_written_for_a_while()
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(
            directory.Path, _options with { IdleDelay = TimeSpan.FromMilliseconds(20) });
        long before = OwnMemory();
        Write(environment, 60_000, version: 2); // its frame has 120 MB
        await Eventually.TrueAsync(() => OwnMemory() - before < 64 << 20, "the memory of the frame is given back");
        Write(environment, 10_000, version: 3);
        Assert.True(environment.GetStatistics().ScratchBytes > BudgetBytes);
        await Eventually.TrueAsync(
            () => environment.GetStatistics() is
            {
                ScratchBytes: < ArenaBytes, ScratchResidentBytes: <= ArenaBytes,
                SpilledBytes: 0
            }, "memory and file are given back");
        using ReadTransaction read = environment.BeginRead();
        AssertRows(read, version: 3, rows: 10_000);
    }

    [Fact]
    public void An_encrypted_environment_puts_nothing_into_a_file_that_is_not_encrypted()
    {
        using var directory = new TemporaryDirectory();
        using EncryptionKey key = EncryptionKey.Generate();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path, _options with { EncryptionKey = key });
        for (int i = 0; i < 10; i++)
        {
            Write(environment, 20_000, version: i); // three times the budget
            Assert.Equal(0, environment.GetStatistics().SpilledBytes);
        }

        environment.Checkpoint();
        Assert.InRange(environment.GetStatistics().DecryptedBytes, 0, BudgetBytes + ArenaBytes);
    }

    private static void Write(StorageEnvironment environment, int rows, int version) => environment.Write(transaction =>
    {
        Tree tree = transaction.GetOrCreateTree("t");
        for (int row = 0; row < rows; row++)
        {
            Span<byte> value = tree.Reserve(KeyOf(row), ValueBytes);
            value.Fill((byte)row);
            BinaryPrimitives.WriteInt32LittleEndian(value, version);
        }

        return 0;
    });

    private static void AssertRows(ReadTransaction read, int version, int rows = Rows)
    {
        Tree tree = read.FindTree("t")!; // written at the beginning
        for (int row = 0; row < rows; row++)
        {
            Assert.True(tree.TryGet(KeyOf(row), out ReadOnlySpan<byte> value));
            Assert.Equal(version, BinaryPrimitives.ReadInt32LittleEndian(value));
            Assert.False(value[4..].ContainsAnyExcept((byte)row));
        }
    }

    private static byte[] KeyOf(int row)
    {
        var key = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(key, row);
        return key;
    }

    /// <summary>Private memory of the process, which is not backed by a file.</summary>
    private static long OwnMemory()
    {
        if (!OperatingSystem.IsLinux())
            return 0;

        string line = File.ReadLines("/proc/self/status").First(line => line.StartsWith("RssAnon:", StringComparison.Ordinal));
        return long.Parse(line.AsSpan("RssAnon:".Length).Trim(" \tkB"), CultureInfo.InvariantCulture) << 10;
    }
}
