using System.Buffers.Binary;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

/// <summary>Sequential and nearby keys use shortcuts. The result must be the same as without them.</summary>
public sealed class NearKeyTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public NearKeyTests() =>
        _environment = StorageEnvironment.Open(_directory.Path, new StorageOptions { Durability = Durability.Relaxed });

    public void Dispose()
    {
        Assert.Empty(_environment.Check(TestContext.Current.CancellationToken).Problems);
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Runs_of_puts_up_down_and_to_and_fro_leave_what_the_model_has()
    {
        var random = new Random(Seed.Next());
        var model = new Model();
        for (int command = 0; command < 60; command++)
        {
            int seed = random.Next();
            Apply(new Random(seed), null, model.Tree("runs"));
            _environment.Write(transaction =>
            {
                Apply(new Random(seed), transaction.GetOrCreateTree("runs"), null);
                return true;
            });
        }

        using ReadTransaction read = _environment.BeginRead();
        model.AssertEqual(read);
    }

    [Fact]
    public void Seeks_of_one_cursor_in_any_order_find_what_a_new_cursor_finds()
    {
        var random = new Random(Seed.Next());
        var keys = new SortedSet<int>();
        _environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("keys");
            for (int i = 0; i < 3000; i++)
            {
                int key = random.Next(30_000);
                keys.Add(key);
                tree.Put(Key(key), new byte[key % 60]);
            }

            return true;
        });
        using ReadTransaction read = _environment.BeginRead();
        using Cursor cursor = read.FindTree("keys")!.OpenCursor();
        int at = 0;
        for (int i = 0; i < 20_000; i++)
        {
            at = random.Next(20) == 0 ? random.Next(-10, 30_010) : Math.Clamp(at + random.Next(-40, 60), 0, 30_010);
            if (random.Next(3) == 0)
            {
                Assert.Equal(keys.Contains(at), cursor.TryMoveTo(Key(at), out ReadOnlySpan<byte> value));
                Assert.Equal(keys.Contains(at), cursor.IsValid);
                Assert.True(!cursor.IsValid || (value.Length == at % 60 && cursor.Key.SequenceEqual(Key(at))));
                continue;
            }

            bool isBefore = random.Next(3) == 0;
            int[] view = [
                .. isBefore
                    ? keys.GetViewBetween(int.MinValue, at - 1).Reverse().Take(1)
                    : keys.GetViewBetween(at, int.MaxValue).Take(1)];
            bool found = isBefore ? cursor.SeekBefore(Key(at)) : cursor.Seek(Key(at));
            Assert.Equal(view.Length == 1, found);
            Assert.Equal(found, cursor.IsValid);
            if (!found)
                continue;

            Assert.True(cursor.Key.SequenceEqual(Key(view[0])));
            if (random.Next(4) == 0)
                _ = random.Next(2) == 0 ? cursor.MoveNext() : cursor.MovePrevious();
        }
    }

    [Fact]
    public void Loading_in_order_fills_the_pages()
    {
        const int Count = 20_000, ValueBytes = 40;
        _environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("loaded");
            for (int i = 0; i < Count; i++)
                tree.Put(Key(i), new byte[ValueBytes]);
            return true;
        });
        using ReadScope read = _environment.Read();
        int leaves = 0;
        foreach (LeafEntries leaf in read.GetTree("loaded").Scan(new byte[Tree.MaxKeyBytes]))
            leaves += leaf.Count > 0 ? 1 : 0;
        // Cell header, key head, slot, value, and at least the part of the key that is not in the prefix.
        int entryBytes = 4 + 4 + 2 + ValueBytes + 2;
        Assert.True(leaves <= Count * entryBytes / (8192 - 64) * 1.1, $"{leaves} leaves for {Count} keys");
    }

    private static byte[] Key(int number)
    {
        var key = new byte[sizeof(int)];
        BinaryPrimitives.WriteInt32BigEndian(key, number + 100); // keep the sign bit clear
        return key;
    }

    private static void Apply(Random draw, Tree? tree, SortedDictionary<byte[], byte[]>? model)
    {
        for (int run = draw.Next(1, 6); run > 0; run--)
        {
            int at = draw.Next(5000), step = draw.Next(5) switch { 0 => -1, 1 => 0, 2 => 3, _ => 1 };
            for (int length = draw.Next(1, 200); length > 0; length--)
            {
                at = Math.Max(0, at + step + (draw.Next(10) == 0 ? draw.Next(-5, 6) : 0));
                byte[] key = Key(at);
                if (draw.Next(8) == 0)
                {
                    tree?.Delete(key);
                    model?.Remove(key);
                    continue;
                }

                byte[] value = new byte[draw.Next(50) == 0 ? draw.Next(5000) : draw.Next(120)];
                draw.NextBytes(value);
                tree?.Put(key, value);
                if (model is not null)
                    model[key] = value;
            }
        }
    }
}
