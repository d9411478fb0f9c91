using System.Buffers.Binary;
using System.Collections.Concurrent;
using Treepie.Storage.Files;
using Treepie.Storage.Paging;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Encryption;

/// <summary>How long decrypted pages stay in memory, and that they stay while they are read.</summary>
public sealed class DecryptedPagesTests
{
    private const int Values = 4_000;

    [Fact]
    public void Without_readers_nothing_stays_decrypted_and_with_one_all_that_it_may_hold()
    {
        using var directory = new TemporaryDirectory();
        using EncryptionKey key = EncryptionKey.Generate();
        Fill(directory.Path, key);
        using StorageEnvironment environment = StorageEnvironment.Open(
            directory.Path, Options(key) with { DecryptedIdleTime = TimeSpan.FromDays(1) });
        ReadTransaction read = environment.BeginRead();
        Tree tree = read.FindTree("t")!;
        Assert.True(tree.TryGet(KeyOf(77), out ReadOnlySpan<byte> held));
        long bytes = environment.GetStatistics().DecryptedBytes;
        Assert.True(bytes > 0);
        for (int i = 0; i < 3; i++)
            Assert.Equal(bytes, environment.Sweeper!.Sweep());
        AssertValue(77, held);

        // It begins after the first sweep, so it holds nothing that the sweep removed.
        using (ReadTransaction later = environment.BeginRead())
        {
            read.ReleasePages();
            Assert.Equal(0, environment.Sweeper!.Sweep());
            Assert.True(later.FindTree("t")!.TryGet(KeyOf(78), out ReadOnlySpan<byte> again));
            AssertValue(78, again);
            Assert.True(tree.TryGet(KeyOf(77), out held));
            AssertValue(77, held);
        }

        read.Dispose();
        environment.Sweeper.Sweep();
        Assert.Equal(0, environment.Sweeper.Sweep());
        Assert.Equal(0, environment.GetStatistics().DecryptedBytes);
    }

    [Fact]
    public void A_page_that_is_looked_for_again_before_it_goes_is_not_decrypted_again()
    {
        using var directory = new TemporaryDirectory();
        using EncryptionKey key = EncryptionKey.Generate();
        Fill(directory.Path, key);
        using StorageEnvironment environment = StorageEnvironment.Open(
            directory.Path, Options(key) with { DecryptedIdleTime = TimeSpan.FromDays(1) });
        using ReadTransaction holder = environment.BeginRead();
        Assert.True(holder.FindTree("t")!.TryGet(KeyOf(5), out _));
        environment.Sweeper!.Sweep(); // marks it; the reader still holds it
        using (ReadTransaction other = environment.BeginRead())
        {
            Assert.True(other.FindTree("t")!.TryGet(KeyOf(5), out ReadOnlySpan<byte> value)); // removes the mark
            holder.ReleasePages();
            // The first mark was removed. Marked again, the page must wait for this reader.
            environment.Sweeper.Sweep();
            Assert.True(environment.GetStatistics().DecryptedBytes > 0);
            AssertValue(5, value);
        }
    }

