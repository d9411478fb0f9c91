using System.Text;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Trees;

/// <summary>
/// Leaves that change together are filled before new ones are made, in whatever order the keys of a batch come between others.
/// </summary>
public sealed class FilledLeavesTests
{
    private const int Keys = 20_000;

    // Numbers as texts: 1, 10, 100, 1000, 10000, 10001, …: each thousand that is added goes between those before.
    [Theory]
    [InlineData("users/", "", 700)]
    [InlineData("users/", "", 40)]
    [InlineData("", "/the same end", 3)]
    [InlineData("a beginning that is as long as many keys and is stored once in each leaf/", "", 90)]
    public void Numbered_keys_fill_most_of_their_leaves(string beginning, string end, int valueBytes)
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(
            directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        byte[] value = new byte[valueBytes];
        for (int next = 0; next < Keys;)
        {
            environment.Write(transaction =>
            {
                Tree tree = transaction.GetOrCreateTree("tree");
                for (int to = next + 1_000; next < to; next++)
                    tree.Put(Encoding.ASCII.GetBytes($"{beginning}{next}{end}"), value);
                return true;
            }, TestContext.Current.CancellationToken);
        }

        using ReadTransaction read = environment.BeginRead();
        TreeSize size = read.FindTree("tree")!.Measure(TestContext.Current.CancellationToken); // written above
        Assert.Equal(Keys, size.Keys);
        Assert.InRange(size.UsedBytes / (double)size.SizeBytes, 0.8, 1);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(20)]
    [InlineData(1_500)]
    public void Entries_that_move_between_leaves_stay_what_they_are(int mostValueBytes)
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(
            directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var model = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        for (int batch = 0; batch < 40; batch++)
        {
            bool isKept = random.Next(4) > 0;
            var changed = new SortedDictionary<string, byte[]>(model, StringComparer.Ordinal);
            bool Change(WriteTransaction transaction)
            {
                Tree tree = transaction.GetOrCreateTree("tree");
                string stem = new((char)('a' + random.Next(3)), random.Next(1, 120));
                int first = random.Next(1_000), step = random.Next(2) == 0 ? 1 : random.Next(1, 50);
                for (int i = 0; i < 400; i++)
                {
                    string key = $"{stem}{first + (i * step)}";
                    if (random.Next(12) == 0)
                    {
                        Assert.Equal(changed.Remove(key), tree.Delete(Encoding.ASCII.GetBytes(key)));
                        continue;
                    }

                    byte[] value = new byte[random.Next(60) == 0 ? 9_000 : random.Next(mostValueBytes)];
                    random.NextBytes(value);
                    tree.Put(Encoding.ASCII.GetBytes(key), value);
                    changed[key] = value;
                }

                return isKept ? true : throw new InvalidOperationException("undone");
            }

            try
            {
                environment.Write(Change, TestContext.Current.CancellationToken);
            }
            catch (InvalidOperationException undone) when (undone.Message == "undone")
            {
                // The pages are as before.
            }

            model = isKept ? changed : model;
            using ReadTransaction read = environment.BeginRead();
            if (read.FindTree("tree") is { } written)
                AssertSame(model, written);
        }

        Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    // A leaf of keys with one long beginning, stored once, has room for others only while they begin so, too.
    [Theory]
    [InlineData(20)]
    [InlineData(100)]
    [InlineData(250)]
    public void Keys_that_begin_otherwise_make_no_leaf_too_full(int beginningBytes)
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        var model = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        for (int i = 0; i < 500; i++)
            model.Add($"{new string('a', beginningBytes)}{i}", [1]);
        for (int i = 0; i < 2_000; i++)
            model.Add($"b{i}", [2]);
        environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("tree");
            foreach (string key in model.Keys.OrderBy(static key => key[0]).ThenBy(static key => key.Length))
                tree.Put(Encoding.ASCII.GetBytes(key), model[key]);
            return true;
        }, TestContext.Current.CancellationToken);
        using ReadTransaction read = environment.BeginRead();
        AssertSame(model, read.FindTree("tree")!); // written above
    }

    private static void AssertSame(SortedDictionary<string, byte[]> model, Tree tree)
    {
        Assert.Equal(model.Count, tree.Count);
        using Cursor cursor = tree.OpenCursor();
        bool isThere = cursor.MoveFirst();
        foreach ((string key, byte[] value) in model)
        {
            Assert.True(isThere, key);
            Assert.Equal(key, Encoding.ASCII.GetString(cursor.Key));
            Assert.True(value.AsSpan().SequenceEqual(cursor.Value), key);
            Assert.True(tree.TryGet(Encoding.ASCII.GetBytes(key), out ReadOnlySpan<byte> found) && found.SequenceEqual(value), key);
            isThere = cursor.MoveNext();
        }

        Assert.False(isThere);
    }
}
