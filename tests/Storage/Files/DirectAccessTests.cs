using Treepie.Storage.Files;
using Treepie.Storage.Memory;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Files;

/// <summary>
/// Reads and writes past the system's cache are an offer of the file system: where it refuses, at opening or at the call itself,
/// the plain ones are used and give the same bytes.
/// </summary>
public sealed class DirectAccessTests : IDisposable
{
    private const int BlockBytes = 4096;

    private readonly TemporaryDirectory _directory = new();
    private readonly AlignedBuffer _buffer = new(4 * BlockBytes);

    public void Dispose()
    {
        _buffer.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Where_direct_access_is_refused_at_opening_plain_reads_give_the_bytes()
    {
        var files = new DiskFileSystem(_directory.Path, calls: new SystemFloor { RefusesDirect = true });
        using IFile file = Create(files, out byte[] content);
        for (int i = 0; i < 2; i++)
        {
            AssertRead(file, content, BlockBytes, 2 * BlockBytes);
            Assert.False(file.ReadsPastCache);
        }

        Assert.False(file.TryWriteDirectly(true));
        _buffer.Slice(0, BlockBytes).Fill(7);
        file.WriteDurable(_buffer.Slice(0, BlockBytes), 0);
        content.AsSpan(0, BlockBytes).Fill(7);
        AssertRead(file, content, 0, 2 * BlockBytes);
    }

    /// <summary>
    /// A file system that opens the file and then refuses to read answers EINVAL, as for a read that is not aligned.
    /// </summary>
    [Fact]
    public void Where_direct_access_is_refused_at_the_read_plain_reads_give_the_bytes_from_then_on()
    {
        using IFile file = Create(new DiskFileSystem(_directory.Path), out byte[] content);
        AssertRead(file, content, BlockBytes, 2 * BlockBytes);
        if (!file.ReadsPastCache)
            Assert.Skip("The file system of the temporary directory refuses direct access at opening.");

        AssertRead(file, content, offset: 100, lengthBytes: 1000);
        if (file.ReadsPastCache)
            Assert.Skip("The file system of the temporary directory reads what is not aligned past its cache.");

        AssertRead(file, content, BlockBytes, 2 * BlockBytes);
        Assert.False(file.ReadsPastCache); // it is not tried again
    }

    [Fact]
    public void A_read_past_the_cache_has_what_was_written_and_not_synced_and_ends_with_the_file()
    {
        using IFile file = Create(new DiskFileSystem(_directory.Path), out byte[] content);
        AssertRead(file, content, 0, 2 * BlockBytes);
        content.AsSpan(BlockBytes, BlockBytes).Fill(9);
        file.Write(content.AsSpan(BlockBytes, BlockBytes), BlockBytes);
        AssertRead(file, content, 0, 4 * BlockBytes);
        Assert.Equal(BlockBytes, file.ReadPastCache(_buffer.Slice(0, 2 * BlockBytes), 3 * BlockBytes));
    }

    [Fact]
    public async Task A_store_without_direct_access_keeps_what_is_written_and_scrubs_through_the_cache()
    {
        const int Keys = 300;
        StorageOptions options = SmallDisk.Options with { ScrubInterval = TimeSpan.FromMilliseconds(1) };
        var floor = new SystemFloor { RefusesDirect = true };
        using (StorageEnvironment environment = StorageEnvironment.Open(floor.World(_directory.Path), options))
        {
            for (int key = 0; key < Keys; key++)
                environment.Write(
                    transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[1500]));
            Assert.Equal(JournalSyncMethod.Cached, environment.GetStatistics().JournalSyncMethod);
            environment.Checkpoint(TestContext.Current.CancellationToken);
            await Eventually.TrueAsync(
                () => environment.GetStatistics().Scrub is { BytesVerified: > 0 }, "the scrub has begun");
            Assert.False(environment.GetStatistics().Scrub!.IsPastCache); // it is open for writing
        }

        using StorageEnvironment again = StorageEnvironment.Open(floor.World(_directory.Path), options);
        using Storage.Transactions.ReadTransaction read = again.BeginRead();
        Tree tree = read.FindTree("t")!;
        Assert.Equal(Keys, tree.Count);
        Assert.Empty(again.Check(TestContext.Current.CancellationToken).Problems);
    }

    private static IFile Create(DiskFileSystem files, out byte[] content)
    {
        content = new byte[4 * BlockBytes];
        new Random(1).NextBytes(content);
        IFile file = files.Open("f", create: true, writable: true);
        file.Write(content, 0);
        return file;
    }

    private void AssertRead(IFile file, byte[] content, int offset, int lengthBytes)
    {
        _buffer.Slice(0, lengthBytes).Clear();
        Assert.Equal(lengthBytes, file.ReadPastCache(_buffer.Slice(0, lengthBytes), offset));
        Assert.True(content.AsSpan(offset, lengthBytes).SequenceEqual(_buffer.Slice(0, lengthBytes)));
    }
}
