using System.Text;
using Treepie.Storage.Maps;
using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Checks;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.FormatReader;

/// <summary>The documentation of the file format is sufficient to read an environment.</summary>
public sealed class StoreReaderTests
{
    [Theory]
    [InlineData(true, null)]
    [InlineData(false, null)]
    [InlineData(true, "thirty-two bytes make one key...")]
    [InlineData(false, "thirty-two bytes make one key...")]
    [InlineData(false, "a passphrase as people remember them")]
    public void What_the_page_says_reads_what_the_store_wrote(bool closesCleanly, string? secret)
    {
        var random = new Random(Seed.Next());
        byte[]? userKey = secret is null ? null : Encoding.UTF8.GetBytes(secret);
        using EncryptionKey? key = userKey is null
            ? null
            : userKey.Length == EncryptionKey.SizeBytes ? EncryptionKey.FromBytes(userKey) : EncryptionKey.FromPassphrase(secret);
        BuiltStore store = BuiltStore.Build(random, closesCleanly, commits: 60, key: key);
        if (closesCleanly)
        {
            // A page written after another opening, and so with another key.
            using StorageEnvironment environment = BuiltStore.Open(
                store.Disk, random, BuiltStore.Options with { EncryptionKey = key });
            environment.Write(transaction => transaction.GetOrCreateTree("later").Put("key"u8, "value"u8));
            store.Last.Tree("later")["key"u8.ToArray()] = "value"u8.ToArray();
            store.States[environment.GetStatistics().LastTransactionId] = store.Last;
        }

        var reader = new StoreReader(store.Disk.List().ToDictionary(name => name, name => store.Disk.Bytes(name)), userKey);
        Assert.True(store.States.TryGetValue(reader.LastTransaction, out Model? expected));
        AssertSame(expected, reader.Trees());
    }

    [Fact]
    public void Named_snapshots_are_read_too()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true, commits: 30);
        var model = store.Last.Copy();
        using (StorageEnvironment environment = BuiltStore.Open(store.Disk, random))
        {
            environment.Write(transaction => transaction.CreateSnapshot("kept"));
            var workload = new Workload(random, new WorkloadShape { Keys = 6000 });
            for (int i = 0; i < 10; i++)
                environment.Write(workload.Next(model));
        }

        var reader = new StoreReader(store.Disk.List().ToDictionary(name => name, name => store.Disk.Bytes(name)));
        AssertSame(model, reader.Trees());
        AssertSame(store.Last, reader.Snapshots()["kept"]);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Hash_maps_are_read_too(bool closesCleanly)
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random);
        Dictionary<long, long> narrow = [];
        Dictionary<string, byte[]> wide = [];
        using (StorageEnvironment environment = BuiltStore.Open(disk, random))
        {
            for (int commit = 0; commit < 12; commit++)
            {
                environment.Write(transaction =>
                {
                    var numbers = transaction.GetOrCreateMap<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>>(
                        "numbers");
                    var texts = transaction.GetOrCreateMap<string, byte[], StringSerializer, BytesSerializer>("texts");
                    for (int i = 0; i < 1000; i++)
                    {
                        long key = random.Next(8000);
                        numbers[key] = narrow[key] = random.NextInt64();
                        string text = new((char)('a' + random.Next(26)), random.Next(40));
                        var value = new byte[random.Next(100) == 0 ? random.Next(20_000) : random.Next(200)];
                        random.NextBytes(value);
                        texts[text] = wide[text] = value;
                    }

                    return true;
                });
                if (commit == 8)
                    environment.Checkpoint();
            }

            if (!closesCleanly)
                disk.CrashAt = disk.Operations;
        }

        if (!closesCleanly)
        {
            disk.LeavesGarbage = false;
            disk.Crash();
        }

        var maps = new StoreReader(disk.List().ToDictionary(name => name, name => disk.Bytes(name))).Maps();
        Assert.Equal(
            narrow,
            maps["numbers"].ToDictionary(
                record => BitConverter.ToInt64(record.Key), record => BitConverter.ToInt64(record.Value)));
        Assert.Equal(wide.Count, maps["texts"].Count);
        Assert.All(maps["texts"], record => Assert.Equal(wide[Encoding.UTF8.GetString(record.Key)], record.Value));
    }

    private static void AssertSame(Model expected, Dictionary<string, List<(byte[] Key, byte[] Value)>> found)
    {
        Assert.Equal(expected.Trees.Keys.Order(StringComparer.Ordinal), found.Keys.Order(StringComparer.Ordinal));
        foreach ((string name, SortedDictionary<byte[], byte[]> tree) in expected.Trees)
        {
            Assert.Equal(tree.Count, found[name].Count);
            int i = 0;
            foreach ((byte[] key, byte[] value) in tree)
            {
                Assert.Equal(key, found[name][i].Key);
                Assert.Equal(value, found[name][i++].Value);
            }
        }
    }
}