    [Fact]
    public async Task A_page_stays_while_a_command_may_hold_it()
    {
        using var directory = new TemporaryDirectory();
        using EncryptionKey key = EncryptionKey.Generate();
        Fill(directory.Path, key);
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path, Options(key));
        Task? sweeping = null;
        environment.Write(transaction =>
        {
            Assert.True(transaction.GetOrCreateTree("t").TryGet(KeyOf(77), out ReadOnlySpan<byte> held));
            sweeping = Task.Run(
                () =>
                {
                    environment.Sweeper!.Sweep(); // not null, because the environment is encrypted
                    environment.Sweeper.Sweep();
                },
                TestContext.Current.CancellationToken);
            Assert.False(sweeping.Wait(TimeSpan.FromMilliseconds(300)), "It did not wait for the command.");
            AssertValue(77, held);
            return 0;
        });
        await sweeping!;
        Assert.Equal(0, environment.GetStatistics().DecryptedBytes);
    }

    [Fact]
    public async Task Readers_find_what_was_written_while_pages_go_under_a_small_budget()
    {
        using var directory = new TemporaryDirectory();
        using EncryptionKey key = EncryptionKey.Generate();
        Fill(directory.Path, key);
        const long Budget = 1 << 20;
        using StorageEnvironment environment = StorageEnvironment.Open(
            // Only the budget releases pages.
            directory.Path, Options(key) with { DecryptedBudgetBytes = Budget, DecryptedIdleTime = TimeSpan.FromDays(1) });
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        var errors = new ConcurrentQueue<string>();
        int seed = Seed.Next();
        Task[] readers =
            [.. Enumerable.Range(0, 3).Select(reader => Task.Run(() => Read(new Random(seed + reader)), CancellationToken.None))];
        var random = new Random(seed + 100);
        long most = 0;
        for (int i = 0; (i < 150 || most < Budget) && errors.IsEmpty; i++) // readers may be scheduled late
        {
            environment.Write(transaction =>
            {
                var tree = transaction.GetOrCreateTree("t");
                for (int j = 0; j < 10; j++)
                {
                    int number = random.Next(Values);
                    tree.Put(KeyOf(number), ValueOf(number, random.Next(50_000)));
                }

                return 0;
            });
            if (i % 4 == 3) // often, so that values move from scratch to the file while they are read
                environment.Checkpoint();
            most = Math.Max(most, environment.GetStatistics().DecryptedBytes);
        }

        await stop.CancelAsync();
        await Task.WhenAll(readers);
        Assert.Empty(errors);
        Assert.True(environment.Check(TestContext.Current.CancellationToken).IsClean);

        void Read(Random own)
        {
            while (!stop.IsCancellationRequested && errors.IsEmpty)
            {
                using ReadTransaction read = environment.BeginRead();
                Tree tree = read.FindTree("t")!;
                for (int i = 0; i < 20; i++)
                {
                    int number = own.Next(Values);
                    if (!tree.TryGet(KeyOf(number), out ReadOnlySpan<byte> value) || !IsValue(number, value))
                        errors.Enqueue(
                            $"Key {number} has another value, of {value.Length} bytes: "
                                + $"{Convert.ToHexString(value[..Math.Min(8, value.Length)])}…");
                    if (own.Next(4) == 0)
                        read.ReleasePages();
                }
            }
        }
    }

    [Fact]
    public async Task A_large_value_is_whole_while_a_checkpoint_moves_it_to_the_file()
    {
        const int Large = 20;
        using var directory = new TemporaryDirectory();
        using EncryptionKey key = EncryptionKey.Generate();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path, Options(key));
        Write();
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        var errors = new ConcurrentQueue<string>();
        Task[] readers = [.. Enumerable.Range(0, 3).Select(_ => Task.Run(Read, CancellationToken.None))];
        for (int i = 0; i < 100 && errors.IsEmpty; i++)
        {
            Write();
            environment.Checkpoint();
        }

        await stop.CancelAsync();
        await Task.WhenAll(readers);
        Assert.Empty(errors);

        void Write() => environment.Write(transaction =>
        {
            var tree = transaction.GetOrCreateTree("t");
            for (int number = 1; number <= Large; number++)
                tree.Put(KeyOf(number), ValueOf(number, 20_000));
            return 0;
        });

        void Read()
        {
            while (!stop.IsCancellationRequested && errors.IsEmpty)
            {
                using ReadTransaction read = environment.BeginRead();
                Tree tree = read.FindTree("t")!; // written before any reader started
                for (int number = 1; number <= Large; number++)
                    if (!tree.TryGet(KeyOf(number), out ReadOnlySpan<byte> value) || !IsValue(number, value))
                        errors.Enqueue(
                            $"Key {number} has another value, of {value.Length} bytes: "
                                + $"{Convert.ToHexString(value[..Math.Min(8, value.Length)])}…");
            }
        }
    }

    [Fact]
    public void A_value_stays_where_the_memory_of_pages_before_was_kept()
    {
        using var directory = new TemporaryDirectory();
        using EncryptionKey key = EncryptionKey.Generate();
        using StorageEnvironment environment = StorageEnvironment.Open(
            directory.Path, Options(key) with { DecryptedIdleTime = TimeSpan.FromDays(1) });
        DecryptedPages pages = environment.State.Store.Decrypted!;
        long mostKept = 0;
        for (int round = 0; round < 4; round++)
        {
            Put(1_000, 500);
            environment.Checkpoint(); // moves the leaves to the file
            DeleteAll();
            environment.Checkpoint();
            environment.Checkpoint(); // frees their page numbers
            mostKept = Math.Max(mostKept, pages.HeldBytes - pages.Bytes);
            Put(50, 40_000); // values of five pages reuse the numbers
            environment.Checkpoint();
            using ReadTransaction read = environment.BeginRead();
            Tree tree = read.FindTree("t")!;
            AssertAll(tree, 50); // decrypts them
            pages.GiveBackVacant(all: true);
            Assert.Equal(pages.Bytes, pages.HeldBytes);
            AssertAll(tree, 50);
        }

        Assert.True(mostKept > 0, "Nothing was kept, so nothing was tried.");

        void Put(int count, int length) => environment.Write(transaction =>
        {
            for (int number = 1; number <= count; number++)
                transaction.GetOrCreateTree("t").Put(KeyOf(number), ValueOf(number, length));
            return 0;
        });

        void DeleteAll() => environment.Write(transaction =>
        {
            for (int number = 1; number <= 1_000; number++)
                transaction.GetOrCreateTree("t").Delete(KeyOf(number));
            return 0;
        });

        static void AssertAll(Tree tree, int count)
        {
            for (int number = 1; number <= count; number++)
            {
                Assert.True(tree.TryGet(KeyOf(number), out ReadOnlySpan<byte> value));
                AssertValue(number, value);
            }
        }
    }

    [Fact]
    public void Two_copies_of_a_directory_use_no_key_and_nonce_twice()
    {
        using EncryptionKey key = EncryptionKey.Generate();
        using TemporaryDirectory first = new(), second = new();
        var seen = new Dictionary<string, string>();
        using (StorageEnvironment environment = StorageEnvironment.Open(
            World.OfDisk(first.Path) with { Seals = Record }, Options(key)))
            Work(environment, "common");
        foreach (string file in Directory.GetFiles(first.Path))
            File.Copy(file, Path.Combine(second.Path, Path.GetFileName(file)));

        foreach ((
            string path,
            string text) in (ReadOnlySpan<(string, string)>)
            [
                (first.Path, "one"), (second.Path, "other"), (first.Path, "one again")
            ])
            using (StorageEnvironment environment = StorageEnvironment.Open(
                World.OfDisk(path) with { Seals = Record }, Options(key)))
                Work(environment, text);
        Assert.True(seen.Count > 100);

        static void Work(StorageEnvironment environment, string text)
        {
            for (int i = 0; i < 30; i++)
            {
                environment.Write(transaction =>
                {
                    for (int j = 0; j < 20; j++)
                        transaction.GetOrCreateTree("t").Put(KeyOf((i * 20) + j), ValueOf(j, text.Length));
                    return 0;
                });
                if (i % 10 == 5)
                    environment.Checkpoint();
            }
        }

        void Record(ReadOnlySpan<byte> sealKey, ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> associated, ReadOnlySpan<byte> plain)
        {
            string pair = Convert.ToHexString(sealKey) + Convert.ToHexString(nonce),
                content = Convert.ToHexString(associated) + Convert.ToHexString(plain);
            lock (seen)
                Assert.True(
                    seen.TryAdd(pair, content) || seen[pair] == content, "A key and nonce were used twice for different things.");
        }
    }

    private static StorageOptions Options(EncryptionKey key) => new() { EncryptionKey = key, MaxDataFileBytes = 1L << 30 };

    private static void Fill(string path, EncryptionKey key)
    {
        using StorageEnvironment environment = StorageEnvironment.Open(path, Options(key));
        for (int i = 0; i < Values; i += 100)
        {
            int from = i;
            environment.Write(transaction =>
            {
                var tree = transaction.GetOrCreateTree("t");
                for (int j = from; j < from + 100; j++)
                    tree.Put(KeyOf(j), ValueOf(j, j % 50 == 0 ? 20_000 : 500));
                return 0;
            });
        }
    }

    private static byte[] KeyOf(int number)
    {
        var key = new byte[8];
        BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }

    private static byte[] ValueOf(int number, int length)
    {
        var value = new byte[8 + length];
        value.AsSpan().Fill((byte)number);
        BinaryPrimitives.WriteInt32LittleEndian(value, number);
        return value;
    }

    private static bool IsValue(int number, ReadOnlySpan<byte> value) =>
        value.Length >= 8
            && BinaryPrimitives.ReadInt32LittleEndian(value) == number
            && !value[4..].ContainsAnyExcept((byte)number);

    private static void AssertValue(int number, ReadOnlySpan<byte> value) => Assert.True(IsValue(number, value));
}
