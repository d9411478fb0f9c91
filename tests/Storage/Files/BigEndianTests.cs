using Treepie.Storage.Backups;
using Treepie.Storage.Checks;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Files;

/// <summary>A machine with the opposite byte order of the files.</summary>
public sealed class BigEndianTests
{
    [Fact]
    public void A_big_endian_machine_is_refused_and_nothing_is_changed()
    {
        using var directory = new TemporaryDirectory();
        var floor = new SystemFloor { IsBigEndian = true };
        string path = Path.Combine(directory.Path, "store");
        StorageException error = Assert.Throws<StorageException>(() => Open(new StorageOptions()));
        Assert.Contains("big-endian", error.Message, StringComparison.Ordinal);
        Assert.False(Directory.Exists(path));

        StorageEnvironment.Open(path).Dispose();
        Assert.Throws<StorageException>(() => { StorageCheck.Run(floor.World(path), null, null, CancellationToken.None); });
        Assert.Throws<StorageException>(() => Open(new StorageOptions { ReadOnly = true }));
        Assert.Throws<StorageException>(() => { RecoveredState.Open(floor.World(path), null, _ => { }); });
        StorageEnvironment.Open(path).Dispose();

        string target = Path.Combine(directory.Path, "restored");
        Assert.Throws<StorageException>(() => { EnvironmentRestore.Create(floor.World(target), null, 1 << 30).Dispose(); });
        Assert.False(Directory.Exists(target));

        void Open(StorageOptions options) => StorageEnvironment.Open(floor.World(path), options).Dispose();
    }
}
