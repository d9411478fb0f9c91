using Treepie.Destinations;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Destinations;

/// <summary>Folders that keep backups whole or not at all, and one stream into several uploads.</summary>
public sealed class DestinationTests : IDisposable
{
    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _files.Dispose();

    [Fact]
    public void Faults_of_folders_are_those_of_the_system_however_they_are_wrapped()
    {
        var full = new IOException("full", OperatingSystem.IsWindows() ? unchecked((int)0x80070070) : 28);
        var readOnly = new IOException("read-only", OperatingSystem.IsWindows() ? unchecked((int)0x80070013) : 30);
        foreach ((Exception error, DestinationFault fault) in ((Exception, DestinationFault)[])[
            (full, DestinationFault.NoRoom), (new DiskFullException("x", full), DestinationFault.NoRoom),
            (new DiskFullException("x"), DestinationFault.NoRoom), (readOnly, DestinationFault.Forbidden),
            (new StorageException("x", readOnly), DestinationFault.Forbidden),
            (new StorageException("x", new UnauthorizedAccessException()), DestinationFault.Forbidden),
            (new StorageException("x"), DestinationFault.Failed), (new IOException("x", 5), DestinationFault.Failed)])
            Assert.Equal(fault, FolderDestination.FaultOf(error));
    }

    [Fact]
    public async Task An_object_is_there_whole_or_not_at_all()
    {
        using var place = new FolderDestination(Path.Combine(_files.Path, "a", "b"));
        await place.ProbeAsync(1000, Cancel);
        await using (BackupUpload lost = await place.CreateAsync("shop/one.full.backup", Cancel))
            await lost.WriteAsync(new byte[100], Cancel);
        Assert.Empty(await place.ListAsync("", Cancel));
        await using (BackupUpload upload = await place.CreateAsync("shop/one.full.backup", Cancel))
        {
            await upload.WriteAsync(new byte[] { 1, 2, 3 }, Cancel);
            Assert.Empty(await place.ListAsync("", Cancel));
            await upload.CommitAsync(Cancel);
        }

        Assert.Equal(
            ("shop/one.full.backup", 3L),
            (await place.ListAsync("shop/", Cancel)).Select(item => (item.Name, item.LengthBytes)).Single());
        Assert.Equal(
            DestinationFault.NameTaken,
            (await Assert.ThrowsAsync<DestinationException>(() => place.CreateAsync("shop/one.full.backup", Cancel))).Fault);
        await using (Stream stored = await place.OpenAsync("shop/one.full.backup", Cancel))
            Assert.Equal(1, stored.ReadByte());
        await place.DeleteAsync("shop/one.full.backup", Cancel);
        await place.DeleteAsync("shop/one.full.backup", Cancel);
        Assert.Equal(
            DestinationFault.NotFound,
            (await Assert.ThrowsAsync<DestinationException>(() => place.OpenAsync("shop/one.full.backup", Cancel))).Fault);
        Assert.Empty(Directory.EnumerateFileSystemEntries(Path.Combine(_files.Path, "a", "b")));
    }

    [Fact]
    public async Task What_a_killed_upload_left_is_removed_and_what_is_at_work_is_not()
    {
        using var place = new FolderDestination(_files.Path);
        Directory.CreateDirectory(Path.Combine(_files.Path, "shop"));
        string left = Path.Combine(_files.Path, "shop", "x.full.backup.0.unfinished");
        await File.WriteAllTextAsync(left, "left", Cancel);
        await using BackupUpload working = await place.CreateAsync("shop/y.full.backup", Cancel);
        await place.CleanAsync("shop/", Cancel);
        Assert.False(File.Exists(left));
        await working.WriteAsync(new byte[] { 7 }, Cancel);
        await working.CommitAsync(Cancel);
        Assert.Single(await place.ListAsync("", Cancel));
    }

    [Theory]
    [InlineData("../out")]
    [InlineData("/etc/passwd")]
    [InlineData("a//b")]
    [InlineData("a/.hidden")]
    [InlineData("a\\b")]
    [InlineData("a\nb")]
    public async Task Names_that_lead_elsewhere_are_refused(string name)
    {
        using var place = new FolderDestination(_files.Path);
        await Assert.ThrowsAsync<ArgumentException>(() => place.CreateAsync(name, Cancel));
        await Assert.ThrowsAsync<ArgumentException>(() => place.OpenAsync(name, Cancel));
        await Assert.ThrowsAsync<ArgumentException>(() => place.DeleteAsync(name, Cancel));
    }

    [Fact]
    public async Task A_folder_without_room_or_right_says_so_before_anything_is_written()
    {
        using SmallFileSystem small = SmallFileSystem.Mount("tmpfs", 4);
        using var place = new FolderDestination(small.Path);
        Assert.Equal(
            DestinationFault.NoRoom,
            (await Assert.ThrowsAsync<DestinationException>(() => place.ProbeAsync(100 << 20, Cancel))).Fault);
        await using (BackupUpload upload = await place.CreateAsync("big", Cancel))
        {
            DestinationException full = await Assert.ThrowsAsync<DestinationException>(
                () => upload.WriteAsync(new byte[8 << 20], Cancel).AsTask());
            Assert.Equal(DestinationFault.NoRoom, full.Fault);
        }

        Assert.Empty(await place.ListAsync("", Cancel));
        small.MakeReadOnly();
        Assert.Equal(
            DestinationFault.Forbidden,
            (await Assert.ThrowsAsync<DestinationException>(() => place.ProbeAsync(0, Cancel))).Fault);
    }

    [Fact]
    public async Task One_upload_that_fails_does_not_spoil_the_others()
    {
        byte[] content = new byte[3_000_000];
        new Random(Seed.Next()).NextBytes(content);
        var good = new Fake(failAfter: long.MaxValue);
        var bad = new Fake(failAfter: 1_000_000);
        await using (var all = new UploadStream([("bad", bad), ("good", good)], TimeProvider.System, Cancel))
        {
            for (int at = 0; at < content.Length; at += 70_000)
                await all.WriteAsync(content.AsMemory(at, Math.Min(70_000, content.Length - at)), Cancel);
            await all.CommitAsync(Cancel);
            Assert.Equal(["bad"], all.Failures.Keys);
        }

        Assert.Equal(content, good.Content.ToArray());
        Assert.Equal((true, false, true, true), (good.IsCommitted, bad.IsCommitted, good.IsDisposed, bad.IsDisposed));
    }

    [Fact]
    public async Task When_no_upload_is_left_the_writer_learns_why()
    {
        await using var all = new UploadStream([("bad", new Fake(0)), ("worse", new Fake(0))], TimeProvider.System, Cancel);
        await Assert.ThrowsAsync<DestinationException>(async () =>
        {
            for (int block = 0; block < 1000; block++)
                await all.WriteAsync(new byte[300_000], Cancel);
        });
    }

    private sealed class Fake(long failAfter) : BackupUpload
    {
        public MemoryStream Content { get; } = new();

        public bool IsCommitted { get; private set; }

        public bool IsDisposed { get; private set; }

        public override async ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken = default)
        {
            if (Content.Length + bytes.Length > failAfter)
                throw new DestinationException(DestinationFault.Failed, "It is broken.");
            await Content.WriteAsync(bytes, cancellationToken);
        }

        public override Task CommitAsync(CancellationToken cancellationToken = default)
        {
            IsCommitted = true;
            return Task.CompletedTask;
        }

        protected override ValueTask DisposeCoreAsync()
        {
            IsDisposed = true;
            return ValueTask.CompletedTask;
        }
    }
}
