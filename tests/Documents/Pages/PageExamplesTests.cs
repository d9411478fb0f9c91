using System.Text.RegularExpressions;
using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Pages;

/// <summary>
/// The examples of pages about objects and queries: they stand here as they stand there, so they compile, and they are run.
/// </summary>
public sealed partial class PageExamplesTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData("docs/howto/linq.md", 8)]
    [InlineData("docs/howto/coming-from.md", 1)]
    public void Every_example_of_the_page_stands_in_this_file(string page, int examples)
    {
        string[] lines = Code(
            File.ReadAllText(Path.Combine(DataSets.RepositoryRoot, "tests/Documents/Pages/PageExamplesTests.cs")));
        Match[] found = [.. Example().Matches(File.ReadAllText(Path.Combine(DataSets.RepositoryRoot, page))).Cast<Match>()];
        Assert.Equal(examples, found.Length);
        foreach (Match example in found)
        {
            string[] wanted = Code(example.Groups[1].Value);
            bool stands = Enumerable.Range(0, lines.Length - wanted.Length + 1)
                .Any(start => lines.AsSpan(start, wanted.Length).SequenceEqual(wanted));
            Assert.True(stands, $"{page} has an example that is not in this file as it stands there:\n{example.Groups[1].Value}");
        }
    }

    [Fact]
    public async Task The_examples_about_queries_run()
    {
        using Database database = Database.OpenInMemory();
        using DocumentSession session = database.OpenSession();
        session.Store(new Order
        {
            Company = "companies/1",
            Freight = 20,
            Notes = "fragile glass",
            ShipTo = new Place { City = "Reims", Lat = 49.25, Lng = 4.03 },
            Lines = [new Line { Product = "products/1", Amount = 11, Price = 30 }],
        });
        await session.SaveChangesAsync(TestContext.Current.CancellationToken);

#pragma warning disable xUnit1051 // as the page has it
        List<Order> orders = await session.Query<Order>()
            .Where(o => o.ShipTo.City == "Reims" && o.Freight > 10)
            .OrderByDescending(o => o.Freight)
            .Take(20)
            .ToListAsync();

        var query = from o in session.Query<Order>()
                    where o.Lines.Any(l => l.Product == "products/1")
                    orderby o.OrderedAt
                    select new { o.Id, o.Company, Total = o.Lines.Count * 2 };
        await foreach (var row in query)
            Console.WriteLine($"{row.Id}: {row.Total}");

        List<Order> heavy = await session.Query<Order>()
            .Where(o => o.ShipTo.City == "Reims")
            .Filter(o => o.Lines.Any(l => l.Amount > 10 && l.Price > o.Freight), 100_000)
            .ToListAsync();

        List<Order> fragile = await session.Query<Order>()
            .Search(o => o.Notes, "fragile glass")
            .Where(o => o.Freight < 100)
            .ToListAsync();
        List<Order> either = await session.Query<Order>()
            .Where(
                o => RqlMethods.Boost(RqlMethods.Search(o.Notes, "glass", false), 3)
                    || RqlMethods.Search(o.Company, "glass", false))
            .OrderByScore()
            .ToListAsync();
        List<Order> near = await session.Query<Order>()
            .Spatial(o => o.ShipTo.Lat, o => o.ShipTo.Lng, SpatialCriteria.WithinRadius(50, 49.25, 4.03))
            .OrderByDistance(o => o.ShipTo.Lat, o => o.ShipTo.Lng, 49.25, 4.03)
            .ToListAsync();

        var perCompany = await session.Query<Order>()
            .GroupBy(o => o.Company)
            .Select(g => new { Company = g.Key, Count = g.Count(), Freight = g.Sum(o => o.Freight) })
            .OrderByDescending(g => g.Freight)
            .ToListAsync();

        IReadOnlyDictionary<string, FacetResult> facets = await session.Query<Order>()
            .Where(o => o.Freight > 1)
            .AggregateBy(o => o.Company).SumOn(o => o.Freight)
            .AndAggregateBy(o => o.Freight < 50, o => o.Freight >= 50)
            .ExecuteAsync();
        foreach (FacetValue value in facets["Company"].Values)
            Console.WriteLine($"{value.Range}: {value.Count}, {value.Sum}");

        List<Order> page = await session.Query<Order>()
            .Include(o => o.Company)
            .Search(o => o.Notes, "glass")
            .Highlight(o => o.Notes, 64, 1, out QueryNotes highlights)
            .Statistics(out QueryStatistics statistics)
            .Take(10)
            .ToListAsync();
        Console.WriteLine(
            $"{statistics.TotalResults} by {statistics.IndexName}; {string.Join(" … ", highlights.Of("Notes", page[0].Id!))}");

        double least = 10;
        List<Order> rql = await session.RawQuery<Order>($"from Orders where Freight > {least} order by Freight as double")
            .ToListAsync();
#pragma warning restore xUnit1051

        Order stored = Assert.Single(orders);
        Assert.All([heavy, fragile, either, near, page, rql], found => Assert.Same(stored, Assert.Single(found)));
        Assert.Equal(2, (await query.SingleAsync(TestContext.Current.CancellationToken)).Total);
        Assert.Equal(20, Assert.Single(perCompany).Freight);
        Assert.Equal(20, facets["Company"].Values.Single().Sum);
    }

    [Fact]
    public void The_program_that_others_come_with_runs()
    {
        string path = _directory.Path;
        using (Database.Open(path))
        {
            // Made, as the next opening finds it.
        }

        using IDocumentStore store = Database.Open(path);
        using IDocumentSession session = store.OpenSession();
        session.Store(new Customer { Name = "Ada", City = "Reims" });
        session.SaveChanges();

        List<Customer> found = session.Query<Customer>().Where(c => c.City == "Reims").OrderBy(c => c.Name).ToList();
        found[0].City = "Lyon";
        session.SaveChanges();
        session.Delete(found[0]);
        session.SaveChanges();

        Assert.Single(found);
        Assert.Empty(session.Query<Customer>());
    }

    private static string[] Code(string text) => [.. text.Split('\n').Select(line => line.Trim()).Where(line => line.Length > 0)];

    [GeneratedRegex("```csharp\n(.*?)```", RegexOptions.Singleline)]
    private static partial Regex Example();

    private sealed class Order
    {
        public string? Id { get; set; }

        public string? Company { get; set; }

        public string? Notes { get; set; }

        public double Freight { get; set; }

        public DateTime OrderedAt { get; set; }

        public Place ShipTo { get; set; } = new();

        public List<Line> Lines { get; set; } = [];
    }

    private sealed class Place
    {
        public string? City { get; set; }

        public double Lat { get; set; }

        public double Lng { get; set; }
    }

    private sealed class Line
    {
        public string? Product { get; set; }

        public int Amount { get; set; }

        public double Price { get; set; }
    }

    private sealed class Customer
    {
        public string? Id { get; set; }

        public string Name { get; set; } = "";

        public string City { get; set; } = "";
    }
}
