using Treepie.Storage;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests;

public sealed class DatabaseCatalogTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Folder => Path.Combine(_directory.Path, "databases");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Databases_are_created_found_without_case_and_found_again()
    {
        await using (var catalog = new DatabaseCatalog(_directory.Path))
        {
            Assert.Null(catalog.Find("shop"));
            Database shop = catalog.Create("Shop");
            catalog.Create("another.one-2_x");
            Assert.Same(shop, catalog.Find("SHOP"));
            Assert.Equal(["another.one-2_x", "Shop"], catalog.Names);
            await shop.WriteAsync(new WriteBatch().Put("x", "{}"u8.ToArray()), Token);
            ConcurrencyException error = Assert.Throws<ConcurrencyException>(() => catalog.Create("SHOP"));
            Assert.Contains("'Shop' exists", error.Message, StringComparison.Ordinal);
        }

        using var again = new DatabaseCatalog(_directory.Path);
        Assert.Equal(["another.one-2_x", "Shop"], again.Names);
        Assert.Equal(1, again.Find("shop")?.GetStatistics().DocumentCount);
        Assert.Equal("Shop", again.Find("shop")?.Name);
    }

    [Theory]
    [InlineData("")]
    [InlineData(".")]
    [InlineData("..")]
    [InlineData("a/b")]
    [InlineData("a\\b")]
    [InlineData("a b")]
    [InlineData("~a")]
    [InlineData("a\0")]
    [InlineData("a:b")]
    public void A_name_that_could_lead_elsewhere_is_refused(string name)
    {
        using var catalog = new DatabaseCatalog(_directory.Path);

        ArgumentException error = Assert.Throws<ArgumentException>(() => catalog.Create(name));

        Assert.Contains($"'{name}' cannot be the name of a database", error.Message, StringComparison.Ordinal);
        Assert.Null(catalog.Find(name));
        Assert.False(catalog.Delete(name, deleteFiles: true));
        Assert.Empty(Directory.GetFileSystemEntries(Folder));
        Assert.Throws<ArgumentException>(() => catalog.Create(new string('x', 129)));
    }

    [Fact]
    public void A_deleted_database_is_gone_with_its_files_and_its_name_free()
    {
        using (var catalog = new DatabaseCatalog(_directory.Path))
        {
            Database first = catalog.Create("shop");
            Assert.True(catalog.Delete("SHOP", deleteFiles: true));
            Assert.Throws<ObjectDisposedException>(() => first.BeginRead());
            Assert.Null(catalog.Find("shop"));
            Assert.False(catalog.Delete("shop", deleteFiles: true));
            Assert.Empty(Directory.GetFileSystemEntries(Folder));
            Assert.NotEqual(first.Id, catalog.Create("shop").Id);
        }

        using var again = new DatabaseCatalog(_directory.Path);
        Assert.Equal(["shop"], again.Names);
    }

    [Fact]
    public void Files_that_are_kept_come_back_with_the_next_opening()
    {
        using (var catalog = new DatabaseCatalog(_directory.Path))
        {
            catalog.Create("shop");
            Assert.True(catalog.Delete("shop", deleteFiles: false));
            Assert.Empty(catalog.Names);
            ConcurrencyException error = Assert.Throws<ConcurrencyException>(() => catalog.Create("shop"));
            Assert.Contains("files kept", error.Message, StringComparison.Ordinal);
        }

        using var again = new DatabaseCatalog(_directory.Path);
        Assert.NotNull(again.Find("shop"));
    }

    [Fact]
    public void What_was_half_made_or_half_deleted_is_cleared_away_and_what_is_foreign_left_alone()
    {
        Directory.CreateDirectory(Path.Combine(Folder, "~creating-shop-1", "documents"));
        Directory.CreateDirectory(Path.Combine(Folder, "~deleted-shop-1"));
        Directory.CreateDirectory(Path.Combine(Folder, "not a database"));

        using var catalog = new DatabaseCatalog(_directory.Path);

        Assert.Empty(catalog.Names);
        Assert.Equal([Path.Combine(Folder, "not a database")], Directory.GetFileSystemEntries(Folder));
    }

    [Fact]
    public void A_database_that_does_not_open_answers_with_its_error_and_leaves_the_others_alone()
    {
        Directory.CreateDirectory(Path.Combine(Folder, "broken"));
        File.WriteAllText(Path.Combine(Folder, "broken", "x"), "not a database");
        using var catalog = new DatabaseCatalog(_directory.Path);
        catalog.Create("good");

        Assert.Throws<ForeignDataException>(() => catalog.Find("broken"));
        Assert.Throws<ForeignDataException>(() => catalog.Find("broken"));
        Assert.NotNull(catalog.Find("good"));
        File.Delete(Path.Combine(Folder, "broken", "x"));
        Assert.NotNull(catalog.Find("broken"));
    }

    [Fact]
    public void A_data_directory_is_open_once()
    {
        using var catalog = new DatabaseCatalog(_directory.Path);

        EnvironmentLockedException error = Assert.Throws<EnvironmentLockedException>(() => new DatabaseCatalog(_directory.Path));

        Assert.Contains(_directory.Path, error.Message, StringComparison.Ordinal);
        Assert.Contains($"process {Environment.ProcessId} ", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_data_directory_that_is_a_file_is_refused_by_name()
    {
        string file = Path.Combine(_directory.Path, "file");
        File.WriteAllText(file, "x");

        StorageException error = Assert.Throws<StorageException>(() => new DatabaseCatalog(file));

        Assert.Contains(file, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Creating_finding_and_deleting_at_once_leave_a_whole_catalog()
    {
        using var catalog = new DatabaseCatalog(_directory.Path);
        int created = 0;
        int deleted = 0;
        await Task.WhenAll(Enumerable.Range(0, 4).Select(worker => Task.Run(
            () =>
            {
                var random = new Random(worker);
                for (int step = 0; step < 15; step++)
                {
                    string name = $"db{random.Next(2)}";
                    switch (random.Next(3))
                    {
                        case 0:
                            try
                            {
                                catalog.Create(name);
                                Interlocked.Increment(ref created);
                            }
                            catch (ConcurrencyException)
                            {
                                // somebody else was first
                            }

                            break;
                        case 1:
                            if (catalog.Delete(name, deleteFiles: true))
                                Interlocked.Increment(ref deleted);
                            break;
                        default:
                            catalog.Find(name);
                            break;
                    }
                }
            },
            Token)));

        Assert.Equal(created - deleted, catalog.Names.Count);
        Assert.Equal(catalog.Names, Directory.GetDirectories(Folder).Select(path => Path.GetFileName(path)!).Order());
        foreach (string name in catalog.Names)
            Assert.NotNull(catalog.Find(name));
    }
}
