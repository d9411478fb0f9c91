using System.Linq.Expressions;
using System.Text.Json;
using System.Text.Json.Serialization;
using Treepie.IndexClasses;
using Treepie.Indexes;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Computing.Tests;

/// <summary>Indexes as classes: what their expressions mean in C# is what the index has.</summary>
public sealed class IndexClassTests : IDisposable
{
    private static readonly SessionOptions _plain = new() { Json = JsonSerializerOptions.Default };

    private static readonly SessionOptions _camelCase = new()
    {
        Json = new JsonSerializerOptions(JsonSerializerDefaults.Web)
        {
            TypeInfoResolver = JsonSerializerOptions.Default.TypeInfoResolver,
            Converters = { new JsonStringEnumConverter() }
        }
    };

    private readonly IndexRunner _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public async Task An_index_class_is_deployed_and_asked()
    {
        using DocumentSession session = _run.Database.OpenSession();
        session.Store(new Order
        {
            Id = "orders/1",
            City = "Bern",
            Status = Status.Open,
            Lines = [new("tea", 2, 3), new("pot", 10, 1)]
        });
        session.Store(new Order
        {
            Id = "orders/2",
            City = "Rome",
            Status = Status.Paid,
            Lines = [new("tea", 2, 1)],
            CompanyId = "companies/1"
        });
        session.Store(new Company { Id = "companies/1", Name = "Acme" });
        session.SaveChanges();
        ((IDocumentStore)_run.Database).Deploy(
            new Orders_Totals(), new Orders_ByProduct(), new Orders_OfCompanies(), new Anything(), new Orders_Plain());
        Assert.Equal(
            ["Anything", "Orders/ByProduct", "Orders/OfCompanies", "Orders/Plain", "Orders/Totals"],
            _run.Database.Indexes.List().Select(static index => index.Name));

        IQueryable<Order> large = session.Query<Orders_Totals.Result, Orders_Totals>().Where(r => r.Total > 10).OfType<Order>();
        Assert.Equal("orders/1", Assert.Single(large).Id);
        Assert.Equal(
            [new Orders_ByProduct.Result("pot", 1, 10), new Orders_ByProduct.Result("tea", 2, 8)],
            session.Query<Orders_ByProduct.Result, Orders_ByProduct>().OrderBy(r => r.Product).ToList());
        Assert.Equal("orders/2", Assert.Single(await _run.IdsAsync("from index 'Orders/OfCompanies' where Company = 'acme'")));
        Assert.Equal(["companies/1"], await _run.IdsAsync("from index Anything where search(Text, 'acme')"));
        Assert.Equal(["orders/2"], await _run.IdsAsync("from index Anything where search(Text, 'rome')"));
        Assert.Equal(["orders/1"], await _run.IdsAsync("from index 'Orders/Plain' where search(City, 'bern')"));
        Assert.False(_run.Database.Indexes.Definition("Orders/Plain")!.Computes);

        // The same again changes nothing.
        long before = _run.Database.Indexes.List().Sum(static index => index.EntryCount);
        _run.Database.Deploy(new Orders_Totals(), new Orders_ByProduct());
        Assert.Equal(before, _run.Database.Indexes.List().Sum(static index => index.EntryCount));
    }

    [Fact]
    public void One_that_cannot_be_refuses_all()
    {
        Assert.Throws<NotSupportedException>(() => _run.Database.Deploy(new Orders_Plain(), new Orders_Now()));
        Assert.Throws<InvalidIndexDefinitionException>(() => _run.Database.Deploy(new Orders_Plain(), new Orders_Without()));
        Assert.Throws<InvalidIndexDefinitionException>(() => _run.Database.Deploy(new Orders_Plain(), new Orders_Unknown()));
        Assert.Empty(_run.Database.Indexes.List());
    }

