using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using Treepie.Sessions;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>What objects come back as: nothing of them is lost, and what would be is refused by name.</summary>
public sealed class EntityTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public EntityTests() => _database = Database.Open(_directory.Path);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task What_a_type_does_not_have_and_did_not_change_stays_as_it_was()
    {
        await Put(
            "orders/1",
            """{"Total":1.0,"Big":1152921504606846976,"Note":"é","Address":{"City":"Reims","Geo":{"Lat":49.250}},"Lines":[{"Amount":1,"Sku":"a"},{"Amount":2,"Sku":"b"}]}""");
        using DocumentSession session = _database.OpenSession();
        Order order = session.Load<Order>("orders/1")!; // just put
        order.Address!.City = "Rouen";
        order.Lines[1].Amount = 3;

        await session.SaveChangesAsync(Token);

        Assert.Equal(
            """{"Total":1.0,"Big":1152921504606846976,"Note":"é","Address":{"City":"Rouen","Geo":{"Lat":49.250}},"Lines":[{"Amount":1,"Sku":"a"},{"Amount":3,"Sku":"b"}]}""",
            Body("orders/1"));
        order.Total = 2;
        order.Lines.RemoveAt(0);
        await session.SaveChangesAsync(Token);
        Assert.Equal(
            """{"Total":2,"Big":1152921504606846976,"Note":"é","Address":{"City":"Rouen","Geo":{"Lat":49.250}},"Lines":[{"Amount":3,"Sku":"b"}]}""",
            Body("orders/1"));
        Assert.False(session.HasChanges);
    }

    [Fact]
    public async Task Without_that_option_a_document_becomes_what_the_type_writes()
    {
        await Put("orders/1", """{"Total":1.0,"Note":1}""");
        using DocumentSession session = _database.OpenSession(
            new SessionOptions { Json = JsonSerializerOptions.Default, PreserveUnknownProperties = false });
        session.Load<OrderLine>("orders/1")!.Amount = 5; // just put
        await session.SaveChangesAsync(Token);
        Assert.Equal("""{"Amount":5}""", Body("orders/1"));
    }

    [Fact]
    public async Task Ids_are_strings_numbers_guids_and_types_of_ones_own()
    {
        using DocumentSession session = _database.OpenSession();
        var numbered = new Numbered();
        var given = new Numbered { Id = 4711 };
        var unique = new Unique();
        var typed = new Typed { Id = new TypedId("typeds/x") };
        var counted = new Counted { Id = new CountedId(7) };
        foreach (object entity in new object[] { numbered, given, unique, typed, counted })
            session.Store(entity);
        await session.SaveChangesAsync(Token);

        Assert.Equal(1, numbered.Id);
        Assert.NotEqual(Guid.Empty, unique.Id);
        using DocumentSession second = _database.OpenSession();
        Assert.Equal(4711, second.Load<Numbered>(4711)?.Id);
        Assert.Equal(1, second.Load<Numbered>("numbereds/1")?.Id);
        Assert.Equal(unique.Id, second.Load<Unique>(unique.Id)?.Id);
        Assert.Equal("typeds/x", second.Load<Typed>("typeds/x")?.Id.Value);
        Assert.Equal(7, second.Load<Counted>("counteds/7")?.Id.Value);
        Assert.Equal("{}", Body("counteds/7")); // the id is the document's, not in it
        await Put("numbereds/ada", "{}");
        Assert.Contains(
            "'numbereds/ada'", Assert.Throws<TreepieException>(() => second.Load<Numbered>("numbereds/ada")).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task Derived_types_come_back_as_what_they_were()
    {
        using (DocumentSession session = _database.OpenSession())
        {
            session.Store(new Dog { Id = "pets/1", Name = "Rex", Barks = true });
            session.Store(new Cat { Id = "pets/2", Name = "Tom", Lives = 9 });
            session.Store(new Owner { Id = "owners/1", Pets = [new Cat { Name = "Kit", Lives = 7 }] });
            await session.SaveChangesAsync(Token);
        }

        using DocumentSession second = _database.OpenSession();
        Assert.True(Assert.IsType<Dog>(second.Load<Pet>("pets/1")).Barks);
        Assert.Equal(9, second.Load<Cat>("pets/2")?.Lives);
        Assert.Equal(7, Assert.IsType<Cat>(second.Load<Owner>("owners/1")!.Pets[0]).Lives); // just saved
        using (DatabaseSnapshot snapshot = _database.BeginRead())
            Assert.Equal(["Owners:1", "Pets:2"], snapshot.Collections().Select(found => $"{found.Name}:{found.DocumentCount}"));
        using DocumentSession third = _database.OpenSession();
        Assert.Contains(
            "is of type Dog", Assert.Throws<TreepieException>(() => third.Load<Cat>("pets/1")).Message, StringComparison.Ordinal);
        await Put("pets/3", """{"Name":"Late","Lives":3,"$type":"cat"}""");
        Assert.Equal(3, Assert.IsType<Cat>(third.Load<Pet>("pets/3")).Lives);
    }

    [Fact]
    public async Task Private_setters_and_constructors_are_used_and_enumerations_are_names()
    {
        using (DocumentSession session = _database.OpenSession())
        {
            session.Store(Account.Open("Ada"), "accounts/1");
            await session.SaveChangesAsync(Token);
        }

        Assert.Equal("""{"Owner":"Ada","State":"Open"}""", Body("accounts/1"));
        using DocumentSession second = _database.OpenSession();
        Account account = second.Load<Account>("accounts/1")!; // just saved
        Assert.Equal(("Ada", AccountState.Open), (account.Owner, account.State));
        await Put("accounts/2", """{"Owner":"Bob","State":1}""");
        Assert.Equal(AccountState.Closed, second.Load<Account>("accounts/2")?.State); // numbers of an earlier version
    }

    [Theory]
    [InlineData(typeof(WithField), "WithField.Total is a field")]
    [InlineData(typeof(WithTuple), ".Item1 is a field")]
    [InlineData(typeof(WithShape), "IShape is an interface")]
    [InlineData(typeof(WithDate), "WithDate.Id is of type DateTime")]
    public void What_would_be_lost_is_refused_by_name_before_anything_is_written(Type type, string says)
    {
        using DocumentSession session = _database.OpenSession();
        object entity = Activator.CreateInstance(type)!; // a class

        TreepieException error = Assert.Throws<TreepieException>(() => session.Store(entity));

        Assert.Contains(says, error.Message, StringComparison.Ordinal);
        Assert.False(session.HasChanges);
    }

    [Fact]
    public async Task A_query_sees_what_was_saved_before_it()
    {
        using DocumentSession session = _database.OpenSession();
        session.Store(new Numbered { Id = 1, Name = "first" });
        await session.SaveChangesAsync(Token);
        // makes the index
        Assert.Single(await session.QueryAsync<Numbered>("from Numbereds where Name = 'first'", cancellationToken: Token));
        for (int i = 2; i < 60; i++)
        {
            session.Store(new Numbered { Id = i, Name = "n" + i });
            await session.SaveChangesAsync(Token);
            Assert.Single(
                await session.QueryAsync<Numbered>(
                    "from Numbereds where Name = $name", new { name = "n" + i }, cancellationToken: Token));
        }
    }

    [Fact]
    public async Task Options_of_the_database_hold_for_its_sessions()
    {
        using var directory = new TemporaryDirectory();
        var json = new JsonSerializerOptions
        {
            PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
            TypeInfoResolver = JsonSerializerOptions.Default.TypeInfoResolver
        };
        using Database database = Database.Open(directory.Path, new DatabaseOptions { Json = json });
        using DocumentSession session = database.OpenSession();
        session.Store(new Numbered { Id = 1, Name = "x" });
        await session.SaveChangesAsync(Token);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet("numbereds/1", out Document document));
        Assert.Equal("""{"name":"x"}""", Encoding.UTF8.GetString(document.Body));
    }

    [Fact]
    public void Every_error_has_one_root()
    {
        Type[] errors = [
            .. new[] { typeof(Database), typeof(Treepie.Storage.StorageEnvironment), typeof(Treepie.Indexing.IndexSearcher) }
                .SelectMany(type => type.Assembly.GetExportedTypes()).Where(type => type.IsSubclassOf(typeof(Exception)))];
        Assert.True(errors.Length > 10);
        Assert.All(errors, error => Assert.True(typeof(TreepieException).IsAssignableFrom(error), error.FullName));
    }

    private string Body(string id)
    {
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet(id, out Document document));
        return Encoding.UTF8.GetString(document.Body);
    }

    private async Task Put(string id, string json) =>
        await _database.WriteAsync(new WriteBatch().Put(id, Encoding.UTF8.GetBytes(json)), Token);

    internal sealed class Order
    {
        public string? Id { get; set; }

        public double Total { get; set; }

        public Address? Address { get; set; }

        public List<OrderLine> Lines { get; set; } = [];

        public int Added { get; set; }
    }

    internal sealed class Address
    {
        public string City { get; set; } = "";
    }

    internal sealed class OrderLine
    {
        public int Amount { get; set; }
    }

    internal sealed class Numbered
    {
        public int Id { get; set; }

        public string? Name { get; set; }
    }

    internal sealed class Unique
    {
        public Guid Id { get; set; }
    }

    [JsonConverter(typeof(TypedIdConverter))]
    internal sealed record TypedId(string Value);

    internal sealed class TypedIdConverter : JsonConverter<TypedId>
    {
        public override TypedId Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
            new(reader.GetString() ?? "");

        public override void Write(Utf8JsonWriter writer, TypedId value, JsonSerializerOptions options) =>
            writer.WriteStringValue(value.Value);
    }

    internal sealed class Typed
    {
        public required TypedId Id { get; set; }
    }

    [JsonConverter(typeof(CountedIdConverter))]
    internal readonly record struct CountedId(long Value);

    internal sealed class CountedIdConverter : JsonConverter<CountedId>
    {
        public override CountedId Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
            new(reader.GetInt64());

        public override void Write(Utf8JsonWriter writer, CountedId value, JsonSerializerOptions options) =>
            writer.WriteNumberValue(value.Value);
    }

    internal sealed class Counted
    {
        public CountedId Id { get; set; }
    }

    [JsonDerivedType(typeof(Dog), "dog")]
    [JsonDerivedType(typeof(Cat), "cat")]
    internal abstract class Pet
    {
        public string? Id { get; set; }

        public string Name { get; set; } = "";
    }

    internal sealed class Dog : Pet
    {
        public bool Barks { get; set; }
    }

    internal sealed class Cat : Pet
    {
        public int Lives { get; set; }
    }

    internal sealed class Owner
    {
        public string? Id { get; set; }

        public List<Pet> Pets { get; set; } = [];
    }

    internal enum AccountState
    {
        Open,
        Closed,
    }

    internal sealed class Account
    {
        private Account()
        {
        }

        public string Owner { get; private set; } = "";

        public AccountState State { get; private set; }

        public static Account Open(string owner) => new() { Owner = owner };
    }

    internal sealed class WithField
    {
        public int Total = 1;
    }

    internal sealed class WithTuple
    {
        public (int Low, int High) Range { get; set; }
    }

    internal interface IShape
    {
        double Area { get; }
    }

    internal sealed class WithShape
    {
        public List<IShape> Shapes { get; set; } = [];
    }

    internal sealed class WithDate
    {
        public DateTime Id { get; set; }
    }
}
