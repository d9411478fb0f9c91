using System.Buffers.Binary;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Tests.Transactions;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

public sealed class PathAnnouncementTests
{
    private const int Keys = 40_000;

    [Fact]
    public void Ways_down_trees_are_announced_level_by_level_each_page_once_and_the_leaves_are_not_waited_for()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path))
        {
            environment.Write(transaction =>
            {
                foreach (string name in (string[])["first", "second"])
                {
                    Tree tree = transaction.GetOrCreateTree(name);
                    for (int i = 0; i < Keys; i++)
                        tree.Put(Key(i), new byte[200]);
                }

                transaction.GetOrCreateTree("empty");
                return 0;
            });
        }

        if (!OperatingSystem.IsLinux())
            return; // files are mapped on Linux only

        List<long> announced = [];
        var files = new WatchedFiles(new DiskFileSystem(directory.Path))
        {
            OnMapAnnounced = (offset, length) => announced.Add(
                length == PageLayout.SizeBytes ? offset / PageLayout.SizeBytes : -1)
        };
        using StorageEnvironment opened = StorageEnvironment.Open(
            new World(files, TimeProvider.System, random, true), new StorageOptions());
        using ReadTransaction read = opened.BeginRead();
        Tree[] trees = [read.FindTree("first")!, read.FindTree("second")!]; // created above
        int levels = trees[0].Record.Levels;
        Assert.True(levels > 2);
        Assert.Empty(announced);

        int low = random.Next(Keys / 3), high = Keys - 1 - random.Next(Keys / 3);
        var paths = new PathAnnouncement();
        paths.Add(trees[0], Key(low));
        paths.Add(trees[0], Key(high));
        paths.Add(null, Key(high));
        paths.AddRoot(trees[1]);
        paths.Add(read.FindTree("empty"), Key(high));
        paths.Run();

        Assert.Equal([trees[0].Record.Root.Number, trees[1].Record.Root.Number], announced[..2]);
        Assert.Equal(announced.Count, announced.Distinct().Count());
        Assert.Equal(1 + 1 + (2 * (levels - 1)), announced.Count);
        Assert.All(announced[^2..], page => Assert.True(trees[0].Store.IsUnseen(page)));
        Assert.All(announced[2..^2], page => Assert.False(trees[0].Store.IsUnseen(page)));
        Assert.True(trees[0].Store.IsUnseen(trees[1].Record.Root.Number));
        Assert.Equal(0, read.PageVisits);

        Assert.True(trees[0].Contains(Key(low)) && trees[0].Contains(Key(high)));
        Assert.All(announced[^2..], page => Assert.False(trees[0].Store.IsUnseen(page)));

        // Pages already seen are not announced again.
        announced.Clear();
        paths.Add(trees[0], Key(low));
        paths.Run();
        Assert.Empty(announced);
    }

    [Fact]
    public void Leaves_behind_the_page_above_the_first_are_announced_too()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path))
        {
            environment.Write(transaction =>
            {
                Tree tree = transaction.GetOrCreateTree("first");
                for (int i = 0; i < Keys; i++)
                    tree.Put(Key(i), new byte[200]);
                return 0;
            });
        }

        if (!OperatingSystem.IsLinux())
            return; // files are mapped on Linux only

        var announced = new HashSet<long>();
        var files = new WatchedFiles(new DiskFileSystem(directory.Path))
        {
            OnMapAnnounced = (offset, length) => announced.UnionWith(
                Enumerable.Range(0, (int)(length / PageLayout.SizeBytes)).Select(page => (offset / PageLayout.SizeBytes) + page)),
        };
        using StorageEnvironment opened = StorageEnvironment.Open(
            new World(files, TimeProvider.System, random, true), new StorageOptions());
        using ReadTransaction read = opened.BeginRead();
        Tree first = read.FindTree("first")!; // created above
        var root = new SlottedPage(first.Store.Read(first.Record.Root.Number));
        Assert.True(first.Record.Levels == 3 && root.Count > 2);
        int above = 1 + random.Next(root.Count - 2);
        var branch = new SlottedPage(first.Store.Read(root.Child(above).Number));

        // From the last leaf of one branch to some leaves of the next.
        byte[] room = new byte[sizeof(long)];
        int start = (int)BinaryPrimitives.ReadInt64BigEndian(Whole(branch, 1)) - 200;
        int end = (int)BinaryPrimitives.ReadInt64BigEndian(Whole(branch, 6));
        first.Announce(Key(start), Key(end));
        for (int leaf = 0; leaf <= 6; leaf++)
            Assert.Contains(branch.Child(leaf).Number, announced);

        // A key in a branch may be truncated after the part that distinguishes it from those before.
        byte[] Whole(SlottedPage page, int entry)
        {
            Array.Clear(room);
            byte[] key = new byte[Tree.MaxKeyBytes];
            int length = page.CopyKey(entry, key);
            key.AsSpan(0, length).CopyTo(room);
            return room;
        }
    }

    private static byte[] Key(int number)
    {
        byte[] key = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }
}
