using System.Security.Cryptography;
using System.Text;
using Treepie.Encryption;
using Treepie.Storage;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Encryption;

/// <summary>
/// Catalogues with encrypted databases: where their keys come from, where they are kept, and what happens while they are not
/// there.
/// </summary>
public sealed class EncryptedCatalogTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly StoppedClock _clock = new();
    private readonly byte[] _key = RandomNumberGenerator.GetBytes(EncryptionKey.SizeBytes),
        _other = RandomNumberGenerator.GetBytes(EncryptionKey.SizeBytes);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_given_key_is_kept_by_the_master_key_and_nowhere_in_plain()
    {
        DatabaseKeySources keys = Master();
        using (DatabaseCatalog catalog = Open(keys))
        {
            catalog.GiveKey("Shop", Encoding.UTF8.GetBytes(Convert.ToBase64String(_key)));
            catalog.GiveKey("shop", _key); // the same again
            Put(catalog.Create("shop", encrypted: true));
            Put(catalog.Create("plain"));
            Assert.Equal(
                [("plain", false, true), ("shop", true, true)],
                catalog.Describe().Select(database => (database.Name, database.IsEncrypted, database.IsOpen)));
        }

        using (DatabaseCatalog again = Open(keys))
        {
            Assert.Equal(
                [("plain", false, false), ("shop", true, false)],
                again.Describe().Select(database => (database.Name, database.IsEncrypted, database.IsOpen)));
            Assert.Equal(1, again.Find("SHOP")?.GetStatistics().DocumentCount);
        }

        foreach (string file in Directory.GetFiles(Path.Combine(_directory.Path, "data"), "*", SearchOption.AllDirectories))
        {
            byte[] content = File.ReadAllBytes(file);
            Assert.Equal(-1, content.AsSpan().IndexOf(_key));
            Assert.Equal(-1, content.AsSpan().IndexOf(Encoding.UTF8.GetBytes(Convert.ToBase64String(_key)[..40])));
        }
    }

    [Fact]
    public void Without_a_master_key_a_key_is_held_but_never_kept()
    {
        using (DatabaseCatalog catalog = Open())
        {
            Assert.Contains(
                "there is no master key", Assert.Throws<KeySourceException>(() => catalog.GiveKey("shop", _key)).Message,
                StringComparison.Ordinal);
            Assert.Throws<DatabaseLockedException>(() => catalog.Create("shop", encrypted: true));
            Assert.Empty(catalog.Names);
            catalog.GiveKey("shop", _key, keep: false);
            Put(catalog.Create("shop", encrypted: true));
        }

        Assert.False(Directory.Exists(Path.Combine(_directory.Path, "data", SecretStore.FolderName)));
        using DatabaseCatalog again = Open();
        Assert.Equal(["shop"], again.Names);
        DatabaseLockedException locked = Assert.Throws<DatabaseLockedException>(() => again.Find("shop"));
        Assert.Contains("'shop' is encrypted, and its key is not there", locked.Message, StringComparison.Ordinal);
        Assert.Contains("treepie key give --database shop", locked.Message, StringComparison.Ordinal);
        Assert.Contains(
            "does not open", Assert.Throws<DatabaseLockedException>(() => again.GiveKey("shop", _other, keep: false)).Message,
            StringComparison.Ordinal);
        Assert.Throws<DatabaseLockedException>(() => again.Find("shop"));
        again.GiveKey("shop", _key, keep: false);
        Assert.Equal(1, again.Find("shop")?.GetStatistics().DocumentCount);
    }

    [Fact]
    public void A_wrong_or_missing_master_key_is_told()
    {
        using (DatabaseCatalog catalog = Open(Master()))
        {
            catalog.GiveKey("shop", _key);
            Put(catalog.Create("shop", encrypted: true));
        }

        string wrong = Assert.Throws<KeySourceException>(() => Open(Master("other.key"))).Message;
        Assert.Contains("does not hold the master key of the secrets store", wrong, StringComparison.Ordinal);
        Assert.Contains(
            "There is no key file",
            Assert.Throws<KeySourceException>(
                () => Open(
                    new DatabaseKeySources { MasterKey = KeySource.FromFile(Path.Combine(_directory.Path, "none")) })).Message,
            StringComparison.Ordinal);
        using (DatabaseCatalog without = Open())
            Assert.Contains(
                "may be in the secrets store, whose master key is not set",
                Assert.Throws<DatabaseLockedException>(() => without.Find("shop")).Message, StringComparison.Ordinal);
        using DatabaseCatalog right = Open(Master());
        Assert.NotNull(right.Find("shop"));
    }

    [Fact]
    public void A_source_of_its_own_gives_the_key_of_a_database_and_nobody_else_can()
    {
        string file = KeyFileOf("shop.key", _key);
        DatabaseKeySources keys = Master() with
        {
            OfDatabases = new Dictionary<string, KeySource> { ["SHOP"] = KeySource.FromFile(file) }
        };
        using (DatabaseCatalog catalog = Open(keys))
        {
            Put(catalog.Create("shop", encrypted: true));
            Assert.Contains(
                "comes from where it was set to be",
                Assert.Throws<KeySourceException>(() => catalog.GiveKey("shop", _other)).Message, StringComparison.Ordinal);
            Assert.Contains(
                "treepie key change", Assert.Throws<KeySourceException>(() => catalog.ChangeKey("shop", _other)).Message,
                StringComparison.Ordinal);
        }

        File.Delete(file);
        using (DatabaseCatalog again = Open(keys))
        {
            string missing = Assert.Throws<DatabaseLockedException>(() => again.Find("shop")).Message;
            Assert.Contains($"There is no key file '{file}'", missing, StringComparison.Ordinal);
            Assert.Equal(missing, Assert.Single(again.Describe()).Problem);
            KeyFileOf("shop.key", _other);
            // not asked again so soon
            Assert.Equal(missing, Assert.Throws<DatabaseLockedException>(() => again.Find("shop")).Message);
            _clock.Advance(TimeSpan.FromSeconds(6));
            Assert.Contains(
                "gives a key that does not open it", Assert.Throws<DatabaseLockedException>(() => again.Find("shop")).Message,
                StringComparison.Ordinal);
            File.Delete(file);
            KeyFileOf("shop.key", _key);
            _clock.Advance(TimeSpan.FromSeconds(6));
            Assert.Equal(1, again.Find("shop")?.GetStatistics().DocumentCount);
            Assert.Null(Assert.Single(again.Describe()).Problem);
        }
    }

    [Fact]
    public void A_key_for_a_plain_database_is_refused_however_it_comes()
    {
        using (DatabaseCatalog catalog = Open(Master()))
        {
            Put(catalog.Create("plain"));
            Assert.Contains(
                "is not encrypted", Assert.Throws<KeySourceException>(() => catalog.GiveKey("plain", _key)).Message,
                StringComparison.Ordinal);
            Assert.Contains(
                "is not encrypted", Assert.Throws<InvalidOperationException>(() => catalog.ChangeKey("plain", _key)).Message,
                StringComparison.Ordinal);
            Assert.Contains(
                "is not encrypted",
                Assert.Throws<InvalidOperationException>(() => catalog.RotateDataKey("plain", cancellationToken: Token)).Message,
                StringComparison.Ordinal);
            Assert.Contains(
                "no database 'none'", Assert.Throws<InvalidOperationException>(() => catalog.ChangeKey("none", _key)).Message,
                StringComparison.Ordinal);
            Assert.Throws<ArgumentException>(() => catalog.GiveKey("../x", _key));
            Assert.Throws<KeySourceException>(() => catalog.GiveKey("x", "short"u8));
        }

        using DatabaseCatalog withSource = Open(
            new DatabaseKeySources
            {
                OfDatabases = new Dictionary<string, KeySource> { ["plain"] = KeySource.FromFile(KeyFileOf("p.key", _key)) }
            });
        Assert.Throws<DatabaseLockedException>(() => withSource.Find("plain")); // who set a key believes that it is encrypted
    }

    [Fact]
    public void Another_key_takes_the_place_of_one_given_before_only_when_told_to()
    {
        using DatabaseCatalog catalog = Open(Master());
        catalog.GiveKey("shop", _key);
        Assert.Contains(
            "only copy", Assert.Throws<ConcurrencyException>(() => catalog.GiveKey("shop", _other)).Message,
            StringComparison.Ordinal);
        catalog.GiveKey("shop", _other, overwrite: true);
        Put(catalog.Create("shop", encrypted: true));
        Assert.Contains(
            "is open with another key",
            Assert.Throws<KeySourceException>(() => catalog.GiveKey("shop", _key, overwrite: true)).Message,
            StringComparison.Ordinal);
        catalog.GiveKey("shop", _other);
    }

    [Fact]
    public void The_key_goes_with_the_files_and_stays_with_files_that_stay()
    {
        using (DatabaseCatalog catalog = Open(Master()))
        {
            foreach (string name in (string[])["gone", "kept"])
            {
                catalog.GiveKey(name, _key);
                Put(catalog.Create(name, encrypted: true));
                catalog.Delete(name, deleteFiles: name == "gone");
            }

            Assert.Throws<DatabaseLockedException>(() => catalog.Create("gone", encrypted: true));
        }

        using DatabaseCatalog again = Open(Master());
        Assert.Equal(["kept"], again.Names);
        Assert.NotNull(again.Find("kept"));
    }

    [Fact]
    public void A_changed_key_is_kept_and_a_change_that_was_interrupted_opens_with_either()
    {
        using (DatabaseCatalog catalog = Open(Master()))
        {
            catalog.GiveKey("shop", _key);
            Put(catalog.Create("shop", encrypted: true));
            catalog.ChangeKey("shop", _other);
            Assert.True(catalog.RotateDataKey("shop", cancellationToken: Token).IsComplete);
        }

        using (EncryptionKey wrong = EncryptionKey.FromBytes(_key))
            Assert.Throws<EncryptionKeyException>(
                () => Database.Open(
                    Path.Combine(_directory.Path, "data", "databases", "shop"), new DatabaseOptions { EncryptionKey = wrong }));
        using (DatabaseCatalog again = Open(Master()))
            Assert.NotNull(again.Find("shop"));

        // killed before the database had the next key, and after
        foreach ((byte[] current, byte[] next) in ((byte[], byte[])[])[(_other, _key), (_key, _other)])
        {
            using (EncryptionKey first = EncryptionKey.FromBytes(current), second = EncryptionKey.FromBytes(next))
            // Master sets one
            using (SecretStore store = SecretStore.Open(Path.Combine(_directory.Path, "data"), Master().MasterKey!))
                store.Put("shop", first, second);
            using DatabaseCatalog interrupted = Open(Master());
            Assert.Equal(1, interrupted.Find("shop")?.GetStatistics().DocumentCount);
            interrupted.GiveKey("shop", _other); // the one it has
        }
    }

    [Fact]
    public void One_key_for_all_databases_is_refused()
    {
        using EncryptionKey key = EncryptionKey.Generate();
        Assert.Contains(
            "a key of its own",
            Assert.Throws<ArgumentException>(
                () => new DatabaseCatalog(_directory.Path, new DatabaseOptions { EncryptionKey = key })).Message,
            StringComparison.Ordinal);
        Assert.Empty(Directory.GetFileSystemEntries(_directory.Path));
    }

    // there is one
    private static void Put(Database? database) =>
        database!.WriteAsync(new WriteBatch().Put("x", "{}"u8.ToArray()), Token).GetAwaiter().GetResult();

    private DatabaseCatalog Open(DatabaseKeySources? keys = null) =>
        new(Path.Combine(_directory.Path, "data"), new DatabaseOptions { TimeProvider = _clock }, keys);

    private DatabaseKeySources Master(string name = "master.key")
    {
        string path = Path.Combine(_directory.Path, name);
        if (!File.Exists(path))
            KeyFileOf(name, RandomNumberGenerator.GetBytes(EncryptionKey.SizeBytes));
        return new DatabaseKeySources { MasterKey = KeySource.FromFile(path) };
    }

    private string KeyFileOf(string name, byte[] bytes)
    {
        string path = Path.Combine(_directory.Path, name);
        using EncryptionKey key = EncryptionKey.FromBytes(bytes);
        if (File.Exists(path))
            File.Delete(path);
        KeyFile.Create(path, key);
        return path;
    }

    /// <summary>A clock that stands until it is moved.</summary>
    private sealed class StoppedClock : TimeProvider
    {
        private TimeSpan _now = TimeSpan.FromDays(1);

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public void Advance(TimeSpan time) => _now += time;

        public override long GetTimestamp() => _now.Ticks;
    }
}
