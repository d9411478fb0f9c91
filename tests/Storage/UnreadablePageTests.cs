using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Checks;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests;

/// <summary>
/// A page that the disk cannot read when it is first accessed. This must give an error that names file and page and must not
/// end the process, as a direct access to the mapped address would; everything else must stay readable.
/// </summary>
public sealed class UnreadablePageTests
{
    private const int Keys = 2000;

    [Theory]
    [InlineData(300)] // values in leaves
    [InlineData(20_000)] // values in runs of three pages
    public void A_data_file_that_is_cut_off_underneath_gives_an_error_for_each_page_that_is_gone_and_no_crash(int valueBytes)
    {
        Requirement.Needs(
            OperatingSystem.IsLinux() && Environment.OSVersion.Version >= new Version(5, 14),
            "A system that brings mapped pages into memory with an error number (Linux 5.14)",
            "Older ones end the process, as they do for every mapped file.");
        using var directory = new TemporaryDirectory();
        // Creates the same file each time.
        using (StorageEnvironment environment = StorageEnvironment.Open(
            World.OfDisk(directory.Path) with { IsBackgroundAllowed = false }, new StorageOptions()))
        {
            for (int from = 0; from < Keys; from += 200)
            {
                environment.Write(transaction =>
                {
                    for (int key = from; key < from + 200; key++)
                        transaction.GetOrCreateTree("t").Put(KeyOf(key), new byte[valueBytes]);
                    return true;
                });
            }

            // Root and catalogue are copied to pages freed near the beginning.
            for (int i = 0; i < 3; i++)
            {
                environment.Checkpoint();
                environment.Write(transaction => transaction.GetOrCreateTree("t").Put(KeyOf(0), new byte[valueBytes]));
                environment.Write(transaction => transaction.GetOrCreateTree("u").Put("k"u8, "v"u8));
            }
        }

        string file = Path.Combine(directory.Path, BuiltStore.DataFile);
        using StorageEnvironment cut = StorageEnvironment.Open(directory.Path);
        long length = new FileInfo(file).Length / 2;
        using (var other = new FileStream(file, FileMode.Open, FileAccess.Write, FileShare.ReadWrite | FileShare.Delete))
            other.SetLength(length + 100); // in the middle of a page, which the system fills with zeros
        int lost = 0, found = 0;
        using (ReadTransaction read = cut.BeginRead())
        {
            Tree? tree = null;
            for (int key = 0; key < Keys; key++)
            {
                try
                {
                    tree ??= read.FindTree("t")!;
                    Assert.True(
                        tree.TryGet(KeyOf(key), out ReadOnlySpan<byte> value)
                            && value.Length == valueBytes
                            && value.IndexOfAnyExcept((byte)0) < 0);
                    found++;
                }
                catch (CorruptionException error)
                {
                    AssertNamed(error, file, length / BuiltStore.PageBytes);
                    lost++;
                }
            }
        }

        Assert.True(lost > Keys / 10 && found > Keys / 10, $"{found} of {Keys} values can be read of half a file.");
        AssertNamed(Assert.Throws<CorruptionException>(() => cut.Write(transaction =>
        {
            for (int key = 0; key < Keys; key++)
                transaction.GetOrCreateTree("t").Put(KeyOf(key), [1]);
            return true;
        })), file, length / BuiltStore.PageBytes);
        Assert.NotEmpty(cut.Check().Problems);
        cut.Write(transaction => transaction.GetOrCreateTree("u").Put("l"u8, "v"u8)); // its pages are still in the file
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_page_that_the_disk_cannot_read_is_named_and_read_when_the_disk_can_again(bool mapsSeeWrites)
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true, commits: 40);
        SimulatedDisk disk = store.Disk.Copy(random);
        disk.MapsSeeWrites = mapsSeeWrites;
        using StorageEnvironment environment = BuiltStore.Open(disk, random);
        bool fails = false;
        int failed = 0, read = 0;
        disk.Acting = (kind, name) =>
        {
            if (fails && kind == DiskOperation.Load && name == FormatLimits.DataFileName)
                throw new StorageException("The disk has a bad sector.");
        };
        using ReadTransaction transaction = environment.BeginRead();
        foreach ((string name, SortedDictionary<byte[], byte[]> expected) in store.Last.Trees)
        {
            foreach ((byte[] key, byte[] value) in expected)
            {
                fails = true;
                try
                {
                    Assert.True(
                        transaction.FindTree(name)!.TryGet(key, out ReadOnlySpan<byte> found) && found.SequenceEqual(value));
                    read++; // all pages of the value were accessed before
                }
                catch (CorruptionException error)
                {
                    Assert.Matches($"Page [0-9]+ of '.*{BuiltStore.DataFile}'", error.Message);
                    Assert.Contains("the disk cannot read it", error.Message, StringComparison.Ordinal);
                    failed++;
                }

                fails = false;
                Assert.True(transaction.FindTree(name)!.TryGet(key, out ReadOnlySpan<byte> now) && now.SequenceEqual(value));
            }
        }

        Assert.True(failed > 10 && read > 10, $"{failed} reads failed, {read} did not.");
    }

    private static void AssertNamed(CorruptionException error, string file, long firstGone)
    {
        Assert.Contains($"of '{file}' is damaged", error.Message, StringComparison.Ordinal);
        long page = long.Parse(error.Message.Split(' ')[1], System.Globalization.CultureInfo.InvariantCulture);
        Assert.True(page >= firstGone - 2, error.Message); // a run that begins earlier may end there
    }

    /// <summary>Keys spread over the tree, so that every part of the file has some of them.</summary>
    private static byte[] KeyOf(int number) => BitConverter.GetBytes((ulong)number * 0x9E3779B97F4A7C15);
}
