using System.Security.Cryptography;
using System.Text;
using Treepie.Storage.Maps;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Encryption;

/// <summary>
/// An encrypted environment on a real disk: no plaintext in its files, the same results as a plain one, and access with the
/// right key only.
/// </summary>
public sealed class EncryptedEnvironmentTests
{
    private static readonly string[] _markers =
        ["MarkerInAKey", "MarkerInAValue", "MarkerInALongValue", "MarkerInATreeName", "MarkerInAMap"];

    [Fact]
    public void What_was_written_is_in_no_file_and_in_the_plain_twin_all_of_it()
    {
        using EncryptionKey key = EncryptionKey.Generate();
        using var hidden = new TemporaryDirectory();
        using var plain = new TemporaryDirectory();
        Fill(hidden.Path, key);
        Fill(plain.Path, null);
        Assert.All(_markers, marker => Assert.Empty(FilesWith(hidden.Path, marker)));
        Assert.All(_markers, marker => Assert.NotEmpty(FilesWith(plain.Path, marker)));
        using StorageEnvironment again = Open(hidden.Path, key);
        AssertFilled(again);
        Assert.True(again.IsEncrypted);
        Assert.True(again.Check(TestContext.Current.CancellationToken).IsClean);
    }

    [Fact]
    public void What_only_the_journal_has_comes_back()
    {
        using EncryptionKey key = EncryptionKey.Generate();
        using var directory = new TemporaryDirectory();
        using var copy = new TemporaryDirectory();
        using (StorageEnvironment environment = Open(directory.Path, key))
        {
            Write(environment);
            Copy(directory.Path, copy.Path); // as after a kill
        }

        Assert.All(_markers, marker => Assert.Empty(FilesWith(copy.Path, marker)));
        using StorageEnvironment killed = Open(copy.Path, key);
        AssertFilled(killed);
    }

    [Fact]
    public void Only_the_right_key_opens_and_a_wrong_one_changes_nothing()
    {
        using EncryptionKey key = EncryptionKey.Generate(),
            other = EncryptionKey.Generate(),
            phrase = EncryptionKey.FromPassphrase("a long enough passphrase");
        using var directory = new TemporaryDirectory();
        using var plain = new TemporaryDirectory();
        Fill(directory.Path, key);
        Fill(plain.Path, null);
        Dictionary<string, string> before = Hashes(directory.Path), plainBefore = Hashes(plain.Path);

        Refuses(directory.Path, null, "none was given");
        Refuses(directory.Path, other, "of another environment");
        Refuses(directory.Path, phrase, "a passphrase was given");
        Refuses(plain.Path, key, "is not encrypted");
        Assert.Equal(before, Hashes(directory.Path));
        Assert.Equal(plainBefore, Hashes(plain.Path));
        using StorageEnvironment opened = Open(directory.Path, key);
        AssertFilled(opened);

        static void Refuses(string path, EncryptionKey? key, string words)
        {
            EncryptionKeyException error = Assert.Throws<EncryptionKeyException>(() => { Open(path, key).Dispose(); });
            Assert.Contains(words, error.Message, StringComparison.Ordinal);
            Assert.Contains(path, error.Message, StringComparison.Ordinal);
            Assert.Throws<EncryptionKeyException>(
                () => { StorageCheck.Run(path, key, null, TestContext.Current.CancellationToken); });
        }
    }

    [Fact]
    public void A_passphrase_opens_it_again()
    {
        using var directory = new TemporaryDirectory();
        using (EncryptionKey first = EncryptionKey.FromPassphrase("korrekte Pferdebatterie"))
            Fill(directory.Path, first);
        using EncryptionKey again = EncryptionKey.FromPassphrase("korrekte Pferdebatterie"),
            other = EncryptionKey.FromPassphrase("korrekte Pferdebatteria");
        Assert.Throws<EncryptionKeyException>(() => { Open(directory.Path, other).Dispose(); });
        using StorageEnvironment opened = Open(directory.Path, again);
        AssertFilled(opened);
    }

