using System.Buffers.Binary;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

/// <summary>Skipping keys leaf by leaf skips the same keys as going from key to key.</summary>
public sealed class SkippedKeysTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public SkippedKeysTests() =>
        _environment = StorageEnvironment.Open(_directory.Path, new StorageOptions { Durability = Durability.Relaxed });

    public void Dispose()
    {
        Assert.Empty(_environment.Check(TestContext.Current.CancellationToken).Problems);
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void So_many_keys_are_left_behind_as_begin_so()
    {
        var random = new Random(Seed.Next());
        int[] counts = [.. Enumerable.Range(0, 30).Select(_ => random.Next(3) * random.Next(random.Next(3) == 0 ? 4 : 900))];
        _environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("lists");
            for (int list = 0; list < counts.Length; list++)
                for (int place = 0; place < counts[list]; place++)
                    tree.Put(Key(list, place), new byte[random.Next(40)]);
            return true;
        });

        using ReadTransaction read = _environment.BeginRead();
        using Cursor cursor = read.FindTree("lists")!.OpenCursor(); // created above
        byte[][] keys = [
            .. Enumerable.Range(0, counts.Length)
                .SelectMany(list => Enumerable.Range(0, counts[list]).Select(place => Key(list, place)))];
        for (int list = 0; list < counts.Length; list++)
        {
            for (int i = 0; i < 12 && counts[list] > 0; i++)
            {
                int from = random.Next(counts[list]);
                int most = random.Next(4) switch
                {
                    0 => 0,
                    1 => counts[list] - from,
                    2 => int.MaxValue,
                    _ =>
                    random.Next(counts[list] + 2)
                };
                byte[] start = Key(list, from), beginning = random.Next(5) == 0 ? [] : start[..sizeof(int)];
                int rest = beginning.Length == 0
                    ? keys.Count(key => key.AsSpan().SequenceCompareTo(start) >= 0)
                    : counts[list] - from;
                Assert.True(cursor.Seek(start));
                long skipped = cursor.Skip(most, beginning);
                Assert.Equal(Math.Min(most, rest), skipped);
                byte[]? next = keys.Where(key => key.AsSpan().SequenceCompareTo(start) >= 0).Skip((int)skipped).FirstOrDefault();
                Assert.Equal(next is not null, cursor.IsValid);
                Assert.True(
                    next is null || cursor.Key.SequenceEqual(next), "The cursor stands on the key behind those it has left.");
            }
        }

        Assert.False(cursor.Seek(Key(counts.Length, 0)));
        Assert.Throws<InvalidOperationException>(() => cursor.Skip(1, default));
        Assert.Throws<ArgumentOutOfRangeException>(() => cursor.Skip(-1, default));
    }

    private static byte[] Key(int list, int place)
    {
        byte[] key = new byte[2 * sizeof(int)];
        BinaryPrimitives.WriteInt32BigEndian(key, list);
        BinaryPrimitives.WriteInt32BigEndian(key.AsSpan(sizeof(int)), place);
        return key;
    }
}
