using System.Linq.Expressions;
using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Linq;

/// <summary>
/// The same LINQ over the database and over objects in memory: random conditions, orders, pages and projections over random
/// documents give the same rows.
/// </summary>
public sealed class LinqOracleTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public LinqOracleTests() => _database = Database.Open(_directory.Path);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Random_queries_give_what_the_same_LINQ_gives_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Order> all = await Fill(random, 300);
        for (int round = 0; round < 250; round++)
        {
            Expression<Func<Order, bool>> condition = OrderConditions.Joined(random, depth: random.Next(4));
            Func<Order, bool> inMemory = condition.Compile();
            using DocumentSession session = _database.OpenSession();
            IDocumentQueryable<Order> query = session.Query<Order>().Where(condition);
            string said = $"{condition}\n{query}";
            string?[] expected = [.. all.Where(inMemory).Select(order => order.Id).Order(StringComparer.Ordinal)];

            Assert.Equal(
                expected, (await query.ToListAsync(Token)).Select(order => order.Id).Order(StringComparer.Ordinal), Same(said));
            Assert.True(expected.Length == await query.CountAsync(Token), said);
            Assert.True(expected.Length > 0 == await query.AnyAsync(Token), said);
            await Pages(random, query, [.. all.Where(inMemory)], said);
        }
    }

    [Fact]
    public async Task Filters_give_what_the_same_LINQ_gives_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Order> all = await Fill(random, 150);
        for (int round = 0; round < 250; round++)
        {
            Expression<Func<Order, bool>> condition = OrderConditions.Joined(random, depth: random.Next(3)),
                filter = OrderConditions.Joined(random, depth: random.Next(3));
            List<Order> expected = [.. all.Where(condition.Compile()).Where(filter.Compile()).OrderBy(o => o.Serial)];
            int skip = random.Next(4), take = random.Next(12);
            using DocumentSession session = _database.OpenSession();
            IDocumentQueryable<Order> query = session.Query<Order>().Filter(filter).Where(condition).OrderBy(o => o.Serial);
            string said = $"{condition}\n{filter}\n{query}";
            Assert.Equal(expected.Select(o => o.Id), (await query.ToListAsync(Token)).Select(o => o.Id), Same(said));
            Assert.True(expected.Count == await query.CountAsync(Token), said);
            Assert.Equal(
                expected.Skip(skip).Take(take).Select(o => o.City),
                await query.Skip(skip).Take(take).Select(o => o.City).ToListAsync(Token), Same(said));
        }
    }

    [Fact]
    public async Task Members_are_compared_with_one_another_as_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Order> all = await Fill(random, 200);
        Expression<Func<Order, bool>>[] filters =
        [
            o => o.Number == o.Rating,
            o => o.Number != o.Rating,
            o => o.Number < o.Rating,
            o => o.Freight >= o.Number,
            o => o.City == o.ShipTo!.City,
            o => o.Lines.Any(l => l.Amount > o.Number && l.Sku == o.City),
            o => o.Marks.All(m => m <= o.Number),
        ];
        foreach (Expression<Func<Order, bool>> filter in filters)
        {
            using DocumentSession session = _database.OpenSession();
            Func<Order, bool> inMemory = filter.Compile();
            IDocumentQueryable<Order> shipped = session.Query<Order>().Where(o => o.ShipTo != null);
            IEnumerable<string?> expected =
                all.Where(o => o.ShipTo != null).Where(inMemory).Select(o => o.Id).Order(StringComparer.Ordinal);
            Assert.Equal(
                expected,
                (await shipped.Filter(filter).ToListAsync(Token)).Select(o => o.Id).Order(StringComparer.Ordinal));
            Assert.Equal(
                expected, (await shipped.Where(filter).ToListAsync(Token)).Select(o => o.Id).Order(StringComparer.Ordinal));
        }
    }

    [Fact]
    public async Task Projections_give_what_the_same_LINQ_gives_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Order> all = await Fill(random, 100);
        await Compare(all, o => new { o.Id, o.City, o.Number, Double = o.Number * 2, Text = o.City + "!" });
        await Compare(all, o => o.City);
        await Compare(all, o => o.Rating ?? -1);
        await Compare(all, o => o.OrderedAt.Year * 100 + o.OrderedAt.Month);
        await Compare(all, o => new OrderRow(o.City, o.Number + 1));
        await Compare(all, o => new { o.Status, Paid = o.IsPaid ? "yes" : "no", o.Price, o.Serial });
        await Compare(all, o => new { City = o.ShipTo == null ? null : o.ShipTo.City, o.Comment });
        await Compare(all, o => new { Whole = o.Id + o.Tags.Length, Inner = new { o.Freight } });
        await Compare(all, o => string.Join(",", o.Lines.Select(l => l.Sku)));
        await Compare(all, o => o.Lines.Count);
        await Compare(all, o => new { o.Tags, o.Marks }.Tags.Length);
        await Compare(all, o => Math.Round(o.Freight, 1) + Math.Abs(o.Number) + Math.Max(o.Number, 3));
        await Compare(all, o => $"{o.City}: {o.Number:D3}, {o.Rating} {o.Id}, {o.IsPaid}");
        await Compare(all, o => o.Rating.HasValue ? o.Rating.Value : o.City != null ? o.City.Length : -1);
        await Compare(all, o => new { o.SeenAt.Year, o.SeenAt.Offset, o.OrderedAt.Hour, o.OrderedAt.Date });
        await Compare(all, o => o.Flags.HasFlag(OrderFlags.Gift) || (o.Flags & OrderFlags.Express) != 0);
        await Compare(all, o => string.IsNullOrWhiteSpace(o.City) ? "none" : o.City.ToUpperInvariant().Substring(0, 1));
        await Compare(all, o => o.Marks.Sum() + o.Marks.Count(m => m > 2) + o.Marks.DefaultIfEmpty().Max());
    }

    [Fact]
    public async Task Single_results_are_those_of_the_same_LINQ_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Order> all = await Fill(random, 200);
        for (int round = 0; round < 40; round++)
        {
            Expression<Func<Order, bool>> condition = OrderConditions.Leaf(random), other = OrderConditions.Leaf(random);
            using DocumentSession session = _database.OpenSession();
            IDocumentQueryable<Order> query = session.Query<Order>().Where(condition).OrderBy(o => o.Serial);
            List<Order> found = [.. all.Where(condition.Compile())];
            string said = query.ToString()!;
            Assert.True(found.All(other.Compile()) == await query.AllAsync(other, Token), $"{said}\n{other}");
            Assert.True(found.All(other.Compile()) == query.All(other), said);
            Assert.True(found.Count(other.Compile()) == query.Count(other), $"{said}\n{other}");
            Assert.Equal(found.Sum(o => o.Number), await query.SumAsync(o => o.Number, Token));
            Assert.Equal(found.Sum(o => o.Price), query.Sum(o => o.Price));
            Assert.Equal(found.Sum(o => o.Rating), await query.SumAsync(o => o.Rating, Token));
            Assert.Equal(found.Sum(o => o.Number * 2L), query.Select(o => o.Number * 2L).Sum());
            Assert.Equal(found.Min(o => o.Rating), await query.MinAsync(o => o.Rating, Token));
            Assert.Equal(found.Max(o => (int?)o.Number), query.Max(o => (int?)o.Number));
            Assert.Equal(found.Min(o => (double?)o.Freight), await query.MinAsync(o => (double?)o.Freight, Token));
            Assert.Equal(found.Min(o => (DateTime?)o.OrderedAt), query.Min(o => (DateTime?)o.OrderedAt));
            Assert.Equal(found.Max(o => (decimal?)o.Price), query.Select(o => (decimal?)o.Price).Max());
            Assert.Equal(found.Max(o => (int?)o.Number * 2), query.Max(o => (int?)o.Number * 2));
            Assert.Equal(found.Max(o => o.City), await query.MaxAsync(o => o.City, Token));
            Assert.Equal(found.Max(o => (DateTimeOffset?)o.SeenAt), query.Max(o => (DateTimeOffset?)o.SeenAt));
            Assert.Equal(found.Average(o => o.Rating), await query.AverageAsync(o => o.Rating, Token));
            Assert.Equal(found.Average(o => (decimal?)o.Price), query.Average(o => (decimal?)o.Price));
            Assert.Equal(found.Skip(3).Take(5).Sum(o => o.Number), query.Skip(3).Take(5).Sum(o => o.Number));
            Assert.Equal(found.Take(5).Skip(3).Select(o => o.Id), query.Take(5).Skip(3).Select(o => o.Id).ToList());
            Assert.Equal(found.LastOrDefault()?.Id, query.LastOrDefault()?.Id);
            Assert.Equal(found.LastOrDefault()?.Id, (await query.LastOrDefaultAsync(Token))?.Id);
            Assert.Equal(found.LastOrDefault(other.Compile())?.Id, query.LastOrDefault(other)?.Id);
            Assert.Equal(found.Take(7).LastOrDefault()?.Id, query.Take(7).LastOrDefault()?.Id);
            Assert.Equal(found.ElementAtOrDefault(3)?.Id, query.ElementAtOrDefault(3)?.Id);
            Assert.Equal(
                found.DistinctBy(o => o.City).Skip(1).Take(3).Select(o => o.Id),
                (await query.DistinctBy(o => o.City).Skip(1).Take(3).ToListAsync(Token)).Select(o => o.Id));
            Assert.Equal(
                found.DistinctBy(o => o.Number % 3).Count(), query.AsQueryable().DistinctBy(o => o.Number % 3).Count());
        }

        using DocumentSession asking = _database.OpenSession();
        IDocumentQueryable<Order> none = asking.Query<Order>().Where(o => o.Number > 1000);
        Assert.Throws<InvalidOperationException>(() => none.Max(o => o.Number));
        Assert.Throws<InvalidOperationException>(() => none.OrderBy(o => o.Serial).Last());
        Assert.Equal(0, await none.SumAsync(o => o.Number, Token));
    }

    [Fact]
    public async Task Documents_that_a_projection_loads_are_those_of_a_join_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Order> all = await Fill(random, 100);
        using DocumentSession session = _database.OpenSession();
        var companies = new Dictionary<string, Company>();
        for (int i = 0; i < 4; i++)
        {
            string? parent = i == 0 ? null : $"companies/{i - 1}";
            var company = new Company { Id = $"companies/{i}", Name = OrderConditions.Word(random), Parent = parent };
            companies[company.Id] = company;
            session.Store(company);
        }

        foreach (Order order in await session.Query<Order>().ToListAsync(Token))
            all.Single(one => one.Id == order.Id).CompanyId = order.CompanyId =
                random.Next(4) == 0 ? null : $"companies/{random.Next(6)}"; // some are not there
        await session.SaveChangesAsync(Token);
        Company? Of(string? id) => id is null ? null : companies.GetValueOrDefault(id);

        using DocumentSession asking = _database.OpenSession();
        var query = from o in asking.Query<Order>().OrderBy(o => o.Serial)
                    let company = RqlMethods.Load<Company>(o.CompanyId)
                    select new
                    {
                        o.Serial,
                        company!.Name,
                        Parent = RqlMethods.Load<Company>(company.Parent)!.Name,
                        Lines = o.Lines.Select(l => RqlMethods.Load<Company>("companies/" + l.Amount)!.Name + l.Sku).ToList(),
                        Exists = company != null,
                        company.Id!.Length,
                    };
        var expected = all.OrderBy(o => o.Serial).Select(o => new
        {
            o.Serial,
            Of(o.CompanyId)?.Name,
            Parent = Of(Of(o.CompanyId)?.Parent)?.Name,
            Lines = o.Lines.Select(l => Of("companies/" + l.Amount)?.Name + l.Sku).ToList(),
            Exists = Of(o.CompanyId) != null,
            Length = Of(o.CompanyId)?.Id?.Length ?? 0,
        }).ToList();
        var rows = await query.ToListAsync(Token);
        Assert.Equal(expected.Count, rows.Count);
        foreach ((var wanted, var row) in expected.Zip(rows))
            Assert.Equal(
                (wanted.Serial, wanted.Name, wanted.Parent, string.Join('|', wanted.Lines), wanted.Exists, wanted.Length),
                (row.Serial, row.Name, row.Parent, string.Join('|', row.Lines), row.Exists, row.Length));
        Assert.Equal(1, asking.Advanced.NumberOfRequests);
        Assert.False(asking.IsLoaded("companies/1"));
        Assert.Equal(
            companies.Values.Count(company => all.Exists(order => order.CompanyId == company.Id)),
            (await asking.Query<Order>().Where(o => o.CompanyId != null).Select(o => RqlMethods.Load<Company>(o.CompanyId)!.Id)
                .Distinct().ToListAsync(Token)).Count(id => id is not null));
        var error = Assert.Throws<NotSupportedException>(
            () => asking.Query<Order>().Where(o => RqlMethods.Load<Company>(o.CompanyId)!.Name == "x").ToRql());
        Assert.Contains("Load", error.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => RqlMethods.Load<Company>("companies/1"));
    }

    [Fact]
    public async Task Functions_over_lists_in_projections_give_what_the_same_LINQ_gives_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Order> all = await Fill(random, 100);
        await Compare(all, o => o.Lines.Sum(l => l.Amount));
        await Compare(
            all, o => new { o.City, Total = o.Lines.Sum(l => l.Amount * o.Price), Count = o.Lines.Count(l => l.Amount > 4) });
        await Compare(all, o => o.Lines.Where(l => l.Amount > o.Number).Select(l => l.Sku + "!").ToList());
        await Compare(all, o => o.Lines.OrderByDescending(l => l.Amount).ThenBy(l => l.Sku).Select(l => l.Amount).ToArray());
        await Compare(all, o => o.Lines.SelectMany(l => l.Colors).Where(c => c.Length > 2).Distinct().Count());
        await Compare(all, o => o.Lines.Any(l => l.Colors.Any(c => c == o.City)) || o.Lines.All(l => l.Amount > 2));
        await Compare(all, o => o.Lines.Max(l => (int?)l.Amount) ?? -1);
        await Compare(all, o => o.Lines.Min(l => (decimal?)(l.Amount / 2m)));
        await Compare(all, o => o.Lines.Average(l => (double?)l.Amount));
        await Compare(all, o => o.Marks.Where(m => m > 3).Select(m => m * 2L).Sum(m => m));
        await Compare(all, o => o.Lines.FirstOrDefault(l => l.Amount > 5) == null);
        await Compare(all, o => o.Marks.FirstOrDefault(m => m > 5) + o.Marks.LastOrDefault(m => m < 5));
        await Compare(all, o => o.Lines.Select(l => l.Colors.Count(c => c != l.Sku)).Sum());

        // What fails in memory fails here, and says of which expression.
        Order empty = all.First(o => o.Lines.Count == 0);
        using DocumentSession session = _database.OpenSession();
        var error = await Assert.ThrowsAsync<InvalidOperationException>(
            () => session.Query<Order>()
                .Where(o => o.Id == empty.Id)
                .Select(o => o.Lines.MaxBy(l => l.Amount)!.Sku) // null, as in memory
                .ToListAsync(Token));
        Assert.Contains("MaxBy", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Groups_are_those_of_the_same_LINQ_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Order> all = [.. (await Fill(random, 300)).Where(o => !string.IsNullOrEmpty(o.City))];
        using DocumentSession session = _database.OpenSession();
        var averages = await session.Query<Order>()
            .GroupBy(o => o.City)
            .Select(
                g => new
                {
                    g.Key,
                    Number = g.Average(o => o.Number),
                    Price = g.Average(o => o.Price),
                    Serial = g.Average(o => o.Serial)
                })
            .ToListAsync(Token);
        Assert.Equal(
            all.GroupBy(o => o.City)
                .Select(
                    g => new
                    {
                        g.Key,
                        Number = g.Average(o => o.Number),
                        Price = g.Average(o => o.Price),
                        Serial = g.Average(o => o.Serial)
                    })
                .OrderBy(g => g.Key, StringComparer.Ordinal),
            averages.Where(g => !string.IsNullOrEmpty(g.Key)).OrderBy(g => g.Key, StringComparer.Ordinal));
        var rows = await session.Query<Order>()
            .GroupBy(o => o.City)
            .Select(g => new { City = g.Key, Count = g.Count(), Numbers = g.Sum(o => o.Number), Double = g.Count() * 2 })
            .ToListAsync(Token);
        Assert.Equal(
            all.GroupBy(o => o.City)
                .Select(g => new { City = g.Key, Count = g.Count(), Numbers = g.Sum(o => o.Number), Double = g.Count() * 2 })
                .OrderBy(g => g.City, StringComparer.Ordinal),
            rows.Where(g => !string.IsNullOrEmpty(g.City)).OrderBy(g => g.City, StringComparer.Ordinal));
        var two = session.Query<Order>()
            .GroupBy(o => new { o.Status, o.IsPaid })
            .Select(g => new { g.Key.Status, g.Key.IsPaid, Count = g.Count() });
        var expected = (await session.Query<Order>().ToListAsync(Token))
            .GroupBy(o => new { o.Status, o.IsPaid })
            .Select(g => new { g.Key.Status, g.Key.IsPaid, Count = g.Count() })
            .ToList();
        Assert.Equal(
            expected.OrderBy(g => g.Status).ThenBy(g => g.IsPaid),
            (await two.ToListAsync(Token)).OrderBy(g => g.Status).ThenBy(g => g.IsPaid));
        Assert.Equal(
            expected.Where(g => g.Count > 38).Sum(g => g.Count),
            (await two.Where(g => g.Count > 38).ToListAsync(Token)).Sum(g => g.Count));
        Assert.Equal(
            expected.Select(g => g.Count).OrderDescending().First(),
            (await two.OrderByDescending(g => g.Count).FirstAsync(Token)).Count);
    }

    [Fact]
    public async Task Distinct_pages_are_those_of_the_distinct_rows()
    {
        var random = new Random(Seed.Next());
        List<Order> all = await Fill(random, 200);
        using DocumentSession session = _database.OpenSession();
        var rows = await session.Query<Order>()
            .OrderBy(o => o.City)
            .Select(o => o.City)
            .Distinct()
            .Skip(2)
            .Take(3)
            .ToListAsync(Token);
        Assert.Equal(all.Select(o => o.City).Distinct().Order(StringComparer.Ordinal).Skip(2).Take(3), rows);
        Assert.Equal(
            all.Select(o => o.Number % 3).Distinct().Count(),
            await session.Query<Order>().Select(o => o.Number % 3).Distinct().CountAsync(Token));
    }

    private async Task Compare<TRow>(List<Order> all, Expression<Func<Order, TRow>> projection)
    {
        using DocumentSession session = _database.OpenSession();
        List<TRow> rows = await session.Query<Order>().OrderBy(o => o.Serial).Select(projection).ToListAsync(Token);
        Assert.Equal(all.OrderBy(o => o.Serial).Select(projection.Compile()), rows);
    }

    private static async Task Pages(Random random, IDocumentQueryable<Order> query, List<Order> expected, string said)
    {
        int skip = random.Next(5), take = random.Next(10);
        switch (random.Next(5))
        {
            case 0:
                Assert.Equal(
                    expected.OrderBy(o => o.Serial).Skip(skip).Take(take).Select(o => o.Id),
                    (await query.OrderBy(o => o.Serial).Skip(skip).Take(take).ToListAsync(Token)).Select(o => o.Id), Same(said));
                break;
            case 1:
                Assert.Equal(
                    expected.OrderByDescending(o => o.Rating).ThenBy(o => o.Serial).Take(take).Select(o => o.Id),
                    (await query.OrderByDescending(o => o.Rating).ThenBy(o => o.Serial).Take(take).ToListAsync(Token)).Select(
                        o => o.Id), Same(said));
                break;
            case 2:
                Assert.Equal(
                    expected.OrderBy(o => o.City, StringComparer.Ordinal).ThenByDescending(o => o.Freight).Select(o => o.Freight),
                    (await query.OrderBy(o => o.City).ThenByDescending(o => o.Freight).ToListAsync(Token)).Select(
                        o => o.Freight));
                break;
            case 3:
                Assert.Equal(
                    expected.OrderBy(o => o.Price).ThenBy(o => o.Serial).FirstOrDefault()?.Id,
                    (await query.OrderBy(o => o.Price).ThenBy(o => o.Serial).FirstOrDefaultAsync(Token))?.Id);
                break;
            default:
                Assert.Equal(
                    expected.OrderBy(o => o.OrderedAt).Select(o => o.OrderedAt),
                    (await query.OrderBy(o => o.OrderedAt).ToListAsync(Token)).Select(o => o.OrderedAt));
                break;
        }
    }

    private async Task<List<Order>> Fill(Random random, int count)
    {
        var all = new List<Order>();
        using DocumentSession session = _database.OpenSession();
        for (int i = 0; i < count; i++)
        {
            var order = new Order
            {
                Id = $"orders/{i}",
                City = random.Next(5) == 0 ? null : OrderConditions.Word(random),
                Number = random.Next(-5, 20),
                Rating = random.Next(3) == 0 ? null : random.Next(6),
                Freight = Math.Round(random.NextDouble() * 20, random.Next(3)),
                Price = random.Next(2000) / 100m,
                Serial = i,
                IsPaid = random.Next(2) == 0,
                Status = (OrderStatus)random.Next(4),
                OrderedAt = new DateTime(2022, 1, 1)
                    .AddHours(random.Next(3 * 365 * 24))
                    .AddMilliseconds(random.Next(3) == 0 ? random.Next(1000) : 0),
                Flags = (OrderFlags)random.Next(8),
                Wishes = random.Next(3) == 0 ? null : (OrderFlags)random.Next(8),
                SeenAt = new DateTimeOffset(
                    new DateTime(2022, 1, 1).AddHours(random.Next(3 * 365 * 24)).AddMinutes(random.Next(60)),
                    TimeSpan.FromMinutes(random.Next(-14 * 4, 14 * 4 + 1) * 15)),
                Comment = random.Next(3) == 0 ? null : $"{OrderConditions.Word(random)} {OrderConditions.Word(random)}",
                ShipTo = random.Next(4) == 0
                    ? null
                    : new Address
                    {
                        City = OrderConditions.Word(random),
                        Lat = random.Next(-80, 80),
                        Lng = random.Next(-170, 170),
                    },
                Tags = [.. Enumerable.Range(0, random.Next(4)).Select(_ => OrderConditions.Word(random))],
                Marks = [.. Enumerable.Range(0, random.Next(4)).Select(_ => random.Next(10))],
            };
            for (int line = random.Next(4); line > 0; line--)
                order.Lines.Add(
                    new OrderLine
                    {
                        Sku = OrderConditions.Word(random),
                        Amount = random.Next(10),
                        Colors = [.. Enumerable.Range(0, random.Next(3)).Select(_ => OrderConditions.Word(random))]
                    });
            foreach (string word in OrderConditions.Words.Where(
                word => word.Length == 3 && random.Next(3) == 0 && !word.Contains('.') && !word.Contains(' ')))
                order.Counts[word] = random.Next(5);
            all.Add(order);
            session.Store(order);
        }

        await session.SaveChangesAsync(Token);
        return all;
    }

    private static EqualityComparer<string?> Same(string said) =>
        EqualityComparer<string?>.Create((left, right) => left == right ? true : throw new InvalidOperationException(said));

    private sealed class Company
    {
        public string? Id { get; set; }

        public string? Name { get; set; }

        public string? Parent { get; set; }
    }
}