    [Fact]
    public void A_changed_key_opens_it_alone_whichever_meta_page_is_left()
    {
        using EncryptionKey first = EncryptionKey.Generate(), second = EncryptionKey.Generate();
        using var directory = new TemporaryDirectory();
        Fill(directory.Path, first);
        using (StorageEnvironment environment = Open(directory.Path, first))
            environment.ChangeKey(second, TestContext.Current.CancellationToken);

        for (int slot = 0; slot < 2; slot++)
        {
            using var damaged = new TemporaryDirectory();
            Copy(directory.Path, damaged.Path);
            using (FileStream data = File.OpenWrite(Path.Combine(damaged.Path, "data.treepie")))
            {
                data.Position = slot * 8192;
                data.Write(new byte[8192]);
            }

            Assert.Throws<EncryptionKeyException>(() => { Open(damaged.Path, first).Dispose(); });
            CheckReport report = StorageCheck.Run(damaged.Path, second, null, TestContext.Current.CancellationToken);
            Assert.Contains(report.Problems, problem => problem.Page == slot);
        }

        Assert.Throws<EncryptionKeyException>(() => { Open(directory.Path, first).Dispose(); });
        using StorageEnvironment opened = Open(directory.Path, second);
        AssertFilled(opened);
    }

    [Fact]
    public void No_journal_file_knows_the_key_from_before()
    {
        using EncryptionKey first = EncryptionKey.Generate(), second = EncryptionKey.Generate();
        using TemporaryDirectory directory = new(), killed = new();
        using (StorageEnvironment environment = Open(directory.Path, first))
        {
            Write(environment);
            environment.ChangeKey(second, TestContext.Current.CancellationToken);
            Write(environment);
            Copy(directory.Path, killed.Path);
        }

        using (FileStream data = File.OpenWrite(Path.Combine(killed.Path, "data.treepie")))
            data.Write(new byte[2 * 8192]);
        string target = Path.Combine(directory.Path, "salvaged");
        Assert.Throws<EncryptionKeyException>(
            () => { Salvage.Run(killed.Path, target, first, null, TestContext.Current.CancellationToken); });
        Salvage.Run(killed.Path, target, second, null, TestContext.Current.CancellationToken);
        using StorageEnvironment salvaged = Open(target, second);
        AssertFilled(salvaged);
    }

    [Fact]
    public void A_rotated_data_key_leaves_no_page_of_the_old_one_and_waits_for_who_needs_it()
    {
        using EncryptionKey key = EncryptionKey.Generate(), other = EncryptionKey.Generate();
        using var directory = new TemporaryDirectory();
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        using (StorageEnvironment environment = Open(directory.Path, key))
        {
            Write(environment);
            Assert.Throws<EncryptionKeyException>(() => environment.RotateDataKey(other, null, cancellation));
            environment.CreateSnapshot("before", cancellation);
            int parity = environment.Cipher!.Keys.Parity;
            KeyRotationReport held = environment.RotateDataKey(key, null, cancellation);
            Assert.False(held.IsComplete);
            Assert.Contains("named snapshots", Assert.Single(held.Holders), StringComparison.Ordinal);
            Assert.True(environment.Cipher.Keys.HasBoth);

            environment.DropSnapshot("before", cancellation);
            using (ReadTransaction reader = environment.BeginRead("slow"))
            {
                environment.Write(transaction => transaction.GetOrCreateTree("later").Put("a"u8, "b"u8));
                Assert.Contains(
                    "'slow'", Assert.Single(environment.RotateDataKey(key, null, cancellation).Holders),
                    StringComparison.Ordinal);
            }

            KeyRotationReport done = environment.RotateDataKey(key, null, cancellation);
            Assert.True(done.IsComplete, string.Join(" ", done.Holders));
            Assert.False(environment.Cipher.Keys.HasBoth);
            Assert.Equal(1 - parity, environment.Cipher.Keys.Parity);
            AssertFilled(environment);
            Assert.True(environment.Check(cancellation).IsClean);
        }

        using StorageEnvironment again = Open(directory.Path, key);
        AssertFilled(again);
        Assert.True(again.Check(cancellation).IsClean);
    }

