using Treepie.Storage.Files;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Files;

/// <summary>The name of a directory is durable before anything in it is acknowledged.</summary>
public sealed class DurableDirectoryTests
{
    [Fact]
    public void Each_directory_that_is_made_is_synced_into_the_one_above_it()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "NTFS journals names itself.");
        using var above = new TemporaryDirectory();
        string middle = Path.Combine(above.Path, "a"), inner = Path.Combine(middle, "b");
        var system = new SystemFloor();
        Open(inner, system);
        string top = Path.GetDirectoryName(above.Path)!; // above is empty, so it may be new
        Assert.Equal([top, above.Path, middle], system.SyncedDirectories.Take(3));
    }

    [Theory]
    [InlineData("a")]
    [InlineData("a/b")]
    [InlineData("a/b/c")]
    public void Directories_above_it_that_a_killed_process_made_and_did_not_sync_are_synced_by_the_next_one(string made)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "NTFS journals names itself.");
        using var above = new TemporaryDirectory();
        File.WriteAllText(Path.Combine(above.Path, "other"), "");
        string a = Path.Combine(above.Path, "a"), b = Path.Combine(a, "b");
        Directory.CreateDirectory(Path.Combine(above.Path, made)); // and then killed
        var system = new SystemFloor();
        Open(Path.Combine(b, "c"), system);
        int data = system.SyncedDirectories.IndexOf(Path.Combine(b, "c"));
        Assert.Equal([above.Path, a, b], system.SyncedDirectories[..data].Order());
    }

    [Fact]
    public void A_directory_that_a_killed_process_made_and_did_not_sync_is_synced_by_the_next_one()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "NTFS journals names itself.");
        using var above = new TemporaryDirectory();
        string left = Path.Combine(above.Path, "left");
        Directory.CreateDirectory(left); // and then killed
        var system = new SystemFloor();
        Open(left, system);
        Assert.Equal(above.Path, system.SyncedDirectories[0]);

        system.SyncedDirectories.Clear();
        Open(left, system);
        Assert.DoesNotContain(above.Path, system.SyncedDirectories); // it has its data file, which came after
    }

    [Fact]
    public void The_new_name_of_a_renamed_directory_is_synced()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "NTFS journals names itself.");
        using var above = new TemporaryDirectory();
        string from = Path.Combine(above.Path, "unfinished"), to = Path.Combine(above.Path, "finished");
        Directory.CreateDirectory(from);
        var system = new SystemFloor();
        DurableDirectory.Move(from, to, system);
        Assert.True(Directory.Exists(to));
        Assert.Equal([above.Path], system.SyncedDirectories);
    }

    [Theory]
    [InlineData(1, true)] // EPERM
    [InlineData(13, true)] // EACCES
    [InlineData(22, true)] // EINVAL: the file system syncs no directories, as autofs
    [InlineData(5, false)] // EIO
    public void A_directory_above_that_cannot_be_synced_hinders_only_if_its_disk_fails(int error, bool isOpened)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "NTFS journals names itself.");
        using var above = new TemporaryDirectory();
        string store = Path.Combine(above.Path, "store");
        Directory.CreateDirectory(store);
        var system = new SystemFloor { DirectoryError = path => path == above.Path ? error : 0 };
        if (isOpened)
            Open(store, system);
        else
            Assert.Throws<StorageException>(() => Open(store, system));
        Assert.Contains(above.Path, system.SyncedDirectories);
    }

    private static void Open(string directory, SystemFloor system)
    {
        using StorageEnvironment environment = StorageEnvironment.Open(system.World(directory), new StorageOptions());
        environment.Write(static transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));
    }
}
