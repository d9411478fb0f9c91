using System.Text.Json.Serialization;

namespace Treepie.Documents.Tests.Linq;

/// <summary>What the tests of LINQ ask about.</summary>
public sealed class Order
{
    public string? Id { get; set; }

    public string? City { get; set; }

    public int Number { get; set; }

    public int? Rating { get; set; }

    public double Freight { get; set; }

    public decimal Price { get; set; }

    public long Serial { get; set; }

    public bool IsPaid { get; set; }

    public OrderStatus Status { get; set; }

    public DateTime OrderedAt { get; set; }

    [JsonPropertyName("note")]
    public string? Comment { get; set; }

    public Address? ShipTo { get; set; }

    public List<OrderLine> Lines { get; set; } = [];

    public string[] Tags { get; set; } = [];

    public List<int> Marks { get; set; } = [];

    public Dictionary<string, int> Counts { get; set; } = [];

    public string? CompanyId { get; set; }

    public OrderFlags Flags { get; set; }

    public OrderFlags? Wishes { get; set; }

    public DateTimeOffset SeenAt { get; set; }
}