    [Fact]
    public void Derived_keys_outlive_all_changes_and_differ_by_purpose_and_environment()
    {
        using EncryptionKey first = EncryptionKey.Generate(), second = EncryptionKey.Generate();
        using TemporaryDirectory directory = new(), other = new();
        byte[] derived;
        using (StorageEnvironment environment = Open(directory.Path, first))
        {
            derived = Bytes(environment.DeriveKey("index/a"));
            Assert.NotEqual(derived, Bytes(environment.DeriveKey("index/b")));
            environment.ChangeKey(second, TestContext.Current.CancellationToken);
            Assert.True(environment.RotateDataKey(second, null, TestContext.Current.CancellationToken).IsComplete);
        }

        using StorageEnvironment again = Open(directory.Path, second), foreign = Open(other.Path, second);
        Assert.Equal(derived, Bytes(again.DeriveKey("index/a")));
        Assert.NotEqual(derived, Bytes(foreign.DeriveKey("index/a")));

        static byte[] Bytes(EncryptionKey key)
        {
            var bytes = new byte[EncryptionKey.SizeBytes];
            key.CopyTo(bytes);
            return bytes;
        }
    }

    [Fact]
    public void A_plain_environment_has_no_keys()
    {
        using EncryptionKey key = EncryptionKey.Generate();
        using var directory = new TemporaryDirectory();
        using StorageEnvironment plain = Open(directory.Path, null);
        Assert.False(plain.IsEncrypted);
        Assert.Throws<InvalidOperationException>(() => plain.ChangeKey(key, TestContext.Current.CancellationToken));
        Assert.Throws<InvalidOperationException>(() => plain.RotateDataKey(key, null, TestContext.Current.CancellationToken));
        Assert.Throws<InvalidOperationException>(() => plain.DeriveKey("index/a"));
    }

