using Treepie.Storage.Files;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Files;

/// <summary>What an environment says about the file system below it.</summary>
public sealed class StoragePlatformTests
{
    [Theory]
    [InlineData("btrfs", true)]
    [InlineData("zfs", true)]
    [InlineData("bcachefs", true)]
    [InlineData("apfs", true)]
    [InlineData("nilfs2", true)]
    [InlineData("ext4", false)]
    [InlineData("xfs", false)]
    [InlineData("tmpfs", false)]
    [InlineData("overlay", false)]
    [InlineData("NTFS", false)]
    [InlineData("", false)]
    public void A_file_system_known_to_be_copy_on_write_is_said_to_be(string name, bool isCopyOnWrite) => Assert.Equal(
        isCopyOnWrite,
        new StoragePlatform { SystemPageBytes = 4096, IsLockProven = true, FileSystem = name }.IsCopyOnWrite);

    /// <summary>Names are those of the Linux kernel, which <see cref="StoragePlatform.IsCopyOnWrite"/> relies on.</summary>
    [Fact]
    public void The_name_of_the_file_system_is_the_kernels()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Skip("The names are those of Linux.");

        using var directory = new TemporaryDirectory();
        using IDisposable none = new MemoryStream();
        Assert.Equal("proc", new DiskFileSystem("/proc/self").Describe(none).FileSystem);
        string name = new DiskFileSystem(directory.Path).Describe(none).FileSystem;
        Assert.Contains(name, KernelNames());

        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        Assert.Equal(name, environment.GetStatistics().Platform.FileSystem);
    }

    private static IEnumerable<string> KernelNames() =>
        File.ReadLines("/proc/filesystems").Select(static line => line.Split('\t')[^1]);
}
