using System.Globalization;

namespace Treepie.Bench.Embedded;

/// <summary>What the suite <c>embedded</c> stores: an order of some 700 bytes of JSON.</summary>
public sealed class BenchOrder
{
    public int Id { get; set; }

    /// <summary>Of one order alone.</summary>
    public string Code { get; set; } = "";

    public string Company { get; set; } = "";

    public string City { get; set; } = "";

    public double Freight { get; set; }

    public int Version { get; set; }

    public DateTime OrderedAt { get; set; }

    public List<BenchLine> Lines { get; set; } = [];

    /// <summary>The order of a number, the same in every run.</summary>
    public static BenchOrder Of(int id)
    {
        uint mixed = unchecked((uint)id * 2654435761u);
        var order = new BenchOrder
        {
            Id = id,
            Code = CodeOf(id),
            Company = string.Create(CultureInfo.InvariantCulture, $"companies/{mixed % 91}"),
            City = string.Create(CultureInfo.InvariantCulture, $"city {mixed % 70}"),
            Freight = mixed % 1_000_003 / 100.0,
            OrderedAt = new DateTime(2020, 1, 1).AddMinutes(mixed % 2_000_000),
        };
        for (uint line = 0; line < 4; line++)
            order.Lines.Add(new BenchLine
            {
                Product = string.Create(CultureInfo.InvariantCulture, $"products/{(mixed + line) % 977}"),
                Name = string.Create(CultureInfo.InvariantCulture, $"Product number {(mixed + line) % 977}"),
                Price = (mixed + line) % 10_000 / 100.0,
                Amount = (int)((mixed >> 8) % 9) + 1,
            });
        return order;
    }

    /// <summary>Ids of orders, in an order that jumps, the same in every run.</summary>
    /// <param name="orders">How many there are.</param>
    public static int[] SomeOf(int orders)
    {
        var random = new Random(1);
        return [.. Enumerable.Range(0, 1 << 12).Select(_ => 1 + random.Next(orders))];
    }

    public static string CodeOf(int id) => string.Create(CultureInfo.InvariantCulture, $"code-{unchecked((uint)id * 40503u):x8}");
}

/// <summary>A line of an order.</summary>
public sealed class BenchLine
{
    public string Product { get; set; } = "";

    public string Name { get; set; } = "";

    public double Price { get; set; }

    public int Amount { get; set; }
}