    [Fact]
    public void Without_meta_pages_the_keys_are_found_in_the_journal()
    {
        using EncryptionKey key = EncryptionKey.Generate(), other = EncryptionKey.Generate();
        using TemporaryDirectory directory = new(), killed = new();
        using (StorageEnvironment environment = Open(directory.Path, key))
        {
            Write(environment);
            Copy(directory.Path, killed.Path);
        }

        using (FileStream data = File.OpenWrite(Path.Combine(killed.Path, "data.treepie")))
            data.Write(new byte[2 * 8192]);
        string target = Path.Combine(directory.Path, "salvaged");
        Assert.Throws<EncryptionKeyException>(
            () => Salvage.Run(killed.Path, target, other, null, TestContext.Current.CancellationToken));
        Salvage.Run(killed.Path, target, key, null, TestContext.Current.CancellationToken);
        Assert.All(_markers, marker => Assert.Empty(FilesWith(target, marker)));
        using StorageEnvironment salvaged = Open(target, key);
        AssertFilled(salvaged);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(31)]
    [InlineData(33)]
    public void A_key_of_another_length_is_none(int length)
    {
        ArgumentException error = Assert.Throws<ArgumentException>(() => EncryptionKey.FromBytes(new byte[length]));
        Assert.Contains($"this one has {length}", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_key_that_is_no_secret_is_refused_and_none_is_ever_shown()
    {
        Assert.Contains(
            "the same", Assert.Throws<ArgumentException>(() => EncryptionKey.FromBytes(new byte[32])).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "12 to", Assert.Throws<ArgumentException>(() => EncryptionKey.FromPassphrase("tooshort")).Message,
            StringComparison.Ordinal);
        ArgumentException lone = Assert.Throws<ArgumentException>(() => EncryptionKey.FromPassphrase("secretsecret\ud800"));
        Assert.DoesNotContain("secretsecret", lone.ToString(), StringComparison.Ordinal);
        using EncryptionKey key = EncryptionKey.FromPassphrase("secretsecret!");
        Assert.DoesNotContain("secretsecret", key.ToString(), StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => key.CopyTo(new byte[32]));
        EncryptionKey gone = EncryptionKey.Generate();
        gone.Dispose();
        Assert.Throws<ObjectDisposedException>(() => gone.CopyTo(new byte[32]));
    }

    internal static StorageEnvironment Open(string path, EncryptionKey? key) =>
        StorageEnvironment.Open(path, new StorageOptions { EncryptionKey = key, MaxDataFileBytes = 1L << 30 });

    private static void Fill(string path, EncryptionKey? key)
    {
        using StorageEnvironment environment = Open(path, key);
        Write(environment);
    }

    private static void Write(StorageEnvironment environment)
    {
        for (int i = 0; i < 20; i++)
        {
            environment.Write(transaction =>
            {
                var tree = transaction.GetOrCreateTree("MarkerInATreeName");
                for (int j = 0; j < 100; j++)
                    tree.Put(KeyOf(i, j), Encoding.UTF8.GetBytes($"MarkerInAValue {i} {j}"));
                tree.Put(Encoding.UTF8.GetBytes($"long {i}"), LongValue(i));
                transaction.GetOrCreateMap<string, string, StringSerializer, StringSerializer>("map")[$"{i}"] =
                    $"MarkerInAMap {i}";
                return 0;
            });
            if (i == 10)
                environment.Checkpoint();
        }
    }

    private static void AssertFilled(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        Tree tree = read.FindTree("MarkerInATreeName")!;
        Assert.Equal(20 * 101, tree.Count);
        for (int i = 0; i < 20; i++)
        {
            for (int j = 0; j < 100; j++)
            {
                Assert.True(tree.TryGet(KeyOf(i, j), out ReadOnlySpan<byte> value));
                Assert.Equal($"MarkerInAValue {i} {j}", Encoding.UTF8.GetString(value));
            }

            Assert.True(tree.TryGet(Encoding.UTF8.GetBytes($"long {i}"), out ReadOnlySpan<byte> found));
            Assert.True(found.SequenceEqual(LongValue(i)));
            var map = read.FindMap<string, string, StringSerializer, StringSerializer>("map")!;
            Assert.True(map.TryGetValue($"{i}", out string? text));
            Assert.Equal($"MarkerInAMap {i}", text);
        }
    }

    private static void Copy(string from, string to)
    {
        foreach (string file in Directory.GetFiles(from).Where(file => !file.EndsWith("lock.treepie", StringComparison.Ordinal)))
        {
            try
            {
                File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
            }
            catch (FileNotFoundException)
            {
                // A spare journal file that was deleted meanwhile.
            }
        }
    }

    private static byte[] KeyOf(int i, int j) => Encoding.UTF8.GetBytes($"MarkerInAKey {i:d3} {j:d3}");

    private static byte[] LongValue(int i) =>
        Encoding.UTF8.GetBytes(string.Concat(Enumerable.Repeat($"MarkerInALongValue {i} ", 1000 + (i * 37))));

    private static string[] FilesWith(string path, string text)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        return [
            .. Directory.GetFiles(path, "*", SearchOption.AllDirectories)
                .Where(file => File.ReadAllBytes(file).AsSpan().IndexOf(bytes) >= 0)];
    }

    private static Dictionary<string, string> Hashes(string path) => Directory.GetFiles(path)
        .Where(file => !file.Contains("lock", StringComparison.Ordinal))
        .ToDictionary(file => file, file => Convert.ToHexString(SHA256.HashData(File.ReadAllBytes(file))));
}
