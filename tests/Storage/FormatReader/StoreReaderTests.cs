using Treepie.Storage.Tests.Checks;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.FormatReader;

/// <summary>The page on the file format is enough to read an environment by.</summary>
public sealed class StoreReaderTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void What_the_page_says_reads_what_the_store_wrote(bool closesCleanly)
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly, commits: 60);
        var reader = new StoreReader(store.Disk.List().ToDictionary(name => name, name => store.Disk.Bytes(name)));
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
