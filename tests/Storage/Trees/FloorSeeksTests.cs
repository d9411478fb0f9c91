using System.Buffers.Binary;
using Treepie.Storage.Format;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

public sealed class FloorSeeksTests
{
    /// <summary>Number of key bytes that identify the list. The rest of the key is a number.</summary>
    private const int ListBytes = sizeof(int);

    [Theory]
    [InlineData(1, 40)] // one leaf
    [InlineData(40, 60)]
    [InlineData(60, 2_000)] // a few entries per leaf
    [InlineData(30, 9_000)] // runs of pages
    public void Each_key_finds_itself_or_the_greatest_before_it_of_its_list(int lists, int longest)
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        var keys = new SortedDictionary<long, int>();
        environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("lists");
            byte[] value = new byte[longest];
            for (int list = 1; list <= lists; list++)
            {
                for (int i = random.Next(1, 120); i > 0; i--)
                    keys[((long)list << 32) + random.Next(300)] = 0;
            }

            foreach (long key in keys.Keys.ToArray())
            {
                random.NextBytes(value);
                keys[key] = random.Next(sizeof(int), longest);
                BinaryPrimitives.WriteInt32BigEndian(value, keys[key]);
                tree.Put(Key(key), value.AsSpan(0, keys[key]));
            }

            return 0;
        });

        long[] all = [.. keys.Keys];
        using ReadTransaction read = environment.BeginRead();
        Tree found = read.FindTree("lists")!; // created above
        for (int round = 0; round < 200; round++)
        {
            long list = random.Next(0, lists + 2);
            long[] wanted = [
                .. Enumerable.Range(0, 310)
                    .Where(_ => random.Next(1 + (round % 20)) == 0)
                    .Select(number => (list << 32) + number)];
            var seeks = new FloorSeeks(found, new PageReference[wanted.Length]);
            foreach (long key in wanted)
                seeks.Add(Key(key));
            seeks.PrefetchEntries();
            for (int i = 0; i < wanted.Length; i++)
            {
                int place = Array.BinarySearch(all, wanted[i]);
                place = place < 0 ? ~place - 1 : place;
                int expected = place >= 0 && all[place] >> 32 == list ? keys[all[place]] : 0;
                if (seeks.TryGet(i, Key(wanted[i]), ListBytes, out ReadOnlySpan<byte> value))
                    Assert.Equal(
                        (expected, expected), (value.Length, value.IsEmpty ? 0 : BinaryPrimitives.ReadInt32BigEndian(value)));
                else
                    Assert.True(place < 0 || all[place] != wanted[i], "a leaf does not begin behind a key that it has");
            }
        }
    }

    private static byte[] Key(long number)
    {
        byte[] key = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }
}
