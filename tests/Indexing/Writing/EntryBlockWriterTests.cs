using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Terms;
using Treepie.Indexing.Writing;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Writing;

/// <summary>Blocks of records against a dictionary, while entries are added, removed and extended.</summary>
public sealed class EntryBlockWriterTests
{
    [Fact]
    public void Records_are_found_after_any_changes()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var folder = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(folder.Path, new StorageOptions { Durability = Durability.Relaxed });
        var model = new SortedDictionary<long, byte[]>();
        long nextId = 0;
        for (int round = 0; round < 12; round++)
        {
            environment.Write(transaction =>
            {
                var entries = new EntryBlockWriter(transaction.GetOrCreateTree(TreeNames.Entries));
                foreach (long id in model.Keys.Where(_ => random.Next(3) == 0).ToArray())
                {
                    if (random.Next(3) == 0)
                    {
                        byte[] more = Bytes(random, random.Next(200) == 0 ? 5_000 : random.Next(300));
                        entries.Extend(id, more);
                        model[id] = [.. model[id], .. more];
                        continue;
                    }

                    entries.Remove(id);
                    model.Remove(id);
                }

                entries.Flush();
                entries = new EntryBlockWriter(transaction.GetOrCreateTree(TreeNames.Entries));
                for (int i = random.Next(400); i > 0; i--)
                {
                    nextId += 1 + (random.Next(50) == 0 ? random.Next(1_000_000) : 0);
                    byte[] record = Bytes(random, random.Next(300) == 0 ? 40_000 : random.Next(100));
                    entries.Append(nextId, record);
                    model.Add(nextId, record);
                }

                entries.Flush();
                return true;
            }, TestContext.Current.CancellationToken);
            using ReadTransaction read = environment.BeginRead();
            var reader = new EntryReader(read.FindTree);
            foreach ((long id, byte[] record) in model)
                Assert.True(reader.TryGetBytes(id, out ReadOnlySpan<byte> found) && found.SequenceEqual(record), $"seed {seed}: entry {id}");
            for (int i = 0; i < 100; i++)
            {
                long id = random.NextInt64(nextId + 10);
                Assert.True(model.ContainsKey(id) == reader.TryGetBytes(id, out _), $"seed {seed}: entry {id}");
            }
        }

        Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Fact]
    public void A_number_takes_few_bytes_and_is_read_exactly()
    {
        Span<byte> key = stackalloc byte[NumberKey.Bytes], read = stackalloc byte[NumberKey.Bytes], compact = stackalloc byte[CompactNumber.MaxBytes];
        foreach (long whole in new[] { 0, 1, -1, 31, -32, 1_000_000, (1L << 61) - 1, -(1L << 61) + 1, 1L << 61, -(1L << 61), long.MaxValue, long.MinValue })
        {
            NumberKey.Write(key, whole);
            AssertSame(key, read, compact);
        }

        foreach (double fraction in new[] { 0.1, -0.5, 1e300, double.NegativeInfinity, double.Epsilon, 4.0, 1e18 })
        {
            NumberKey.Write(key, fraction);
            AssertSame(key, read, compact);
        }
    }

    private static void AssertSame(ReadOnlySpan<byte> key, Span<byte> read, Span<byte> compact)
    {
        int length = CompactNumber.Write(compact, key);
        ReadOnlySpan<byte> rest = compact[..length];
        Assert.Equal(length, CompactNumber.BytesOf(rest));
        CompactNumber.Read(ref rest, read);
        Assert.Equal(0, rest.Length);
        Assert.True(key.SequenceEqual(read));
    }

    private static byte[] Bytes(Random random, int length)
    {
        byte[] bytes = new byte[length];
        random.NextBytes(bytes);
        return bytes;
    }
}
