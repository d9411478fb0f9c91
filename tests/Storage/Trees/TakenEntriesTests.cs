using System.Buffers.Binary;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

/// <summary>
/// Reads the values of keys with a common prefix one leaf at a time. They must be those found by walking from key to key,
/// whatever precedes and follows them.
/// </summary>
public sealed class TakenEntriesTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public TakenEntriesTests() =>
        _environment = StorageEnvironment.Open(_directory.Path, new StorageOptions { Durability = Durability.Relaxed });

    public void Dispose()
    {
        Assert.Empty(_environment.Check(TestContext.Current.CancellationToken).Problems);
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Values_of_keys_that_begin_alike_are_taken_leaf_by_leaf()
    {
        var random = new Random(Seed.Next());
        var model = new SortedDictionary<(int List, int Place), byte[]>();
        for (int list = 0; list < 40; list++)
        {
            // Between none and many leaves. Some values are so long that they have their own pages.
            int count = random.Next(3) * random.Next(random.Next(2) == 0 ? 8 : 90);
            for (int place = 0; place < count; place++)
            {
                byte[] value = new byte[random.Next(20) == 0 ? random.Next(20_000) : random.Next(1_500)];
                random.NextBytes(value);
                model[(list, place)] = value;
            }
        }

        _environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("lists");
            foreach (((int list, int place), byte[] value) in model)
                tree.Put(Key(list, place), value);
            return true;
        });

        using ReadTransaction read = _environment.BeginRead();
        using Cursor cursor = read.FindTree("lists")!.OpenCursor(); // created above
        for (int list = 0; list < 40; list++)
        {
            byte[] beginning = Key(list, 0)[..sizeof(int)];
            int place = 0;
            for (bool more = cursor.Seek(beginning) && cursor.IsAt(beginning, out _);
                 more;
                 more = cursor.MoveNext(beginning, out _))
            {
                LeafEntries entries = cursor.TakeEntries(beginning);
                for (int i = 0; i < entries.Count; i++, place++)
                    Assert.True(
                        entries.ValueOf(i).SequenceEqual(model[(list, place)]), $"Value {place} of list {list} is another one.");
                Assert.True(cursor.Key.SequenceEqual(Key(list, place - 1)), "The cursor stands on the last that was taken.");
            }

            Assert.Equal(model.Keys.Count(key => key.List == list), place);
        }
    }

    private static byte[] Key(int list, int place)
    {
        byte[] key = new byte[2 * sizeof(int)];
        BinaryPrimitives.WriteInt32BigEndian(key, list);
        BinaryPrimitives.WriteInt32BigEndian(key.AsSpan(sizeof(int)), place);
        return key;
    }
}
