using System.Security.Cryptography;
using System.Text;
using Treepie.Encryption;
using Treepie.Queries;
using Treepie.Storage;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Encryption;

/// <summary>
/// Encrypted databases through the embedded API: what they do as plain ones do, what their files show, their keys changed, and
/// every bad input.
/// </summary>
public sealed class EncryptedDatabaseTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly EncryptionKey _key = EncryptionKey.Generate();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Path => System.IO.Path.Combine(_directory.Path, "shop");

    public void Dispose()
    {
        _key.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task A_database_with_its_indexes_is_found_again_with_its_key()
    {
        await using (Database database = Open(_key))
        {
            Assert.True(database.IsEncrypted);
            Assert.Null(database.Options.EncryptionKey);
            await FillAsync(database, 500);
            Assert.Equal(50, await CountAsync(database, "from Orders where Number < 50"));
            await database.WriteAsync(new WriteBatch(database.Options).Delete("orders/7"), Token);
        }

        await using Database again = Open(_key);
        DatabaseStatistics statistics = again.GetStatistics();
        Assert.True(statistics.IsEncrypted);
        Assert.Equal(499, statistics.DocumentCount);
        Assert.Equal(["Auto/Orders/ByNumber"], statistics.Indexes.Select(index => index.Name));
        Assert.Equal(49, await CountAsync(again, "from Orders where Number < 50"));
        Assert.True(again.Check(Token).IsClean);
        using DatabaseSnapshot snapshot = again.BeginRead();
        Assert.True(snapshot.TryGet("orders/3", out Document document));
        Assert.Equal("""{"Number":3,"Text":"text 3"}""", Encoding.UTF8.GetString(document.Body));
    }

    [Fact]
    public async Task What_is_written_is_in_no_file_and_in_the_plain_twin_it_is()
    {
        string[] markers =
        [
            "marker-of-a-body", "marker-of-an-id", "marker-of-metadata", "MarkerOfACollection", "MarkerOfAField",
            "marker-of-a-deleted-one", "marker-of-an-identity", "marker-ä-ü-漢字"
        ];
        string plain = System.IO.Path.Combine(_directory.Path, "plain"), sealedPath = Path;
        foreach ((string path, EncryptionKey? key) in ((string, EncryptionKey?)[])[(plain, null), (sealedPath, _key)])
        {
            for (int run = 0; run < 2; run++) // closed, and opened again
            {
                await using Database database = Database.Open(path, new DatabaseOptions { EncryptionKey = key });
                await MarkAsync(database, run);
                if (key is not null)
                    Assert.Empty(Markers.FoundIn(path, markers)); // while it is open
            }
        }

        Assert.Equal(markers, Markers.FoundIn(plain, markers));
        Assert.Empty(Markers.FoundIn(sealedPath, markers));
        Assert.Contains(
            "Auto", string.Join(' ', Directory.GetFileSystemEntries(plain, "*", SearchOption.AllDirectories)),
            StringComparison.Ordinal);
        Assert.DoesNotContain(
            "Auto", string.Join(' ', Directory.GetFileSystemEntries(sealedPath, "*", SearchOption.AllDirectories)),
            StringComparison.Ordinal);
        byte[] key32 = new byte[EncryptionKey.SizeBytes];
        _key.CopyTo(key32);
        Assert.All(
            Directory.GetFiles(sealedPath, "*", SearchOption.AllDirectories),
            file => Assert.Equal(-1, File.ReadAllBytes(file).AsSpan().IndexOf(key32)));
    }

    [Fact]
    public async Task No_key_a_wrong_one_and_one_for_a_plain_database_are_refused_and_change_nothing()
    {
        await using (Database database = Open(_key))
            await FillAsync(database, 20);
        string plain = System.IO.Path.Combine(_directory.Path, "plain");
        await using (Database database = Database.Open(plain))
            await FillAsync(database, 20);
        Dictionary<string, string> before = Hashes();

        using EncryptionKey other = EncryptionKey.Generate(),
            passphrase = EncryptionKey.FromPassphrase("correct horse battery staple");
        string none = Refused(Path, null),
            wrong = Refused(Path, other),
            kind = Refused(Path, passphrase),
            reverse = Refused(plain, _key);

        Assert.Equal(4, new HashSet<string>([none, wrong, kind, reverse]).Count);
        Assert.All([none, wrong, kind], message => Assert.Contains(Path, message, StringComparison.Ordinal));
        Assert.Contains(plain, reverse, StringComparison.Ordinal);
        Assert.Equal(before, Hashes());
        await using Database again = Open(_key);
        Assert.Equal(20, again.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task A_key_of_another_database_opens_neither_it_nor_its_index()
    {
        using EncryptionKey otherKey = EncryptionKey.Generate();
        string other = System.IO.Path.Combine(_directory.Path, "other");
        foreach ((string path, EncryptionKey key) in ((string, EncryptionKey)[])[(Path, _key), (other, otherKey)])
        {
            await using Database database = Database.Open(path, new DatabaseOptions { EncryptionKey = key });
            await FillAsync(database, 100);
            Assert.Equal(50, await CountAsync(database, "from Orders where Number < 50"));
        }

        Refused(other, _key);

        // The index of another database in the place of one's own: it is made again, not believed.
        string mine = Assert.Single(Directory.GetDirectories(System.IO.Path.Combine(Path, "indexes"))),
            theirs = Assert.Single(Directory.GetDirectories(System.IO.Path.Combine(other, "indexes")));
        Directory.Delete(mine, recursive: true);
        Directory.Move(theirs, mine);
        await using Database again = Open(_key);
        Assert.Equal(50, await CountAsync(again, "from Orders where Number < 50"));
    }

    [Fact]
    public async Task The_key_is_changed_while_the_database_is_open()
    {
        using EncryptionKey next = EncryptionKey.FromPassphrase("correct horse battery staple");
        await using (Database database = Open(_key))
        {
            await FillAsync(database, 100);
            Assert.Equal(50, await CountAsync(database, "from Orders where Number < 50"));
            Treepie.Storage.StorageStatistics before = database.Environment.GetStatistics();
            database.ChangeEncryptionKey(next);
            Treepie.Storage.StorageStatistics after = database.Environment.GetStatistics();
            // it writes no page
            Assert.Equal((before.LastTransactionId, before.DataFileBytes), (after.LastTransactionId, after.DataFileBytes));
            await database.WriteAsync(new WriteBatch(database.Options).Put("later", "{}"u8), Token);
        }

        Refused(Path, _key);
        await using Database again = Open(next);
        Assert.Equal(101, again.GetStatistics().DocumentCount);
        Assert.Equal(50, await CountAsync(again, "from Orders where Number < 50"));
    }

    [Fact]
    public async Task The_data_keys_are_drawn_anew_of_documents_and_indexes()
    {
        await using (Database database = Open(_key))
        {
            await FillAsync(database, 2000);
            Assert.Equal(50, await CountAsync(database, "from Orders where Number < 50"));
            var stores = new HashSet<string>();
            EncryptionReport report = database.RotateEncryptionDataKey(
                _key, new Told(progress => stores.Add(progress.Store)), Token);
            Assert.True(report.IsComplete, string.Join("; ", report.Holders));
            Assert.True(report.PagesWritten > 20, $"{report.PagesWritten} pages");
            Assert.Equal(["Auto/Orders/ByNumber", "documents"], stores.Order(StringComparer.Ordinal));
            Assert.Equal(50, await CountAsync(database, "from Orders where Number < 50"));
            using EncryptionKey wrong = EncryptionKey.Generate();
            Assert.Throws<EncryptionKeyException>(() => database.RotateEncryptionDataKey(wrong, cancellationToken: Token));
            using var stop = new CancellationTokenSource();
            await stop.CancelAsync();
            Assert.ThrowsAny<OperationCanceledException>(
                () => database.RotateEncryptionDataKey(_key, cancellationToken: stop.Token));
        }

        await using Database again = Open(_key);
        Assert.Equal(2000, again.GetStatistics().DocumentCount);
        Assert.Equal(50, await CountAsync(again, "from Orders where Number < 50"));
        Assert.True(again.Check(Token).IsClean);
    }

    [Fact]
    public void A_plain_database_has_no_key_to_change()
    {
        using Database database = Database.Open(Path);
        Assert.False(database.GetStatistics().IsEncrypted);
        Assert.Contains(
            "not encrypted", Assert.Throws<InvalidOperationException>(() => database.ChangeEncryptionKey(_key)).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "not encrypted",
            Assert.Throws<InvalidOperationException>(
                () => database.RotateEncryptionDataKey(_key, cancellationToken: Token)).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task Definitions_that_lost_their_files_and_files_that_lost_their_definition_are_swept_away()
    {
        await using (Database database = Open(_key))
        {
            await FillAsync(database, 10);
            await CountAsync(database, "from Orders where Number < 5");
            await CountAsync(database, "from @all_docs where Text = 'text 3'");
            Assert.Equal(2, database.Indexes.List().Count);
        }

        string indexes = System.IO.Path.Combine(Path, "indexes");
        Directory.Delete(Directory.GetDirectories(indexes).Order(StringComparer.Ordinal).First(), recursive: true);
        Directory.CreateDirectory(System.IO.Path.Combine(indexes, "index.77", "store"));
        File.WriteAllText(
            System.IO.Path.Combine(indexes, "index.77", "definition.json"),
            """{"Version":1,"Name":"x","Collection":"Planted","Fields":[]}""");
        await using (Database again = Open(_key))
        {
            Assert.Single(again.Indexes.List());
            Assert.Equal(5, await CountAsync(again, "from Orders where Number < 5"));
            Assert.True(again.Indexes.Delete("Auto/Orders/ByNumber"));
        }

        await using Database last = Open(_key);
        Assert.DoesNotContain("Auto/Orders/ByNumber", last.Indexes.List().Select(index => index.Name));
        Assert.Equal(last.Indexes.List().Count, Directory.GetDirectories(indexes).Length);
    }

    [Fact]
    public async Task Long_scans_keep_few_decrypted_pages()
    {
        // 40 MB of documents: were pages held until the scan ends, they would all be in memory then.
        await using Database database = Open(_key);
        byte[] json = Encoding.UTF8.GetBytes(
            $$"""{"Filling":"{{new string('x', 4000)}}","@metadata":{"@collection":"Large"} }""");
        await using (BulkInsert insert = database.BulkInsert())
            for (int i = 0; i < 10_000; i++)
                await insert.StoreAsync($"large/{i}", json, Token);
        database.Environment.Checkpoint(Token); // what is not in the file yet is read without being decrypted
        await SweepAsync(database);

        using QueryResults results = await database.QueryAsync(new QueryRequest { Text = "from Large" }, Token);
        int count = 0;
        while (Next())
        {
            if (count % 4_000 == 0)
                await Eventually.TrueAsync(
                    () => !Next() || database.DecryptedBytes <= 4 << 20,
                    "what was read is no longer decrypted, though the query goes on");
        }

        Assert.Equal(10_000, count);

        bool Next()
        {
            if (!results.MoveNext())
                return false;
            Assert.True(results.Current.Body.Length > 4000);
            count++;
            return true;
        }
    }

    private static Task SweepAsync(Database database) =>
        Eventually.TrueAsync(() => database.DecryptedBytes == 0, "nothing is decrypted");

    private static async Task FillAsync(Database database, int count)
    {
        await using BulkInsert insert = database.BulkInsert();
        for (int i = 0; i < count; i++)
            await insert.StoreAsync(
                $"orders/{i}",
                Encoding.UTF8.GetBytes($$"""{"Number":{{i}},"Text":"text {{i}}","@metadata":{"@collection":"Orders"} }"""),
                Token);
    }

    private static async Task MarkAsync(Database database, int run)
    {
        WriteBatch batch = new WriteBatch(database.Options)
            .Put(
                $"marker-of-an-id/{run}",
                Encoding.UTF8.GetBytes(
                    """{"MarkerOfAField":"marker-of-a-body","Other":"marker-ä-ü-漢字","@metadata":{"@collection":"MarkerOfACollection","more":"marker-of-metadata"}}"""))
            .Put("marker-of-a-deleted-one", "{}"u8)
            .Put("marker-of-an-identity|", "{}"u8);
        await database.WriteAsync(batch, Token);
        Assert.True(await CountAsync(database, "from MarkerOfACollection where MarkerOfAField = 'marker-of-a-body'") > 0);
        Assert.True(await CountAsync(database, "from MarkerOfACollection where search(Other, 'marker-ä-ü-漢字')") > 0);
        await database.WriteAsync(new WriteBatch(database.Options).Delete("marker-of-a-deleted-one"), Token);
    }

    private static async Task<long> CountAsync(Database database, string query)
    {
        using QueryResults results = await database.QueryAsync(
            new QueryRequest { Text = query, WaitForNonStaleResults = true, WaitTimeout = Eventually.Patience }, Token);
        long count = 0;
        while (results.MoveNext())
            count++;
        Assert.False(results.IsStale);
        Assert.Equal(results.TotalResults, count);
        return count;
    }

    private static string Refused(string path, EncryptionKey? key) =>
        Assert.Throws<EncryptionKeyException>(() => Database.Open(path, new DatabaseOptions { EncryptionKey = key })).Message;

    private Database Open(EncryptionKey key) => Database.Open(Path, new DatabaseOptions { EncryptionKey = key });

    private Dictionary<string, string> Hashes() => Directory.GetFiles(_directory.Path, "*", SearchOption.AllDirectories)
        .Where(file => !file.EndsWith(".lock", StringComparison.Ordinal))
        .ToDictionary(file => file, file => Convert.ToHexString(SHA256.HashData(File.ReadAllBytes(file))));

    private sealed class Told(Action<EncryptionProgress> tell) : IProgress<EncryptionProgress>
    {
        public void Report(EncryptionProgress value) => tell(value);
    }
}
