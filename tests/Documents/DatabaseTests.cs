using System.Text;
using Treepie.Storage;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests;

public sealed class DatabaseTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_database_is_found_again_as_it_was_closed()
    {
        using var directory = new TemporaryDirectory();
        string path = Path.Combine(directory.Path, "shop");
        Guid id;
        await using (Database database = Database.Open(path))
        {
            id = database.Id;
            await database.WriteAsync(
                new WriteBatch()
                    .Put("users/1", Json("""{"n":1,"@metadata":{"@collection":"Users"}}"""))
                    .Put("users|", Json("{}")),
                Token);
        }

        using Database again = Database.Open(path + Path.DirectorySeparatorChar);

        Assert.Equal((id, "shop", 2), (again.Id, again.Name, again.LastEtag));
        DatabaseStatistics statistics = again.GetStatistics();
        Assert.Equal((2, 0, 2), (statistics.DocumentCount, statistics.TombstoneCount, statistics.LastEtag));
        Assert.StartsWith("A:2-", statistics.ChangeVector, StringComparison.Ordinal);
        Assert.True(statistics.SizeOnDiskBytes > 0);
        Assert.Equal(3, await again.NextIdentityAsync("users|", Token)); // 1 was taken
    }

    /// <summary>Also with the spare journal files, which are there once one has been used up.</summary>
    [Fact]
    public async Task A_database_of_ten_documents_takes_less_than_a_mebibyte()
    {
        const int Most = 1 << 20, JournalFiles = 3;
        using var directory = new TemporaryDirectory();
        string path = Path.Combine(directory.Path, "shop");
        await using (Database database = Database.Open(path))
        {
            for (int i = 1; i <= 10; i++)
                await database.WriteAsync(
                    new WriteBatch().Put($"users/{i}", Json($$$"""{"n":{{{i}}},"@metadata":{"@collection":"Users"}}""")), Token);
            await Eventually.TrueAsync(
                () => Directory.GetFiles(path, "journal-*", SearchOption.AllDirectories).Length == JournalFiles,
                "the spares are there");
            Assert.InRange(LengthOf(path), 1, Most);
            await database.WriteAsync(new WriteBatch().IncrementCounter("users/1", "n", 1), Token);
        }

        Assert.InRange(LengthOf(path), 1, Most);
        await using (Database again = Database.Open(path))
            await again.WriteAsync(new WriteBatch().Delete("users/1"), Token);
        Assert.InRange(LengthOf(path), 1, Most);
    }

    private static long LengthOf(string path) => new DirectoryInfo(path)
        .EnumerateFiles("*", SearchOption.AllDirectories)
        .Sum(static file => file.Length);

    [Fact]
    public void A_directory_with_other_things_in_it_is_refused_and_left_alone()
    {
        using var directory = new TemporaryDirectory();
        string file = Path.Combine(directory.Path, "thesis.txt");
        File.WriteAllText(file, "precious");

        ForeignDataException error = Assert.Throws<ForeignDataException>(() => Database.Open(directory.Path));
        Assert.Contains(directory.Path, error.Message, StringComparison.Ordinal);
        Assert.Contains("thesis.txt", error.Message, StringComparison.Ordinal);
        Assert.Throws<ForeignDataException>(() => Database.Open(file));
        Assert.Equal([file], Directory.GetFileSystemEntries(directory.Path));
        Assert.Equal("precious", File.ReadAllText(file));
    }

    [Fact]
    public void A_database_is_open_once()
    {
        using var directory = new TemporaryDirectory();
        using Database database = Database.Open(directory.Path);

        Assert.Throws<EnvironmentLockedException>(() => Database.Open(directory.Path));
        Assert.Equal(0, database.GetStatistics().DocumentCount);
    }

    [Fact]
    public void A_store_of_something_else_is_refused()
    {
        using var directory = new TemporaryDirectory();
        using (var environment = StorageEnvironment.Open(Path.Combine(directory.Path, "documents")))
            environment.Write(transaction => transaction.GetOrCreateTree("meta").Put("x"u8, "y"u8), Token);

        Assert.Throws<ForeignDataException>(() => Database.Open(directory.Path));
    }

    [Theory]
    [InlineData(0, 128, 512, "MaxDocumentBytes")]
    [InlineData(1000, 0, 512, "MaxDocumentDepth")]
    [InlineData(1000, 128, 513, "MaxIdBytes")]
    public void Limits_that_cannot_be_are_refused(int bytes, int depth, int idBytes, string option)
    {
        using var directory = new TemporaryDirectory();
        var options = new DatabaseOptions { MaxDocumentBytes = bytes, MaxDocumentDepth = depth, MaxIdBytes = idBytes };

        ArgumentOutOfRangeException error = Assert.Throws<ArgumentOutOfRangeException>(
            () => Database.Open(directory.Path, options));

        Assert.Equal(option, error.ParamName);
        Assert.Empty(Directory.GetFileSystemEntries(directory.Path));
    }

    [Fact]
    public async Task Waiting_for_a_change_ends_with_the_change_the_wish_or_the_database()
    {
        using var directory = new TemporaryDirectory();
        Database database = Database.Open(directory.Path);
        Task waiting = database.WaitForChangeAsync(0, Token);
        Assert.False(waiting.IsCompleted);
        await database.WriteAsync(new WriteBatch().Put("x", Json("{}")), Token);
        await waiting;
        Assert.True(database.WaitForChangeAsync(0, Token).IsCompletedSuccessfully);

        using var stop = new CancellationTokenSource();
        Task cancelled = database.WaitForChangeAsync(1, stop.Token);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);

        Task closed = database.WaitForChangeAsync(1, Token);
        await database.DisposeAsync();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => closed);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => database.WaitForChangeAsync(0, Token));
    }

    [Fact]
    public async Task A_closed_database_says_so()
    {
        using var directory = new TemporaryDirectory();
        Database database = Database.Open(directory.Path);
        database.Dispose();
        database.Dispose();
        await database.DisposeAsync();

        Assert.Throws<ObjectDisposedException>(() => database.BeginRead());
        Assert.Throws<ObjectDisposedException>(() => database.OpenSession());
        await Assert.ThrowsAsync<ObjectDisposedException>(
            () => database.WriteAsync(new WriteBatch().Put("x", Json("{}")), Token));
    }

    [Fact]
    public async Task A_write_that_is_given_up_before_it_begins_changes_nothing()
    {
        using var directory = new TemporaryDirectory();
        using Database database = Database.Open(directory.Path);

        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => database.WriteAsync(new WriteBatch().Put("x", Json("{}")), new CancellationToken(canceled: true)));

        Assert.Equal(0, database.GetStatistics().LastEtag);
    }

    private static byte[] Json(string json) => Encoding.UTF8.GetBytes(json);
}