    /// <summary>Each function gives for random orders what it gives when it is run as C#.</summary>
    [Fact]
    public async Task Expressions_mean_what_they_mean_in_CSharp()
    {
        var random = new Random(Seed.Next());
        Order[] orders = [.. Enumerable.Range(0, 60).Select(i => RandomOrder(random, i))];
        using (DocumentSession session = _run.Database.OpenSession())
        {
            foreach (Order order in orders)
                session.Store(order);
            session.SaveChanges();
        }

        int wanted = random.Next(5);
        string[] cities = ["Bern", "Oslo"];
        var since = new DateTime(2026, 3, 1, 0, 0, 0, DateTimeKind.Utc);
        (string Name, Expression<Func<Order, object?>> Value)[] values =
        [
            ("Upper", o => o.City!.ToUpperInvariant() + "!"),
            ("Total", o => o.Lines.Sum(l => l.Price * l.Quantity)),
            ("Cheap", o => o.Lines.Where(l => l.Price < wanted).Select(l => l.Product).FirstOrDefault()),
            ("IsOpen", o => o.Status == Status.Open),
            ("NotPaid", o => o.Status != Status.Paid && !(o.Lines.Count > 2)),
            ("Known", o => cities.Contains(o.City)),
            ("Choice", o => o.Lines.Any(l => l.Product == "tea") ? "tea" : "none"),
            ("Year", o => o.At.Year),
            ("Later", o => o.At >= since),
            ("Count", o => o.Lines.Count),
            ("Rest", o => (o.Number % 7) + (2 * -o.Number)),
            ("Half", o => (int)(o.Weight / 2)),
            ("Rounded", o => Math.Round(o.Weight)),
            ("Nothing", o => o.CompanyId ?? "none"),
            ("Format", o => $"{o.City}/{o.Number}"),
            ("Start", o => o.City!.StartsWith("Be", StringComparison.Ordinal) || o.City.Length > 4),
            ("Joined", o => string.Join("-", o.Lines.Select(l => l.Product).Distinct().OrderBy(p => p))),
            ("HasLimit", o => o.Limit.HasValue && o.Limit.Value > 2),
            ("Nested", o => o.Lines.SelectMany(l => l.Product.Split('e'), (l, part) => part).Count()),
            ("FirstLine", o => o.Lines.Count > 0 ? o.Lines[0].Product : null),
            ("First", o => o.City![0]),
            ("Object", o => new { o.City, Other = new { A = 1, B = wanted } }),
            ("Attribute", o => o.Attributes["size"]),
            ("Id", o => o.Id),
        ];
        foreach ((string name, Expression<Func<Order, object?>> value) in values)
        {
            _run.Database.Deploy(new OneValue(name, value));
            Func<Order, object?> compiled = value.Compile();
            IReadOnlyList<string> rows = await _run.AskAsync($"from index 'One/{name}' order by Number as long select Number, V");
            string[] expected =
            [
                .. orders.OrderBy(static order => order.Number)
                    .Select(order => $"{{\"Number\":{order.Number},\"V\":{JsonSerializer.Serialize(compiled(order))}}}")
            ];
            Assert.True(
                expected.Select(Normal).SequenceEqual(rows.Select(Normal)),
                $"{name}: {expected.Zip(rows).FirstOrDefault(pair => Normal(pair.First) != Normal(pair.Second))}\n"
                    + _run.Database.Indexes.Definition("One/" + name)!.Maps[0]);
        }

        static string Normal(string row) => row.Replace(".0}", "}", StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Texts))]
    public void Expressions_are_written_as_text(string expected, IndexClass index, bool camelCase)
    {
        SessionOptions session = camelCase ? _camelCase : _plain;
        IndexDefinition definition = index.ToDefinition(session);
        string reduce = definition.Reduce is null ? "" : " || " + definition.Reduce;
        Assert.Equal(expected, string.Join(" | ", definition.Maps) + reduce);
    }

    public static TheoryData<string, IndexClass, bool> Texts() => new()
    {
        { "docs.Orders.Select(o => new { City = o.City })", new Orders_Plain(), false },
        { "docs.Orders.Select(o => new { city = o.city })", new Orders_Plain(), true },
        {
            "docs.Orders.Where(o => (o.Status == 0)).Select(o => new { Total = o.Lines.Sum(l => (l.Price * l.Quantity)), "
                + "IsOpen = true })",
            new Orders_Totals(), false
        },
        {
            "docs.Orders.Where(o => (o.status == \"Open\")).Select(o => new { total = o.lines.Sum(l => (l.price * l.quantity)), "
                + "isOpen = true })",
            new Orders_Totals(), true
        },
        {
            "docs.Orders.SelectMany(o => o.Lines, (o, l) => new { Product = l.Product, Count = 1, Sum = (l.Price * l.Quantity) })"
                + " || results.GroupBy(r => r.Product).Select(g => new { Product = g.Key, Count = g.Sum(x => x.Count), "
                + "Sum = g.Sum(x => x.Sum) })",
            new Orders_ByProduct(), false
        },
        {
            "docs.Orders.Select(o => new { o = o, c = LoadDocument(o.CompanyId, \"Companies\") }).Select(it => new { Company = "
                + "it.c.Name, Same = Id(it.c) })",
            new Orders_OfCompanies(), false
        },
    };

    [Theory]
    [MemberData(nameof(Refused))]
    public void What_has_no_text_is_refused_with_what_to_write(IndexClass index, string advice) => Assert.Contains(
        advice, Assert.Throws<NotSupportedException>(() => index.ToDefinition(_plain)).Message, StringComparison.Ordinal);

    public static TheoryData<IndexClass, string> Refused() => new()
    {
        { new Orders_Now(), "function of its documents" },
        { new OneValue("A", o => Guid.NewGuid()), "function of its documents" },
        { new OneValue("A", o => o.Number ^ 3), "no such operator" },
        { new OneValue("A", o => o.Status.ToString()), "have a number for Status" },
        { new OneValue("A", o => o.Shout), "is not written to documents" },
    };

    private static Order RandomOrder(Random random, int number) => new()
    {
        Id = $"orders/{number}",
        Number = number,
        City = random.Next(4) switch { 0 => "Bern", 1 => "Oslo", 2 => "Rome", _ => "Lausanne" },
        Status = (Status)random.Next(3),
        CompanyId = random.Next(2) == 0 ? null : "companies/1",
        At = new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc).AddDays(random.Next(200)),
        Weight = random.Next(1000) / 8.0,
        Limit = random.Next(2) == 0 ? null : random.Next(5),
        Attributes = new Dictionary<string, string> { ["size"] = $"{random.Next(9)}" },
        Lines =
        [
            .. Enumerable.Range(0, random.Next(4))
                .Select(_ => new Line(random.Next(2) == 0 ? "tea" : "coffee", random.Next(9), random.Next(5)))
        ],
    };

    private sealed class OneValue : Index<Order>
    {
        public OneValue(string name, Expression<Func<Order, object?>> value)
        {
            Name = "One/" + name;
            ParameterExpression orders = Expression.Parameter(typeof(IEnumerable<Order>), "orders");
            Expression<Func<Order, object?>> made = Made(value);
            Map = Expression.Lambda<Func<IEnumerable<Order>, IEnumerable<object?>>>(
                Expression.Call(typeof(Enumerable), "Select", [typeof(Order), typeof(object)], orders, made), orders);
            AllFields(field => field with { Stored = true });
        }

        public override string Name { get; }

        private static Expression<Func<Order, object?>> Made(Expression<Func<Order, object?>> value)
        {
            ParameterExpression order = value.Parameters[0];
            return Expression.Lambda<Func<Order, object?>>(
                Expression.MemberInit(
                    Expression.New(typeof(Row)),
                    Expression.Bind(typeof(Row).GetProperty("Number")!, Expression.Property(order, "Number")),
                    Expression.Bind(typeof(Row).GetProperty("V")!, value.Body)), order);
        }

        public sealed class Row
        {
            public int Number { get; set; }

            public object? V { get; set; }
        }
    }

    private sealed class Orders_Plain : Index<Order>
    {
        public Orders_Plain()
        {
            Map = orders => from o in orders select new { o.City };
            Field(o => o.City, field => field with { Indexing = FieldIndexing.Search });
        }
    }

    private sealed class Orders_Totals : Index<Order, Orders_Totals.Result>
    {
        public Orders_Totals() =>
            Map = orders => from o in orders
                            where o.Status == Status.Open
                            select new Result { Total = o.Lines.Sum(l => l.Price * l.Quantity), IsOpen = true };

        public sealed class Result
        {
            public int Total { get; set; }

            public bool IsOpen { get; set; }
        }
    }

    private sealed class Orders_ByProduct : Index<Order, Orders_ByProduct.Result>
    {
        public Orders_ByProduct()
        {
            Map = orders => from o in orders
                            from l in o.Lines
                            select new { l.Product, Count = 1, Sum = l.Price * l.Quantity };
            Reduce = results => from r in results
                                group r by r.Product into g
                                select new { Product = g.Key, Count = g.Sum(x => x.Count), Sum = g.Sum(x => x.Sum) };
        }

        public sealed record Result(string Product, int Count, int Sum);
    }

    private sealed class Orders_OfCompanies : Index<Order>
    {
        public Orders_OfCompanies() => Map = orders => from o in orders
                                                       let c = LoadDocument<Company>(o.CompanyId)
                                                       select new { Company = c.Name, Same = c.Id };
    }

    private sealed class Anything : MultiMapIndex<Anything.Result>
    {
        public Anything()
        {
            AddMap<Order>(orders => from o in orders select new { Text = new[] { o.City } });
            AddMap<Company>(companies => companies.Select(c => new { Text = new[] { c.Name } }));
            Field(r => r.Text, field => field with { Indexing = FieldIndexing.Search });
        }

        public sealed class Result
        {
            public string?[] Text { get; set; } = [];
        }
    }

    private sealed class Orders_Now : Index<Order>
    {
        public Orders_Now() => Map = orders => orders.Select(o => new { Age = (DateTime.UtcNow - o.At).TotalDays });
    }

    private sealed class Orders_Without : Index<Order>;

    private sealed class Orders_Unknown : Index<Order>
    {
        public Orders_Unknown() => Map = orders => orders.Select(o => new { Age = o.City!.IsNormalized() });
    }

    public enum Status
    {
        Open,
        Paid,
        Sent,
    }

    public sealed record Line(string Product, int Price, int Quantity);

    public sealed class Company
    {
        public string? Id { get; set; }

        public string? Name { get; set; }
    }

    public sealed class Order
    {
        public string? Id { get; set; }

        public int Number { get; set; }

        public string? City { get; set; }

        public Status Status { get; set; }

        public string? CompanyId { get; set; }

        public DateTime At { get; set; }

        public double Weight { get; set; }

        public int? Limit { get; set; }

        public Dictionary<string, string> Attributes { get; set; } = [];

        public List<Line> Lines { get; set; } = [];

        [JsonIgnore]
        public string Shout => City + "!";
    }
}
