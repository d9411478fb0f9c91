using System.Text.Json.Serialization;
using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>What becomes of documents whose class changed shape since they were stored.</summary>
public sealed class ClassShapeTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public ClassShapeTests() => _database = Database.Open(_directory.Path);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        using DocumentSession session = _database.OpenSession();
        session.Store(
            new Before.Customer
            {
                Id = "customers/1",
                Name = "Ada",
                Phone = "12",
                Points = 7,
                Kind = Before.Kind.Gold,
                Tags = "a",
            });
        await session.SaveChangesAsync(Token);
    }

    public async ValueTask DisposeAsync()
    {
        await _database.DisposeAsync();
        _directory.Dispose();
    }

    [Fact]
    public async Task A_member_that_came_later_has_its_initial_value_and_is_stored_with_the_next_change()
    {
        using (DocumentSession session = _database.OpenSession())
        {
            Added.Customer customer = session.Load<Added.Customer>("customers/1")!;
            Assert.Equal((0, "unknown", null), (customer.Level, customer.Origin, customer.Since));
            Assert.False(session.HasChanges);
            Assert.Empty(await session.Query<Added.Customer>().Where(c => c.Level == 0).ToListAsync(Token));
            Assert.Single(await session.Query<Added.Customer>().Where(c => c.Since == null).ToListAsync(Token));
            Assert.Single(await session.Query<Added.Customer>().Where(c => !RqlMethods.Exists(c.Level)).ToListAsync(Token));
        }

        Assert.Equal(
            1,
            await _database.PatchByQueryAsync<Added.Customer>(
                c => !RqlMethods.Exists(c.Level), patch => patch.Set(c => c.Level, 0), cancellationToken: Token));
        using DocumentSession after = _database.OpenSession();
        Assert.Equal("Ada", (await after.Query<Added.Customer>().Where(c => c.Level == 0).SingleAsync(Token)).Name);
        Assert.Equal(7, after.Load<Added.Customer>("customers/1")!.Points);
    }

    [Fact]
    public async Task A_member_that_went_stays_in_the_document()
    {
        using (DocumentSession session = _database.OpenSession())
        {
            session.Load<Removed.Customer>("customers/1")!.Name = "Grace";
            await session.SaveChangesAsync(Token);
        }

        using DocumentSession after = _database.OpenSession();
        Before.Customer customer = after.Load<Before.Customer>("customers/1")!;
        Assert.Equal(("Grace", "12", 7, Before.Kind.Gold), (customer.Name, customer.Phone, customer.Points, customer.Kind));
    }

    [Fact]
    public async Task A_member_that_is_called_otherwise_names_the_member_of_documents()
    {
        using (DocumentSession session = _database.OpenSession())
        {
            // Without its old name it is a member that came later beside one that went.
            Assert.Null(session.Load<Renamed.Customer>("customers/1")!.Telephone);
            session.Clear();
            Named.Customer customer = session.Load<Named.Customer>("customers/1")!;
            Assert.Equal("12", customer.Telephone);
            Assert.Single(await session.Query<Named.Customer>().Where(c => c.Telephone == "12").ToListAsync(Token));
            customer.Telephone = "13";
            await session.SaveChangesAsync(Token);
        }

        using DocumentSession after = _database.OpenSession();
        Assert.Equal("13", after.Load<Before.Customer>("customers/1")!.Phone);
    }

    [Fact]
    public async Task A_type_that_holds_more_reads_what_was_stored()
    {
        using (DocumentSession session = _database.OpenSession())
        {
            Wider.Customer customer = session.Load<Wider.Customer>("customers/1")!;
            Assert.Equal((7L, 12), (customer.Points, customer.Phone));
            customer.Points = long.MaxValue;
            await session.SaveChangesAsync(Token);
        }

        using DocumentSession after = _database.OpenSession();
        Assert.Equal(long.MaxValue, after.Load<Wider.Customer>("customers/1")!.Points);

        // Who has the old class yet is told, and changes nothing.
        after.Clear();
        TreepieException error = Assert.ThrowsAny<TreepieException>(() => after.Load<Before.Customer>("customers/1"));
        Assert.Contains("customers/1", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(typeof(Number.Customer), "$.Phone")]
    [InlineData(typeof(List.Customer), "$.Tags")]
    [InlineData(typeof(Fewer.Customer), "$.Kind")]
    public async Task A_type_that_does_not_fit_is_refused_with_document_and_member(Type type, string member)
    {
        using DocumentSession session = _database.OpenSession();
        Func<object?> load = type == typeof(Number.Customer)
            ? () => session.Load<Number.Customer>("customers/1")
            : type == typeof(List.Customer)
                ? () => session.Load<List.Customer>("customers/1")
                : () => session.Load<Fewer.Customer>("customers/1");
        TreepieException error = Assert.ThrowsAny<TreepieException>(load);
        Assert.Contains("customers/1", error.Message, StringComparison.Ordinal);
        Assert.Contains(member, error.Message, StringComparison.Ordinal);
        Assert.False(session.IsLoaded("customers/1"));
        await Assert.ThrowsAnyAsync<TreepieException>(() => session.Query<Number.Customer>().ToListAsync(Token));
        Assert.Equal("12", session.Load<Before.Customer>("customers/1")!.Phone);
        Assert.False(session.HasChanges);
    }

    [Fact]
    public async Task A_class_that_is_called_otherwise_names_its_collection()
    {
        using DocumentSession session = _database.OpenSession();
        Assert.Empty(await session.Query<Client>().ToListAsync(Token));
        Assert.Equal("Ada", session.Load<Client>("customers/1")!.Name); // ids know no class
        using DocumentSession named = _database.OpenSession(
            options => options with { CollectionOf = type => type == typeof(Client) ? "Customers" : $"{type.Name}s" });
        Client client = await named.Query<Client>().SingleAsync(Token);
        client.Name = "Grace";
        named.Store(new Client { Name = "Edsger" });
        await named.SaveChangesAsync(Token);
        using DocumentSession after = _database.OpenSession();
        Assert.Equal(
            ["Edsger", "Grace"],
            (await after.Query<Before.Customer>().OrderBy(c => c.Name).ToListAsync(Token)).Select(c => c.Name));
    }

    private static class Before
    {
        public enum Kind
        {
            Plain,
            Gold,
        }

        public sealed class Customer
        {
            public string? Id { get; set; }

            public string Name { get; set; } = "";

            public string? Phone { get; set; }

            public int Points { get; set; }

            public Kind Kind { get; set; }

            public string? Tags { get; set; }
        }
    }

    private static class Added
    {
        public sealed class Customer
        {
            public string? Id { get; set; }

            public string Name { get; set; } = "";

            public int Points { get; set; }

            public int Level { get; set; }

            public string Origin { get; set; } = "unknown";

            public DateTime? Since { get; set; }
        }
    }

    private static class Removed
    {
        public sealed class Customer
        {
            public string? Id { get; set; }

            public string Name { get; set; } = "";
        }
    }

    private static class Renamed
    {
        public sealed class Customer
        {
            public string? Id { get; set; }

            public string? Telephone { get; set; }
        }
    }

    private static class Named
    {
        public sealed class Customer
        {
            public string? Id { get; set; }

            [JsonPropertyName("Phone")]
            public string? Telephone { get; set; }
        }
    }

    private static class Wider
    {
        public sealed class Customer
        {
            public string? Id { get; set; }

            public long Points { get; set; }

            [JsonNumberHandling(JsonNumberHandling.AllowReadingFromString)]
            public int Phone { get; set; }
        }
    }

    private static class Number
    {
        public sealed class Customer
        {
            public string? Id { get; set; }

            public int Phone { get; set; }
        }
    }

    private static class List
    {
        public sealed class Customer
        {
            public string? Id { get; set; }

            public List<string> Tags { get; set; } = [];
        }
    }

    private static class Fewer
    {
        public enum Kind
        {
            Plain,
        }

        public sealed class Customer
        {
            public string? Id { get; set; }

            public Kind Kind { get; set; }
        }
    }

    private sealed class Client
    {
        public string? Id { get; set; }

        public string Name { get; set; } = "";
    }
}
