using System.Buffers.Binary;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

public sealed class TreePackerTests
{
    [Fact]
    public void Packing_keeps_what_a_tree_holds_and_frees_pages()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var folder = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(folder.Path);
        var model = new SortedDictionary<byte[], byte[]>(ByteOrder.Instance);
        for (int round = 0; round < 4; round++)
        {
            environment.Write(transaction =>
            {
                Tree tree = transaction.GetOrCreateTree("t");
                for (int i = 0; i < 6_000; i++)
                {
                    byte[] key = RandomKey(random);
                    byte[] value = new byte[random.Next(100) == 0 ? random.Next(6_000) : random.Next(40)];
                    random.NextBytes(value);
                    tree.Put(key, value);
                    model[key] = value;
                }

                foreach (byte[] key in model.Keys.Where(_ => random.Next(5) == 0).ToArray())
                {
                    tree.Delete(key);
                    model.Remove(key);
                }

                return true;
            });
            TreeSize before = Measure(environment);
            long saved = 0;
            for (byte[]? from = []; from is not null;)
            {
                byte[] start = from;
                from = environment.Write(transaction =>
                {
                    byte[]? next = transaction.FindTree("t")!.Pack(start, out int pages); // created above
                    saved += pages;
                    return next;
                });
            }

            TreeSize after = Measure(environment);
            Assert.True(saved > before.LeafPages / 8, $"seed {seed}: {saved} of {before.LeafPages} leaves saved");
            Assert.Equal(before.LeafPages - saved, after.LeafPages);
            Assert.Equal(before.ValueBytes, after.ValueBytes);
            Assert.Equal(model.Count, after.Keys);
            AssertSame(environment, model, seed);
        }

        Assert.True(environment.Check(TestContext.Current.CancellationToken).IsClean, $"seed {seed}");
    }

    [Fact]
    public void A_full_or_small_tree_is_left_as_it_is()
    {
        using var folder = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(folder.Path);
        byte[] key = new byte[8];
        int saved = environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("t");
            Assert.Null(tree.Pack([], out _));
            for (int i = 0; i < 5_000; i++)
            {
                BinaryPrimitives.WriteInt64BigEndian(key, i);
                tree.Put(key, key);
            }

            Assert.Null(tree.Pack([], out int pages));
            return pages;
        });
        Assert.Equal(0, saved);
        Assert.True(environment.Check(TestContext.Current.CancellationToken).IsClean);
    }

    /// <summary>Keys with long common prefixes, and some long ones.</summary>
    private static byte[] RandomKey(Random random)
    {
        byte[] key = new byte[random.Next(50) == 0 ? random.Next(300) : 4 + random.Next(8)];
        random.NextBytes(key);
        for (int i = 0; i < Math.Min(2, key.Length); i++)
            key[i] = (byte)random.Next(8);
        return key;
    }

    private static TreeSize Measure(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        return read.FindTree("t")!.Measure(TestContext.Current.CancellationToken); // created before
    }

    private static void AssertSame(StorageEnvironment environment, SortedDictionary<byte[], byte[]> model, int seed)
    {
        using ReadTransaction read = environment.BeginRead();
        Tree tree = read.FindTree("t")!; // created before
        using Cursor cursor = tree.OpenCursor();
        bool more = cursor.MoveFirst();
        foreach ((byte[] key, byte[] value) in model)
        {
            Assert.True(more && cursor.Key.SequenceEqual(key) && cursor.Value.SequenceEqual(value), $"seed {seed}");
            Assert.True(tree.TryGet(key, out ReadOnlySpan<byte> found) && found.SequenceEqual(value), $"seed {seed}");
            more = cursor.MoveNext();
        }

        Assert.False(more);
    }

    private sealed class ByteOrder : IComparer<byte[]>
    {
        public static readonly ByteOrder Instance = new();

        public int Compare(byte[]? x, byte[]? y) => x.AsSpan().SequenceCompareTo(y);
    }
}
