using System.Text;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

/// <summary>
/// Values that grow and shrink under the same keys, as the blocks of a dictionary do. Pages are full of previous values, and are
/// compacted if that is enough or split if not.
/// </summary>
public sealed class GrowingValuesTests
{
    [Theory]
    [InlineData(Durability.Relaxed, 700)]
    [InlineData(Durability.Durable, 90)]
    public void Values_of_any_length_take_the_place_of_others(Durability durability, int mostBytes)
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        var options = new StorageOptions { Durability = durability };
        var model = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        StorageEnvironment environment = StorageEnvironment.Open(directory.Path, options);
        try
        {
            for (int round = 0; round < 30; round++)
            {
                environment.Write(transaction =>
                {
                    Tree tree = transaction.GetOrCreateTree("tree");
                    for (int i = 0; i < 120; i++)
                    {
                        string key = (random.Next(4) == 0 ? "other/" : "the same beginning/") + random.Next(80);
                        byte[] value = new byte[random.Next(30) == 0 ? 5_000 : random.Next(mostBytes)];
                        random.NextBytes(value);
                        tree.Put(Encoding.ASCII.GetBytes(key), value);
                        model[key] = value;
                    }

                    return true;
                }, TestContext.Current.CancellationToken);
                using (ReadTransaction read = environment.BeginRead())
                    AssertSame(model, read.FindTree("tree")!); // written above
                if (round % 10 != 9)
                    continue;
                environment.Dispose();
                environment = StorageEnvironment.Open(directory.Path, options);
            }

            Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
        }
        finally
        {
            environment.Dispose();
        }
    }

    private static void AssertSame(SortedDictionary<string, byte[]> model, Tree tree)
    {
        Assert.Equal(model.Count, tree.Count);
        using Cursor cursor = tree.OpenCursor();
        bool isThere = cursor.Seek(default);
        foreach ((string key, byte[] value) in model)
        {
            Assert.True(isThere, key);
            Assert.Equal(key, Encoding.ASCII.GetString(cursor.Key));
            Assert.True(value.AsSpan().SequenceEqual(cursor.Value), key);
            isThere = cursor.MoveNext();
        }

        Assert.False(isThere);
    }
}
