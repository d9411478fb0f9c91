using System.Text;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

public sealed class ReadScopeTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public ReadScopeTests() =>
        _environment = StorageEnvironment.Open(_directory.Path, new StorageOptions { Durability = Durability.Relaxed });

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Get_and_scan_see_only_commits_before_the_snapshot()
    {
        Put("a", "1");
        using ReadScope before = _environment.Read();
        Put("b", "2");
        using ReadScope after = _environment.Read();
        Assert.Equal(before.TransactionId + 1, after.TransactionId);
        Assert.False(before.GetTree("tree").TryGet("b"u8, out _));
        Assert.True(after.GetTree("tree").TryGet("b"u8, out ReadOnlySpan<byte> value));
        Assert.Equal("2", Encoding.UTF8.GetString(value));
        Assert.Equal(1, before.GetTree("tree").Count);
        Assert.Equal(2, after.GetTree("tree").Count);
        Assert.Equal(0, after.GetTree("none").Count);
        Assert.False(after.GetTree("none").TryGet("b"u8, out _));
        Assert.False(after.GetTree("none").Scan(new byte[Tree.MaxKeyBytes]).MoveNext());
        Assert.Equal(2, _environment.GetStatistics().OpenReaders);
    }

    [Fact]
    public void Once_disposed_it_every_copy_of_it_and_all_that_came_from_it_say_so()
    {
        Put("a", "1");
        ReadScope read = _environment.Read();
        ReadScope copy = read;
        TreeView tree = read.GetTree("tree");
        TreeScan scan = tree.Scan(new byte[Tree.MaxKeyBytes]);
        read.Dispose();
        Assert.Equal(0, _environment.GetStatistics().OpenReaders);
        using ReadScope other = _environment.Read(); // may use the same slot now
        copy.Dispose();
        Assert.Equal(1, _environment.GetStatistics().OpenReaders);
        AssertDisposed(ref copy);
        bool threw = false;
        try
        {
            tree.TryGet("a"u8, out _);
        }
        catch (ObjectDisposedException)
        {
            threw = true;
        }

        Assert.True(threw);
        threw = false;
        try
        {
            scan.MoveNext();
        }
        catch (ObjectDisposedException)
        {
            threw = true;
        }

        Assert.True(threw);
        Assert.True(other.GetTree("tree").TryGet("a"u8, out _));
        default(ReadScope).Dispose();
    }

    [Fact]
    public void Looking_up_and_scanning_allocate_nothing()
    {
        for (int i = 0; i < 500; i++)
            Put($"key {i:d4}", new string('v', i % 60));
        byte[] key = "key 0123"u8.ToArray();
        byte[] room = new byte[Tree.MaxKeyBytes];
        Assert.Equal(200 * 501, Run(200));

        // Other code may allocate on this thread in some rounds, for example when the runtime recompiles. Reads that
        // allocate would do so in every round.
        long least = long.MaxValue;
        for (int round = 0; round < 5 && least > 0; round++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            long found = Run(200);
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
            Assert.Equal(200 * 501, found);
        }

        Assert.Equal(0, least);

        long Run(int times)
        {
            long count = 0;
            for (int i = 0; i < times; i++)
            {
                using ReadScope read = _environment.Read();
                TreeView tree = read.GetTree("tree");
                count += tree.TryGet(key, out _) ? 1 : 0;
                foreach (LeafEntries leaf in tree.Scan(default, room))
                    for (int entry = 0; entry < leaf.Count; entry++)
                        count += leaf.Key(entry).Length == 8 ? 1 : 0;
            }

            return count;
        }
    }

    [Fact]
    public void A_scan_from_any_key_gives_what_the_model_has()
    {
        var random = new Random(Seed.Next());
        var model = new Model();
        var workload = new Workload(random, new WorkloadShape { DeletePerMille = 200 });
        for (int i = 0; i < 120; i++)
            _environment.Write(workload.Next(model), TestContext.Current.CancellationToken);
        byte[] room = new byte[Tree.MaxKeyBytes];
        using ReadScope read = _environment.Read();
        foreach ((string name, SortedDictionary<byte[], byte[]> expected) in model.Trees)
        {
            byte[][] keys = [.. expected.Keys];
            for (int i = 0; i < 60; i++)
            {
                byte[] from = i == 0 || keys.Length == 0
                    ? []
                    : i % 2 == 0
                    ? keys[random.Next(keys.Length)]
                    : Encoding.UTF8.GetBytes(random.Next().ToString(System.Globalization.CultureInfo.InvariantCulture));
                int at = Array.FindIndex(keys, key => key.AsSpan().SequenceCompareTo(from) >= 0);
                at = at < 0 ? keys.Length : at;
                foreach (LeafEntries leaf in read.GetTree(name).Scan(from, room))
                {
                    Assert.True(leaf.Count > 0);
                    for (int entry = 0; entry < leaf.Count; entry++, at++)
                    {
                        Assert.True(leaf.Key(entry).SequenceEqual(keys[at]));
                        Assert.True(leaf.Prefix.Length + leaf.Suffix(entry).Length == keys[at].Length);
                        Assert.True(leaf.Value(entry).SequenceEqual(expected[keys[at]]));
                    }
                }

                Assert.Equal(keys.Length, at);
            }
        }
    }

    [Fact]
    public void Bad_names_entries_and_rooms_are_refused()
    {
        Put("a", "1");
        using ReadScope read = _environment.Read();
        TreeView tree = read.GetTree("tree");
        TreeScan scan = tree.Scan(new byte[Tree.MaxKeyBytes]);
        Assert.True(scan.MoveNext());
        int refused = 0;
        try
        {
            read.GetTree("");
        }
        catch (ArgumentException)
        {
            refused++;
        }

        try
        {
            tree.Scan(new byte[10]);
        }
        catch (ArgumentException)
        {
            refused++;
        }

        try
        {
            scan.Current.Value(1);
        }
        catch (ArgumentOutOfRangeException)
        {
            refused++;
        }

        Assert.Equal(3, refused);
    }

    private static void AssertDisposed(ref ReadScope read)
    {
        bool threw = false;
        try
        {
            _ = read.TransactionId;
        }
        catch (ObjectDisposedException)
        {
            threw = true;
        }

        Assert.True(threw);
    }

    private void Put(string key, string value) =>
        _environment.Write(
            transaction => transaction.GetOrCreateTree("tree").Put(Encoding.UTF8.GetBytes(key), Encoding.UTF8.GetBytes(value)));
}
