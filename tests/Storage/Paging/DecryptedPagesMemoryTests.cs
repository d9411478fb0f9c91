using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Files;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Paging;

/// <summary>How decrypted pages account for their memory and stay within their budget.</summary>
public sealed class DecryptedPagesMemoryTests : IDisposable
{
    private const int Pages = 1024;
    private const int BudgetPages = 128;
    private const uint Proven = 1;

    private readonly EncryptionKey _key = EncryptionKey.Generate();
    private readonly StoreCipher _cipher;
    private readonly SimulatedDisk _disk = new(new Random(1));
    private readonly IFile _file;
    private readonly PageSpace _space;
    private readonly DecryptedPages _pages;
    private long _budgetPages = BudgetPages;

    public DecryptedPagesMemoryTests()
    {
        _cipher = StoreCipher.Create(
            new World(_disk, new SimulatedClock(), new Random(1), IsBackgroundAllowed: false), Guid.NewGuid(), _key);
        _file = _disk.Open("f", create: true, writable: true);
        _space = PageSpace.Reserve(_disk, _file, Pages, PageLayout.SizeBytes, isEncrypted: true);
        _pages = new DecryptedPages(_cipher, _space, Proven, () => _budgetPages * PageLayout.SizeBytes);
        _pages.Commit(Pages);
    }

    private long HeldPages => _pages.HeldBytes / PageLayout.SizeBytes;

    [Fact]
    public void A_page_that_does_not_open_leaves_nothing_that_counts_where_memory_was_kept_for_it()
    {
        Adopt(10, 1);
        _pages.Forget(10);
        Assert.Equal(1, HeldPages);

        Assert.NotNull(_pages.Load(10, Filled(3, pages: 1), out _));

        Assert.Equal(0, HeldPages);
        Assert.Null(_pages.TryPublish(10));
        Adopt(10, 1);
        Assert.Equal(1, HeldPages);
        Assert.Equal(_pages.Bytes, _pages.HeldBytes);
    }

    /// <summary>
    /// Regression test: the page remained registered as decrypted without its content, so the next reader got whatever was
    /// in memory as if it were verified.
    /// </summary>
    [Fact]
    public void A_page_whose_loading_throws_is_not_taken_for_decrypted()
    {
        Assert.Throws<InvalidOperationException>(() => _pages.Load(Pages - 1, Filled(3, pages: 2), out _));

        Assert.Null(_pages.TryPublish(Pages - 1));
        Assert.NotNull(_pages.Load(Pages - 1, Filled(3, pages: 1), out _));
        Assert.Equal(0u, _space.Find(Pages - 1));
        Assert.Equal(0, HeldPages);
    }

    [Fact]
    public void Memory_that_is_kept_for_pages_to_come_makes_room_for_those_that_come()
    {
        Adopt(10, 100);
        ForgetAll(10, 100);
        Assert.Equal(100, HeldPages);

        Adopt(500, 100);

        Assert.Equal(100, _pages.Bytes / PageLayout.SizeBytes);
        Assert.Equal(BudgetPages, HeldPages); // pages that fit the budget stay
    }

    [Fact]
    public void Memory_that_is_kept_goes_where_unwritten_pages_need_the_budget()
    {
        Adopt(10, 100);
        ForgetAll(10, 50);
        Assert.Equal(100, HeldPages);

        _budgetPages = 60;
        _pages.Forget(60);

        Assert.Equal(49, _pages.Bytes / PageLayout.SizeBytes);
        Assert.Equal(60, HeldPages);
    }

    [Fact]
    public void Closing_zeroes_every_page()
    {
        Adopt(10, 20);
        _pages.MoveTo(
            PageSpace.Reserve(_disk, _file, 2 * Pages, PageLayout.SizeBytes, isEncrypted: true), static () => { });
        Assert.Equal(7, _space.Pages.Span(29 * PageLayout.SizeBytes, 1)[0]); // for those who read it

        _pages.Dispose();

        Assert.Equal(0, _pages.HeldBytes);
        Assert.False(_space.Pages.Span(0, Pages * PageLayout.SizeBytes).ContainsAnyExcept((byte)0));
    }

    [Fact]
    public void Closing_asks_the_system_for_no_page_by_itself()
    {
        using var directory = new TemporaryDirectory();
        var system = new SystemFloor();
        StorageOptions options = new() { EncryptionKey = _key };
        int discards;
        using (StorageEnvironment environment = StorageEnvironment.Open(system.World(directory.Path), options))
        {
            for (int row = 0; row < 200; row++)
                environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(row), new byte[2000]));
            Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
            environment.Checkpoint(TestContext.Current.CancellationToken);
            Assert.True(environment.GetStatistics().DecryptedBytes > 40 * PageLayout.SizeBytes);
            discards = system.Discards;
        }

        Assert.InRange(system.Discards - discards, 0, 10);
    }

    public void Dispose()
    {
        _pages.Dispose();
        _space.Dispose();
        _cipher.Dispose();
        _key.Dispose();
    }

    private static byte[] Filled(byte content, int pages)
    {
        var bytes = new byte[pages * PageLayout.SizeBytes];
        bytes.AsSpan().Fill(content);
        return bytes;
    }

    private void Adopt(long first, int count)
    {
        for (long number = first; number < first + count; number++)
            _pages.Adopt(number, Filled(7, pages: 1));
    }

    private void ForgetAll(long first, int count)
    {
        for (long number = first; number < first + count; number++)
            _pages.Forget(number);
    }
}
