using System.Buffers.Binary;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

public sealed class ValuePlaceTests
{
    [Fact]
    public void A_place_gives_the_value_of_its_state_while_others_write_and_pages_move()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        Fill(environment, random);
        using ReadTransaction read = environment.BeginRead();
        Tree tree = read.FindTree("places")!; // created above
        var places = new Dictionary<int, (ValuePlace Place, byte[] Value)>();
        byte[] key = new byte[sizeof(int)];
        for (int number = 0; number < 3_000; number++)
        {
            BinaryPrimitives.WriteInt32BigEndian(key, number);
            bool isThere = tree.TryGet(key, out ReadOnlySpan<byte> value);
            Assert.Equal(isThere, tree.TryLocate(key, out ValuePlace place));
            if (isThere)
                places.Add(number, (place, value.ToArray()));
        }

        Assert.Contains(places.Values, static known => known.Place.IsRun);
        Assert.Contains(places.Values, static known => !known.Place.IsRun);
        for (int round = 0; round < 3; round++)
        {
            foreach ((ValuePlace place, byte[] value) in places.Values)
                Assert.True(tree.ReadAt(place).SequenceEqual(value));
            Fill(environment, random);
            environment.Checkpoint(TestContext.Current.CancellationToken);
        }

        // A transaction with another state does not share derived objects.
        using ReadTransaction later = environment.BeginRead();
        Assert.NotSame(read.Derived<List<int>>(), later.Derived<List<int>>());
        using ReadTransaction same = later.BeginSame();
        Assert.Same(later.Derived<List<int>>(), same.Derived<List<int>>());
        Assert.NotNull(later.Derived<List<string>>()); // the slot is in use, so a separate object is created
    }

    [Fact]
    public void A_cursor_that_is_reset_enters_the_pages_that_a_new_one_would()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        Fill(environment, random);
        using ReadTransaction read = environment.BeginRead();
        Tree tree = read.FindTree("places")!; // created above
        Cursor used = tree.OpenCursor();
        for (int round = 0; round < 50; round++)
        {
            int seed = random.Next();
            used.Reset();
            Assert.False(used.IsValid);
            Assert.Equal(Walk(read, tree.OpenCursor(), seed), Walk(read, used, seed));
        }
    }

    private static long Walk(ReadTransaction read, Cursor cursor, int seed)
    {
        var random = new Random(seed);
        long before = read.PageVisits;
        byte[] key = new byte[sizeof(int)];
        int near = random.Next(3_000);
        for (int i = 0; i < 20; i++)
        {
            BinaryPrimitives.WriteInt32BigEndian(key, near += random.Next(4));
            if (random.Next(2) == 0 ? cursor.Seek(key) : cursor.SeekBefore(key))
                cursor.MoveNext();
        }

        return read.PageVisits - before;
    }

    private static void Fill(StorageEnvironment environment, Random random) => environment.Write(transaction =>
    {
        Tree tree = transaction.GetOrCreateTree("places");
        byte[] key = new byte[sizeof(int)];
        for (int i = 0; i < 1_500; i++)
        {
            BinaryPrimitives.WriteInt32BigEndian(key, random.Next(3_000));
            byte[] value = new byte[random.Next(20) == 0 ? random.Next(30_000) : random.Next(200)];
            random.NextBytes(value);
            tree.Put(key, value);
        }

        return 0;
    });
}
