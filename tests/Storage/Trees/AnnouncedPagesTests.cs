using System.Buffers.Binary;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

public sealed class AnnouncedPagesTests
{
    [Fact]
    public void Announcing_pages_of_a_file_that_nobody_has_read_counts_nothing_and_changes_nothing()
    {
        const int Keys = 20_000, LongEach = 50;
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        byte[] value = new byte[9_000];
        random.NextBytes(value);
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path))
        {
            environment.Write(transaction =>
            {
                Tree tree = transaction.GetOrCreateTree("announced");
                for (int i = 0; i < Keys; i++)
                    tree.Put(Key(i), value.AsSpan(0, i % LongEach == 0 ? value.Length : i % 60));
                transaction.GetOrCreateTree("small").Put(Key(1), value.AsSpan(0, 10));
                transaction.GetOrCreateTree("empty");
                return 0;
            });
        }

        using StorageEnvironment opened = StorageEnvironment.Open(directory.Path);
        using ReadTransaction read = opened.BeginRead();
        foreach (string name in (string[])["announced", "small", "empty"])
        {
            Tree tree = read.FindTree(name)!; // created above
            for (int round = 0; round < 20; round++)
            {
                int from = random.Next(-5, Keys + 5), to = round % 5 == 0 ? random.Next(-5, Keys + 5) : from + random.Next(Keys);
                tree.Announce(Key(from), Key(to));
                tree.AnnounceRuns(Key(from), random.Next(400));
                int read1 = random.Next(Keys);
                if (name == "announced")
                {
                    Assert.True(tree.TryGet(Key(read1), out ReadOnlySpan<byte> found));
                    Assert.True(found.SequenceEqual(value.AsSpan(0, read1 % LongEach == 0 ? value.Length : read1 % 60)));
                }
            }
        }

        Assert.Equal(20 * read.FindTree("announced")!.Record.Levels, read.PageVisits); // only the pages read count
    }

    private static byte[] Key(int number)
    {
        byte[] key = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }
}
