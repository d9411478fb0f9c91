using Treepie.Linq;
using Treepie.Sessions;

namespace Treepie.Documents.Tests.Pages;

/// <summary>
/// Lines as they are typed by habit of other databases: those of which docs/howto/coming-from.md says that they are the same here
/// compile, and do what they do there.
/// </summary>
public sealed class HabitTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void Lines_of_RavenDB_that_block()
    {
        using IDocumentStore store = Opened();
        using IDocumentSession session = store.OpenSession();
        Customer? customer = session.Load<Customer>("customers/1");
        Dictionary<string, Customer?> several = session.Load<Customer>(["customers/1", "customers/2"]).ToDictionary();
        Order order = session.Include<Order>(o => o.CustomerId).Load<Order>("orders/1")!;
        Order counted = session.Load<Order>("orders/1", i => i.IncludeCounter("likes").IncludeTimeSeries("heat"))!;
        List<Customer> query = session.Query<Customer>()
            .Where(c => c.City == "Reims" && c.Age >= 30)
            .OrderBy(c => c.Name)
            .ToList();
        Customer first = session.Query<Customer>().First(c => c.Name == "Ada");
        Customer? none = session.Query<Customer>().SingleOrDefault(c => c.Name == "nobody");
        bool any = session.Query<Customer>().Any(c => c.Age > 100);
        int count = session.Query<Customer>().Count(c => c.City == "Reims");
        List<string?> names = session.Query<Customer>().Select(c => c.Name).Distinct().ToList();
        var page = session.Query<Customer>().Statistics(out QueryStatistics stats).Skip(0).Take(1).ToList();
        var lines = session.Query<Order>().Where(o => o.Lines.Any(l => l.Product == "a" && l.Amount > 1)).ToList();
        var joined = session.Query<Order>().Select(o => new { o.Id, RqlMethods.Load<Customer>(o.CustomerId)!.Name }).ToList();
        List<Customer> from = (from c in session.Query<Customer>() where c.Age > 3 orderby c.Age descending select c).ToList();
        Lazy<IEnumerable<Customer>> lazily = session.Query<Customer>().Lazily();
        Lazy<Customer?> later = session.Advanced.Lazily.Load<Customer>("customers/2");
        List<Customer> searched = session.Query<Customer>().Search(c => c.Name, "ada").ToList();

        Assert.Equal(("Ada", 2), (customer!.Name, several.Count));
        Assert.Same(order, counted);
        Assert.Same(customer, session.Load<Customer>(order.CustomerId!));
        Assert.Equal((2, 2, 1), (query.Count, count, names.Count(name => name == "Ada")));
        Assert.Same(customer, first);
        Assert.Null(none);
        Assert.False(any);
        Assert.Equal((1, 3L), (page.Count, stats.TotalResults));
        Assert.Same(order, Assert.Single(lines));
        Assert.Equal("Ada", joined.Single().Name);
        Assert.Equal((3, 3), (from.Count, lazily.Value.Count()));
        Assert.Equal("Grace", later.Value!.Name);
        Assert.Same(customer, Assert.Single(searched));

        session.Advanced.Patch<Customer, string?>("customers/2", c => c.City, "Lyon");
        session.Advanced.Increment<Customer, int>("customers/2", c => c.Age, 1);
        session.CountersFor("customers/2").Increment("likes");
        session.TimeSeriesFor("customers/2", "heat").Append(DateTime.UtcNow, 3);
        session.Delete("customers/3");
        session.Advanced.WaitForIndexesAfterSaveChanges();
        Assert.True(session.Advanced.HasChanges);
        session.SaveChanges();
        session.Advanced.Evict(customer);
        session.Advanced.Clear();
        Assert.Equal(2, session.Query<Customer>().Count());
        Assert.Equal(1, session.CountersFor("customers/2").GetAll()["likes"]);
    }

    [Fact]
    public async Task Lines_of_RavenDB_that_are_awaited()
    {
        using IDocumentStore store = Opened();
        using IAsyncDocumentSession session = store.OpenAsyncSession();
        await session.StoreAsync(new Customer { Name = "Edsger", City = "Austin" }, cancellationToken: Token);
        await session.SaveChangesAsync(Token);
        Customer? customer = await session.LoadAsync<Customer>("customers/1", Token);
        Order? order = await session.Include<Order>(o => o.CustomerId).LoadAsync<Order>("orders/1", Token);
        List<Customer> list = await session.Query<Customer>().Where(c => c.City.In("Reims", "Austin")).ToListAsync(Token);
        Customer? one = await session.Query<Customer>().FirstOrDefaultAsync(c => c.Name!.StartsWith("Ed"), Token);
        int count = await session.Query<Customer>().CountAsync(Token);
        var groups = await session.Query<Customer>().GroupBy(c => c.City)
            .Select(g => new { City = g.Key, Count = g.Count(), Ages = g.Sum(c => c.Age) }).ToListAsync(Token);
        List<Customer> raw = await session.RawQuery<Customer>("from Customers where Age > $least").AddParameter("least", 20)
            .ToListAsync(Token);
        IAsyncEnumerable<StreamResult<Customer>> stream = session.Advanced.StreamAsync(session.Query<Customer>(), Token);
        bool exists = await session.Advanced.ExistsAsync("customers/1", Token);
        Lazy<Task<int>> lazy = session.Query<Customer>().CountLazilyAsync();
        Assert.Equal(("Ada", "orders/1", 3, "Edsger", 4), (customer!.Name, order!.Id, list.Count, one!.Name, count));
        Assert.Equal(2, groups.Single(g => g.City == "Reims").Count);
        Assert.Equal(3, raw.Count);
        Assert.True(exists);
        Assert.Equal(4, await lazy.Value);
        int streamed = 0;
        await foreach (StreamResult<Customer> result in stream)
            streamed += result.Document.Name is null ? 0 : 1;
        Assert.Equal(4, streamed);
        Assert.Equal(2, await store.DeleteByQueryAsync<Customer>(c => c.City == "Reims", Token));
    }

    [Fact]
    public async Task Lines_of_EF_Core()
    {
        using IDocumentStore store = Opened();
        using IAsyncDocumentSession context = store.OpenAsyncSession();
        List<Customer> found = await context.Query<Customer>()
            .Where(c => c.Name!.Contains("ra") && c.City != null)
            .OrderByDescending(c => c.Age).ThenBy(c => c.Name)
            .Skip(0).Take(10)
            .ToListAsync(Token);
        Customer single = await context.Query<Customer>().Where(c => c.Name == "Ada").SingleAsync(Token);
        bool any = await context.Query<Customer>().AnyAsync(c => c.Age > 3, Token);
        var rows = await context.Query<Customer>().Select(c => new { c.Name, Older = c.Age + 1 }).ToArrayAsync(Token);
        single.City = "Lyon";
        await context.SaveChangesAsync(Token);
        Assert.Equal((1, 3, true), (found.Count, rows.Length, any));
        Assert.Equal(
            1,
            await store.PatchByQueryAsync<Customer>(
                c => c.City == "Lyon", patch => patch.Set(c => c.Age, 1), cancellationToken: Token));
        await store.RunAsync(
            async session =>
            {
                (await session.LoadAsync<Customer>("customers/1", Token))!.Age++;
            },
            Token);
        using IDocumentSession after = store.OpenSession();
        Assert.Equal(("Lyon", 2), (after.Load<Customer>("customers/1")!.City, after.Load<Customer>("customers/1")!.Age));
    }

    [Fact]
    public async Task Lines_of_LiteDB_MongoDB_and_Marten()
    {
        using IDocumentStore store = Opened();
        await using (ObjectInsert many = store.BulkInsertObjects())
        {
            for (int i = 0; i < 10; i++)
                await many.StoreAsync(new Customer { Name = $"n{i}", Age = i }, cancellationToken: Token);
            await many.CompleteAsync(Token);
        }

        using IDocumentSession session = store.OpenSession();
        List<Customer> found = session.Query<Customer>().Where(x => x.Name == "n3" || x.Age > 8).ToList();
        List<Order> matched = session.Query<Order>().Where(o => o.Lines.Any(l => l.Product == "b" && l.Amount == 1)).ToList();
        IReadOnlyList<Customer> loaded = session.LoadStartingWith<Customer>("customers/");
        session.Advanced.Patch<Order, Line>("orders/1", o => o.Lines, lines => lines.Add(new Line { Product = "c", Amount = 5 }));
        session.SaveChanges();
        Assert.Equal((5, 13), (found.Count, loaded.Count));
        Assert.Single(matched);
        Assert.Equal(3, session.Load<Order>("orders/1")!.Lines.Count);
    }

    private static Database Opened()
    {
        Database database = Database.OpenInMemory();
        using DocumentSession session = database.OpenSession();
        session.Store(new Customer { Id = "customers/1", Name = "Ada", City = "Reims", Age = 36 });
        session.Store(new Customer { Id = "customers/2", Name = "Grace", City = "Reims", Age = 40 });
        session.Store(new Customer { Id = "customers/3", Name = "Tony", Age = 50 });
        session.Store(
            new Order
            {
                Id = "orders/1",
                CustomerId = "customers/1",
                Lines = [new Line { Product = "a", Amount = 2 }, new Line { Product = "b", Amount = 1 }],
            });
        session.SaveChanges();
        return database;
    }

    private sealed class Customer
    {
        public string? Id { get; set; }

        public string? Name { get; set; }

        public string? City { get; set; }

        public int Age { get; set; }
    }

    private sealed class Order
    {
        public string? Id { get; set; }

        public string? CustomerId { get; set; }

        public List<Line> Lines { get; set; } = [];
    }

    private sealed class Line
    {
        public string? Product { get; set; }

        public int Amount { get; set; }
    }
}
