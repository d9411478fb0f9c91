using System.Buffers.Binary;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;
using Treepie.Storage.Paging;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Files;

/// <summary>
/// Systems whose pages are larger than those of a store. The simulated calls refuse unaligned addresses and discard whole
/// system pages, as their kernels do.
/// </summary>
public sealed class SystemPageTests
{
    private const int ValueBytes = 3_000;
    private const int Values = 3_000;

    public static TheoryData<int, bool, bool> Floors => new(
        from page in new[] { 4, 16, 64 }
        from isEncrypted in new[] { false, true }
        from isOld in new[] { false, true }
        select (page << 10, isEncrypted, isOld));

    [Theory]
    [MemberData(nameof(Floors))]
    public void A_store_is_written_grows_and_opens_again(int pageBytes, bool isEncrypted, bool isOldKernel)
    {
        NeedsSmallPages();
        using var directory = new TemporaryDirectory();
        using EncryptionKey? key = isEncrypted ? EncryptionKey.Generate() : null;
        var floor = new SystemFloor { Page = pageBytes, IsOldKernel = isOldKernel };
        var options = new StorageOptions
        {
            EncryptionKey = key,
            MemoryBudgetBytes = 2 << 20,
            ScratchBudgetBytes = 8 << 20,
            DecryptedBudgetBytes = 1 << 20,
            FirstJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 256 << 10,
        };
        using (StorageEnvironment environment = StorageEnvironment.Open(floor.World(directory.Path), options))
        {
            for (int from = 0; from < Values; from += 50)
                Write(environment, from, 50, version: 1);
            ReadTransaction old = environment.BeginRead();
            environment.Checkpoint();
            for (int from = 0; from < Values; from += 100)
                Write(environment, from, 50, version: 2); // half of the values; the reader retains the pages of the others
            AssertHas(old.FindTree("t")!, _ => 1);
            old.Dispose();
            environment.Checkpoint();
            TakeMemoryBack(environment);
            AssertStands(environment);
            StoragePlatform platform = environment.GetStatistics().Platform;
            Assert.Equal(pageBytes, platform.SystemPageBytes);
            Assert.Equal(!isOldKernel, platform.IsMapGuarded);
            Assert.True(environment.GetStatistics().DataFileBytes > 8 << 20, "The file has grown more than once.");
        }

        using (StorageEnvironment environment = StorageEnvironment.Open(floor.World(directory.Path), options))
        {
            AssertStands(environment);
            TakeMemoryBack(environment);
            AssertStands(environment);
            Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
        }

        Assert.Empty(floor.Misaligned);
        Assert.Contains(floor.NotReadAround, static bytes => bytes > Scratch.ArenaBytes); // the data file
        Assert.Equal(!isEncrypted, floor.NotReadAround.Contains(Scratch.ArenaBytes)); // scratch beyond its memory
    }

    [Theory]
    [InlineData(4 << 10)]
    [InlineData(16 << 10)]
    [InlineData(64 << 10)]
    public void What_is_discarded_takes_nothing_of_its_neighbours_with_it(int pageBytes)
    {
        NeedsSmallPages();
        var floor = new SystemFloor { Page = pageBytes };
        const int Length = 1 << 20, Step = PageLayout.SizeBytes;
        using var range = AddressRange.Reserve(Length + Step, floor);
        for (int at = 0; at < Length; at += Step)
            range.Commit(at, Step);
        foreach ((int first, int end) in new[] { (1, 2), (3, 4), (7, 16), (16, 24), (25, 58), (62, 64), (127, 128) })
        {
            foreach (bool isLocked in new[] { false, true })
            {
                range.Span(0, Length).Fill(7);
                if (isLocked)
                    range.DiscardLocked(first * Step, (end - first) * Step);
                else
                    range.Discard(first * Step, (end - first) * Step);
                for (int i = 0; i < Length / Step; i++)
                {
                    byte expected = (byte)(i >= first && i < end ? 0 : 7);
                    bool isRight = !range.Span(i * Step, Step).ContainsAnyExcept(expected);
                    Assert.True(isRight, $"Page {i} after {first} to {end} were discarded.");
                }
            }
        }

        Assert.Empty(floor.Misaligned);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_page_that_is_gone_from_the_disk_is_an_error_on_an_old_kernel_too(bool isOldKernel)
    {
        NeedsSmallPages();
        using var directory = new TemporaryDirectory();
        var floor = new SystemFloor { Page = 16 << 10, IsOldKernel = isOldKernel };
        var files = new DiskFileSystem(directory.Path, calls: floor);
        using IFile file = files.Open("f", create: true, writable: true);
        file.Allocate(1 << 20);
        using IFileMap map = files.Map(file, 64 << 20);
        map.Grow(1 << 20);
        Assert.True(map.Load(1 << 19, PageLayout.SizeBytes));
        file.Truncate(1 << 19);
        Assert.False(map.Load(3 << 18, PageLayout.SizeBytes));
        Assert.Empty(floor.Misaligned);
    }

    private static void NeedsSmallPages() => Requirement.Needs(
        OperatingSystem.IsLinux() && Environment.SystemPageSize == 4096,
        "Linux with pages of 4 KiB",
        "Larger ones are simulated there.");

    private static void Write(StorageEnvironment environment, int from, int count, int version) =>
        environment.Write(transaction => Put(transaction, from, count, version));

    private static bool Put(WriteTransaction transaction, int from, int count, int version)
    {
        Tree tree = transaction.GetOrCreateTree("t");
        var value = new byte[ValueBytes];
        for (int i = from; i < from + count; i++)
        {
            Fill(value, i, version);
            tree.Put(value.AsSpan(0, 4), value);
        }

        return true;
    }

    private static void Fill(Span<byte> value, int i, int version)
    {
        value.Fill((byte)(i + version));
        BinaryPrimitives.WriteInt32BigEndian(value, i);
        value[4] = (byte)version;
    }

    /// <summary>Does what background work would do later: releases decrypted pages and withdraws proofs of evicted
    /// pages.</summary>
    private static void TakeMemoryBack(StorageEnvironment environment)
    {
        environment.Sweeper?.Sweep();
        environment.Sweeper?.Sweep();
        environment.State.Store.Proofs.WithdrawEvicted(environment.State.Store.FilePages);
    }

    private static void AssertStands(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        AssertHas(read.FindTree("t")!, i => i / 50 % 2 == 0 ? 2 : 1);
    }

    private static void AssertHas(Tree tree, Func<int, int> version)
    {
        var value = new byte[ValueBytes];
        for (int i = 0; i < Values; i++)
        {
            Fill(value, i, version(i));
            bool isThere = tree.TryGet(value.AsSpan(0, 4), out ReadOnlySpan<byte> found);
            Assert.True(isThere && found.SequenceEqual(value), $"Value {i} is lost.");
        }
    }
}
